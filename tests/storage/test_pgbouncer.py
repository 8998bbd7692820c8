"""PgBouncer in transaction pooling: each transaction of a worker may run in another server process."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.storage.invariants import sound_trials
from tests.storage.test_concurrency import together

from bough.space import Float, Space
from bough.study import Study, open_study

pytestmark = pytest.mark.slow

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
SETTINGS = """
[databases]
postgres = host={host} dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
auth_file = {folder}/users.txt
pool_mode = transaction
default_pool_size = 3
unix_socket_dir =
"""


@pytest.fixture
def pooled_url(postgresql_url: str) -> Iterator[str]:
    """The server through a pool of three connections; tables are in the schema ``public``."""
    if PROGRAM is None:
        pytest.skip("needs pgbouncer")
    host = parse_qs(urlsplit(postgresql_url).query)["host"][0]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "users.txt").write_text('"postgres" ""\n')
        (folder / "settings.ini").write_text(SETTINGS.format(host=host, port=port, folder=folder))
        # It refuses to run as root, and must be allowed to open the server's socket.
        owner = pwd.getpwuid(os.stat(f"{host}/postmaster.pid").st_uid).pw_name
        as_user = ["-u", owner] if os.geteuid() == 0 else []
        command = [PROGRAM, *as_user, str(folder / "settings.ini")]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
                    break
                time.sleep(0.1)
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            running.terminate()
            running.wait()


def test_workers_share_a_study_through_a_pool(pooled_url: str) -> None:
    Study(Space({"x": Float(0, 1)}), name="pooled", storage=pooled_url, method="random", seed=0)

    def work(_: int) -> list[int]:
        study, acknowledged = open_study("pooled", pooled_url), []
        for _ in range(15):
            trial = study.ask()
            study.tell(trial, 1.0)
            acknowledged.append(trial.number)
        return acknowledged

    acknowledged = [number for numbers in together(6, work) for number in numbers]
    assert sorted(acknowledged) == list(range(90))
    assert all(trial.state == "done" for trial in sound_trials(pooled_url, "pooled"))
