"""Files of studies: one format, written and read everywhere, and never trusted."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.programs import bough_here

from bough.errors import BoughError, StudyError
from bough.space import Categorical, Choice, Float, Int, Space
from bough.storage import MemoryStorage
from bough.study import Study, delete_study, export_study, import_study, studies

HERE = Path(__file__).parent
SPACE = Space(
    {
        "model": Choice({"svm": {"C": Float(1e-3, 1e3, log=True)}, "forest": {"trees": Int(1, 30)}}),
        "scale": Categorical(["none", "standard", None]),
    }
)


def written(tmp_path: Path) -> Path:
    study = Study(SPACE, name="s", method="random", seed=3)
    study.tell(study.ask(), {"value": 0.5, "noise": 0.1, "memory": 7}, notes={"by": ["hand", None]})
    study.fail(study.ask(), "no memory")
    study.ask()
    export_study(study, tmp_path / "s.jsonl")
    return tmp_path / "s.jsonl"


def test_what_the_command_exports_can_be_imported(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    study = import_study(written(tmp_path), url)
    output = tmp_path / "command.jsonl"
    done = bough_here("export", "s", "--storage", url, "-o", str(output), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = import_study(output, MemoryStorage())
    assert again.trials == study.trials
    assert again.trials[0].measures == {"memory": 7.0} and again.trials[0].notes == {"by": ["hand", None]}
    assert (again.space, again.seed, again.method) == (SPACE, 3, study.method)


def test_files_of_version_0_1(tmp_path: Path) -> None:
    exported = import_study(HERE / "exported_by_0_1.jsonl", MemoryStorage())
    assert (exported.name, exported.seed, exported.space, exported.best.value) == ("old", 3, SPACE, -1.5)
    with pytest.raises(StudyError, match=r"has trials but no study.*pass its space, space= or --space"):
        import_study(HERE / "command_of_0_1.jsonl", MemoryStorage())
    command = import_study(HERE / "command_of_0_1.jsonl", MemoryStorage(), space=SPACE)
    assert (command.name, command.trials) == ("command_of_0_1", exported.trials)
    assert [trial.state for trial in command.trials] == ["done", "done", "failed", "done", "queued", "queued"]


def test_old_names_of_options_in_a_file(tmp_path: Path) -> None:
    path = written(tmp_path)
    lines = path.read_text().splitlines()
    old = change(0, bough=1, method={"name": "forest", "options": {"random": 0.5}})
    path.write_text("".join(f"{line}\n" for line in old(lines)))
    assert import_study(path, MemoryStorage()).method.options == {"random_fraction": 0.5}


def change(line: int, **changes: Any) -> Callable[[list[str]], list[str]]:
    """Another value for some keys of a line; ... leaves the key out."""

    def work(lines: list[str]) -> list[str]:
        row = {**json.loads(lines[line]), **changes}
        text = json.dumps({key: value for key, value in row.items() if value is not ...})
        return [*lines[:line], text, *lines[line + 1 :]]

    return work


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: [], "is empty"),
        (lambda lines: ["not json"], "line 1: not valid JSON"),
        (lambda lines: ["[1]"], "line 1: not a JSON object"),
        (lambda lines: ['{"a": 1}'], "its first line has no 'bough'"),
        (lambda lines: [lines[0], *lines[2:]], "line 2: trial 0 is missing"),
        (change(0, bough=99), "line 1: its format is 99, this bough knows 1 and 2"),
        (change(0, direction="up"), "line 1: direction must be 'minimize' or 'maximize', not 'up'"),
        (change(0, name="a\x1b[2J"), "line 1: a study's name must be"),
        (change(0, name="a" * 10_000), "line 1: a study's name must be"),
        (change(0, name=3), "line 1: a study's name must be"),
        (change(0, seed=-1), "line 1: seed must be between"),
        (change(0, seed="x"), "line 1: seed must be an integer"),
        (change(0, space={}), "line 1: a space must be"),
        (change(0, space=[]), "line 1: 'space' must be an object"),
        (change(0, method="random"), "line 1: 'method' must be an object"),
        (change(0, method={"name": "TPEE", "options": {}}), "line 1: .*'TPEE'"),
        (change(0, method={"name": ["random"], "options": {}}), "line 1: 'method' must be an object"),
        (change(0, goal={}), "line 1: the study has the unknown key 'goal'"),
        (change(0, goals={}), "line 1: 'goals' needs 'objectives'"),
        (change(0, seed=...), "line 1: the study needs 'seed'"),
        (change(1, value=float("inf")), "line 2: Infinity is not a JSON number"),
        (change(1, value="abc"), "line 2: 'value' must be a number, not 'abc'"),
        (change(1, value=True), "line 2: 'value' must be a number"),
        (change(1, value=10**400), "line 2: the number 1000.* is too large"),
        (change(1, value=None), "line 2: a trial that is done has no value"),
        (change(2, value=1.0), "line 3: a trial that is failed has a value"),
        (change(1, noise=-1), "line 2: 'noise' must not be negative"),
        (change(1, state="zombie"), "line 2: the state 'zombie' is not one of"),
        (change(1, attempt=-1), "line 2: 'attempt' must be"),
        (change(1, attempt=2**40), "line 2: 'attempt' must be"),
        (change(1, finished=None), "line 2: a finished trial needs the time 'finished'"),
        (change(1, finished="today"), "line 2: 'finished' must be a number"),
        (change(1, started=1e300), r"line 2: 'started' must be a time in seconds since 1970, not 1e\+300"),
        (change(1, finished=-1), "line 2: 'finished' must be a time in seconds since 1970, not -1"),
        (change(1, measures={"memory": "much"}), "line 2: 'measures.memory' must be a number"),
        (change(1, notes=[1]), "line 2: 'notes' must be an object"),
        (change(1, mood="fine"), "line 2: a trial has the unknown key 'mood'"),
        (change(1, config=[]), "line 2: 'config' must be an object"),
        (change(1, config={"model": "svm", "C": 1e9, "scale": None}), "line 2: .*'C'"),
        (change(1, config={"model": "svm", "C": 1.0, "trees": 3, "scale": None}), "line 2: .*'trees'"),
        (lambda lines: [lines[0], lines[1].replace('"value"', '"value": 1, "value"')], "given twice"),
        (lambda lines: [lines[0], '{"number": 0, "notes": ' + "[" * 5000 + "]" * 5000 + "}"], "nested"),
    ],
)
def test_whatever_is_wrong_with_a_file_is_said_and_nothing_stored(
    damage: Callable[[list[str]], list[str]], message: str, tmp_path: Path
) -> None:
    path = written(tmp_path)
    path.write_text("".join(f"{line}\n" for line in damage(path.read_text().splitlines())))
    storage = MemoryStorage()
    with pytest.raises(StudyError, match=message) as caught:
        import_study(path, storage)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400 + len(str(path))
    assert studies(storage) == []


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b'{"bough": "\xe9"}')
    for name, message in (("none.jsonl", "cannot be read"), ("latin.jsonl", "line 1: not UTF-8 text")):
        with pytest.raises(BoughError, match=message):
            import_study(tmp_path / name, MemoryStorage())


@pytest.mark.parametrize("name", ["space.json", "space.yaml", "one-line.json"])
def test_a_space_is_not_taken_for_a_study(tmp_path: Path, name: str) -> None:
    data = Space({"x": Float(0, 1)}).to_dict()
    indent = None if name == "one-line.json" else 2  # YAML reads JSON, too
    (tmp_path / name).write_text(json.dumps(data, indent=indent))
    with pytest.raises(StudyError, match=f"{name} describes a space, not a study: 'bough run"):
        import_study(tmp_path / name, MemoryStorage())


def test_amendments_come_in_their_order(tmp_path: Path) -> None:
    study = Study(Space({"x": Float(0, 1)}), method="random", seed=0)
    study.note("first")
    study.tell(study.ask(), 1.0)
    study.note("second")
    export_study(study, tmp_path / "s.jsonl")
    assert len(import_study(tmp_path / "s.jsonl", MemoryStorage()).amendments) == 2
    *lines, first, second = (tmp_path / "s.jsonl").read_text().splitlines()
    (tmp_path / "s.jsonl").write_text("\n".join([*lines, second, first]) + "\n")
    with pytest.raises(
        StudyError, match="line 4: 'since' must not fall from one amendment to the next: 1, 0"
    ):
        import_study(tmp_path / "s.jsonl", MemoryStorage())


def test_a_space_that_was_learned_is_not_changed_by_hand(tmp_path: Path) -> None:
    path, space = written(tmp_path), SPACE.to_dict()
    bodies = {
        "learned": {"asked": ["model"], "space": space},
        "space": {"before": space, "space": space, "backfill": {}, "fix": {}},
    }
    rows = [
        {"amendment": kind, "trial": 0 if kind == "learned" else None, "since": 3, "at": 1.0, "body": body}
        for kind, body in bodies.items()
    ]
    path.write_text(path.read_text() + "".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(StudyError, match="the space is learned, or changed by hand, not both"):
        import_study(path, MemoryStorage())


def test_instances_named_after_files_that_are_not_utf_8(tmp_path: Path) -> None:
    instances = [b"caf\xe9.cnf".decode("utf-8", "surrogateescape"), "b.cnf"]
    study = Study(SPACE, method="random", seed=0)
    study.run(lambda config, instance: 1.0, 2, instances=instances, progress=False)
    export_study(study, tmp_path / "s.jsonl")
    again = import_study(tmp_path / "s.jsonl", MemoryStorage())
    assert again.amendments == study.amendments


class Mine:
    """A method with an option that JSON cannot hold."""

    def __init__(self, bound: float = 0.0) -> None:
        self.bound = bound

    def propose(self, space: Any, history: Any, rng: Any) -> Any:
        raise AssertionError("not asked")


def test_an_option_that_json_cannot_hold(tmp_path: Path) -> None:
    mine = dataclasses.make_dataclass("Mine", [("bound", float, 0.0)], bases=(Mine,))
    study = Study(SPACE, method=mine(float("inf")), seed=0)
    assert study.method.options == {"bound": float("inf")}
    export_study(study, tmp_path / "s.jsonl")
    header = json.loads((tmp_path / "s.jsonl").read_text().splitlines()[0])
    assert header["method"] == {"name": "Mine", "options": {"bound": None}}


def test_a_failed_export_leaves_the_older_file(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = path.read_text()
    storage = MemoryStorage()
    study = Study(SPACE, storage=storage, name="s")
    delete_study("s", storage)
    with pytest.raises(StudyError, match="was deleted"):
        export_study(study, path)
    assert path.read_text() == before
