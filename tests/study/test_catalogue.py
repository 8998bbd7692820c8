"""Opening by name, listing, copying, deleting, files."""

from __future__ import annotations

import errno
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from bough.errors import MethodError, StorageError, StudyError
from bough.space import Choice, Float, Int, Space
from bough.storage import Amendment, Changes, MemoryStorage
from bough.study import (
    Study,
    copy_study,
    delete_study,
    export_study,
    import_study,
    open_study,
    studies,
)
from bough.study.catalogue import create_study
from bough.trial import Trial

PARAMETERS = {"model": Choice({"svm": {"C": Float(0.1, 10.0)}, "bayes": {}}), "n": Int(1, 2**50)}
SPACE = Space(PARAMETERS)


def new_study(storage: Any, name: str = "s", **more: Any) -> Study:
    return Study(SPACE, **{"name": name, "storage": storage, "method": "random", "seed": 7, **more})


def full_study(storage: Any) -> Study:
    study = new_study(storage)
    done, failed, *_ = study.ask(3)
    study.tell(done, 0.1 + 0.2, noise=1e-300, cost=-0.0)
    study.fail(failed, "naïve \n reason")
    study.enqueue({"model": "bayes", "n": 2**50 - 1})
    study.add({"model": "svm", "C": 1 / 3, "n": 1}, 5e-324)
    return study


# ---- opening ---------------------------------------------------------------------------------------


def test_opened_by_name(storage_url: str | None) -> None:
    storage = storage_url or MemoryStorage()
    first = full_study(storage)
    for again in (new_study(storage), open_study("s", storage), Study(SPACE, name="s", storage=storage)):
        assert again.trials == first.trials
        assert (again.seed, again.method, again.direction) == (7, first.method, "minimize")
        assert again.space == SPACE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direction": "maximize"}, "its direction is minimize, not maximize"),
        ({"seed": 8}, r"its seed is 7, not 8 \(leave seed out to continue the study\); use another name"),
        ({"method": "sobol"}, r"its method is .*random.*, not .*sobol.* \(leave method out to continue"),
    ],
)
def test_what_differs_is_said(change: dict[str, Any], message: str) -> None:
    storage = MemoryStorage()
    study = new_study(storage)
    with pytest.raises(StudyError, match=f"study 's' exists and differs: {message}"):
        new_study(storage, **change)
    assert study.trials == []


@pytest.mark.parametrize(
    ("parameters", "forbid", "message"),
    [
        ({**PARAMETERS, "extra": Int(1, 2)}, [], "lacks your parameter 'extra'"),
        ({"model": PARAMETERS["model"]}, [], "has a parameter 'n' that yours lacks"),
        ({**PARAMETERS, "n": Int(1, 9)}, [], "its parameter 'n' is .*, not .*9"),
        (
            {**PARAMETERS, "model": Choice({"svm": {"C": Float(0.1, 99.0)}, "bayes": {}})},
            [],
            r"its parameter 'model=svm/C' is float 0\.1 to 10, not float 0\.1 to 99;",
        ),
        ({**PARAMETERS, "n": Int(1, 2**50, when="model == 'svm'")}, [], "its parameter 'n' is"),
        (PARAMETERS, ["n == 3"], r"its forbidden clauses are \[\], not .*n == 3"),
    ],
)
def test_the_parameter_that_differs_is_named(parameters: Any, forbid: list[str], message: str) -> None:
    storage = MemoryStorage()
    new_study(storage)
    with pytest.raises(StudyError, match=message):
        Study(Space(parameters, forbid), name="s", storage=storage)


def test_an_equal_space_in_another_order_gives_the_same_proposals() -> None:
    storage = MemoryStorage()
    expected = [trial.config for trial in new_study(None).ask(6)]
    new_study(storage)
    turned = Space(dict(reversed(PARAMETERS.items())))
    assert [trial.config for trial in Study(turned, name="s", storage=storage).ask(6)] == expected


def test_a_stored_study_needs_a_name(sqlite_url: str) -> None:
    with pytest.raises(StudyError, match="needs a name: pass name="):
        Study(SPACE, storage=sqlite_url)
    assert Study(SPACE, method="random").name == "study"


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"name": ""}, StudyError),
        ({"name": "a\0b"}, StudyError),
        ({"name": "x" * 201}, StudyError),
        ({"name": 3}, StudyError),
        ({"direction": "sideways"}, StudyError),
        ({"seed": -1}, StudyError),
        ({"seed": 1.5}, StudyError),
        ({"seed": True}, StudyError),
        ({"seed": 2**63}, StudyError),
        ({"method": "rnadom"}, MethodError),
    ],
    ids=str,
)
def test_wrong_arguments(wrong: dict[str, Any], error: type[Exception]) -> None:
    storage = MemoryStorage()
    with pytest.raises(error):
        new_study(storage, **wrong)
    assert studies(storage) == []


def test_no_such_study(storage_url: str | None) -> None:
    storage = storage_url or MemoryStorage()
    nothing = r"has no study yet|there is no such file|no bough studies"
    with pytest.raises((StudyError, StorageError), match=nothing):
        open_study("x", storage)
    new_study(storage)
    for call in (open_study, delete_study):
        with pytest.raises(StudyError, match="there is no study 'x'; there are 's'"):
            call("x", storage)


# ---- listing, copying, deleting --------------------------------------------------------------------


def test_list_and_delete(storage_url: str | None) -> None:
    storage = storage_url or MemoryStorage()
    for name in ("one", "zwei", "три"):
        new_study(storage, name)
    assert [record.name for record in studies(storage)] == ["one", "zwei", "три"]
    assert "svm" in studies(storage)[0].space and "svm" not in repr(studies(storage))
    held = open_study("zwei", storage)
    delete_study("zwei", storage)
    assert [record.name for record in studies(storage)] == ["one", "три"]
    with pytest.raises(StudyError, match="deleted"):
        held.ask()


def waiting(study: Study) -> list[Any]:
    """What a copy must have of a study: finished trials as they are, others waiting."""
    return [
        (t.number, t.config, t.state if t.is_finished else "queued", t.value, t.noise, t.cost, t.error)
        for t in study.trials
    ]


def test_copy(storage_url: str | None) -> None:
    original = full_study(MemoryStorage())
    copy = copy_study(original, "copy", storage_url or MemoryStorage())
    assert waiting(copy) == waiting(original)
    assert copy.best == original.best
    assert copy.seed == original.seed
    assert [copy.ask().number, copy.ask().number, copy.ask().number] == [2, 3, 5], (
        "the waiting ones, then a new one"
    )
    assert [trial.state for trial in original.trials].count("running") == 1
    with pytest.raises(StudyError, match="'copy' exists already"):
        copy_study(original, "copy", copy._storage)


def test_export_and_import_are_exact(storage_url: str | None, tmp_path: Path) -> None:
    original = full_study(MemoryStorage())
    export_study(original, tmp_path / "s.jsonl")
    storage = storage_url or MemoryStorage()
    imported = import_study(tmp_path / "s.jsonl", storage)
    assert waiting(imported) == waiting(original)
    assert repr(imported.trials[0].cost) == "-0.0"
    assert [trial for trial in imported.trials if trial.is_finished] == [
        trial for trial in original.trials if trial.is_finished
    ]
    assert (imported.name, imported.space, imported.seed) == ("s", SPACE, 7)
    assert import_study(tmp_path / "s.jsonl", storage, name="t").name == "t"
    with pytest.raises(StudyError, match="'s' exists already"):
        import_study(tmp_path / "s.jsonl", storage)
    lines = (tmp_path / "s.jsonl").read_text().splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 2}, "its seed is 1"),
        ({"method": "tpe"}, "its method is"),
        ({"stopping": "none"}, "its stop"),
    ],
)
def test_what_differs_is_said_though_the_parameters_are_in_another_order(change: Any, message: str) -> None:
    storage, parameters = MemoryStorage(), {"a": Float(0, 1), "b": Float(0, 1)}
    Study(Space(parameters), name="s", storage=storage, method="random", seed=1)
    turned = Space(dict(reversed(parameters.items())))
    assert Study(turned, name="s", storage=storage).seed == 1
    with pytest.raises(StudyError, match=message):
        Study(turned, name="s", storage=storage, **change)


def test_a_copy_with_an_amendment_about_a_trial_that_is_missing_is_not_stored() -> None:
    original, storage = full_study(MemoryStorage()), MemoryStorage()
    original.retract(4, "the sensor was off")
    record, trials, amendments = original.snapshot()
    with pytest.raises(StudyError, match="study 'copy' has no trial 4, which an amendment names"):
        create_study(record, trials[:4], amendments, "copy", storage)
    assert studies(storage) == []


class Busy(MemoryStorage):
    """Each time it is read, another process tells a trial and retracts it right after."""

    busy, retracted = False, 0

    def changes(self, study: int, since: int) -> Changes:
        found = super().changes(study, since)
        if self.busy:
            (trial,) = self.insert(study, [Trial(-1, {"model": "bayes", "n": 1}, "done", value=1.0)])
            self.amend(study, Amendment("retract", {"reason": "no"}, trial.number), after=self.retracted)
            self.retracted += 1
        return found


def test_files_and_copies_are_of_one_moment(tmp_path: Path) -> None:
    original = full_study(storage := Busy())
    storage.busy = True
    export_study(original, tmp_path / "s.jsonl")
    copies = [import_study(tmp_path / "s.jsonl", None), copy_study(original, "copy", MemoryStorage())]
    for other in copies:
        assert len(other.amendments) == len(other.trials) - 5


@pytest.mark.parametrize("path", ["s.jsonl", "link.jsonl"])
def test_an_export_that_fails_leaves_the_former_file(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = full_study(MemoryStorage())
    (tmp_path / "link.jsonl").symlink_to("s.jsonl")
    export_study(study, tmp_path / path)
    (tmp_path / "s.jsonl").chmod(0o640)
    before = (tmp_path / "s.jsonl").read_text()
    study.note("more")

    def full_disk(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full_disk)
        with pytest.raises(StudyError, match=rf"cannot write .*{path}: No space left on device"):
            export_study(study, tmp_path / path)
    assert (tmp_path / "s.jsonl").read_text() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.jsonl", "s.jsonl"]
    export_study(study, tmp_path / path)
    assert (tmp_path / "s.jsonl").read_text() != before
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "s.jsonl").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("path", [None, 5, "a\0b"])
def test_a_path_that_is_none(path: Any) -> None:
    with pytest.raises(StudyError, match="a file is named by its path, not"):
        export_study(full_study(MemoryStorage()), path)
    with pytest.raises(StudyError, match="a file is named by its path, not"):
        import_study(path, MemoryStorage())


def test_a_name_in_place_of_a_study(tmp_path: Path) -> None:
    for act in (
        lambda: copy_study("s", "t", MemoryStorage()),
        lambda: export_study("s", tmp_path / "s.jsonl"),
    ):
        with pytest.raises(
            StudyError, match=r"^give the study, not 's': bough\.open_study\(name, storage\)$"
        ):
            act()


def test_the_suffix_decides_the_format(tmp_path: Path) -> None:
    study = full_study(MemoryStorage())
    export_study(study, tmp_path / "s.CSV")
    head = (tmp_path / "s.CSV").read_text(encoding="utf-8").splitlines()[0]
    assert head.startswith("number,state,value,noise,cost,attempt")
    for name in ("s.parquet", "s.html", "s.PNG", "s.2024", "s.jsonl.bak", "s.txt", "s.jsonl.gz"):
        with pytest.raises(StudyError, match=r"cannot write \.\w+ files: .* must end in \.jsonl .* or \.csv"):
            export_study(study, tmp_path / name)
    for name in ("s", ".s"):
        export_study(study, tmp_path / name)
        assert len(import_study(tmp_path / name, MemoryStorage()).trials) == len(study.trials)


def test_an_export_into_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    texts: list[str] = []
    reader = threading.Thread(target=lambda: texts.append((tmp_path / "pipe").read_text()))
    reader.start()
    export_study(full_study(MemoryStorage()), tmp_path / "pipe")
    reader.join(60)
    assert texts[0].count("\n") == 6


def test_an_export_to_nowhere_names_the_file(tmp_path):
    study = Study(Space({"x": Float(0, 1)}))
    with pytest.raises(StudyError, match=r"cannot write .*none/s\.jsonl: No such file"):
        export_study(study, tmp_path / "none" / "s.jsonl")


@pytest.mark.parametrize("act", [open_study, delete_study])
def test_a_name_that_is_no_text(act: Any, tmp_path: Path) -> None:
    """A storage takes None for all studies, of which the first one was opened, or deleted."""
    url = f"sqlite:///{tmp_path}/s.db"
    new_study(url)
    for name in (5, None):
        with pytest.raises(StudyError, match=f"there is no study {name}; there are 's'"):
            act(name, url)
    assert [record.name for record in studies(url)] == ["s"]
