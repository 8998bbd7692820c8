"""Weights & Biases: one run per trial, grouped by study.

study.run(objective, trials=50, callbacks=[WandbCallback(project="tuning")])
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from bough.errors import MissingExtraError
from bough.integrations.tracking import Tracker, facts
from bough.study import Study
from bough.trial import Trial

try:
    import wandb
except ModuleNotFoundError:
    raise MissingExtraError("bough.integrations.wandb needs W&B: pip install 'bough-opt[wandb]'") from None

__all__ = ["WandbCallback"]


class WandbCallback(Tracker):
    """A callback for ``run`` that logs every finished trial to Weights & Biases.

    project: W&B's project; by default the study's name, with ``_`` for characters that W&B does not allow.
    Everything else goes to ``wandb.init``, such as ``entity="team"`` or ``mode="offline"``.

    A run has the trial's active parameters as its config, its measures as summary, and its branch, state and
    attempt in the config under "bough". Its id is derived from the names of project and study and the trial's
    number, so logging a trial again updates its run instead of adding one.
    """

    def __init__(self, project: str | None = None, **init: Any) -> None:
        self._project, self._init = project, init

    def __call__(self, study: Study, trial: Trial) -> None:
        """Log one finished trial."""
        # Studies whose names become the same share a project, as W&B intends: group and id keep them apart.
        logged, project = facts(study, trial), self._project or re.sub(r"[/\\#?%:]", "_", study.name)[:128]
        identity = hashlib.sha256(f"{project}\0{study.name}\0{trial.number}".encode()).hexdigest()[:20]
        run = wandb.init(
            project=project,
            group=study.name,
            job_type="trial",
            name=f"{study.name} {trial.number}",
            id=identity,
            resume="allow",
            reinit="create_new",
            config={**logged.parameters, "bough": logged.tags},
            **self._init,
        )
        for step, value in trial.curve:
            run.log({"report": value}, step=step)
        run.summary.update(logged.metrics)
        run.finish(exit_code=1 if trial.state == "failed" else 0)
