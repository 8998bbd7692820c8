"""TensorBoard: one folder of events per trial, for TensorBoard's page "HParams".

study.run(objective, trials=50, callbacks=[TensorBoardCallback("logs")])
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bough.errors import MissingExtraError
from bough.integrations.names import file_name
from bough.integrations.tracking import Tracker, facts
from bough.study import Study
from bough.trial import Trial

try:
    from tensorboardX import SummaryWriter
except ModuleNotFoundError:
    raise MissingExtraError(
        "bough.integrations.tensorboard needs tensorboardX: pip install 'bough-opt[tensorboard]'"
    ) from None

__all__ = ["TensorBoardCallback"]

ALLOWED = " -_.="
"""Characters of a study's name, besides letters and digits, that its folder has."""


class TensorBoardCallback(Tracker):
    """A callback for ``run`` that writes every finished trial to the folder ``logs``.

    Each trial has the folder ``logs/STUDY/trial-NUMBER`` with its active parameters, its measures and its
    learning curve. An existing folder is not changed, so logging a trial again has no effect. Characters that
    are special in paths become ``_`` in STUDY, which then ends in a short hash.
    """

    def __init__(self, logs: str | Path) -> None:
        self._logs = Path(logs)

    def __call__(self, study: Study, trial: Trial) -> None:
        """Log one finished trial."""
        folder, name = self._logs / file_name(study.name, ALLOWED), f"trial-{trial.number:05d}"
        if (folder / name).exists():
            return
        logged = facts(study, trial)
        parameters: dict[str, Any] = {
            key: value if isinstance(value, (bool, int, float, str)) else str(value)
            for key, value in logged.parameters.items()
        }
        parameters["state"] = trial.state
        with SummaryWriter(str(folder), write_to_disk=False) as writer:
            writer.add_hparams(parameters, logged.metrics, name=name)
        if trial.curve:
            with SummaryWriter(str(folder / name)) as writer:
                for step, value in trial.curve:
                    writer.add_scalar("report", value, step)
