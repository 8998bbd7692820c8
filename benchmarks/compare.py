"""Compare methods pair by pair: was a change a gain, a loss, or neither?

    python -m benchmarks.compare development            # the spec's reference against every other method
    python -m benchmarks.compare development --reference "auto(exploit_every=0)"
    python -m benchmarks.compare development --tolerance 0.01

A pair is one problem and one seed. For a quarter, half and all of the budget each row gives the pairs that
the reference won and lost; the probability of superiority (ties count half) with its 90 % bootstrap interval
over problems; and p of Wilcoxon's signed-rank test over problems, each of which is one observation. An
interval inside 0.45 to 0.55 means "no relevant difference"; a large p alone does not show this.

Two runs that converge to the same optimum differ by about 1e-7, which a strict comparison counts as a win.
With a tolerance, differences below this share of the spread of values count as ties. The spread is the
interquartile range of the values of both runs in the first quarter of the budget.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import spec
from benchmarks.runner import Record
from benchmarks.statistics import bootstrap, wilcoxon

SHARES = {"1/4": 0.25, "1/2": 0.5, "end": 1.0}


@dataclass(frozen=True)
class Comparison:
    """The reference against one method at one share of the budget."""

    wins: int
    losses: int
    superiority: float
    interval: tuple[float, float]
    p: float


def best_at(record: Record, share: float) -> float:
    """The best value of a study after a share of its budget; inf while every trial failed."""
    count = max(1, round(share * record.trials))
    return float(np.min(np.nan_to_num(record.values[:count], nan=np.inf), initial=np.inf))


def spread(records: Sequence[Record]) -> float:
    """The interquartile range of the finite values of the first quarters; 0 if there are none."""
    early = np.concatenate([record.values[: max(1, round(0.25 * record.trials))] for record in records])
    early = early[np.isfinite(early)]
    return float(np.subtract(*np.quantile(early, [0.75, 0.25]))) if len(early) else 0.0


def outcome_of(first: Record, second: Record, share: float, tolerance: float) -> float:
    """1 if the first study is ahead after a share of the budget, 0 if the second is, 0.5 for a tie."""
    one, two = best_at(first, share), best_at(second, share)
    if one == two or (tolerance and abs(one - two) <= tolerance * spread([first, second])):
        return 0.5
    return float(one < two)


def compare(
    records: Sequence[Record], reference: str, other: str, share: float, tolerance: float = 0.0
) -> Comparison | None:
    """Pairs that both methods have run; None if there are none."""
    found: dict[str, dict[tuple[str, int], Record]] = defaultdict(dict)
    for record in records:
        found[record.method][record.problem, record.seed] = record
    outcome: dict[str, list[float]] = defaultdict(list)
    for pair in found[reference].keys() & found[other].keys():
        outcome[pair[0]].append(outcome_of(found[reference][pair], found[other][pair], share, tolerance))
    if not outcome:
        return None
    pairs = np.concatenate([np.array(results) for results in outcome.values()])
    by_problem = np.array([np.mean(results) for results in outcome.values()])
    return Comparison(
        wins=int(np.sum(pairs == 1.0)),
        losses=int(np.sum(pairs == 0.0)),
        superiority=float(by_problem.mean()),
        interval=bootstrap(by_problem, lambda sample: float(np.mean(sample)), np.random.default_rng(0)),
        p=wilcoxon(by_problem - 0.5),
    )


def table(records: Sequence[Record], reference: str, tolerance: float = 0.0) -> list[str]:
    """One line per method and share of the budget."""
    lines = [f"{reference} against ...", ""]
    others = sorted({record.method for record in records} - {reference})
    width = max((len(other) for other in others), default=0)
    for other in others:
        for label, share in SHARES.items():
            result = compare(records, reference, other, share, tolerance)
            if result is None:
                continue
            low, high = result.interval
            lines.append(
                f"{other:{width}}  {label}  won {result.wins:4} lost {result.losses:4}  "
                f"superiority {result.superiority:.2f} [{low:.2f}, {high:.2f}]  p {result.p:.2g}"
            )
    return lines


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("spec", help="name of a spec, or path of a TOML file")
    parser.add_argument("--reference", help="the method to compare; by default the spec's reference")
    parser.add_argument("--problems", default="", metavar="PREFIX", help="only problems with this prefix")
    parser.add_argument(
        "--tolerance", type=float, default=0.0, metavar="SHARE", help="differences below it are ties"
    )
    options = parser.parse_args(arguments)
    try:
        chosen = spec.load(options.spec)
    except spec.SpecError as error:
        sys.exit(str(error))
    records = [record for record in chosen.records() if record.problem.startswith(options.problems)]
    print("\n".join(table(records, options.reference or chosen.reference, options.tolerance)))


if __name__ == "__main__":
    main()
