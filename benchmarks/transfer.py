"""Learning from earlier studies, leave-one-out over surrogates of real tuning problems (rbv2_xgboost).

    python -m benchmarks.transfer --tasks 10 --seeds 2

Each task is tuned with no earlier study, with earlier studies of five other tasks, and with five unrelated
ones (the same space, but a random function of its parameters). Earlier studies are runs of ``auto`` with 60
trials. Regret is the distance to the best value known (of all runs and 2,000 random configurations), divided
by the distance of the median random configuration. The table has mean regrets, and ratios of these means.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

import bough
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
    """The file of a study of a task, made if it is not there."""
    file = folder / f"{task}.jsonl"
    if not file.exists():
        problem = yahpo(task)
        study = bough.Study(problem.space, name=task, seed=0)
        export_study(study.run(problem.function, trials=EARLIER_TRIALS, progress=False), file)
    return file


def curve(task: str, trials: int, seed: int, learn_from: list[object]) -> np.ndarray:
    """(trials,) the best value so far."""
    problem = yahpo(task)
    study = bough.Study(problem.space, name=f"{task} {seed}", seed=seed, learn_from=learn_from)
    study.run(problem.function, trials=trials, progress=False)
    return np.minimum.accumulate([trial.value for trial in study.trials])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--skip", type=int, default=0, help="tasks to leave out at the beginning")
    parser.add_argument("--published", action="store_true", help="tasks that nothing was chosen by")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--sources", type=int, default=5)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--folder", type=Path, default=Path("benchmarks/results/earlier"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    names = [n for n in (PUBLISHED if given.published else DEVELOPMENT) if "xgboost" in n]
    searched = space("xgboost")
    strangers = [unrelated(searched, seed) for seed in range(given.sources)]
    sample = searched.sample(SAMPLE, 0)
    regrets: dict[str, list[np.ndarray]] = defaultdict(list)
    for index, task in list(enumerate(names))[given.skip : given.skip + given.tasks]:
        rng = np.random.default_rng([index, 5])
        others = rng.choice([n for n in names if n != task], size=given.sources, replace=False)
        files: list[object] = [earlier(other, given.folder) for other in others]
        drawn = np.array([yahpo(task).function(config) for config in sample])
        for seed in range(given.seeds):
            found = {
                "none": curve(task, given.trials, seed, []),
                "related": curve(task, given.trials, seed, files),
                "unrelated": curve(task, given.trials, seed, list(strangers)),
            }
            best = min(float(drawn.min()), *(float(each[-1]) for each in found.values()))
            scale = float(np.median(drawn)) - best
            for label, each in found.items():
                regrets[label].append((each - best) / scale)
            shown = {
                label: [round(float(found_[-1][n - 1]), 4) for n in CHECKPOINTS if n <= given.trials]
                for label, found_ in regrets.items()
            }
            print(task, seed, json.dumps(shown), flush=True)
    base = np.mean(regrets["none"], axis=0)
    for label, each in regrets.items():
        mean = np.mean(each, axis=0)
        shown = ", ".join(
            f"{mean[n - 1]:.4f} ({mean[n - 1] / max(base[n - 1], 1e-12):.2f})"
            for n in CHECKPOINTS
            if n <= given.trials
        )
        print(f"{label}: {shown} at {CHECKPOINTS}")


if __name__ == "__main__":
    main()
