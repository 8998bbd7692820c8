"""A user's program as an objective: a config goes in by arguments, file and environment; a result comes out.

The program is started directly, never through a shell, so no value of a parameter can become a command.
It gets a process group of its own. When it ends, or bough does, nothing of that group is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from bough.cli.output import CommandFailed, first_and_last_line, read_tail, result_in
from bough.cli.placeholders import Unit, as_text, fill
from bough.errors import ConfigError
from bough.space import Space
from bough.study.orphans import KILL, Guardian, signal_group
from bough.trial import Trial

__all__ = ["Command", "command_of", "log_files", "logs_of", "shared_variables"]

TERMINATION_SECONDS = 5.0
"""How long an overdue program has between SIGTERM and SIGKILL."""

ENVIRONMENT_BYTES = 100_000
"""A larger config is passed by file alone; Linux allows 128 KB for one variable."""

COMMAND_CHARACTERS = 300
"""How much of a command an error quotes; the log has all of it."""


@dataclass(frozen=True)
class Command:
    """Runs a program for a trial.

    logs: folder for what each trial prints. timeout: seconds after which the program is ended.
    unset: environment variables that would stand for several parameters.
    """

    units: Sequence[Unit]
    study: str
    logs: Path
    guardian: Guardian
    timeout: float | None = None
    unset: frozenset[str] = frozenset()
    _running: set[int] = field(default_factory=set, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    _stopped: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)

    def __call__(self, trial: Trial) -> dict[str, Any]:
        """The result of the program: {"value": ...} and whatever else it reports."""
        out, err = log_files(self.logs, trial)
        with tempfile.TemporaryDirectory(prefix="bough-") as folder:
            files = {"config": str(Path(folder, "config.json")), "result": str(Path(folder, "result"))}
            Path(files["config"]).write_text(json.dumps(trial.config), encoding="utf-8")
            try:
                words = fill(self.units, trial.config, {**files, "trial": str(trial.number)})
            except ConfigError as error:
                raise CommandFailed(str(error)) from None
            try:
                code, header = self._run(words, self._environment(trial, files), out, err)
                if code != 0:
                    raise CommandFailed(_how_it_ended(code) + _quoted(*first_and_last_line(err, header)))
                if Path(files["result"]).exists():
                    return result_in(read_tail(Path(files["result"])), "the result file")
                return result_in(read_tail(out), "standard output")
            except CommandFailed as error:
                raise CommandFailed(f"{error}; command: {_shortened(shlex.join(words))}") from None

    def stop(self) -> None:
        """Kill every program that runs, and start no more."""
        with self._lock:
            self._stopped.set()
            for group in self._running:
                signal_group(group, KILL)

    def _run(
        self, words: Sequence[str], environment: dict[str, str], out: Path, err: Path
    ) -> tuple[int, int]:
        """Run the program to its end; its exit code, and the length of the log's first line, the command."""
        with out.open("wb") as stdout, err.open("wb") as stderr:
            header = stderr.write(f"$ {shlex.join(words)}\n".encode("utf-8", "backslashreplace"))
            stderr.flush()
            process = self._start(words, environment, stdout, stderr)
        try:
            return process.wait(self.timeout), header
        except subprocess.TimeoutExpired:
            signal_group(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(TERMINATION_SECONDS)
            raise CommandFailed(f"stopped after {self.timeout:g} s (--trial-timeout)") from None
        finally:
            signal_group(process.pid, KILL)  # children that ignored SIGTERM or were left behind
            process.wait()
            with self._lock:
                self._running.discard(process.pid)
            self.guardian.release(process.pid)

    def _start(
        self, words: Sequence[str], environment: dict[str, str], stdout: IO[bytes], stderr: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped.is_set():
                raise CommandFailed("the run was stopped")
            try:
                # A session of its own: Ctrl-C reaches bough alone, which then ends the program.
                process = subprocess.Popen(
                    words,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:  # ValueError: a null character in an argument
                problem = getattr(error, "strerror", None) or str(error)
                raise CommandFailed(f"{words[0]} cannot be started: {problem}") from None
            self.guardian.hold(process.pid)
            self._running.add(process.pid)
            return process

    def _environment(self, trial: Trial, files: dict[str, str]) -> dict[str, str]:
        variables = {
            "BOUGH_STUDY": self.study,
            "BOUGH_TRIAL": str(trial.number),
            "BOUGH_CONFIG_FILE": files["config"],
            "BOUGH_RESULT": files["result"],
        }
        config = json.dumps(trial.config)
        if len(config) <= ENVIRONMENT_BYTES:
            variables["BOUGH_CONFIG"] = config
            for name, value in trial.config.items():
                if _variable(name) not in self.unset and "\0" not in as_text(value):
                    variables[_variable(name)] = as_text(value)
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("BOUGH_PARAM_", "BOUGH_CONFIG"))
        }
        return {**inherited, **variables}


def shared_variables(space: Space) -> frozenset[str]:
    """Environment variables that several parameter names would share, such as ``a-b`` and ``a_b``."""
    uses = Counter(_variable(name) for name in {parameter.name for parameter in space.parameters})
    return frozenset(name for name, count in uses.items() if count > 1)


def logs_of(study: str) -> Path:
    """The folder for what the trials of a study print, unless the user names another."""
    return Path(re.sub(r"[^\w.-]", "_", study) + ".logs")


def log_files(folder: Path, trial: Trial) -> tuple[Path, Path]:
    """Where a trial's standard output and standard error are kept."""
    name = f"{trial.number:05}" + (f"-{trial.attempt}" if trial.attempt > 1 else "")
    return folder / f"{name}.out", folder / f"{name}.err"


def command_of(folder: Path, trial: Trial) -> str | None:
    """The command that was run for a trial, by its log."""
    try:
        with log_files(folder, trial)[1].open(encoding="utf-8", errors="replace") as log:
            first = log.readline().rstrip("\n")
    except OSError:
        return None
    return first.removeprefix("$ ") if first.startswith("$ ") else None


def _variable(name: str) -> str:
    return "BOUGH_PARAM_" + re.sub(r"\W", "_", name).upper()


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal has no name
        return f"killed by signal {-code}"


def _quoted(first: str, last: str) -> str:
    """The first and the last line of standard error; a Python traceback says nothing in its first."""
    lines = [line[:200] for line in dict.fromkeys([first, last]) if line]
    if len(lines) == 2 and lines[0].startswith("Traceback (most recent call last)"):
        del lines[0]
    return "".join(f": {line}" if i == 0 else f" ... {line}" for i, line in enumerate(lines))


def _shortened(command: str) -> str:
    return command if len(command) <= COMMAND_CHARACTERS else command[: COMMAND_CHARACTERS - 3] + "..."
