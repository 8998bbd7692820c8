"""How a program's result is read from what it printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.cli.output import TAIL_BYTES, CommandFailed, first_and_last_line, read_tail, result_in


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
        ("loss:0.25,acc:0.9", 0.9),
        ("(0.25)", 0.25),
        ("took 1,234 s: 0.5", 0.5),
        ("loss 0.5,", 0.5),
        ("loss 0.5\nfinished 2024-01-02 at 12:34:56", 0.5),
        ("loss 0.5\nepoch 3/10", 0.5),
        ("loss 0.5\n" + "9" * 100_000 + "x", 0.5),
    ],
)
def test_the_last_number_or_object_counts(text: str, value: float):
    assert result_in(text, "standard output")["value"] == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize("text", ["", "no number here", "v1.2.3", "abc123", '{"loss": 3}', "{broken"])
def test_no_number_is_a_failure(text: str):
    with pytest.raises(CommandFailed, match="standard output"):
        result_in(text, "standard output")


@pytest.mark.parametrize("text", ["loss=0,25", "1,234.5", "1.234,5", "loss 0,25\ndone"])
def test_a_comma_inside_a_number_is_refused(text: str):
    with pytest.raises(CommandFailed, match="decimal point"):
        result_in(text, "standard output")


@pytest.mark.parametrize("text", ["acc 0.95 +/- 0.02", "acc 0.95 (± 0.02)"])
def test_a_value_with_its_error_is_refused(text: str):
    with pytest.raises(CommandFailed, match="noise"):
        result_in(text, "standard output")


def test_an_object_is_kept_whole():
    told = {"value": 1, "noise": 0.1, "cost": 5, "memory": 9}
    assert result_in('log 3\n{"value": 1, "noise": 0.1, "cost": 5, "memory": 9}', "x") == told


def test_only_the_end_of_a_long_output_is_read(tmp_path: Path):
    path = tmp_path / "out"
    path.write_text("first line\n" + "chatter 1\n" * 300_000 + "loss 0.25\n")
    text = read_tail(path)
    assert len(text) <= TAIL_BYTES and text.startswith("chatter") and text.endswith("loss 0.25\n")
    assert first_and_last_line(path, 0) == ("first line", "loss 0.25")
    assert first_and_last_line(path, len("first line\n")) == ("chatter 1", "loss 0.25")
    path.write_text("x " * TAIL_BYTES + "7")
    assert result_in(read_tail(path), "x") == {"value": 7}
