"""``bough serve`` and ``bough token`` as users type them."""

from __future__ import annotations

import json
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from bough.cli import main
from bough.service.auth import principal_of_token
from bough.service.records import Records


def test_tokens_are_made_listed_and_revoked(sqlite_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--storage", sqlite_url]
    assert main(["token", "create", *options, "--name", "page", "--scope", "read"]) == 0
    token = capsys.readouterr().out.splitlines()[-1]
    assert principal_of_token(Records(sqlite_url), token).scope == "read"
    assert main(["token", "list", *options]) == 0
    shown = capsys.readouterr().out
    assert "page" in shown and token.rpartition("_")[2] not in shown
    assert main(["token", "list", *options, "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["scope"] == "read" and row["revoked"] is None and "hash" not in row
    assert main(["token", "revoke", token, *options]) == 0  # a whole token is understood as its id
    assert principal_of_token(Records(sqlite_url), token) is None
    capsys.readouterr()
    assert main(["token", "revoke", row["id"], *options]) == 2
    assert "no active token" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["list"], ["revoke", "00000000"]])
def test_reading_tokens_creates_nothing(tmp_path: Path, command: list[str]) -> None:
    file = tmp_path / "foreign.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE theirs (x)")
        database.commit()
    before = file.read_bytes()
    main(["token", *command, "--storage", f"sqlite:///{file}"])
    assert file.read_bytes() == before


def test_no_address_of_others_without_a_token(sqlite_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--storage", sqlite_url, "--host", "0.0.0.0", "--port", "0"]) == 2
    assert "run 'bough token create' before" in capsys.readouterr().err
    assert Records(sqlite_url).tokens() == []


def test_an_address_is_printed_when_it_can_be_reached(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def before_serving(server: object, listening: socket.socket) -> None:
        port = re.search(r"127\.0\.0\.1:(\d+)", capsys.readouterr().out)[1]
        socket.create_connection(("127.0.0.1", int(port)), timeout=10).close()
        listening.close()

    monkeypatch.setattr("bough.service.server.run_server", before_serving)
    assert main(["serve", "--storage", sqlite_url, "--port", "0"]) == 0


def test_a_port_in_use_is_said_in_one_line(sqlite_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--storage", sqlite_url, "--port", str(port)]) == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in capsys.readouterr().err
    assert Records(sqlite_url).tokens() == [], (
        "a token that nobody saw would keep the next start from showing one"
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--allow-host=https://tuning.example.org/", "must be a host name such as tuning.example.org"),
        ("--allow-host=tuning.example.org:8000", "must be a host name such as tuning.example.org"),
        ("--allow-host=*", "must be a host name such as tuning.example.org"),
        ("--trust-proxy=nginx", "'nginx' is not an IP address"),
        ("--trust-proxy=10.0.0.0/8", "'10.0.0.0/8' is not an IP address"),
    ],
)
def test_names_and_addresses_that_nothing_could_match_are_refused(
    sqlite_url: str, capsys: pytest.CaptureFixture[str], option: str, message: str
) -> None:
    assert main(["serve", "--storage", sqlite_url, "--port", "0", option]) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


def test_the_first_start_prints_a_token_and_the_end_is_quiet(sqlite_url: str) -> None:
    command = [sys.executable, "-m", "bough", "serve", "--storage", sqlite_url, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        url = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())[0]
        token = process.stdout.readline().split()[-1]
        reply = httpx.get(f"{url}/api/v1/studies", headers={"Authorization": f"Bearer {token}"}, timeout=60)
        assert reply.json() == {"studies": []}
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (0, 130)
        rest = process.stdout.read() + process.stderr.read()
    assert "Traceback" not in rest and token not in rest
