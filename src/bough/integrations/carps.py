"""bough as an optimizer of CARP-S, the benchmark of the SMAC community.

optimizer_id: bough
optimizer:
  _target_: bough.integrations.carps.BoughOptimizer
  _partial_: true
  seed: ${seed}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bough.errors import MissingExtraError
from bough.integrations.configspace import from_configspace
from bough.study import Study

try:
    from carps.optimizers.optimizer import Optimizer
    from carps.utils.trials import StatusType, TrialInfo, TrialValue
    from ConfigSpace import Configuration
except ImportError:
    raise MissingExtraError("BoughOptimizer needs CARP-S: pip install carps") from None

if TYPE_CHECKING:
    from bough.space import Space
    from bough.trial import Trial

__all__ = ["BoughOptimizer"]


class BoughOptimizer(Optimizer):  # type: ignore[misc]
    """Asks a bough study for trials, and tells it their costs.

    task, loggers: from CARP-S. method, seed: as in ``bough.Study``; the task's seed by default.
    Tasks with several objectives give a front. Every trial is evaluated at the highest fidelity.
    """

    def __init__(
        self, task: Any, loggers: Any = None, *, method: Any = "auto", seed: int | None = None, **options: Any
    ) -> None:
        super().__init__(task, loggers, **options)
        self._method, self._seed = method, task.seed if seed is None else seed
        self._configspace = task.input_space.configuration_space

    def _setup_optimizer(self) -> Study:
        names = [str(name) for name in self.task.output_space.objectives]
        objectives = None if self.task.output_space.n_objectives == 1 else names
        space = self.convert_configspace(self._configspace)
        return Study(space, method=self._method, seed=self._seed, objectives=objectives, stopping="none")

    def convert_configspace(self, configspace: Any) -> Space:
        """The task's space as a bough ``Space``."""
        return from_configspace(configspace)

    def convert_to_trial(self, trial: Trial) -> Any:
        """A trial of bough as a trial of CARP-S."""
        budget = self.task.input_space.fidelity_space.max_fidelity
        config = Configuration(self._configspace, values=dict(trial.config))
        return TrialInfo(config=config, budget=budget, name=str(trial.number))

    def ask(self) -> Any:
        return self.convert_to_trial(self.solver.ask())

    def tell(self, trial_info: Any, trial_value: Any) -> None:
        number = int(trial_info.name)
        if trial_value.status != StatusType.SUCCESS:
            self.solver.fail(number, f"CARP-S says {trial_value.status.name.lower()}")
            return
        names, cost = self.solver.goals.names, trial_value.cost
        value = dict(zip(names, cost, strict=True)) if len(names) > 1 else cost
        self.solver.tell(number, value)

    def get_current_incumbent(self) -> Any:
        """The best trial so far with its cost, or the front; None before the first result."""
        study = self.solver
        if len(study.goals.objectives) > 1:
            return [
                (self.convert_to_trial(t), TrialValue(cost=[t.measures[name] for name in study.goals.names]))
                for t in study.front
            ]
        best = study.status().best
        return None if best is None else (self.convert_to_trial(best), TrialValue(cost=best.value))
