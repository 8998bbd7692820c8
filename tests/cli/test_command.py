"""How a config reaches a program, and how its result is read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bough.cli.command import Command, CommandFailed, arguments, check_command, result_in
from bough.errors import ConfigError
from bough.space import Choice, Float, Space
from bough.trial import Trial

EXTRA = {"config": "/tmp/c.json", "result": "/tmp/r", "trial": "7"}


@pytest.mark.parametrize(
    ("words", "filled"),
    [
        (["p", "{a}"], ["p", "1.5"]),
        (["p", "--a={a}", "-b", "{b}"], ["p", "--a=1.5"]),
        (["p", "--b", "{b}", "--a", "{a}"], ["p", "--a", "1.5"]),
        (["p", "--b={b}", "rest"], ["p", "rest"]),
        (["p", "file", "{b}"], ["p", "file"]),
        (["p", "--x{a}", "{b}"], ["p", "--x1.5"]),
        (["p", "{a}-{word}"], ["p", "1.5-two words"]),
        (["p", "{{a}}", "{a}}}"], ["p", "{a}", "1.5}"]),
        (["p", "{config}", "{trial}"], ["p", "/tmp/c.json", "7"]),
        (["p", "--flag", "{flag}", "{nothing}"], ["p", "--flag", "true", "null"]),
        (["p", "{word}; rm -rf {a}"], ["p", "two words; rm -rf 1.5"]),
    ],
)
def test_placeholders(words: list[str], filled: list[str]):
    config = {"a": 1.5, "word": "two words", "flag": True, "nothing": None}
    assert arguments(words, config, EXTRA) == filled


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5),
        ("epoch 1 loss 0.9\nepoch 2 loss 0.25\n", 0.25),
        ("accuracy: 93.5%", 93.5),
        ("score=-1.5e-3", -1.5e-3),
        ("value .5\ndone.\n\n", 0.5),
        ("resnet50 v1.2.3 took 12s: 7", 7.0),
        ("1\nnan", float("nan")),
        ("loss inf", float("inf")),
        ('{"value": 2, "noise": 0.1}\n', 2),
        ('3\n{"value": 4}', 4),
        ('{"value": 4}\nthat was it', 4),
        ('{\n  "value": 1.25,\n  "cost": 3\n}\n', 1.25),
    ],
)
def test_the_last_number_or_object_counts(text: str, value: float):
    assert result_in(text, "standard output")["value"] == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize("text", ["", "no number here", "v1.2.3", "abc123", '{"loss": 3}', "{broken"])
def test_no_number_is_a_failure(text: str):
    with pytest.raises(CommandFailed, match="standard output"):
        result_in(text, "standard output")


def test_noise_and_cost_come_with_an_object():
    assert result_in('{"value": 1, "noise": 0.1, "cost": 5, "other": 9}', "x") == {
        "value": 1,
        "noise": 0.1,
        "cost": 5,
    }


SPACE = Space({"m": Choice({"a": {"x y": Float(0, 1)}, "b": {}})})


def test_a_command_is_checked_before_anything_runs():
    check_command([sys.executable, "{m}", "{x y}", "{config}", "{{literal}}"], SPACE)
    for words, message in (
        ([], "no command to run"),
        ([sys.executable, "{z}"], "no parameter 'z'"),
        (["/no/such/program"], "cannot be found"),
        (["program-that-does-not-exist"], "cannot be found"),
    ):
        with pytest.raises(ConfigError, match=message):
            check_command(words, SPACE)


def test_everything_a_program_is_told(tmp_path: Path):
    code = (
        "import json, os, sys; config = json.load(open(sys.argv[1]));"
        "assert config == json.loads(os.environ['BOUGH_CONFIG']) == {'m': 'a', 'x y': 0.25};"
        "assert os.environ['BOUGH_PARAM_X_Y'] == '0.25' and os.environ['BOUGH_PARAM_M'] == 'a';"
        "assert os.environ['BOUGH_TRIAL'] == '3' and os.environ['BOUGH_STUDY'] == 'study';"
        "print('chatter', file=sys.stderr); print('8');"
        "open(os.environ['BOUGH_RESULT'], 'w').write(json.dumps({'value': 9, 'cost': 2}))"
    )
    program = Command(
        (sys.executable, "-c", code.replace("{", "{{").replace("}", "}}"), "{config}"), "study", tmp_path
    )
    assert program(Trial(3, {"m": "a", "x y": 0.25}, "running", attempt=1)) == {"value": 9, "cost": 2}
    assert (tmp_path / "00003.err").read_text() == "chatter\n"
    assert (tmp_path / "00003.out").read_text() == "8\n"


def test_each_attempt_keeps_its_own_output(tmp_path: Path):
    program = Command((sys.executable, "-c", "print(1)"), "study", tmp_path)
    program(Trial(0, {}, "running", attempt=1))
    program(Trial(0, {}, "running", attempt=2))
    assert sorted(path.name for path in tmp_path.glob("*.out")) == ["00000-2.out", "00000.out"]


def test_failures_say_how(tmp_path: Path):
    def run(code: str, **options: float) -> str:
        with pytest.raises(CommandFailed) as failed:
            Command((sys.executable, "-c", code), "study", tmp_path, **options)(Trial(0, {}, "running"))
        return str(failed.value)

    assert run("import sys; sys.exit('out of luck')") == "exit code 1: out of luck"
    assert run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)") == "killed by SIGKILL"
    assert run("import time; time.sleep(60)", timeout=0.3) == "stopped after 0.3 s (--trial-timeout)"
    with pytest.raises(CommandFailed, match="cannot be started"):
        Command(("/no/such/program",), "study", tmp_path)(Trial(0, {}, "running"))


def test_a_timeout_ends_the_children_of_a_program_too(tmp_path: Path):
    mark = tmp_path / "child-was-here"
    child = f"import time; time.sleep(2); open({str(mark)!r}, 'w')"
    code = (
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    )
    words = (sys.executable, "-c", code.replace("{", "{{").replace("}", "}}"))
    with pytest.raises(CommandFailed):
        Command(words, "study", tmp_path, timeout=0.5)(Trial(0, {}, "running"))
    import time

    time.sleep(2.5)
    assert not mark.exists()


def test_config_file_holds_exact_values(tmp_path: Path):
    value = 0.1 + 0.2
    code = "import sys; print(open(sys.argv[1]).read().replace('value', ''))"
    program = Command((sys.executable, "-c", code, "{config}"), "study", tmp_path)
    with pytest.raises(CommandFailed, match="has no"):
        program(Trial(0, {"x": value}, "running"))
    assert json.loads((tmp_path / "00000.out").read_text()) == {"x": value}
