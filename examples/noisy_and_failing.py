"""An objective that is noisy and sometimes fails.

A failed trial is recorded with its reason, and the search avoids that region. With noise, the best reported
value is partly luck, so the last step asks the model which of the best trials has the best predicted value.

    python examples/noisy_and_failing.py
"""

from __future__ import annotations

import numpy as np

import bough

SPACE = bough.Space(
    {
        "optimizer": bough.Choice(
            {"sgd": {"momentum": bough.Float(0, 0.99)}, "adam": {"beta": bough.Float(0.8, 0.99)}}
        ),
        "rate": bough.Float(1e-4, 1, log=True),
    }
)


def main(trials: int = 30) -> bough.Study:
    rng = np.random.default_rng(0)

    def train(config: dict) -> float:
        if config["rate"] > 0.1:
            raise FloatingPointError("the loss diverged")
        loss = 0.2 + 0.1 * abs(np.log10(config["rate"]) + 2)
        loss += 0.1 * abs(config.get("momentum", 0.9) - 0.9) + (0.05 if config["optimizer"] == "adam" else 0)
        return loss + rng.normal(scale=0.02)

    study = bough.minimize(train, SPACE, trials=trials, seed=0)
    failed = [trial for trial in study.trials if trial.state == "failed"]
    print(f"{len(failed)} of {len(study.trials)} trials failed: {sorted({trial.error for trial in failed})}")

    done = sorted((trial for trial in study.trials if trial.state == "done"), key=lambda trial: trial.value)
    mean, sd = study.predict([trial.config for trial in done[:5]])
    chosen = int(np.argmin(mean))
    print(
        f"best reported {done[0].value:.3f}; predicted {mean[chosen]:.3f} ± {sd[chosen]:.3f} for the choice"
    )
    print(done[chosen].config)
    return study


if __name__ == "__main__":
    main()
