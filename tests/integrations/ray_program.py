"""A Ray Tune run whose driver dies once Ray has written down four results, for ``test_ray_search``.

python ray_program.py FOLDER
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import ray
from ray import tune

import bough
from bough.integrations.ray import BoughSearch

SPACE = bough.Space(
    {
        "model": bough.Choice({"svm": {"C": bough.Float(1e-3, 1e3, log=True)}, "bayes": {}}),
        "scale": bough.Categorical(["none", "standard"]),
    }
)


def train(config: dict[str, Any]) -> None:
    tune.report({"loss": abs(config.get("C", 500.0) - 2.0)})


class Death(tune.Callback):
    def __init__(self, folder: str) -> None:
        self._folder, self._process = Path(folder, "run"), os.getpid()

    def on_trial_result(self, iteration: int, trials: Any, trial: Any, result: Any, **info: Any) -> None:
        written = [path.read_text() for path in self._folder.glob("searcher-state-*")]
        is_written = any(text.count('"state": "done"') >= 4 for text in written)
        if is_written and os.getpid() == self._process:  # a tuner is restored with its callbacks
            os._exit(7)


def main(folder: str) -> None:
    os.environ["TUNE_GLOBAL_CHECKPOINT_S"] = "0"  # Ray writes its state at every step
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    tune.Tuner(
        train,
        tune_config=tune.TuneConfig(
            search_alg=BoughSearch(SPACE, "loss", "min", seed=0), num_samples=12, max_concurrent_trials=2
        ),
        run_config=tune.RunConfig(storage_path=folder, name="run", verbose=0, callbacks=[Death(folder)]),
    ).fit()


if __name__ == "__main__":
    main(sys.argv[1])
