"""MLflow: one run per trial, below a run for the study.

study.run(objective, trials=50, callbacks=[MLflowCallback(experiment="tuning")])
"""

from __future__ import annotations

import hashlib
import logging
import posixpath
import re
import time
from typing import Any

from bough.errors import MissingExtraError
from bough.integrations.names import short_hash
from bough.integrations.tracking import Tracker, facts
from bough.study import Study
from bough.trial import Trial

try:
    from mlflow.entities import Metric, Param
    from mlflow.tracking import MlflowClient
except ModuleNotFoundError:
    raise MissingExtraError(
        "bough.integrations.mlflow needs MLflow: pip install 'bough-opt[mlflow]'"
    ) from None

__all__ = ["MLflowCallback"]

_log = logging.getLogger("bough")

LONGEST_TEXT = 5000
"""The longest value of a tag, in characters; MLflow refuses longer ones."""

LONGEST_NAME = 250
"""The longest name of a parameter or metric; MLflow refuses longer ones."""


class MLflowCallback(Tracker):
    """A callback for ``run`` that logs every finished trial to MLflow.

    experiment:   name of MLflow's experiment, created if missing; by default the study's name.
    tracking_uri: where MLflow keeps its runs; by default MLflow decides (``MLFLOW_TRACKING_URI``).

    A run has the trial's active parameters, its measures, its learning curve, and tags with its branch, state
    and attempt. A trial that MLflow already has is not logged again, so a resumed study continues its
    experiment; ``log_study`` also logs trials of earlier runs. Characters that MLflow does not allow in names
    become ``_``, and the name then ends in a short hash. If MLflow refuses a trial or cannot be reached, a
    warning is logged and the study goes on; ``log_study`` raises the error instead.
    """

    def __init__(self, experiment: str | None = None, tracking_uri: str | None = None) -> None:
        self._experiment = experiment
        self._client = MlflowClient(tracking_uri=tracking_uri)

    def __call__(self, study: Study, trial: Trial) -> None:
        """Log one finished trial."""
        try:
            self._log_once(study, trial)
        except Exception as error:  # stores in folders raise others than MLflow's own
            why = str(error).partition("\n")[0] or type(error).__name__
            _log.warning("trial %d is not in MLflow: %s; log_study tries again", trial.number, why)

    def log_study(self, study: Study) -> None:
        """Log all finished trials; those that MLflow has already do not appear twice."""
        for trial in study.trials:
            if trial.is_finished:
                self._log_once(study, trial)  # no run is at stake, so an error may end it

    def _log_once(self, study: Study, trial: Trial) -> None:
        experiment = self._experiment_id(study)
        parent = self._parent(experiment, study)
        run = self._find(experiment, study, str(trial.number))
        if run is None or "bough.complete" not in run.data.tags:  # the program may have ended while logging
            self._log(experiment, parent, study, trial, run)

    def _experiment_id(self, study: Study) -> str:
        name = self._experiment or study.name
        found = self._client.get_experiment_by_name(name)
        return str(found.experiment_id if found else self._client.create_experiment(name))

    def _parent(self, experiment: str, study: Study) -> str:
        found = self._find(experiment, study, "all")
        if found is not None:
            return str(found.info.run_id)
        tags = {
            "bough.key": _key(study, "all"),
            "bough.study": study.name,
            "bough.trial": "all",
            "bough.method": study.method.name,
        }
        run = self._client.create_run(experiment, tags=tags, run_name=study.name)
        self._client.set_terminated(run.info.run_id)
        return str(run.info.run_id)

    def _find(self, experiment: str, study: Study, trial: str) -> Any | None:
        """The run of a trial, or of the study itself (trial "all")."""
        query = f"tags.`bough.key` = '{_key(study, trial)}'"
        found = self._client.search_runs([experiment], query, max_results=1)
        return found[0] if found else None

    def _log(self, experiment: str, parent: str, study: Study, trial: Trial, run: Any | None) -> None:
        logged = facts(study, trial)
        begin = int(1000 * (trial.started or trial.finished or time.time()))
        end = int(1000 * (trial.finished or time.time()))
        tags = {f"bough.{name}": value[:LONGEST_TEXT] for name, value in logged.tags.items()}
        if run is None:
            run = self._client.create_run(
                experiment,
                start_time=begin,
                tags={**tags, "bough.key": _key(study, str(trial.number)), "mlflow.parentRunId": parent},
                run_name=f"{study.name} {trial.number}",
            )
        metrics = [Metric(_name(name), value, end, 0) for name, value in logged.metrics.items()]
        metrics += [Metric("report", value, begin, step) for step, value in trial.curve]
        self._client.log_batch(
            run.info.run_id,
            metrics=metrics,
            params=[Param(_name(name), str(value)) for name, value in logged.parameters.items()],
        )
        self._client.set_terminated(
            run.info.run_id, status="FINISHED" if trial.state != "failed" else "FAILED", end_time=end
        )
        # Last, because a long curve takes several requests.
        self._client.set_tag(run.info.run_id, "bough.complete", "true")


def _name(name: str) -> str:
    """A name that MLflow allows; one that differs from the given name ends in a hash."""
    allowed = re.sub(r"[^/\w.\- :]", "_", name)
    is_path = posixpath.normpath(allowed) == allowed and not allowed.startswith(("/", "."))
    if is_path and allowed == name and len(name) <= LONGEST_NAME:
        return name
    hashed = f"-{short_hash(name)}"
    safe = allowed if is_path else f"_{re.sub('[/.]', '_', allowed)}"
    return safe[: LONGEST_NAME - len(hashed)] + hashed


def _key(study: Study, trial: str) -> str:
    """The key of a run. A study's name may contain quotes, which MLflow's queries do not allow."""
    return hashlib.sha256(f"{study.name}\0{trial}".encode()).hexdigest()[:20]
