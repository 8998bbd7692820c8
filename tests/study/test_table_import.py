"""Tables of earlier results: columns become parameters, measures and values; mistakes name their line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.errors import StudyError
from bough.study import add_results

SPACE = bough.Space(
    {
        "model": bough.Choice({"svm": {"C": bough.Float(0, 10)}, "forest": {"depth": bough.Int(1, 9)}}),
        "scale": bough.Categorical([True, False, None, "none", 2]),
    }
)


def table(folder: Path, text: str, name: str = "runs.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


CSV = """model,c value,depth,scale,loss,seconds,host
svm,1.5,7,True,0.5,10,a
forest,,3.0,2,0.25,20.5,b
forest,99,4,none,nan,,c
"""


def test_a_csv_with_a_map(tmp_path: Path) -> None:
    study = bough.Study(SPACE, direction="maximize")
    trials = add_results(study, table(tmp_path, CSV), value="loss", columns={"c value": "C"})
    assert [trial.config for trial in trials] == [
        {"model": "svm", "C": 1.5, "scale": True},
        {"model": "forest", "depth": 3, "scale": 2},
        {"model": "forest", "depth": 4, "scale": "none"},
    ]
    assert [trial.value for trial in trials] == [0.5, 0.25, None]
    assert [trial.state for trial in trials] == ["done", "done", "failed"]
    assert trials[1].measures["seconds"] == 20.5 and trials[0].was_added
    assert study.best.value == 0.5


def test_json_lines_with_objectives_and_noise(tmp_path: Path) -> None:
    rows = [
        {"model": "svm", "C": 1, "scale": None, "error": 0.5, "memory": 100, "sd": 0.1},
        {"model": "forest", "depth": 2, "C": None, "scale": "none", "error": 0.1, "memory": 900, "sd": 0.2},
    ]
    path = table(tmp_path, "\n".join(map(json.dumps, rows)), "runs.jsonl")
    study = bough.Study(SPACE, objectives=["error"], constraints=["memory <= 512"])
    trials = add_results(study, path, noise="sd")
    assert [trial.feasible for trial in trials] == [True, False]
    assert [trial.config["scale"] for trial in trials] == [None, "none"]
    assert trials[0].noise == 0.1


LINE = bough.Space({"x": bough.Float(0, 1)})


def test_a_column_that_another_one_replaces_may_be_the_noise(tmp_path: Path) -> None:
    path = table(tmp_path, "x,loss,value\n0.9,1,0.5\n")
    (trial,) = add_results(bough.Study(LINE), path, value="loss", noise="value")
    assert (trial.value, trial.noise) == (1.0, 0.5)


@pytest.mark.parametrize("header", ["rate,x,loss,value", "rate,x,loss,value,,"])
def test_a_named_column_takes_the_place_of_one_that_has_the_name(header: str, tmp_path: Path) -> None:
    row = "0.9,0.1,1,700" + "," * (header.count(",") - 3)
    path = table(tmp_path, f"{header}\n{row}\n")
    (trial,) = add_results(bough.Study(LINE), path, value="loss", columns={"rate": "x"})
    assert (trial.config, trial.value, trial.measures) == ({"x": 0.9}, 1.0, {})


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("x,x,loss\n0.9,0.1,1\n", {"value": "loss"}, "has two columns 'x': rename or delete one"),
        (
            "a,b,loss\n0.9,0.1,1\n",
            {"value": "loss", "columns": {"a": "x", "b": "x"}},
            "'x' is read from one column, not from 'a' and 'b'",
        ),
        ("x,loss\n0.9,1\n", {"value": "loss", "noise": "loss"}, "'loss' is either 'value' or the noise"),
        ("x,value\n0.9,1\n", {"noise": "value"}, "'value' is either 'value' or the noise"),
        ("x,value\n0.9,1\n", {"noise": "x"}, "'x' is either 'x' or the noise"),
        ("x,loss,sd\n1,1,1\n0,1,-1\n", {"value": "loss", "noise": "sd"}, "line 3: noise must be finite"),
    ],
)
def test_columns_that_contradict_each_other(
    text: str, options: dict[str, Any], says: str, tmp_path: Path
) -> None:
    study = bough.Study(LINE)
    with pytest.raises(StudyError, match=says):
        add_results(study, table(tmp_path, text), **options)
    assert not study.trials


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        (CSV, {"value": "error"}, "has no column 'error': there are 'model', 'c value'"),
        (CSV, {}, "has no column for 'value'"),
        (CSV, {"value": "loss", "columns": {"c value": "gamma"}}, "'gamma' is neither a parameter nor"),
        (CSV, {"value": "loss"}, "line 2: parameter 'C' is active, but no column has its name"),
        (
            CSV.replace("1.5", ""),
            {"value": "loss", "columns": {"c value": "C"}},
            "line 2: parameter 'C' is active, but has no value",
        ),
        (
            CSV.replace("1.5", "15"),
            {"value": "loss", "columns": {"c value": "C"}},
            "line 2: parameter 'C' must",
        ),
        (
            CSV.replace("0.25", "fast"),
            {"value": "loss", "columns": {"c value": "C"}},
            "line 3: column 'value' must",
        ),
        (CSV + "svm,1\n", {"value": "loss"}, "line 5: the row and the header differ in length"),
        (CSV.replace("svm", "boost"), {"value": "loss"}, "line 2: parameter 'model' must be one of"),
        ("model\n", {"value": "loss"}, "has no rows"),
    ],
)
def test_mistakes_in_a_table(text: str, options: dict[str, object], says: str, tmp_path: Path) -> None:
    study = bough.Study(SPACE)
    with pytest.raises(StudyError, match=says) as caught:
        add_results(study, table(tmp_path, text), **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert not study.trials


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    study = bough.Study(SPACE)
    for name, text, says in [
        ("runs.xlsx", "x", "must end in one of .csv"),
        ("runs.jsonl", "[1]", "line 1: must be a JSON object"),
    ]:
        with pytest.raises(StudyError, match=says):
            add_results(study, table(tmp_path, text, name), value="loss")
    with pytest.raises(StudyError, match=r"reads a file, not list: study\.add_many takes"):
        add_results(study, [{"model": "svm", "C": 1.0, "loss": 0.5}], value="loss")  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="cannot be read"):
        add_results(study, tmp_path / "missing.csv", value="loss")


def test_texts_with_line_ends(tmp_path: Path) -> None:
    """U+2028 ends a line for ``str.splitlines``, but neither in CSV nor in JSON."""
    options = ["a\nb", "c\r\nd", "e\u2028f", "g\x85h"]
    study = bough.Study(bough.Space({"t": bough.Categorical(options)}))
    csv_text = "t,value\r\n" + "".join(f'"{option}",{i}\r\n' for i, option in enumerate(options))
    rows = [json.dumps({"t": option, "value": i}, ensure_ascii=False) for i, option in enumerate(options)]
    for name, text in (("runs.csv", csv_text), ("runs.jsonl", "\n".join(rows))):
        (tmp_path / name).write_bytes(text.encode())
        trials = add_results(study, tmp_path / name)
        assert [trial.config["t"] for trial in trials] == options


def test_more_mistakes_in_a_table(tmp_path: Path) -> None:
    study = bough.Study(SPACE, objectives=[], constraints=["memory <= 5"])
    with pytest.raises(StudyError, match="has no objective: leave value= out"):
        add_results(study, table(tmp_path, CSV), value="loss")
    with pytest.raises(StudyError, match="columns must be a dict"):
        add_results(study, table(tmp_path, CSV), columns=["c value"])  # type: ignore[arg-type]
    with pytest.raises(StudyError, match=r"runs\.csv, line \d: field larger than field limit"):
        add_results(study, table(tmp_path, CSV + "a" * 200_000 + "\n"))
