"""Why a single process does not fail on the 2-D exponential here: it sees transformed values.

    python -m benchmarks.assael_transform [--runs 8] [--trials 60]

Runs ``gp`` on the 2-D exponential of Assael et al. 2014 with other transforms of the values, and with plain
EI. Prints mean ± standard deviation of the best value, and how often the optimum was found.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import bough
from benchmarks.assael import FIRST_SEED, hits
from benchmarks.problems.uneven import uneven
from bough.acquisition.functions import Acquisition, log_ei
from bough.gp.output_transform import OutputTransform
from bough.registry import build


def centred(y: np.ndarray) -> OutputTransform:
    return OutputTransform(shift=float(np.mean(y)) if len(y) else 0.0)


def plain_ei(mean: np.ndarray, sd: np.ndarray, best: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """EI with its derivatives, instead of its logarithm."""
    value, by_mean, by_sd = log_ei(mean, sd, best)
    gain = np.exp(value)
    return gain, gain * by_mean, gain * by_sd


@dataclass(frozen=True)
class Variant:
    """``gp`` with another transform of values, or another acquisition."""

    fit_transform: Callable[[np.ndarray], OutputTransform]
    plain: bool = False

    def strategy(self, space: bough.Space):
        made = replace(build("gp", space), fit_transform=self.fit_transform)
        return replace(made, acquisition=Acquisition(plain_ei, log=False)) if self.plain else made


VARIANTS = {
    "cut off and standardised values (the default)": Variant(OutputTransform.fit),
    "standardised values": Variant(OutputTransform.standard),
    "centred values": Variant(centred),
    "values as they are": Variant(lambda y: OutputTransform()),
    "values as they are, plain EI instead of its logarithm": Variant(lambda y: OutputTransform(), plain=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--trials", type=int, default=60)
    options = parser.parse_args()
    problem = uneven("exp")
    print("| `gp` sees | mean ± sd of the best value | optimum found |\n|---|---|---|")
    for label, variant in VARIANTS.items():
        best = []
        for seed in range(FIRST_SEED, FIRST_SEED + options.runs):
            study = bough.minimize(problem.function, problem.space, options.trials, method=variant, seed=seed)
            best.append(study.best.value)
        found = int(hits(np.array(best), "exp").sum())
        line = f"| {label} | {np.mean(best):.3f} ± {np.std(best):.3f} | {found} of {len(best)} |"
        print(line.replace("| -", "| −"), flush=True)


if __name__ == "__main__":
    main()
