"""What a program is told, what is kept of it, and that nothing of it is left behind."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bough.cli.command import ENVIRONMENT_BYTES, Command, logs_of, shared_variables
from bough.cli.placeholders import units_of
from bough.space import Float, Space
from bough.study import Study
from bough.study.running.orphans import Guardian
from bough.trial import Config, Trial

from .programs import STUBBORN_PARENT, alive, pid_in, script

STUDY = Study(Space({"x": Float(0, 1)}), name="study")


@pytest.fixture
def guardian() -> Iterator[Guardian]:
    with Guardian() as guardian:
        yield guardian


def python(code: str) -> list[str]:
    """Words that run a piece of Python, with its braces kept."""
    return [sys.executable, "-c", code.replace("{", "{{").replace("}", "}}")]


def running(config: Config | None = None, number: int = 0, attempt: int = 1) -> Trial:
    return Trial(number, config or {}, "running", attempt=attempt)


def test_everything_a_program_is_told(tmp_path: Path, guardian: Guardian):
    code = (
        "import json, os, sys; config = json.load(open(sys.argv[1]));"
        "assert config == json.loads(os.environ['BOUGH_CONFIG']) == {'m': 'a', 'x y': 0.25};"
        "assert os.environ['BOUGH_PARAM_X_Y'] == '0.25' and os.environ['BOUGH_PARAM_M'] == 'a';"
        "assert os.environ['BOUGH_TRIAL'] == '3' and os.environ['BOUGH_STUDY'] == 'study';"
        "print('chatter', file=sys.stderr); print('8');"
        "open(os.environ['BOUGH_RESULT'], 'w').write(json.dumps({'value': 9, 'cost': 2}))"
    )
    program = Command(units_of([*python(code), "{config}", "{m}"]), STUDY, tmp_path, guardian)
    trial = running({"m": "a", "x y": 0.25}, number=3)
    result = program(trial)
    assert (result.value, result.cost) == (9, 2)
    command, chatter = (tmp_path / "00003.err").read_text().splitlines()
    assert command.startswith(f"$ {sys.executable} -c 'import json") and command.endswith(" a")
    assert result.notes == {"command": command.removeprefix("$ ")}
    assert chatter == "chatter"
    assert (tmp_path / "00003.out").read_text() == "8\n"


def test_a_study_never_writes_into_the_logs_of_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_b.logs").mkdir()  # of a study that is named a_b
    study = Study(Space({"x": Float(0, 1)}), name="a b", method="random")
    study.tell(study.ask(), 1.0)
    assert re.fullmatch(r"a_b-[0-9a-f]{8}\.logs", str(logs_of(study)))
    assert logs_of(Study(Space({"x": Float(0, 1)}), name="a_b")) == Path("a_b.logs")


@pytest.mark.parametrize(("code", "learn"), [(1, True), (75, False)])
def test_a_program_may_say_that_its_config_is_not_at_fault(
    code: int, learn: bool, tmp_path: Path, guardian: Guardian
):
    program = Command(units_of(python(f"raise SystemExit({code})")), STUDY, tmp_path, guardian)
    result = program(running())
    assert (result.state, result.learn) == ("failed", learn)


def test_each_attempt_keeps_its_own_output(tmp_path: Path, guardian: Guardian):
    program = Command(units_of(python("print(1)")), STUDY, tmp_path, guardian)
    program(running(attempt=1))
    program(running(attempt=2))
    assert sorted(path.name for path in tmp_path.glob("*.out")) == ["00000-2.out", "00000.out"]


def test_failures_say_how_and_which_command(tmp_path: Path, guardian: Guardian):
    def run(words: list[str], timeout: float | None = None) -> str:
        result = Command(units_of(words), STUDY, tmp_path, guardian, timeout)(running())
        assert result.state == "failed" and result.error is not None and result.notes["command"]
        return result.error

    luck = script(tmp_path, "luck", "#!/bin/sh\necho first >&2; echo middle >&2; echo last >&2; exit 3\n")
    assert run([luck, "two words"]) == f"exit code 3: first ... last; command: {luck} 'two words'"
    assert run(python("import sys; sys.exit('out of luck')")).startswith(
        "exit code 1: out of luck; command: "
    )
    assert run(python("{}['key']")).startswith("exit code 1: KeyError: 'key'; command: ")
    killed = run(python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    assert killed.startswith("killed by SIGKILL; command: ")
    late = run(python("import time; time.sleep(60)"), timeout=0.3)
    assert late.startswith("stopped after 0.3 s (--trial-timeout); command: ")
    assert run(["/no/such/program"]).startswith("/no/such/program cannot be started: No such file")
    assert run(python("print('loss 0,25')")).startswith("'0,25' on standard output may be")
    quiet = script(tmp_path, "quiet", "#!/bin/sh\necho 'no such flag' >&2\n")
    assert run([quiet]) == f"no number on standard output; stderr: no such flag; command: {quiet}"
    assert len(run(["false", "x" * 5000])) < 400


def test_config_file_holds_exact_values(tmp_path: Path, guardian: Guardian):
    value = 0.1 + 0.2
    code = "import sys; print(open(sys.argv[1]).read())"
    result = Command(units_of([*python(code), "{config}"]), STUDY, tmp_path, guardian)(running({"x": value}))
    assert result.error is not None and 'has no "value"' in result.error
    assert json.loads((tmp_path / "00000.out").read_text()) == {"x": value}


def test_a_large_config_goes_by_file_alone(tmp_path: Path, guardian: Guardian):
    config = {f"parameter number {i}": i / 7 for i in range(6000)}
    assert len(json.dumps(config)) > ENVIRONMENT_BYTES
    code = (
        "import json, os; assert 'BOUGH_CONFIG' not in os.environ;"
        "print(len(json.load(open(os.environ['BOUGH_CONFIG_FILE']))))"
    )
    assert Command(units_of(python(code)), STUDY, tmp_path, guardian)(running(config)).value == 6000


def test_other_names_of_an_object_become_measures(tmp_path: Path, guardian: Guardian):
    code = """print('{"value": 1, "noise": 0.5, "memory": 9, "host": "a"}')"""
    result = Command(units_of(python(code)), STUDY, tmp_path, guardian)(running())
    assert (result.value, result.noise, result.measures) == (1, 0.5, {"memory": 9})
    assert result.notes["host"] == "a"


def test_a_variable_for_several_parameters_is_not_set(tmp_path: Path, guardian: Guardian):
    space = Space({"a-b": Float(0, 1), "a_b": Float(0, 1), "c": Float(0, 1)})
    assert shared_variables(space) == {"BOUGH_PARAM_A_B"}
    code = "import os; assert 'BOUGH_PARAM_A_B' not in os.environ; print(os.environ['BOUGH_PARAM_C'])"
    program = Command(units_of(python(code)), STUDY, tmp_path, guardian, unset=shared_variables(space))
    assert program(running({"a-b": 0.1, "a_b": 0.2, "c": 0.3})).value == 0.3


def test_a_timeout_ends_children_that_ignore_sigterm(tmp_path: Path, guardian: Guardian):
    program = script(tmp_path, "program.py", STUBBORN_PARENT)
    command = Command(units_of([program, str(tmp_path / "pid")]), STUDY, tmp_path, guardian, timeout=3.0)
    assert (command(running()).error or "").startswith("stopped after 3 s")
    assert not alive(pid_in(tmp_path / "pid"))


def test_children_that_a_program_leaves_behind_are_ended(tmp_path: Path, guardian: Guardian):
    program = script(tmp_path, "program.sh", '#!/bin/sh\nsleep 100 &\necho $! > "$1"\necho 5\n')
    ran = Command(units_of([program, str(tmp_path / "pid")]), STUDY, tmp_path, guardian)(running())
    assert ran.value == 5
    assert not alive(pid_in(tmp_path / "pid"))


def test_a_stopped_command_starts_nothing(tmp_path: Path, guardian: Guardian):
    program = Command(units_of(["touch", str(tmp_path / "started")]), STUDY, tmp_path, guardian)
    program.stop()
    assert (program(running()).error or "").startswith("the run was stopped")
    assert not (tmp_path / "started").exists()


def test_a_guardian_ends_although_a_forked_child_holds_its_pipe():
    guardian = Guardian()
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    guardian.close()
    assert os.waitpid(child, os.WNOHANG) == (0, 0)
    os.kill(child, 9)
    os.waitpid(child, 0)


def test_a_guardian_kills_what_is_held_when_it_closes():
    first, second = (
        os.posix_spawn("/bin/sleep", ["sleep", "100"], os.environ, setpgroup=0) for _ in range(2)
    )
    with Guardian() as guardian:
        guardian.hold(first)
        guardian.hold(second)
        guardian.release(second)
    assert os.waitpid(first, 0)[1] == 9
    assert os.waitpid(second, os.WNOHANG) == (0, 0)
    os.kill(second, 9)
    os.waitpid(second, 0)
