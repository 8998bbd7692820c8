"""Compare methods pair by pair: was a change a gain, a loss, or neither?

    python -m benchmarks.compare development            # the spec's reference against every other method
    python -m benchmarks.compare development --reference "auto(exploit_every=0)"

A pair is one problem and one seed. For a quarter, half and all of the budget each row gives the pairs that
the reference won and lost; the probability of superiority (ties count half) with its 90 % bootstrap interval
over problems; and p of Wilcoxon's signed-rank test over problems, each of which is one observation. An
interval inside 0.45 to 0.55 says "no difference that matters", which a large p alone does not.
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


def compare(records: Sequence[Record], reference: str, other: str, share: float) -> Comparison | None:
    """Pairs that both methods have run; None if there are none."""
    found: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)
    for record in records:
        found[record.method][record.problem, record.seed] = best_at(record, share)
    outcome: dict[str, list[float]] = defaultdict(list)
    for pair in found[reference].keys() & found[other].keys():
        first, second = found[reference][pair], found[other][pair]
        outcome[pair[0]].append(1.0 if first < second else 0.0 if first > second else 0.5)
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


def table(records: Sequence[Record], reference: str) -> list[str]:
    """One line per method and share of the budget."""
    lines = [f"{reference} against ...", ""]
    others = sorted({record.method for record in records} - {reference})
    width = max((len(other) for other in others), default=0)
    for other in others:
        for label, share in SHARES.items():
            result = compare(records, reference, other, share)
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
    parser.add_argument("--reference", help="the method to compare; the spec's reference unless given")
    parser.add_argument("--problems", default="", metavar="PREFIX", help="only problems that begin so")
    options = parser.parse_args(arguments)
    try:
        chosen = spec.load(options.spec)
    except spec.SpecError as error:
        sys.exit(str(error))
    records = [record for record in chosen.records() if record.problem.startswith(options.problems)]
    print("\n".join(table(records, options.reference or chosen.reference)))


if __name__ == "__main__":
    main()
