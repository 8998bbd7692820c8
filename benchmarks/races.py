"""Runs that a race over instances needs, against averaging over all instances and against SMAC.

    python -m benchmarks.races --seeds 5

A sorter with conditional options is tuned over 50 generated lists of numbers: random, nearly sorted,
reversed, with few distinct values, with a sorted end. The value on a list is the number of comparisons and
moves, divided by that of a plain merge sort. Four ways of tuning use the same space and seeds:

* all:  every trial on all 50 lists (``stopping="none"``),
* race: ``run(instances=...)``, which drops trials by a paired test,
* few:  every trial on the first 5 lists only,
* smac: SMAC's facade for algorithm configuration, which has its own racing, with ``SMAC_RUNS`` runs.

The others have ``--trials`` trials. Quality is the mean of the best configuration on 200 new lists. A run is
one evaluation on one list. "to reach" is the number of runs until the best configuration is within 1 % of the
final quality of ``all`` on these lists. ``move_cost`` is artificial: it multiplies every value, and its best
value is 0.5. Runs are kept with ``--rows``.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

import bough
from benchmarks.kept_rows import RESULTS, KeptRows

INSTANCES, FRESH, FEW = 50, 200, 5
SMAC_RUNS = 400
"""About as many runs as a race needs; not more, because SMAC fits a forest for each configuration."""

SPACE = bough.Space(
    {
        "sorter": bough.Choice(
            {
                "insertion": {"search": bough.Categorical(["linear", "binary"])},
                "shell": {"ratio": bough.Float(1.5, 4.0)},
                "quick": {
                    "pivot": bough.Categorical(["first", "middle", "median of three"]),
                    "cutoff": bough.Int(1, 64, log=True),
                },
                "merge": {
                    "cutoff": bough.Int(1, 64, log=True),
                    "skip_sorted": bough.Categorical([True, False]),
                    "natural_runs": bough.Categorical([True, False]),
                },
            }
        ),
        "move_cost": bough.Float(0.2, 1.0),
    }
)


class Counter:
    """Sorts a list and counts comparisons and moves."""

    def __init__(self, values: list[int]) -> None:
        self.values, self.compared, self.moved = values, 0, 0

    def less(self, a: int, b: int) -> bool:
        self.compared += 1
        return a < b

    def insertion(self, low: int, high: int, binary: bool = False, gap: int = 1) -> None:
        for place in range(low + gap, high):
            value = self.values[place]
            if binary:
                left, right = low, place
                while left < right:
                    middle = (left + right) // 2
                    left, right = (
                        (left, middle) if self.less(value, self.values[middle]) else (middle + 1, right)
                    )
                self.values[left + 1 : place + 1] = self.values[left:place]
                self.moved += place - left
                self.values[left] = value
                continue
            while place - gap >= low and self.less(value, self.values[place - gap]):
                self.values[place] = self.values[place - gap]
                self.moved += 1
                place -= gap
            self.values[place] = value

    def shell(self, ratio: float) -> None:
        gap = int(len(self.values) / ratio)
        while gap > 1:
            self.insertion(0, len(self.values), gap=gap)
            gap = int(gap / ratio)
        self.insertion(0, len(self.values))

    def quick(self, pivot: str, cutoff: int) -> None:
        pending = [(0, len(self.values))]
        while pending:
            low, high = pending.pop()
            if high - low <= max(cutoff, 1):
                self.insertion(low, high)
                continue
            first, middle, last = self.values[low], self.values[(low + high) // 2], self.values[high - 1]
            chosen = {"first": first, "middle": middle}.get(pivot, sorted((first, middle, last))[1])
            below = [v for v in self.values[low:high] if v < chosen]
            equal = [v for v in self.values[low:high] if v == chosen]
            above = [v for v in self.values[low:high] if v > chosen]
            self.compared += (high - low) + (3 if pivot == "median of three" else 0)
            self.moved += high - low
            self.values[low:high] = below + equal + above
            pending += [(low, low + len(below)), (high - len(above), high)]

    def merge(self, low: int, high: int, cutoff: int, skip_sorted: bool, natural: bool) -> None:
        if natural and all(
            self.less(a, b) or a == b for a, b in zip(self.values[low:high], self.values[low + 1 : high])
        ):
            return
        if high - low <= max(cutoff, 1):
            self.insertion(low, high)
            return
        middle = (low + high) // 2
        self.merge(low, middle, cutoff, skip_sorted, natural)
        self.merge(middle, high, cutoff, skip_sorted, natural)
        if skip_sorted and not self.less(self.values[middle], self.values[middle - 1]):
            return
        left, right, merged = self.values[low:middle], self.values[middle:high], []
        i = j = 0
        while i < len(left) and j < len(right):
            if self.less(right[j], left[i]):
                merged.append(right[j])
                j += 1
            else:
                merged.append(left[i])
                i += 1
        self.values[low:high] = merged + left[i:] + right[j:]
        self.moved += high - low


def made_list(number: int) -> list[int]:
    """A list of 30 to 150 numbers of one of five kinds."""
    rng = np.random.default_rng([7, number])
    size, kind = int(rng.integers(30, 151)), int(rng.integers(5))
    values = rng.integers(0, 8 if kind == 3 else 10_000, size)
    if kind in (1, 2, 4):
        values = np.sort(values)
    if kind == 2:
        values = values[::-1].copy()
    if kind == 1:
        for _ in range(size // 10):
            a, b = rng.integers(0, size, 2)
            values[[a, b]] = values[[b, a]]
    if kind == 4:
        values[: size // 3] = rng.permutation(values[: size // 3])
    return [int(value) for value in values]


def cost(config: dict[str, Any], number: int) -> float:
    """Comparisons and moves of a configuration on a list, over those of a plain merge sort."""
    counter = Counter(made_list(number))
    options = {name: value for name, value in config.items() if name not in ("sorter", "move_cost")}
    match config["sorter"]:
        case "insertion":
            counter.insertion(0, len(counter.values), binary=options["search"] == "binary")
        case "shell":
            counter.shell(options["ratio"])
        case "quick":
            counter.quick(**options)
        case _:
            low, high = 0, len(counter.values)
            counter.merge(low, high, options["cutoff"], options["skip_sorted"], options["natural_runs"])
    if counter.values != sorted(counter.values):
        raise AssertionError(f"{config} does not sort")
    plain = Counter(made_list(number))
    plain.merge(0, len(plain.values), 1, False, False)
    waste = 1 + (np.log(config["move_cost"] / 0.5)) ** 2
    return float(waste * (counter.compared + counter.moved) / (plain.compared + plain.moved))


def fresh_quality(config: dict[str, Any]) -> float:
    return fmean(cost(config, 1000 + number) for number in range(FRESH))


def tuned(way: str, trials: int, seed: int) -> bough.Study:
    instances = range(FEW if way == "few" else INSTANCES)
    stopping = None if way == "race" else "none"
    return bough.minimize(
        cost, SPACE, trials, seed=seed, stopping=stopping, instances=instances, progress=False
    )


def improvements(study: bough.Study) -> list[tuple[int, float]]:
    """(runs so far, quality on fresh lists) at each trial that became the best."""
    runs, best, found = 0, float("inf"), []
    for trial in study.trials:
        runs += len(trial.curve)
        if trial.value is not None and trial.value < best:
            best = trial.value
            found.append((runs, fresh_quality(trial.config)))
    return found


def raced_by_smac(runs: int, seed: int) -> dict[str, Any]:
    from smac import AlgorithmConfigurationFacade, Scenario
    from smac.main.exceptions import ConfigurationSpaceExhaustedException
    from smac.runhistory.dataclasses import TrialValue

    from bough.integrations.configspace import to_configspace

    def plain(config: Any) -> dict[str, Any]:
        """The config with names of parameters instead of their paths, such as sorter=quick/cutoff."""
        return {path.rpartition("/")[2]: value for path, value in config.items()}

    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            to_configspace(SPACE),
            instances=[str(number) for number in range(INSTANCES)],
            instance_features={str(number): [number] for number in range(INSTANCES)},
            n_trials=runs,
            deterministic=True,
            seed=seed,
            output_directory=Path(folder),
        )
        facade = AlgorithmConfigurationFacade(
            scenario, lambda config, instance, seed=0: 0.0, logging_level=False, overwrite=True
        )
        best, path, tried = None, [], set()
        for run in range(1, runs + 1):
            try:
                info = facade.ask()
            except (StopIteration, ConfigurationSpaceExhaustedException):
                break
            tried.add(info.config)
            facade.tell(info, TrialValue(cost=cost(plain(info.config), int(info.instance))), save=False)
            incumbent = facade.intensifier.get_incumbent()
            if incumbent is not None and incumbent != best:
                best = incumbent
                path.append((run, fresh_quality(plain(best))))
    return {"runs": run, "configs": len(tried), "path": path}


def result(way: str, trials: int, seed: int) -> dict[str, Any]:
    """The numbers of runs and configurations, and (runs, quality) at each change of the best one."""
    if way == "smac":
        return raced_by_smac(SMAC_RUNS, seed)
    study = tuned(way, trials, seed)
    runs = sum(len(trial.curve) for trial in study.trials)
    return {"runs": runs, "configs": len(study.trials), "path": improvements(study)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ways", nargs="+", default=("all", "race", "few", "smac"))
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=Path, default=RESULTS / "races.jsonl", help="where runs are kept")
    given = parser.parse_args()
    kept = KeptRows(given.rows)
    print("seed  way    runs  configs  fresh quality  to reach")
    for seed in range(given.seeds):
        target = None
        for way in given.ways:
            found = kept.once(f"{way} {seed} {given.trials}", partial(result, way, given.trials, seed))
            path, runs = found["path"], found["runs"]
            target = path[-1][1] if target is None else target
            reached = next((str(at) for at, quality in path if quality <= target * 1.01), "never")
            print(
                f"{seed:4}  {way:5} {runs:5} {found['configs']:8}  {path[-1][1]:13.4f}  {reached:>8}",
                flush=True,
            )


if __name__ == "__main__":
    main()
