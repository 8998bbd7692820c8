"""``bough run`` on programs that work, fail, hang, babble and die, and after bough itself was killed."""

from __future__ import annotations

import contextlib
import json
import shlex
import signal
import sqlite3
import sys
import time
from pathlib import Path

import pytest

from bough.errors import StorageError, StudyError
from bough.study import open_study
from bough.study.running.executors import THREAD_VARIABLES

from .programs import STUBBORN_PARENT, alive, bough, bough_here, pid_in, script, start, write_space

SHELL = """#!/bin/sh
case "$1" in
  svm) echo "score $2" ;;
  forest) echo "no trees today" >&2; exit 3 ;;
  *) echo '{"value": 0.5}' ;;
esac
"""
PYTHON = f"""#!{sys.executable} -IS
import json, sys
config = json.load(open(sys.argv[1]))
print("training", file=sys.stderr)
print(json.dumps(dict(value=(config["x"] - 0.3) ** 2 + len(config), cost=1.5)))
"""


def trials(folder: Path, name: str = "space") -> list:
    return open_study(name, f"sqlite:///{folder}/bough.db").trials


def test_a_shell_script_that_fails_on_one_branch(tmp_path: Path):
    write_space(tmp_path)
    program = script(tmp_path, "program.sh", SHELL)
    done = bough(
        "run", "space.yaml", "-n", "24", "--method", "random", "--seed", "1", "-w", "2",
        "--", program, "{model}", "{x}", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "best of 24 trials" in done.stdout
    kept = trials(tmp_path)
    assert len(kept) == 24
    for trial in kept:
        match trial.config["model"]:
            case "svm":
                assert trial.value == trial.config["x"]
            case "forest":
                assert trial.state == "failed" and trial.error.startswith("exit code 3: no trees today")
                assert trial.error.endswith(f"; command: {program} forest {trial.config['x']}")
                log = tmp_path / "space.logs" / f"{trial.number:05}.err"
                assert log.read_text() == f"$ {program} forest {trial.config['x']}\nno trees today\n"
            case "bayes":
                assert trial.value == 0.5
    assert {t.state for t in kept} == {"done", "failed"}


@pytest.mark.parametrize(("given", "workers", "seen"), [(None, 99, 1), (None, 1, 0), ("7", 99, 7)])
def test_programs_share_the_cores(
    given: str | None, workers: int, seen: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    if given:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    write_space(tmp_path)
    program = ["sh", "-c", "echo ${{OMP_NUM_THREADS:-0}}"]
    done = bough("run", "space.yaml", "-n", "2", "-w", str(workers), "--", *program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {trial.value for trial in trials(tmp_path)} == {seen}


def test_a_python_script_maximised_and_continued_by_the_same_command(tmp_path: Path):
    write_space(tmp_path)
    program = script(tmp_path, "program.py", PYTHON)
    words = ("run", "space.yaml", "--maximize", "--method", "random", "--seed", "1", "--json")
    first = bough_here(*words, "-n", "3", "--", program, "{config}", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    again = bough_here(*words, "-n", "5", "--", program, "{config}", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    kept = trials(tmp_path)
    assert [t.number for t in kept] == list(range(5))
    assert all(t.cost == 1.5 for t in kept)
    best = max(kept, key=lambda t: t.value)
    assert json.loads(again.stdout) == {
        "study": "space",
        "number": best.number,
        "value": best.value,
        "config": best.config,
    }
    # the same seed gives the same trials whether or not the run was interrupted
    whole = bough_here(*words, "-n", "5", "--name", "whole", "--", program, "{config}", cwd=tmp_path)
    assert whole.returncode == 0
    assert [t.config for t in trials(tmp_path, "whole")] == [t.config for t in kept]


def test_hanging_and_babbling_programs_fail_their_trials_only(tmp_path: Path):
    write_space(tmp_path)
    program = script(
        tmp_path,
        "program.sh",
        '#!/bin/sh\ncase "$1" in svm) sleep 60;; forest) echo garbage, no digits;; *) echo 1;; esac\n',
    )
    done = bough_here(
        "run", "space.yaml", "-n", "9", "--method", "random", "--seed", "2", "--trial-timeout", "1",
        "-w", "3", "--", program, "{model}", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    errors = {t.config["model"]: t.error for t in trials(tmp_path)}
    assert errors["svm"].startswith("stopped after 1 s (--trial-timeout)")
    assert errors["forest"] is not None and errors["forest"].startswith("no number on standard output")
    assert errors["bayes"] is None


def test_a_program_that_always_fails_is_exit_code_1(tmp_path: Path):
    write_space(tmp_path)
    done = bough_here("run", "space.yaml", "-n", "3", "--method", "random", "--", "false", cwd=tmp_path)
    assert done.returncode == 1
    assert "no trial gave a result" in done.stderr and "Traceback" not in done.stderr
    done = bough_here("run", "space.yaml", "-n", "30", "--method", "random", "--", "false", cwd=tmp_path)
    assert done.returncode == 1
    assert "trials of study 'space' failed" in done.stderr and "Traceback" not in done.stderr


def test_ctrl_c_keeps_everything_and_the_same_command_goes_on(tmp_path: Path):
    write_space(tmp_path)
    program = script(tmp_path, "program.sh", "#!/bin/sh\nsleep 0.3\necho $1\n")
    words = ("run", "space.yaml", "-n", "8", "--method", "random", "--seed", "3", "--", program, "{x}")
    running = start(*words, cwd=tmp_path)
    _wait_for(tmp_path, 2)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert err.count("all results are kept") == 1 and "Traceback" not in err
    before = [t for t in trials(tmp_path) if t.state == "done"]
    assert len(before) >= 2
    assert not [t for t in trials(tmp_path) if t.state == "running"]
    again = bough(*words, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    after = trials(tmp_path)
    assert len(after) == 8 and all(t.state == "done" for t in after)
    assert [t.value for t in after[: len(before)]] == [t.value for t in before]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGKILL])
def test_no_program_outlives_bough(number: signal.Signals, tmp_path: Path):
    """Neither the programs nor their children, however bough ends."""
    write_space(tmp_path)
    program = script(tmp_path, "program.py", STUBBORN_PARENT)
    words = ("run", "space.yaml", "-n", "4", "-w", "2", "--method", "random")
    ended = start(*words, "--", program, str(tmp_path / "pid{trial}"), cwd=tmp_path)
    children = [pid_in(tmp_path / f"pid{trial}") for trial in (0, 1)]
    ended.send_signal(number)
    _, err = ended.communicate(timeout=60)
    assert ended.returncode == (-9 if number == signal.SIGKILL else 128 + number), err
    assert not any(alive(child) for child in children)
    if number != signal.SIGKILL:
        assert [trial.state for trial in trials(tmp_path)] == ["queued", "queued"]


def test_progress_without_a_terminal_is_a_line_per_trial(tmp_path: Path):
    write_space(tmp_path)
    words = ("run", "space.yaml", "--method", "random")
    done = bough_here(*words, "-n", "2", "--", "echo", "0.5", cwd=tmp_path)
    models = [trial.config["model"] for trial in trials(tmp_path)]
    lines = [f"bough: trial {i}: 0.5 ({models[i]}), best 0.5 (trial 0), {i + 1}/2\n" for i in range(2)]
    assert done.stderr == "".join(lines)
    again = bough_here(*words, "-n", "2", "--", "echo", "0.5", cwd=tmp_path)
    assert "has 2 trials already" in again.stderr and again.returncode == 0
    for silent in (("-n", "3", "--progress", "none"), ("-n", "4", "-q")):
        assert bough_here(*words, *silent, "--", "echo", "0.5", cwd=tmp_path).stderr == ""


def test_a_dry_run_prints_commands_and_creates_nothing(tmp_path: Path):
    write_space(tmp_path)
    words = ("run", "space.yaml", "--dry-run", "--")
    done = bough_here(
        *words, "echo", "{model}", "[", "-c", "{C}", "]", "--trees", "{trees}", "a b", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    lines = sorted(shlex.split(line) for line in done.stdout.splitlines())
    assert lines[0] == ["echo", "bayes", "a b"]
    assert lines[1][:3] == ["echo", "forest", "--trees"] and len(lines[1]) == 5
    assert lines[2][:3] == ["echo", "svm", "-c"] and len(lines[2]) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["space.yaml"]


@pytest.mark.slow
def test_nothing_is_lost_when_bough_itself_is_killed(tmp_path: Path):
    """kill -9; the trial that was running is handed out again when its lease of a minute has run out."""
    write_space(tmp_path)
    program = script(tmp_path, "program.sh", "#!/bin/sh\nsleep 0.3\necho $1\n")
    words = ("run", "space.yaml", "-n", "8", "--method", "random", "--seed", "3", "--", program, "{x}")
    running = start(*words, cwd=tmp_path)
    _wait_for(tmp_path, 3)
    running.kill()
    running.communicate(timeout=60)
    before = [t for t in trials(tmp_path) if t.state == "done"]
    assert len(before) >= 3
    again = bough(*words, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    after = trials(tmp_path)
    assert len(after) == 8 and all(t.state == "done" for t in after)
    assert [t.value for t in after[: len(before)]] == [t.value for t in before]
    assert [t.number for t in after] == list(range(8))
    with sqlite3.connect(tmp_path / "bough.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_program_killed_from_outside_is_a_failed_trial(tmp_path: Path):
    write_space(tmp_path)
    program = script(
        tmp_path, "program.sh", '#!/bin/sh\nif [ "$BOUGH_TRIAL" = 1 ]; then kill -9 $$; fi\necho 1\n'
    )
    done = bough_here("run", "space.yaml", "-n", "3", "--method", "random", "--", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [t.state for t in trials(tmp_path)] == ["done", "failed", "done"]
    assert trials(tmp_path)[1].error.startswith("killed by SIGKILL; command: ")


def test_values_never_reach_a_shell(tmp_path: Path):
    """A parameter's value that is a shell command is just text to the program."""
    evil = "$(touch pwned); touch pwned"
    (tmp_path / "space.json").write_text(
        json.dumps({"word": {"type": "categorical", "options": [evil, evil + " "]}})
    )
    done = bough_here(
        "run", "space.json", "--method", "random", "--", "echo", "5", "{word}", "7", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert len(trials(tmp_path)) == 2  # a finite space ends by itself
    assert not (tmp_path / "pwned").exists()
    assert evil in (tmp_path / "space.logs" / "00000.out").read_text()


def test_results_by_file_and_the_timeout_of_a_run(tmp_path: Path):
    write_space(tmp_path)
    program = script(tmp_path, "program.sh", '#!/bin/sh\necho 99\necho 7 > "$1"\nsleep 0.2\n')
    done = bough_here(
        "run", "space.yaml", "--timeout", "1.5", "--method", "random", "--", program, "{result}", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert {t.value for t in trials(tmp_path)} == {7.0}


def _wait_for(folder: Path, count: int) -> None:
    """Until a running bough has told so many results."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        # The file, its tables and the study come one by one.
        with contextlib.suppress(StorageError, StudyError):
            if sum(t.state == "done" for t in trials(folder)) >= count:
                return
        time.sleep(0.1)
    raise AssertionError(f"{count} results did not come")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("--until", "settled", "--method", "random"), "'random' cannot"),
        (("--budget", "nan"), "budget must be a positive number"),
        (("--instances", "a,a"), "the instance 'a' is given twice"),
        (("--instances", "a,b", "--objective", "p", "--objective", "q"), "a race needs one objective"),
    ],
)
def test_a_mistake_leaves_neither_a_study_nor_logs(tmp_path: Path, wrong: tuple[str, ...], words: str):
    write_space(tmp_path)
    last = "{instance}" if "--instances" in wrong else "1"
    done = bough_here("run", "space.yaml", "-n", "3", *wrong, "--", "echo", last, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr and "the output of each" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["space.yaml"]


def test_a_result_with_other_names_is_told_about_objectives(tmp_path: Path):
    write_space(tmp_path)
    done = bough_here("run", "space.yaml", "-n", "1", "--", "echo", '{{"loss": 0.5}}', cwd=tmp_path)
    assert 'has no "value": {"loss": 0.5}; --objective NAME chooses another entry' in done.stderr


@pytest.mark.parametrize("first", ["a b", "a_b"])
def test_the_output_of_studies_with_similar_names_is_kept_apart(tmp_path: Path, first: str):
    write_space(tmp_path)
    for name in (first, {"a b": "a_b", "a_b": "a b"}[first]):
        line = ["run", "space.yaml", "-n", "1", "--name", name, "--method", "random", "-q"]
        assert bough(*line, "--", "echo", f"{name}: 1", cwd=tmp_path).returncode == 0
    (other,) = tmp_path.glob("a_b-*.logs")
    assert (other / "00000.out").read_text() == "a b: 1\n"
    assert (tmp_path / "a_b.logs" / "00000.out").read_text() == "a_b: 1\n"


def test_a_long_name_of_a_study(tmp_path: Path):
    write_space(tmp_path)
    line = ["run", "space.yaml", "-n", "1", "--name", "é" * 200, "--method", "random", "-q"]
    done = bough(*line, "--", "echo", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("*.logs/00000.out"))) == 1
