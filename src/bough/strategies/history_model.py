"""A surrogate given the history of a study, with hyperparameters fitted to a scheduled prefix of it.

Hyperparameters and the output transform are fitted to that prefix (``hyperparameters``). Fits and posteriors
are cached by content, and dropping the caches changes no proposal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from bough.gp.likelihood import Data
from bough.gp.output_transform import OutputTransform
from bough.gp.posterior import GPPosterior, Posterior
from bough.history import History, Source
from bough.points import FloatArray, Points
from bough.strategies import streams
from bough.strategies.base import WORKING_SET_SIZE
from bough.strategies.context import ConditionedModel
from bough.strategies.earlier_studies import learned
from bough.strategies.hyperparameters import (
    Fitted,
    Fitter,
    content,
    digest,
    keep,
    scheduled,
    working_rows,
)
from bough.surrogates.base import Surrogate

__all__ = ["HistoryModel"]

_CACHED_MODELS = 4

PENDING_BLOCK = 8
"""A model is conditioned on this many running trials at a time, and whole blocks are cached."""


@dataclass(frozen=True, eq=False)
class HistoryModel:
    """Models the values of a history: the objective, a limit, the log cost, or whether trials succeed.

    refit_growth: hyperparameters are fitted again when the data have grown by this fraction.
    fit_transform: fits the output transform to the observed values.
    working_set: largest number of observations that the surrogate sees (``working_rows``).
    """

    surrogate: Surrogate
    refit_growth: float = field(default=0.05, kw_only=True)
    fit_transform: Callable[[FloatArray], OutputTransform] = field(default=OutputTransform.fit, kw_only=True)
    working_set: int = field(default=WORKING_SET_SIZE, kw_only=True)
    _fits: dict[bytes, Fitted] = field(default_factory=dict, init=False, repr=False)
    _models: dict[bytes, ConditionedModel] = field(default_factory=dict, init=False, repr=False)
    _source_models: dict[bytes, Posterior] = field(default_factory=dict, init=False, repr=False)
    _learned: dict[bytes, ConditionedModel] = field(default_factory=dict, init=False, repr=False)
    _pending: dict[tuple[ConditionedModel, bytes], ConditionedModel] = field(
        default_factory=dict, init=False, repr=False
    )

    def model(self, history: History) -> ConditionedModel:
        """The posteriors given all observations, with the hyperparameters of the scheduled prefix.

        Posteriors given the finished trials are cached, so a batch of proposals computes them only once.
        """
        key = digest(history.done, history.y, history.noise, history.seed)
        model = self._models.get(key)
        if model is None:
            fitter = Fitter(
                self.surrogate, self.fit_transform, self.refit_growth, self.working_set, self._fits
            )
            length = scheduled(len(history.done), self.refit_growth)
            if not np.ptp(history.y[:length]) and np.ptp(history.y):
                length = len(history.done)  # a fit to equal values says nothing about the first other one
            fitted = fitter.fit(history, length)
            rows = working_rows(history.y, self.working_set)
            z, points = fitted.transform.forward(history.y), history.done.take(rows)
            data = Data(points, z[rows], fitted.transform.noise(history.y[rows], history.noise[rows]))
            posteriors = self.surrogate.posterior(fitted.theta, data)
            best = [p.incumbent(points, data.y) for p in posteriors]
            model = ConditionedModel(fitted.transform, posteriors, best, z)
            keep(self._models, key, model, _CACHED_MODELS)
        if history.sources:
            model = self._learn(history, key, model)
        return self._with_pending(model, history.pending) if len(history.pending) else model

    def _with_pending(self, model: ConditionedModel, pending: Points) -> ConditionedModel:
        """The model conditioned on the predicted values of running trials (Ginsbourger et al. 2010).

        A predicted value does not change the posterior mean, so trials can be added block by block. Whole
        blocks are cached for the next trial of a batch. Blocks begin at fixed rows, whatever is cached, so a
        reopened study computes the same numbers as the one that handed these trials out.
        """
        conditioned, first = model, len(pending) // PENDING_BLOCK * PENDING_BLOCK
        while first > 0:
            if known := self._pending.get((model, content(pending.take(slice(0, first))))):
                conditioned = known
                break
            first -= PENDING_BLOCK
        for row in range(first, len(pending), PENDING_BLOCK):
            block = pending.take(slice(row, row + PENDING_BLOCK))
            believed = [p.predict_mean(block) for p in conditioned.posteriors]
            conditioned = replace(
                conditioned,
                posteriors=[p.condition(block, z) for p, z in zip(conditioned.posteriors, believed)],
                # Predicted values count as incumbents, or the next trial would be close to a running one.
                best=[min(b, float(z.min())) for b, z in zip(conditioned.best, believed)],
            )
            if len(block) == PENDING_BLOCK:
                key = model, content(pending.take(slice(0, row + PENDING_BLOCK)))
                keep(self._pending, key, conditioned, _CACHED_MODELS)
        return conditioned

    def _learn(self, history: History, key: bytes, model: ConditionedModel) -> ConditionedModel:
        """The model with a prior mean from earlier studies, weighted by how well they rank these results.

        key: of the history. The model is cached, because the blocks of ``_with_pending`` belong to it.
        """
        key += b"".join(_key_of(source, history.seed) for source in history.sources)
        if (cached := self._learned.get(key)) is not None:
            return cached
        members = [self.source_model(source, history.seed) for source in history.sources]
        rng = np.random.default_rng([history.seed, len(history.done), streams.SOURCE_WEIGHTS])
        known = [p for p in model.posteriors if isinstance(p, GPPosterior)]
        posteriors, weights = zip(*(learned(posterior, members, rng) for posterior in known), strict=True)
        rows = working_rows(history.y, self.working_set)
        points, z = history.done.take(rows), model.z[rows]
        best = [p.incumbent(points, z) for p in posteriors]
        mean_weights = np.mean(weights, axis=0).tolist()
        model = replace(model, posteriors=posteriors, best=best, source_weights=tuple(mean_weights))
        keep(self._learned, key, model, _CACHED_MODELS)
        return model

    def source_model(self, source: Source, seed: int) -> Posterior:
        """The model of an earlier study, on the scale of its own results."""
        key = _key_of(source, seed)
        model = self._source_models.get(key)
        if model is None:
            noise = np.full(len(source.y), np.nan)
            data = Data(source.points, self.fit_transform(source.y).forward(source.y), noise)
            rng = np.random.default_rng([seed, len(source.y), streams.FIT])
            model = self.surrogate.posterior(self.surrogate.fit(data, rng), data)[0]
            self._source_models[key] = model
        return model


def _key_of(source: Source, seed: int) -> bytes:
    return digest(source.points, source.y, np.full(len(source.y), np.nan), seed)
