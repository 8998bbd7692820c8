"""A PostgreSQL server that no longer answers on connections that stay open."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.storage.invariants import sound_trials
from tests.storage.silent_proxy import SilentProxy

from bough.errors import StorageError
from bough.space import Float, Space
from bough.storage.database import Database, Transaction
from bough.storage.sql import SqlStorage
from bough.study import Study

SPACE = Space({"x": Float(0, 1)})


@pytest.fixture
def proxy(postgresql_url: str) -> Iterator[SilentProxy]:
    folder = parse_qs(urlsplit(postgresql_url).query)["host"][0]
    proxy = SilentProxy(f"{folder}/.s.PGSQL.5432")
    yield proxy
    proxy.close()


def proxied(url: str, proxy: SilentProxy) -> str:
    options = parse_qs(urlsplit(url).query)["options"][0].replace("=", "%3D")
    return f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres?options={options}&connect_timeout=2"


def test_a_tell_is_sent_again_on_a_new_connection(postgresql_url: str, proxy: SilentProxy) -> None:
    storage = SqlStorage(proxied(postgresql_url, proxy), patience=6.0)
    study = Study(SPACE, name="s", storage=storage, method="random", seed=0)
    first, second = study.ask(2, lease=600.0)
    study.tell(first, 1.0)
    proxy.silence()
    study.tell(second, 2.0)
    proxy.silence()
    assert study.ask(lease=600.0).number == 2
    assert [trial.value for trial in sound_trials(postgresql_url, "s")] == [1.0, 2.0, None]


def test_a_server_that_stays_silent_is_an_error_when_patience_ends(
    postgresql_url: str, proxy: SilentProxy
) -> None:
    storage = SqlStorage(proxied(postgresql_url, proxy), patience=3.0)
    study = Study(SPACE, name="s", storage=storage, method="random", seed=0)
    trial = study.ask(lease=600.0)
    proxy.silent = True
    with pytest.raises(StorageError, match=r"tried again for 3 s"):
        study.tell(trial, 1.0)
    proxy.silence()
    proxy.silent = False
    study.tell(trial, 1.0)
    assert [trial.value for trial in sound_trials(postgresql_url, "s")] == [1.0]


def test_many_rows_are_sent_again_on_a_new_connection(postgresql_url: str, proxy: SilentProxy) -> None:
    database = Database(proxied(postgresql_url, proxy), patience=6.0)
    tries: list[bool] = []

    def work(transaction: Transaction) -> None:
        tries.append(transaction.retried)
        transaction.execute("CREATE TABLE numbers (n BIGINT)")
        if not transaction.retried:
            proxy.silence()
        transaction.execute_many("INSERT INTO numbers (n) VALUES (:n)", [{"n": n} for n in range(3)])

    database.write(work)
    assert tries == [False, True]
    assert database.read("SELECT n FROM numbers ORDER BY n") == [(0,), (1,), (2,)]


def test_leases_are_renewed_while_a_statement_hangs(postgresql_url: str, proxy: SilentProxy) -> None:
    storage = SqlStorage(proxied(postgresql_url, proxy), patience=30.0)
    study = Study(SPACE, name="s", storage=storage, method="random", seed=0)
    held, other = study.ask(lease=5.0), study.ask(lease=600.0)
    proxy.silence()
    hanging = threading.Thread(target=study.tell, args=(other, 1.0))
    hanging.start()
    time.sleep(0.2)
    study.renew([held], 600.0)  # the statement hangs for ten seconds: this must not wait for it
    assert hanging.is_alive()
    trials = sound_trials(postgresql_url, "s")
    assert trials[0].expires is not None and trials[0].expires > time.time() + 300
    hanging.join()
    assert [trial.value for trial in sound_trials(postgresql_url, "s")] == [None, 1.0]
