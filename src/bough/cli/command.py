"""A user's program as an objective: a config goes in by arguments, file and environment; a number comes out.

The program is started directly, never through a shell, so no value of a parameter can become a command.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bough.errors import ConfigError
from bough.space import Space
from bough.trial import Config, Trial

__all__ = ["Command", "CommandFailed", "arguments", "check_command", "result_in"]

PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
OWN_PLACEHOLDERS = ("config", "result", "trial")
NUMBER = re.compile(
    r"(?<![\w.])[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|nan|inf(?:inity)?)(?![\w.]*\w)", re.IGNORECASE
)
GRACE = 5.0
"""Seconds between asking an overdue program to end and ending it."""


class CommandFailed(Exception):
    """The program ended without a result; the text says how."""


@dataclass(frozen=True)
class Command:
    """Runs ``words`` for a trial, with placeholders filled in.

    logs: folder for what each trial prints; timeout: seconds after which the program is ended.
    """

    words: tuple[str, ...]
    study: str
    logs: Path
    timeout: float | None = None
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __call__(self, trial: Trial) -> dict[str, Any]:
        """The result of the program: {"value": ...} and perhaps "noise" and "cost"."""
        config = trial.config
        name = f"{trial.number:05}" + (f"-{trial.attempt}" if trial.attempt > 1 else "")
        out, err = self.logs / f"{name}.out", self.logs / f"{name}.err"
        with tempfile.TemporaryDirectory(prefix="bough-") as folder:
            files = {"config": str(Path(folder, "config.json")), "result": str(Path(folder, "result"))}
            Path(files["config"]).write_text(json.dumps(config), encoding="utf-8")
            words = arguments(self.words, config, {**files, "trial": str(trial.number)})
            environment = {**os.environ, **self._environment(trial, files)}
            with out.open("wb") as stdout, err.open("wb") as stderr:
                code = self._run(words, environment, stdout, stderr)
            if code != 0:
                how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
                raise CommandFailed(f"{how}{_last_words(err)}")
            written = Path(files["result"])
            if written.exists():
                return result_in(written.read_text(errors="replace"), "the result file")
            return result_in(out.read_text(errors="replace"), "standard output")

    def stop(self) -> None:
        """End every program that still runs."""
        with self._lock:
            running = list(self._running)
        for process in running:
            _signal(process, signal.SIGKILL)

    def _run(self, words: Sequence[str], environment: dict[str, str], stdout: Any, stderr: Any) -> int:
        try:
            # A session of its own: Ctrl-C reaches bough alone, and ending the program ends its children too.
            process = subprocess.Popen(
                words,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise CommandFailed(f"{words[0]} cannot be started: {error.strerror}") from None
        with self._lock:
            self._running.add(process)
        try:
            return process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            _signal(process, signal.SIGTERM)
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                _signal(process, signal.SIGKILL)
                process.wait()
            raise CommandFailed(f"stopped after {self.timeout:g} s (--trial-timeout)") from None
        finally:
            with self._lock:
                self._running.discard(process)

    def _environment(self, trial: Trial, files: dict[str, str]) -> dict[str, str]:
        own = {
            "BOUGH_STUDY": self.study,
            "BOUGH_TRIAL": str(trial.number),
            "BOUGH_CONFIG": json.dumps(trial.config),
            "BOUGH_CONFIG_FILE": files["config"],
            "BOUGH_RESULT": files["result"],
        }
        for name, value in trial.config.items():
            own["BOUGH_PARAM_" + re.sub(r"\W", "_", name).upper()] = _written(value)
        return own


def check_command(words: Sequence[str], space: Space) -> None:
    """Raise ConfigError unless the program exists and every placeholder means something."""
    if not words:
        raise ConfigError("no command to run: end with -- COMMAND, such as: -- python train.py {config}")
    names = {parameter.name for parameter in space.parameters}
    for word in words:
        for found in PLACEHOLDER.finditer(word):
            name = found.group(1)
            if name is not None and name not in names and name not in OWN_PLACEHOLDERS:
                raise ConfigError(
                    f"the command has {{{name}}}, but the space has no parameter {name!r}; "
                    "there are also {config}, {result} and {trial}, and {{ }} for braces"
                )
    if "{" not in words[0] and shutil.which(words[0]) is None:
        what = "is not executable" if Path(words[0]).exists() else "cannot be found"
        raise ConfigError(f"the program {words[0]!r} {what}")


def arguments(words: Sequence[str], config: Config, extra: dict[str, str]) -> list[str]:
    """The command with its placeholders filled in.

    A word whose placeholder is inactive is left out; if the word is nothing but that placeholder, the flag
    before it goes too: ``--depth {depth}`` and ``--depth={depth}`` both vanish.
    """
    filled: list[str] = []
    for i, word in enumerate(words):
        names = [found.group(1) for found in PLACEHOLDER.finditer(word) if found.group(1) is not None]
        if any(name not in config and name not in extra for name in names):
            alone = PLACEHOLDER.fullmatch(word) is not None
            before = words[i - 1] if i else ""
            if alone and filled and before.startswith("-") and not PLACEHOLDER.search(before):
                filled.pop()
            continue
        filled.append(PLACEHOLDER.sub(lambda found: _fill(found, config, extra), word))
    return filled


def result_in(text: str, where: str) -> dict[str, Any]:
    """The last JSON object with a "value", or else the last number, in what a program wrote."""
    found = _object(text, where)  # it may go over several lines
    for line in reversed(text.splitlines()):
        if found is not None:
            break
        found = _object(line, where)
        numbers = NUMBER.findall(line) if found is None and not line.lstrip().startswith("{") else []
        if numbers:
            found = {"value": float(numbers[-1])}
    if found is None:
        ending = f"; it ends with {text.strip()[-60:]!r}" if text.strip() else ""
        raise CommandFailed(f"no number on {where}{ending}")
    return found


def _object(text: str, where: str) -> dict[str, Any] | None:
    """The result in a JSON object; None if the text is not one."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if "value" not in found:
        raise CommandFailed(f'the JSON object on {where} has no "value": {text.strip()[:80]}')
    return {key: found[key] for key in ("value", "noise", "cost") if key in found}


def _fill(found: re.Match[str], config: Config, extra: dict[str, str]) -> str:
    name = found.group(1)
    if name is None:
        return found.group(0)[0]
    return _written(config[name]) if name in config else extra[name]


def _written(value: Any) -> str:
    """A value as a program reads it: text as it is, everything else as in JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _last_words(err: Path) -> str:
    lines = err.read_text(errors="replace").strip().splitlines()
    return f": {lines[-1].strip()[:200]}" if lines else ""


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
