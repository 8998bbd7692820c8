"""How a config fills a command: which words stay, which are left out, and which commands are refused."""

from __future__ import annotations

import sys

import pytest

from bough.cli.placeholders import check_command, example_configs, fill, units_of
from bough.errors import ConfigError
from bough.space import Categorical, Choice, Float, Space

FILES = {"config": "/tmp/c.json", "result": "/tmp/r", "trial": "7"}
CONFIG = {"a": 1.5, "word": "two words", "flag": True, "nothing": None, "learning_rate": 0.1}
"""Every other name is inactive."""


@pytest.mark.parametrize(
    ("command", "filled"),
    [
        ("p {a}", "p 1.5"),
        ("p --a={a} --b {b}", "p --a=1.5"),
        ("p --b {b} --a {a}", "p --a 1.5"),
        ("p --b={b} rest", "p rest"),
        ("p file {b}", "p file"),
        ("p --x{a} {b}", "p --x1.5"),
        ("p --verbose --b={b} -b{b}", "p --verbose"),
        ("p --Deep-Rate {deep_rate} --learning-rate {learning_rate}", "p --learning-rate 0.1"),
        ("p {{a}} {a}}}", "p {a} 1.5}"),
        ("p {config} {trial}", "p /tmp/c.json 7"),
        ("p --fast {flag} {nothing}", "p --fast true null"),
        ("p [ --param k={b} ] end", "p end"),
        ("p [ --param k={a} ] end", "p --param k=1.5 end"),
        ("p --fast [ {b} ] end", "p --fast end"),
        ("p [ --range {a} {b} ]", "p"),
        ("p -5 {b}", "p -5"),
        ("p -- {b}", "p --"),
        ("p [[ {a} ]]", "p [ 1.5 ]"),
        ("p [a-z] x[{a}]", "p [a-z] x[1.5]"),
        ('p {"k":{a}} {{{a}', 'p {"k":1.5} {1.5'),
    ],
)
def test_placeholders(command: str, filled: str):
    assert fill(units_of(command.split()), CONFIG, FILES) == filled.split()


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("{rate", "'{rate' has '{' without '}'; write '{{' for a plain brace"),
        ("rate}", "'rate}' has '}' without '{'; write '}}' for a plain brace"),
        ("{a} {rate", "'{a} {rate' has '{' without '}'; write '{{' for a plain brace"),
    ],
)
def test_a_brace_without_the_other_one(word: str, message: str):
    with pytest.raises(ConfigError) as caught:
        units_of(["p", word])
    assert str(caught.value) == message


def test_a_value_is_one_argument_whatever_it_holds():
    assert fill(units_of(["p", "{word}; rm -rf {a}"]), CONFIG, FILES) == ["p", "two words; rm -rf 1.5"]


@pytest.mark.parametrize("command", ["p --fast {b}", "p --param k={b}", "p -O2 {b}", "p --range {a}:{b}"])
def test_an_unclear_flag_is_never_guessed(command: str):
    with pytest.raises(ConfigError, match="may or may not belong"):
        fill(units_of(command.split()), CONFIG, FILES)


SPACE = Space(
    {
        "m": Choice({"a": {"x y": Float(0, 1), "C": Float(0, 1)}, "b": {"C": Float(0, 2)}}),
        "rate": Float(0, 1, when="m == 'a'"),
        "always": Categorical(["1", "2"]),
    }
)


@pytest.mark.parametrize(
    "words",
    [
        ["{m}", "{x y}", "{config}", "{{literal}}"],
        ["--rate", "{rate}"],
        ["-r={rate}"],
        ["[", "-r", "{rate}", "]"],
        ["-m", "{m}", "-k", "k={always}"],
        ["-c", "{C}"],  # declared on both branches, so always active
    ],
)
def test_clear_commands_are_accepted(words: list[str]):
    units = check_command([sys.executable, *words], SPACE)
    for config in SPACE.sample(20, 0):
        fill(units, config, FILES)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command to run"),
        ([sys.executable, "{z}"], r"no parameter 'z'; there are also \{config\}"),
        ([sys.executable, "{rat}"], r"no parameter 'rat'; did you mean \{rate\}\?"),
        (["/no/such/program"], "cannot be found"),
        (["program-that-does-not-exist"], "cannot be found"),
        (
            [sys.executable, "-r", "{rate}"],
            r"-r \{rate\}: .* write \[ -r \{rate\} \] .* or -r \[ \{rate\} \]",
        ),
        ([sys.executable, "--param", "k={rate}"], "may or may not belong"),
        ([sys.executable, "[", "-r", "{rate}"], r"'\[' without '\]'"),
        ([sys.executable, "{rate}", "]"], r"'\]' without '\['"),
        ([sys.executable, "[", "[", "{rate}", "]", "]"], "do not nest"),
        ([sys.executable, "[", "-v", "]"], "no placeholder"),
        (["{rate}"], "program's name"),
    ],
)
def test_wrong_commands_are_refused_before_anything_runs(words: list[str], message: str):
    with pytest.raises(ConfigError, match=message):
        check_command(words, SPACE)


def test_examples_are_on_different_branches():
    configs = example_configs(SPACE, 2, seed=None)
    assert {config["m"] for config in configs} == {"a", "b"}
    assert len(example_configs(Space({"x": Float(0, 1)}), 3, seed=1)) == 3
