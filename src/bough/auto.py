"""The default method on one page: every constant with its reason, then the composition.

The surrogate is one Gaussian process whose covariance joins levels of branches, functions of groups and
interactions (``surrogates.nested``, with its priors). Expected improvement is searched on every path. Every
second trial exploits. While the model expects no trial to show a gain, the other trials are random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from bough.acquisition.maximise.paths import search_paths
from bough.errors import MethodError
from bough.gp.output_transform import OutputTransform
from bough.space import Space
from bough.strategies.composition import ACQUISITIONS, THOMPSON
from bough.strategies.context import Decision
from bough.strategies.decisions import (
    exploit,
    explore,
    maximise_with,
    thompson_sampling,
)
from bough.strategies.goal_based import GoalBased
from bough.strategies.information import INFORMATION
from bough.strategies.initial import initial_design
from bough.strategies.model_based import ModelBased
from bough.strategies.options import SHARE, ModelOptions, at_least, flag, one_of, option
from bough.strategies.success import success_probability
from bough.surrogates.nested import TERMS, nested

__all__ = ["Auto", "fading_share"]

EXPLOIT_TRIALS = 30
"""After so many observations exploitation fades: its share of the sd rises towards 1 like 1 − c / n. Early
exploitation gains most of its precision; later it costs some studies the best branch."""

BRIEF_CANDIDATES = 128
"""Candidates of a brief search: in a long study, while other trials run. A quarter of the usual number led to
the same criterion values; scoring all candidates took half of the time of a batch."""


@dataclass(frozen=True)
class Auto(ModelOptions):
    """The options of ``auto``. Inherited: ``refit_growth``, ``initial`` and ``working_set``.

    refit_growth: a fit costs much more than a proposal, and 5 % more data hardly move the hyperparameters.
    working_set: 400 observations made proposals twice as slow and led to no better results than 256.
    """

    acquisition: str = option("log-ei", one_of([*ACQUISITIONS, THOMPSON, *INFORMATION]))
    """Log EI has the maximum of EI and a useful gradient where EI underflows (Ament et al. 2023)."""

    exploit_every: int = option(
        2, at_least(0, "a whole number n (every n-th trial exploits), or 0 for never")
    )
    """Every second trial: with fresh seeds it won 87 and lost 64 pairs that matter after a quarter of the
    budget, 39 and 55 at the end, where it finds optima more precisely and branches less often."""

    exploit_sd_share: float = option(0.3, SHARE)
    """Factor of the sd in those trials, up to EXPLOIT_TRIALS observations. 0.2 to 0.4 did equally well; 0
    would stay next to known points."""

    search_starts: int = option(8, at_least(1))
    """Most first local searches of the criterion per proposal. Sixteen took longer for level results."""

    cost_aware: bool = option(True, flag("True to prefer cheap trials where the study has a budget"))
    """Only studies with a budget have costs to save; see ``strategies.cost_aware``."""

    drop_term: str | None = option(None, one_of(TERMS, or_none=True))
    """A term of the covariance to leave out, to measure its effect."""

    def strategy(self, space: Space) -> ModelBased:
        return self._model(space, partial(fading_share, self.exploit_sd_share))

    def goal_strategy(self, space: Space) -> GoalBased:
        """For several objectives, or under constraints: exploitation does not fade there, because nothing was
        gained. On surrogates with two objectives, fading won 19 and lost 21 pairs at the end."""
        if self.acquisition != "log-ei":
            raise MethodError("several objectives and constraints need acquisition='log-ei'")
        model = self._model(space, lambda _: self.exploit_sd_share)
        return GoalBased(
            objective=model,
            limit=replace(model, fit_transform=OutputTransform.standard),
            decide=model.decide,
            find_feasible=maximise_with(partial(search_paths, starts=self.search_starts)),
        )

    def _model(self, space: Space, sd_share: Callable[[int], float]) -> ModelBased:
        model = ModelBased(
            surrogate=nested(space.layout, space.tree, without=self.drop_term),
            decide=self._decision(sd_share),
            acquisition=ACQUISITIONS.get(self.acquisition, ACQUISITIONS["log-ei"]),
            initial=initial_design(self.initial),
            working_set=self.working_set,
            refit_growth=self.refit_growth,
            uses_criterion=self.acquisition in ACQUISITIONS,
        )
        labels = replace(model, fit_transform=OutputTransform.standard)
        costs = replace(model, fit_transform=OutputTransform.standard)
        return replace(
            model,
            success=lambda _, history: success_probability(labels.model, history),
            cost_model=costs if self.cost_aware else None,
        )

    def _decision(self, sd_share: Callable[[int], float]) -> Decision:
        if self.acquisition == THOMPSON:
            return thompson_sampling
        if self.acquisition in INFORMATION:
            return INFORMATION[self.acquisition]
        search = partial(search_paths, starts=self.search_starts)
        decide = maximise_with(search, briefly=partial(search, candidates=BRIEF_CANDIDATES))
        if self.exploit_every:
            decide = exploit(decide, self.exploit_every, sd_share)
        return explore(decide)


def fading_share(first: float, observations: int) -> float:
    """The share of the sd that counts in an exploiting trial: ``first`` up to EXPLOIT_TRIALS observations."""
    return 1.0 - (1.0 - first) * EXPLOIT_TRIALS / max(observations, EXPLOIT_TRIALS)
