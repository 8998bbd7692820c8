"""``bough import`` of tables and of Optuna studies."""

from __future__ import annotations

from pathlib import Path

import optuna
import pytest

import bough
from bough.cli import main

optuna.logging.set_verbosity(optuna.logging.WARNING)

SPACE = '{"x": {"type": "float", "low": 0, "high": 1}, "n": {"type": "int", "low": 1, "high": 3}}'


Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *words: str) -> tuple[int, str]:
    code = main(["import", *words])
    return code, capsys.readouterr().err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BOUGH_STORAGE", raising=False)
    (tmp_path / "space.json").write_text(SPACE)
    (tmp_path / "runs.csv").write_text("rate,n,acc\n0.5,1,0.9\n0.25,3,0.8\n")
    return tmp_path


def test_a_table(folder: Path, capsys: Capture) -> None:
    options = ["--space", "space.json", "--value", "acc", "--map", "rate=x", "--direction", "maximize"]
    code, err = run(capsys, "runs.csv", "--name", "s", *options)
    assert code == 0 and "imported 's' with 2 trials" in err
    study = bough.open_study("s", "sqlite:///bough.db")
    assert study.best.config == {"x": 0.5, "n": 1} and study.best.value == 0.9
    code, err = run(capsys, "runs.csv", "--name", "s", *options)
    assert code == 2 and "exists already: --name NAME imports it under another name" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["runs.csv"], "runs.csv is a table of results: pass --value COLUMN, --space and --name"),
        (["runs.csv", "--value", "acc"], "needs --space SPACE and --name NAME"),
        (["runs.csv", "--map", "rate=x"], "--map is for a table of results"),
        (
            ["runs.csv", "--value", "acc", "--space", "space.json", "--name", "s", "--map", "x"],
            "must be COLUMN=NAME",
        ),
        (
            ["runs.csv", "--value", "acc", "--space", "space.json", "--name", "s"],
            "line 2: parameter 'x' is active",
        ),
        (["optuna:sqlite:///no.db#s"], "there is no file no.db"),
        (["optuna:runs.csv#s"], "cannot be read as a storage of Optuna"),
        (["optuna:sqlite:///o.db"], "must name a storage of Optuna and a study: optuna:URL#STUDY"),
    ],
)
def test_mistakes(words: list[str], says: str, folder: Path, capsys: Capture) -> None:
    code, err = run(capsys, *words)
    assert code == 2
    assert says in err and err.count("\n") == 1
    assert not (folder / "bough.db").exists() and not (folder / "no.db").exists()


def test_an_optuna_study(folder: Path, capsys: Capture) -> None:
    there = optuna.create_study(study_name="there", storage="sqlite:///optuna.db", direction="maximize")
    there.add_trials(
        [
            optuna.create_trial(
                params={"x": x}, distributions={"x": optuna.distributions.FloatDistribution(0, 1)}, value=x
            )
            for x in (0.25, 0.75)
        ]
    )
    assert run(capsys, "optuna:sqlite:///optuna.db#there", "--name", "here")[0] == 0
    study = bough.open_study("here", "sqlite:///bough.db")
    assert study.best.value == 0.75 and study.direction == "maximize"
    _, err = run(capsys, "optuna:sqlite:///optuna.db#where")
    assert "has no Optuna study 'where': there are 'there'" in err


@pytest.mark.parametrize(("file", "name"), [("optuna.db", "a#b"), ("run#3.db", "plain"), ("run#3.db", "a#b")])
def test_an_optuna_study_whose_name_or_file_has_a_number_sign(
    folder: Path, capsys: Capture, file: str, name: str
) -> None:
    there = optuna.create_study(study_name=name, storage=f"sqlite:///{file}")
    there.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    assert run(capsys, f"optuna:sqlite:///{file}#{name}")[0] == 0
    assert len(bough.open_study(name, "sqlite:///bough.db").trials) == 2
