"""Learning from earlier studies, leave-one-out over surrogates of real tuning problems (rbv2_xgboost).

    python -m benchmarks.transfer --tasks 10 --seeds 2

Each task is tuned with no earlier study, with earlier studies of five other tasks, and with five unrelated
ones (the same space, but a random function of its parameters). Earlier studies are runs of ``auto`` with 60
trials. Regret is the distance to the best value known (of all runs and 2,000 random configurations), divided
by the distance of the median random configuration. The table has mean regrets, and ratios of these means with
their 95 % interval (bootstrap over runs). Results are kept with ``--rows``, and an interrupted benchmark
continues.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np

import bough
from benchmarks.kept_rows import RESULTS, KeptRows
from benchmarks.problems.base import Config
from benchmarks.problems.yahpo import DEVELOPMENT, PUBLISHED, space, yahpo
from bough.space.space import Space
from bough.study.catalogue import export_study

CHECKPOINTS = (5, 10, 20, 40, 60)
SAMPLE = 2000
EARLIER_TRIALS = 60


def unrelated(searched: Space, seed: int) -> bough.Study:
    """A study of a random quadratic function over the same space."""
    rng = np.random.default_rng([seed, 99])
    columns = len(searched)
    centre, weight = rng.random(columns), rng.exponential(size=columns)

    def value(config: Config) -> float:
        point = searched.encode([config])
        active = searched.layout.active(point.on)[0]
        return float(np.sum((weight * (point.x[0] - centre) ** 2)[active]))

    study = bough.Study(searched, name=f"unrelated {seed}", seed=seed)
    return study.run(value, trials=EARLIER_TRIALS, progress=False)


def earlier(task: str, folder: Path) -> Path:
    """The file of a study of a task, created if missing."""
    file = folder / f"{task}.jsonl"
    if not file.exists():
        problem = yahpo(task)
        study = bough.Study(problem.space, name=task, seed=0)
        export_study(study.run(problem.function, trials=EARLIER_TRIALS, progress=False), file)
    return file


def curve(task: str, trials: int, seed: int, learn_from: list[object]) -> list[float]:
    """The best value so far, after each trial."""
    problem = yahpo(task)
    study = bough.Study(problem.space, name=f"{task} {seed}", seed=seed, learn_from=learn_from)
    study.run(problem.function, trials=trials, progress=False)
    found = [float(trial.value or 0.0) for trial in study.trials]
    return [min(found[: n + 1]) for n in range(len(found))]


def ratio(ours: np.ndarray, base: np.ndarray) -> tuple[float, float, float]:
    """The ratio of the means of two (n,) arrays of regrets, and the ends of its 95 % interval."""
    rng = np.random.default_rng(0)
    rows = rng.integers(len(base), size=(2000, len(base)))
    drawn = ours[rows].mean(axis=1) / np.maximum(base[rows].mean(axis=1), 1e-12)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(ours.mean() / max(base.mean(), 1e-12)), float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--skip", type=int, default=0, help="tasks to leave out at the beginning")
    parser.add_argument("--published", action="store_true", help="tasks that nothing was chosen by")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--sources", type=int, default=5)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument(
        "--folder", type=Path, default=RESULTS / "cache" / "earlier", help="for earlier studies"
    )
    parser.add_argument("--labels", nargs="+", default=("none", "related", "unrelated"))
    parser.add_argument("--rows", type=Path, default=RESULTS / "transfer.jsonl")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    rows = KeptRows(given.rows)
    names = [n for n in (PUBLISHED if given.published else DEVELOPMENT) if "xgboost" in n]
    searched = space("xgboost")
    sample = searched.sample(SAMPLE, 0)
    strangers: list[object] = []
    regrets: dict[str, list[np.ndarray]] = defaultdict(list)
    for index, task in list(enumerate(names))[given.skip : given.skip + given.tasks]:
        rng = np.random.default_rng([index, 5])
        others = rng.choice([n for n in names if n != task], size=given.sources, replace=False)
        drawn = np.array([yahpo(task).function(config) for config in sample])
        for seed in range(given.seeds):
            found = {}
            for label in given.labels:
                key = f"{task} {seed} {label} {given.trials} {given.sources}"
                sources: list[object] = []
                if label == "related" and key not in rows:
                    sources = [earlier(other, given.folder) for other in others]
                if label == "unrelated" and key not in rows:
                    strangers = strangers or [unrelated(searched, n) for n in range(given.sources)]
                    sources = strangers
                found[label] = np.array(rows.once(key, partial(curve, task, given.trials, seed, sources)))
            best = min(float(drawn.min()), *(float(each[-1]) for each in found.values()))
            scale = float(np.median(drawn)) - best
            for label, each in found.items():
                regrets[label].append((each - best) / scale)
    for label, kept in regrets.items():
        for n in (n for n in CHECKPOINTS if n <= given.trials):
            ours, base = (np.array(each)[:, n - 1] for each in (kept, regrets[given.labels[0]]))
            times, low, high = ratio(ours, base)
            print(f"{label}, {n} trials: regret {ours.mean():.4f}, {times:.2f} times [{low:.2f}, {high:.2f}]")
    print(f"{len(regrets[given.labels[0]])} runs each")


if __name__ == "__main__":
    main()
