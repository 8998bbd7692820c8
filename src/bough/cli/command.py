"""Runs a user's program as an objective: it gets a config by arguments, file and environment.

The program is started directly, never through a shell, so no value of a parameter can become a command.
It gets a separate process group, which is killed when the program or bough ends.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from bough.cli.output import CommandFailed, first_and_last_line, read_tail, result_in
from bough.cli.placeholders import Unit, as_text, fill
from bough.cli.reported_lines import ReportedLines
from bough.errors import ConfigError
from bough.integrations.names import file_name
from bough.space import Space
from bough.study import Study, failure, outcome
from bough.study.results import stopped
from bough.study.running.orphans import KILL, Guardian, group_exists, signal_group
from bough.trial import Trial

__all__ = ["Command", "log_files", "logs_of", "shared_variables"]

TERMINATION_SECONDS = 5.0
"""Seconds between SIGTERM and SIGKILL when a program is stopped."""

POLL_SECONDS = 0.1
"""Seconds between reads of a running program's output, for reports."""

ENVIRONMENT_BYTES = 100_000
"""The largest config passed in the environment; a larger one is passed only by file. Linux allows 128 KB."""

TEMPORARY_FAILURE = 75
"""The exit code EX_TEMPFAIL of sysexits.h: the config is not at fault, and the trial is tried again."""

QUOTED_CHARACTERS, NOTED_CHARACTERS = 300, 10_000
"""Characters of a command that an error quotes, and that a trial's notes keep; the log has all of it."""


class CommandStopped(Exception):
    """The study stopped the trial because of the program's reports."""


@dataclass(frozen=True)
class Command:
    """Runs a program for a trial.

    study: gets the reports of running programs.
    logs: folder for the output of each trial. timeout: seconds after which the program is stopped.
    unset: environment variables that are not set, because several parameters share them.
    defaults: environment variables that are set unless they exist.
    """

    units: Sequence[Unit]
    study: Study
    logs: Path
    guardian: Guardian
    timeout: float | None = None
    unset: frozenset[str] = frozenset()
    defaults: Mapping[str, str] = field(default_factory=dict)
    _running: set[int] = field(default_factory=set, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    _stopped: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)

    def __call__(self, trial: Trial, instance: str | None = None) -> Trial:
        """The result of the trial, with the command among its notes.

        instance: the value of {instance} in a race. Lines that the program prints are then not reports.
        """
        with tempfile.TemporaryDirectory(prefix="bough-") as folder:
            files = {"config": str(Path(folder, "config.json")), "result": str(Path(folder, "result"))}
            Path(files["config"]).write_text(json.dumps(trial.config), encoding="utf-8")
            named = {"trial": str(trial.number)} | ({} if instance is None else {"instance": instance})
            named |= {} if trial.resumes is None else {"resumes": str(trial.resumes)}
            try:
                words = fill(self.units, trial.config, {**files, **named})
            except ConfigError as error:
                return failure(trial.number, str(error), trial.attempt)
            command = shlex.join(words)
            try:
                returned = self._result(words, trial, files, reports=instance is None)
                result = outcome(trial, returned, self.study.goals)
            except CommandStopped:
                return stopped(trial)
            except CommandFailed as error:
                why = f"{error}; command: {_shortened(command, QUOTED_CHARACTERS)}"
                result = failure(trial.number, why, trial.attempt, error.learn)
        note = {"command": _shortened(command, NOTED_CHARACTERS)}
        return replace(result, notes={**result.notes, **note})

    def stop(self) -> None:
        """Kill every running program, and start no more."""
        with self._lock:
            self._stopped.set()
            for group in self._running:
                signal_group(group, KILL)

    def _result(
        self, words: Sequence[str], trial: Trial, files: dict[str, str], reports: bool
    ) -> dict[str, Any]:
        """Run the program and read its result; CommandFailed if there is none."""
        out, err = log_files(self.logs, trial)
        reported = ReportedLines(self.study, trial, out, ignored=not reports)
        code, header = self._run(words, self._environment(trial, files), out, err, reported)
        if code != 0:
            why = _how_it_ended(code) + _quoted(*first_and_last_line(err, header))
            raise CommandFailed(why, learn=code != TEMPORARY_FAILURE)
        reported.keep()
        if Path(files["result"]).exists():
            return result_in(read_tail(Path(files["result"])), "the result file", self.study.goals.needed)
        try:
            result = result_in(read_tail(out), "standard output", self.study.goals.needed)
            return {name: value for name, value in result.items() if name != "step"}
        except CommandFailed as error:
            said = _quoted(*first_and_last_line(err, header))
            raise CommandFailed(f"{error}; stderr{said}" if said else str(error)) from None

    def _run(
        self,
        words: Sequence[str],
        environment: dict[str, str],
        out: Path,
        err: Path,
        reported: ReportedLines,
    ) -> tuple[int, int]:
        """Run the program; returns its exit code, and the length of the log's first line, the command."""
        with out.open("wb") as stdout, err.open("wb") as stderr:
            header = stderr.write(f"$ {shlex.join(words)}\n".encode("utf-8", "backslashreplace"))
            stderr.flush()
            process = self._start(words, environment, stdout, stderr)
        try:
            return self._wait(process, reported), header
        except (subprocess.TimeoutExpired, CommandStopped) as why:
            _terminate(process)
            if isinstance(why, CommandStopped):
                raise
            raise CommandFailed(f"stopped after {self.timeout:g} s (--trial-timeout)") from None
        finally:
            signal_group(process.pid, KILL)  # children that ignored SIGTERM or are still running
            process.wait()
            with self._lock:
                self._running.discard(process.pid)
            self.guardian.release(process.pid)

    def _wait(self, process: subprocess.Popen[bytes], reported: ReportedLines) -> int:
        """The exit code; TimeoutExpired after the timeout, CommandStopped if a report says so."""
        deadline = time.monotonic() + (math.inf if self.timeout is None else self.timeout)
        while True:
            seconds = min(POLL_SECONDS, max(deadline - time.monotonic(), 0.0))
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                if time.monotonic() >= deadline:
                    raise
            if reported.should_stop(deadline):
                raise CommandStopped

    def _start(
        self, words: Sequence[str], environment: dict[str, str], stdout: IO[bytes], stderr: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped.is_set():
                raise CommandFailed("the run was stopped")
            try:
                # A separate session: Ctrl-C reaches only bough, which then stops the program.
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
            "BOUGH_STUDY": self.study.name,
            "BOUGH_TRIAL": str(trial.number),
            "BOUGH_CONFIG_FILE": files["config"],
            "BOUGH_RESULT": files["result"],
            **({} if trial.resumes is None else {"BOUGH_RESUMES": str(trial.resumes)}),
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
            if not name.startswith(("BOUGH_PARAM_", "BOUGH_CONFIG", "BOUGH_RESUMES"))
        }
        # Otherwise a Python program would buffer its reports until it ends.
        return {"PYTHONUNBUFFERED": "1", **self.defaults, **inherited, **variables}


def _terminate(process: subprocess.Popen[bytes]) -> None:
    """Send SIGTERM to a program and its children, and give all of them time to end."""
    signal_group(process.pid, signal.SIGTERM)
    last = time.monotonic() + TERMINATION_SECONDS
    while (process.poll() is None or group_exists(process.pid)) and time.monotonic() < last:
        time.sleep(POLL_SECONDS)


def shared_variables(space: Space) -> frozenset[str]:
    """Environment variables that several parameter names would share, such as ``a-b`` and ``a_b``."""
    uses = Counter(_variable(name) for name in {parameter.name for parameter in space.parameters})
    return frozenset(name for name, count in uses.items() if count > 1)


def logs_of(study: Study) -> Path:
    """The default folder for the output of a study's trials."""
    return Path(file_name(study.name, "_.-") + ".logs")


def log_files(folder: Path, trial: Trial) -> tuple[Path, Path]:
    """The files of a trial's standard output and standard error."""
    name = f"{trial.number:05}" + (f"-{trial.attempt}" if trial.attempt > 1 else "")
    return folder / f"{name}.out", folder / f"{name}.err"


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
    """The first and the last line of standard error; only the last one of a Python traceback."""
    lines = [line[:200] for line in dict.fromkeys([first, last]) if line]
    if len(lines) == 2 and lines[0].startswith("Traceback (most recent call last)"):
        del lines[0]
    return "".join(f": {line}" if i == 0 else f" ... {line}" for i, line in enumerate(lines))


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."
