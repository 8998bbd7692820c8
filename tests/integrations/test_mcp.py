"""``bough mcp``: an assistant's client reads studies, and writes only if it may."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

import bough
from bough.errors import MissingExtraError
from bough.integrations.mcp import make_server

SPACE = bough.Space({"model": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {}})})
READING = {"list_studies", "describe_study", "best", "front", "trials", "branches", "explain"}


@pytest.fixture(autouse=True)
def package() -> Any:
    """Imported when a test runs: that takes seconds, which the collection of all tests can do without."""
    return pytest.importorskip("mcp")


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/s.db"
    study = bough.Study(SPACE, name="s", storage=url, seed=0)
    study.add_many([({"model": "a", "x": 0.5}, 1.0), ({"model": "b"}, 2.0)])
    return url


def talk(server: Any, *calls: tuple[str, dict[str, Any]]) -> tuple[set[str], list[Any]]:
    """The names of the tools, and what each call returned: data, or the text of an error."""

    import mcp

    async def session() -> tuple[set[str], list[Any]]:
        async with mcp.Client(server) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            replies = []
            for name, arguments in calls:
                reply = await client.call_tool(name, arguments)
                replies.append(reply.content[0].text if reply.is_error else reply.structured_content)
            return tools, replies

    return anyio.run(session)


def test_reading(url: str) -> None:
    calls = [
        ("list_studies", {}),
        ("best", {"study": "s"}),
        ("front", {"study": "s"}),
        ("trials", {"study": "s", "first": 1}),
        ("branches", {"study": "s"}),
        ("describe_study", {"study": "s"}),
    ]
    tools, replies = talk(make_server(url), *calls)
    assert tools == READING
    listed, best, front, trials, branches, described = replies
    assert listed == {"studies": [{"name": "s", "trials": 2}]}
    assert best == {"number": 0, "state": "done", "config": {"model": "a", "x": 0.5}, "value": 1.0}
    assert [trial["number"] for trial in front["trials"]] == [0]
    assert (trials["total"], [trial["number"] for trial in trials["trials"]]) == (2, [1])
    assert {each["branch"]["model"] for each in branches["branches"]} == {"a", "b"}
    assert bough.Space.from_json(described["space"]) == SPACE


def test_asking_and_telling(url: str) -> None:
    calls = [
        ("ask", {"study": "s"}),
        ("tell", {"study": "s", "number": 2, "value": 0.25}),
        ("explain", {"study": "s", "number": 2}),
        ("ask", {"study": "s"}),
        ("fail", {"study": "s", "number": 3, "reason": "no"}),
    ]
    tools, replies = talk(make_server(url, write=True), *calls)
    assert tools == READING | {"ask", "tell", "fail"}
    asked, told, explained, _, failed = replies
    assert (asked["number"], asked["state"]) == (2, "running")
    assert told["value"] == 0.25
    assert "reason" in explained
    assert failed["error"] == "no"
    assert bough.open_study("s", url).best.value == 0.25


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("best", {"study": "nothing"}), "there is no study 'nothing'"),
        (("explain", {"study": "s", "number": 77}), "no trial 77"),
        (("tell", {"study": "s", "number": 0, "value": 3.0}), "is already finished"),
        (("tell", {"study": "s", "number": 77, "value": 3.0}), "no trial 77"),
        (("trials", {}), "study"),
        (("trials", {"study": "s", "first": -2}), "first must be the number of a trial, from 0 on, not -2"),
    ],
)
def test_mistakes_are_one_line(url: str, call: tuple[str, dict[str, Any]], message: str) -> None:
    _, (reply,) = talk(make_server(url, write=True), call)
    assert message in reply
    assert "Traceback" not in reply


def test_who_only_reads_cannot_ask(url: str) -> None:
    tools, (reply,) = talk(make_server(url), ("ask", {"study": "s"}))
    assert "ask" not in tools
    assert "ask" in reply and "nknown tool" in reply
    assert len(bough.open_study("s", url).trials) == 2


def test_tools_that_only_read_say_so(url: str) -> None:
    import mcp

    async def said() -> set[str]:
        async with mcp.Client(make_server(url, write=True)) as client:
            tools = (await client.list_tools()).tools
        return {tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint}

    assert anyio.run(said) == READING


def test_over_standard_input_and_output(url: str, package: Any) -> None:
    command = package.StdioServerParameters(
        command=sys.executable,
        args=["-m", "bough", "mcp", "--storage", url],
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    tools, (best,) = talk(command, ("best", {"study": "s"}))
    assert tools == READING
    assert best["value"] == 1.0


def test_without_the_package_there_is_a_hint(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'bough-opt\[mcp\]'"):
        make_server(url)
