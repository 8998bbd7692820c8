"""A sweeper for Hydra that searches a bough space: ``hydra/sweeper=bough``.

Hydra finds this module in the namespace package ``hydra_plugins``, and imports it whenever a program with
Hydra starts. So bough itself is imported only when a sweep begins.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import CompactHydraException
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

if TYPE_CHECKING:
    from bough.study import Study
    from bough.trial import Trial

__all__ = ["BoughSweeper", "overrides_of"]

MAX_FAILURES = 10
"""Failed trials after which a sweep ends with an error if no trial has a result."""

RESULTS = "optimization_results.yaml"
"""The file of results in the sweep's folder; the sweepers of Ax, Nevergrad and Optuna use the same name."""


OPTIONS: dict[str, Any] = {
    "_target_": "hydra_plugins.bough_sweeper.BoughSweeper",
    "space": "???",
    "trials": 20,
    "workers": 1,
    "direction": "minimize",
    "objectives": None,
    "constraints": [],
    "method": "auto",
    "seed": None,
    "storage": None,
    "name": None,
}
"""The options below ``hydra.sweeper``.

space:   a space file, as for ``bough run``. Relative paths start where the program was started.
trials:  total number of jobs of the study. workers: how many are launched at a time.
storage, name: where the study is kept; if the sweep is started again, it continues there.
The other options are those of ``bough.Study``.
"""

ConfigStore.instance().store(group="hydra/sweeper", name="bough", node=OPTIONS, provider="bough")


class BoughSweeper(Sweeper):
    """Launches one job per trial; its overrides are exactly the active parameters of the trial."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self.hydra_context: HydraContext | None = None
        self.config: DictConfig | None = None
        self.launcher: Launcher | None = None

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Study:
        """Run the study; ``arguments`` are overrides that every job gets."""
        from bough.errors import BoughError

        try:
            return self._run(arguments)
        except BoughError as error:
            raise CompactHydraException(str(error)) from None  # Hydra shows it without a traceback

    def _run(self, arguments: list[str]) -> Study:
        from bough.study.running.leases import LEASE, Leases

        assert self.config is not None
        assert self.launcher is not None
        study, trials = self._study(arguments)
        launched, stop_requests = 0, study.status().stop_requests
        with Leases(study.renew) as leases:
            while (status := study.status()).stop_requests == stop_requests:
                wanted = min(self._options["workers"], trials - status.finished)
                batch = _asked(study, wanted, LEASE)
                if not batch:
                    break
                for trial in batch:
                    leases.hold(trial)
                overrides = [[*arguments, *overrides_of(trial.config)] for trial in batch]
                self.validate_batch_is_legal(overrides)
                jobs = self.launcher.launch(overrides, initial_job_idx=launched)
                launched += len(jobs)
                for trial, job in zip(batch, jobs, strict=True):
                    _tell(study, trial, job)
                    leases.drop(trial)
                _check_failures(study, MAX_FAILURES)
        _check_failures(study, 1)
        _write(study, Path(self.config.hydra.sweep.dir, RESULTS))
        return study

    def _study(self, arguments: Sequence[str]) -> tuple[Study, int]:
        """The study and its number of trials; StudyError, in one line, for a mistake in the options."""
        from bough import Space
        from bough.errors import StudyError
        from bough.study import Study

        assert self.hydra_context is not None
        options = dict(self._options)
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        given = parser.parse_overrides(list(arguments))
        if swept := [each.key_or_group for each in given if each.is_sweep_override()]:
            raise StudyError(
                f"{swept[0]!r} is swept on the command line: declare it in the space file instead"
            )
        if not isinstance(options["space"], str):
            raise StudyError(f"hydra.sweeper.space must name a space file, not {options['space']}")
        for count in ("trials", "workers"):
            if not isinstance(options[count], int) or options[count] < 1:
                raise StudyError(f"hydra.sweeper.{count} must be at least 1, not {options[count]}")
        trials, space = options.pop("trials"), Space.load(options.pop("space"))
        options.pop("workers")
        names = {parameter.name for parameter in space}
        if doubled := [each.key_or_group for each in given if each.key_or_group in names]:
            raise StudyError(f"{doubled[0]!r} is a parameter of the space: leave it out on the command line")
        options = {key: OmegaConf.to_object(v) if OmegaConf.is_config(v) else v for key, v in options.items()}
        return Study(space, **options), trials


def overrides_of(config: Mapping[str, Any]) -> list[str]:
    """A config as overrides in Hydra's grammar: ``lr=0.1``, ``optimizer=adam``."""
    return [f"{name}={_text(value)}" for name, value in config.items()]


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    looks_plain = re.fullmatch(r"[A-Za-z_][\w./-]*", value) and value.lower() not in _WORDS
    if looks_plain:
        return str(value)
    return "'" + re.sub(r"(\\+)(?='|$)", r"\1\1", value).replace("'", "\\'") + "'"


_WORDS = ("null", "true", "false", "nan", "inf")
"""Words that Hydra does not parse as strings."""


def _asked(study: Study, n: int, lease: float) -> list[Trial]:
    from bough.errors import ExhaustedError

    try:
        return study.ask_up_to(n, lease=lease) if n > 0 else []
    except ExhaustedError:
        return []


def _tell(study: Study, trial: Trial, job: JobReturn) -> None:
    from bough.study.results import outcome

    if job.status == JobStatus.COMPLETED:
        told = study.record_result(outcome(trial, job.return_value, study.goals))
    else:
        error = job._return_value  # the public property would raise it
        told = study.fail(trial, f"{type(error).__name__}: {error}")
    if told.state == "failed":
        logging.getLogger(__name__).warning("trial %d failed: %s", trial.number, told.error)


def _check_failures(study: Study, most: int) -> None:
    """StudyError if at least ``most`` trials failed and none has a result."""
    from bough.errors import StudyError

    status = study.status()
    if status.failed >= most and not status.done:
        last = [trial for trial in study.trials if trial.state == "failed"][-1]
        raise StudyError(f"all {status.failed} trials failed, the last one with: {last.error}")


def _write(study: Study, path: Path) -> None:
    """Write the best result, with the keys that other sweepers use."""

    def result(trial: Trial, value: Any) -> dict[str, Any]:
        return {"best_evaluated_params": dict(trial.config), "best_evaluated_result": value}

    content: dict[str, Any] = {"name": "bough"}
    if len(study.goals.objectives) > 1:
        names = study.goals.names
        content["solutions"] = [result(t, {name: t.measures[name] for name in names}) for t in study.front]
    elif study.status().best:
        content |= result(study.best, study.best.value)
    path.parent.mkdir(parents=True, exist_ok=True)
    OmegaConf.save(OmegaConf.create(content), path)
