"""A searcher for Ray Tune: ``TuneConfig(search_alg=BoughSearch(space, "loss", "min"), num_samples=50)``."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

from bough.errors import ExhaustedError, MissingExtraError, StudyError, TrialError
from bough.registry import Method
from bough.space import Space
from bough.storage import MemoryStorage
from bough.study import Study, import_study, study_lines
from bough.whole_file import write_file

try:
    from ray.tune.search import Searcher
except ImportError:
    raise MissingExtraError("BoughSearch needs Ray Tune: pip install 'bough-opt[ray]'") from None

__all__ = ["BoughSearch"]

DIRECTIONS = {"min": "minimize", "max": "maximize"}


class BoughSearch(Searcher):
    """Suggests configurations of a branching space to Ray Tune.

    space:  a ``bough.Space``. Ray's ``param_space`` may hold constants that every trial gets, but no
            parameters: it cannot express which parameter exists under which choice.
    metric: the metric to optimise, a key in trials' reports. mode: "min" or "max".
    method, seed: as in ``bough.Study``.

    The method learns from failed trials. Ray's schedulers decide which trials stop early; the last result of
    such a trial counts. ``study`` is the study itself, for figures and explanations. ``save`` and ``restore``
    write and read a text file.
    """

    def __init__(
        self,
        space: Space,
        metric: str,
        mode: str,
        *,
        method: str | Method = "auto",
        seed: int | None = None,
    ) -> None:
        if not isinstance(space, Space):
            raise StudyError(f"BoughSearch needs a bough.Space, not {type(space).__name__}")
        if not isinstance(metric, str):
            raise StudyError(f"metric must be the name of what trials report, not {metric!r}")
        if mode not in tuple(DIRECTIONS):
            raise StudyError(f"mode must be 'min' or 'max', not {mode!r}")
        super().__init__(metric=metric, mode=mode)
        self.study = Study(space, method=method, seed=seed, direction=DIRECTIONS[mode], stopping="none")
        self._numbers: dict[str, int] = {}  # of running trials, by Ray's id

    def suggest(self, trial_id: str) -> Any:
        """The next configuration; ``Searcher.FINISHED`` if a finite space is exhausted."""
        try:
            trial = self.study.ask()
        except ExhaustedError:
            return str(Searcher.FINISHED)
        self._numbers[trial_id] = trial.number
        return dict(trial.config)

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Tell the study the last result of a trial, or that it failed."""
        number = self._numbers.pop(trial_id, None)
        if number is None:
            return
        if error or result is None:
            self.study.fail(number, "Ray reported an error" if error else "Ray reported no result")
        elif self._metric not in result:
            self.study.fail(number, f"the result has no metric {self._metric!r}")
        else:
            seconds = result.get("time_total_s")
            cost = seconds if isinstance(seconds, (int, float)) and math.isfinite(seconds) else None
            try:
                self.study.tell(number, result[self._metric], cost=cost)
            except TrialError as wrong:  # the metric is not a number; Ray continues
                self.study.fail(number, str(wrong))

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        """Add a known result."""
        if not error and not pruned:
            self.study.add(parameters, value)

    def save(self, checkpoint_path: str) -> None:
        """Write the searcher's state: the map from Ray's trials to bough's, and the study."""
        head = json.dumps({"running": self._numbers})
        write_file(checkpoint_path, [f"{head}\n", *study_lines(self.study)])

    def restore(self, checkpoint_path: str) -> None:
        """Read a state that ``save`` wrote, of a search with the same space and mode."""
        try:
            head, _, lines = Path(checkpoint_path).read_text(encoding="utf-8").partition("\n")
            running = json.loads(head)["running"]
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "study").write_text(lines, encoding="utf-8")
                study = import_study(Path(folder) / "study", MemoryStorage())
        except (OSError, ValueError, KeyError, StudyError) as error:
            raise StudyError(f"{checkpoint_path} cannot be restored: {error}") from None
        if (study.space, study.direction) != (self.study.space, self.study.direction):
            raise StudyError(f"{checkpoint_path} has a search with another space or mode")
        self.study, self._numbers = study, running
        self._hold()

    def _hold(self) -> None:
        """Mark the trials that Ray runs as running here, too: after an import they are queued."""
        wanted, others = set(self._numbers.values()), []
        while wanted:
            trial = self.study.ask()
            if trial.number in wanted:
                wanted.discard(trial.number)
            else:
                others.append(trial)
        self.study.renew(others, None)
