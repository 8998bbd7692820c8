"""``auto`` against variants of itself with one change, in whole studies.

    python -m benchmarks.variants prior              # ten minutes on two cores
    python -m benchmarks.variants settled --trials 200

``prior`` has a prior with shorter length-scales, which predicts best. ``noise`` has a narrower prior of the
noise, like the other Gaussian processes here. With ``branches``, a trial that explores another branch than
the incumbent's tries to improve on the best observation of that branch: expected improvement over the
incumbent is often largest in a corner, which tells little about a branch. ``ranks`` sees the worse half of
the values only by their ranks. With ``doubt``, every fourth trial distrusts a model that expects no gain and
divides its length-scales by 2, 4 or 8. In ``steady`` exploitation does not fade; ``explore`` never exploits.
``persist`` exploits also where a trial will probably fail and no gain is expected.
``local`` searches by random steps and never exploits. ``starts`` searches the criterion from twice as many
points, ``candidates`` among half as many candidates.
``settled`` has no random trials while the model expects no gain. ``blind`` ignores the noise when it asks
whether the model expects a gain; ``python -m benchmarks.recommended blind`` compares it on noisy problems.
``fence`` cuts values off by Tukey's rule, which looks at the worse half, too; problems whose trials diverge
(``--problems diverging``) tell the two apart. With ``rows`` the model sees 400 observations, not 256.
``hopeful`` multiplies improvement by the probability of success alone, without the penalty where success is
improbable.
Seeds differ from those used to find the variants. Tasks of the same space have different seeds, because a
shared seed would give them the same initial design.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import ndtri

from benchmarks.compare import table
from benchmarks.pool import Failure, in_processes
from benchmarks.problems import build
from benchmarks.problems.yahpo import PUBLISHED
from benchmarks.runner import Record, run_study
from benchmarks.spec import expand
from bough.acquisition.criterion import Criterion, Expected, Total
from bough.acquisition.functions import Acquisition
from bough.acquisition.maximise.local import local_search
from bough.acquisition.maximise.paths import search_boxes, search_paths
from bough.auto import Auto, fading_share
from bough.gp.kernels.nested import SCALES
from bough.gp.likelihood import NOISE
from bough.gp.output_transform import OutputTransform
from bough.gp.params import LogNormal
from bough.gp.posterior import GPPosterior, posterior
from bough.history import History
from bough.points import FloatArray, Points
from bough.space import Space
from bough.strategies.context import Choice, Decision, ProposalContext
from bough.strategies.decisions import exploit, explore, maximise_with
from bough.strategies.model_based import ModelBased
from bough.strategies.remaining_gain import NEGLIGIBLE_GAIN_SDS
from bough.strategies.success import log_success
from bough.surrogates.nested import nested

SYNTHETIC = (
    "edges", "product", "switches", "valley", "plateaus", "modes", "rotated", "multiply", "nested", "uneven",
    "path", "clash", "ties", "scales", "deep", "either", "many", "fails-by-shared",
)  # fmt: skip
SURROGATES = (
    "yahpo-xgboost-3", "yahpo-xgboost-12", "yahpo-xgboost-23", "yahpo-xgboost-54", "yahpo-xgboost-181",
    "yahpo-xgboost-334", "yahpo-xgboost-1063", "yahpo-xgboost-1468", "yahpo-lcbench-3945",
    "yahpo-lcbench-167152", "yahpo-rpart-1485",
)  # fmt: skip
SHORTER_PRIOR = LogNormal(math.log(0.25), 0.7)
MIN_BRANCH_TRIALS = 2
"""Trials that a branch needs before it is exploited."""
DOUBT_EVERY, DOUBT_FACTORS = 4, (2.0, 4.0, 8.0)
FIRST_SEED = 400


@dataclass(frozen=True)
class Pair:
    """One instance of a problem, on which both variants run."""

    variant: str
    group: str
    problem: str
    seed: int
    trials: int


def pairs(variant: str, seeds: int, trials: int, chosen: tuple[str, ...] = ()) -> Iterator[Pair]:
    """Pairs of all groups of problems, or of the chosen problems alone."""
    groups = (
        {"chosen": chosen}
        if chosen
        else {
            "synthetic": SYNTHETIC,
            "surrogates": SURROGATES,
            "published": tuple(name for name in PUBLISHED if "xgboost" in name),
        }
    )
    for repetition in range(seeds):
        for group, problems in groups.items():
            for place, problem in enumerate(problems):
                own = 0 if group == "synthetic" else place
                yield Pair(variant, group, problem, FIRST_SEED + 100 * repetition + own, trials)


def alternating(**search: int) -> Decision:
    """The exploration and exploitation of ``auto``. search: other arguments of ``search_paths``."""
    maximise = maximise_with(partial(search_paths, starts=Auto.search_starts, **search))
    return exploit(maximise, Auto.exploit_every, partial(fading_share, Auto.exploit_sd_share))


def deciding(space: Space, decide: Decision) -> ModelBased:
    """``auto`` with another decision."""
    return replace(Auto().strategy(space), decide=decide)


def persistent(space: Space) -> ModelBased:
    decide = Auto().strategy(space).decide

    def without_doubt(context: ProposalContext, rng: np.random.Generator) -> Choice:
        exploits = context.number % Auto.exploit_every == Auto.exploit_every - 1
        return decide(replace(context, success=None) if exploits else context, rng)

    return deciding(space, without_doubt)


def compared_branches(space: Space) -> ModelBased:
    return deciding(space, explore(compare_branches(alternating())))


def compare_branches(decide: Decision) -> Decision:
    """``decide``, but an exploring trial on another branch than the incumbent's exploits that branch."""

    def with_comparison(context: ProposalContext, rng: np.random.Generator) -> Choice:
        found = decide(context, rng)
        if context.number % Auto.exploit_every == Auto.exploit_every - 1 or not len(found.points):
            return found
        branch = context.space.tree.branch_ids(Points.concat([found.points, context.done]))
        rows = np.flatnonzero(branch[1:] == branch[0])
        if len(rows) < MIN_BRANCH_TRIALS or int(np.argmin(context.level)) in rows:
            return found
        rows = rows[np.argsort(context.level[rows], kind="stable")]
        points = search_boxes(
            context.space,
            context.make_criterion(rows, Auto.exploit_sd_share),
            context.space.tree.path_of(found.points),
            near=context.done.take(rows),
            avoid=context.avoid,
            rng=rng,
            starts=6,
        )
        return Choice(points, "branch comparison") if len(points) else found

    return with_comparison


def shorter_prior(space: Space) -> ModelBased:
    surrogate = nested(space.layout, space.tree, lengthscale=SHORTER_PRIOR)
    return replace(Auto().strategy(space), surrogate=surrogate)


def narrow_noise(space: Space) -> ModelBased:
    auto = Auto().strategy(space)
    wide = nested(space.layout, space.tree)
    model = replace(wide.model, noise=replace(wide.model.noise, prior=NOISE.prior))
    return replace(auto, surrogate=replace(wide, model=model))


@dataclass(frozen=True)
class RankedBadHalf(OutputTransform):
    """Values worse than the median m become m plus sd_good times the normal quantile of their rank.

    sd_good² is the mean of (y − m)² over the better half. Vizier's Gaussian process transforms values like
    this (Song et al. 2024, arXiv 2408.11527).
    """

    known: tuple[float, ...] = ()
    seen_as: tuple[float, ...] = ()

    @staticmethod
    def of(y: FloatArray) -> OutputTransform:
        plain = OutputTransform.fit(y)
        scaled = np.sort(y) / plain.unit
        middle = float(np.median(scaled)) if len(y) else 0.0
        sd = math.sqrt(np.mean((scaled[scaled <= middle] - middle) ** 2)) if len(y) > 3 else 0.0
        worse, count = np.unique(scaled[scaled > middle], return_counts=True)
        if not len(worse) or sd <= 1e-14 * abs(middle):
            return plain
        rank = (np.searchsorted(scaled, worse) + 0.5 * count) / len(y)
        levels = (middle, *(middle + sd * ndtri(np.clip(rank, 0.5, 1.0 - 0.5 / len(y)))))
        ranked = RankedBadHalf(unit=plain.unit, known=(middle, *worse), seen_as=levels)
        seen = ranked._scaled(y)
        return replace(ranked, mean=float(seen.mean()), sd=float(seen.std()))

    def _scaled(self, y: FloatArray) -> FloatArray:
        u = y / self.unit
        return np.where(u <= self.known[0], u, np.interp(u, self.known, self.seen_as))


def ranked_bad_half(space: Space) -> ModelBased:
    return replace(Auto().strategy(space), fit_transform=RankedBadHalf.of)


def tukeys_fence(space: Space) -> ModelBased:
    return replace(Auto().strategy(space), fit_transform=cut_off_at_tukeys_fence)


def cut_off_at_tukeys_fence(y: FloatArray) -> OutputTransform:
    """Values beyond Q3 + 1.5 (Q3 − Q1) are cut off: the largest one of the first 8, 16, … and all values."""
    if len(y) == 0:
        return OutputTransform()
    sizes = [8 * 2**k for k in range(64) if 8 * 2**k < len(y)] + [len(y)]
    quartiles = [np.quantile(y[:size], [0.25, 0.75]) for size in sizes]
    bound = max(q3 + 1.5 * (q3 - q1) if q3 > q1 else np.inf for q1, q3 in quartiles)
    plain = OutputTransform.standard(np.minimum(y, bound))
    return replace(plain, cap=(bound / plain.unit - plain.shift) / plain.spread)


def doubtful(space: Space) -> ModelBased:
    return deciding(space, explore(doubt(alternating())))


def doubt(decide: Decision) -> Decision:
    """``decide``, but every fourth trial distrusts a model that expects no gain.

    Hyperparameters fitted to trials in corners may miss a valley between them (Wang and de Freitas 2014,
    arXiv 1406.7758, shorten length-scales for this reason).
    """

    def with_doubt(context: ProposalContext, rng: np.random.Generator) -> Choice:
        found = decide(context, rng)
        if context.number % DOUBT_EVERY or not len(found.points):
            return found
        if context.improvement(found.points)[0] >= math.log(NEGLIGIBLE_GAIN_SDS):
            return found
        factor = DOUBT_FACTORS[context.number // DOUBT_EVERY % len(DOUBT_FACTORS)]
        rougher = [shorter(p, factor) for p in context.model.posteriors if isinstance(p, GPPosterior)]
        gain = Expected(rougher, [p.incumbent(p.data.points, p.data.y) for p in rougher])
        other = decide(replace(context, make_criterion=lambda *_, **__: gain), rng)
        return other if len(other.points) else found

    return with_doubt


def shorter(known: GPPosterior, factor: float) -> GPPosterior:
    """The posterior with all length-scales divided by a factor."""
    theta = known.theta.copy()
    theta[SCALES:-1] -= math.log(factor)
    return posterior(known.model, theta, known.data)


def fewer_candidates(space: Space) -> ModelBased:
    return deciding(space, explore(alternating(candidates=256)))


def searched_locally(space: Space) -> ModelBased:
    return deciding(space, explore(maximise_with(local_search)))


def steady(space: Space) -> ModelBased:
    maximise = maximise_with(partial(search_paths, starts=Auto.search_starts))
    return deciding(space, explore(exploit(maximise, Auto.exploit_every, lambda _: Auto.exploit_sd_share)))


def never_random(space: Space) -> ModelBased:
    decide = explore(alternating())  # as with a budget, where no trial is random
    return deciding(space, lambda context, rng: decide(replace(context, has_budget=True), rng))


def blind_to_noise(space: Space) -> ModelBased:
    settled = explore(alternating())

    def decide(context: ProposalContext, rng: np.random.Generator) -> Choice:
        gain: Criterion = Expected(context.model.posteriors, context.model.best)
        gain = gain if context.success is None else Total([gain, context.success])
        return settled(replace(context, improvement=gain), rng)

    return deciding(space, decide)


def hopeful(space: Space) -> ModelBased:
    auto = Auto().strategy(space)

    def success(space: Space, history: History) -> Criterion:
        known = auto.success(space, history)
        assert isinstance(known, Expected)
        return replace(known, acquisition=Acquisition(log_success, log=True))

    return replace(auto, success=success)


VARIANTS = {
    "prior": shorter_prior,
    "noise": narrow_noise,
    "branches": compared_branches,
    "ranks": ranked_bad_half,
    "fence": tukeys_fence,
    "doubt": doubtful,
    "steady": steady,
    "persist": persistent,
    "explore": Auto(exploit_every=0).strategy,
    "starts": Auto(search_starts=16).strategy,
    "candidates": fewer_candidates,
    "local": searched_locally,
    "settled": never_random,
    "rows": Auto(working_set=400).strategy,
    "blind": blind_to_noise,
    "hopeful": hopeful,
}


def run(pair: Pair) -> tuple[list[Record], dict[str, bool] | None]:
    """A record of ``auto`` and of the variant, and whether each found the best branch, if that is known."""
    records, found = [], {}
    for label, make in {"auto": Auto().strategy, pair.variant: VARIANTS[pair.variant]}.items():
        problem = build(pair.problem, pair.seed)
        record = run_study(problem, make(problem.space), pair.seed, pair.trials)
        records.append(replace(record, problem=pair.problem, method=label))
        told = [value if value == value else float("inf") for value in record.values]
        if problem.best_branch is not None:
            found[label] = record.branches[told.index(min(told))] == str(problem.best_branch)
    return records, found or None


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.variants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--problems", nargs="+", default=[], help="only these problems or families")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    records: dict[str, list[Record]] = {}
    found: list[dict[str, bool]] = []
    chosen = tuple(name for given in options.problems for name in expand(given))
    todo = pairs(options.variant, options.seeds, options.trials, chosen)
    for pair, answer in in_processes(run, todo, workers=options.workers):
        if isinstance(answer, Failure):
            print(f"{pair.problem}, seed {pair.seed}: {answer.reason}")
            continue
        records.setdefault(pair.group, []).extend(answer[0])
        if answer[1] is not None:
            found.append(answer[1])
    for group, some in records.items():
        for tolerance in (0.0, 0.01):
            print(f"\n{group}, differences below {tolerance:.0%} of the early spread are ties")
            print("\n".join(table(some, "auto", tolerance)[2:]))
    everything = [record for some in records.values() for record in some]
    for label in ("auto", options.variant):
        failed = sum(np.isnan(record.values).sum() for record in everything if record.method == label)
        right = sum(each[label] for each in found)
        print(f"{label}: the best branch in {right} of {len(found)}, {failed} failed trials")


if __name__ == "__main__":
    main()
