"""Callbacks of training libraries that report to a run and end the training when it should stop.

Each function imports its library when it is called:

    def objective(config, run):
        callback = xgboost_callback(run)
        booster = xgboost.train(config, train, 200, evals=[(valid, "valid")], callbacks=[callback])
        return callback.value

``callback.value`` is the last reported value, for the objective to return. Steps are iterations, or epochs,
counted from 1. They keep counting if a model is trained again, or validated more than once in an epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from bough.errors import MissingExtraError, TrialError
from bough.study.running.objective import Run

__all__ = ["keras_callback", "lightgbm_callback", "lightning_callback", "xgboost_callback"]


def xgboost_callback(run: Run, metric: str | None = None, data: str | None = None) -> Any:
    """For ``xgboost.train(callbacks=[...])``, ``xgboost.cv`` and scikit-learn's interface of XGBoost.

    metric: such as "error"; by default the last one. data: the name in ``evals``; by default the last one.
    """
    base = _imported("xgboost.callback", "XGBoost").TrainingCallback

    def after_iteration(self: Any, model: Any, epoch: int, evals_log: Any) -> bool:
        values = _chosen(_chosen(evals_log, data, "evals"), metric, "eval_metric")
        latest = values[-1]
        return bool(self.tell(latest[0] if isinstance(latest, tuple) else latest, epoch + 1))  # cv: mean, sd

    return _made(base, run, after_iteration=after_iteration)


def lightgbm_callback(run: Run, metric: str | None = None, data: str | None = None) -> Any:
    """For ``lightgbm.train(callbacks=[...])``; metric and data as for XGBoost."""
    stop = _imported("lightgbm.callback", "LightGBM").EarlyStopException

    def call(self: Any, env: Any) -> None:
        logged: dict[str, dict[str, float]] = {}
        for name, kind, value, *_ in env.evaluation_result_list:
            logged.setdefault(name, {})[kind] = value
        if self.tell(_chosen(_chosen(logged, data, "valid_sets"), metric, "metric"), env.iteration + 1):
            raise stop(env.iteration, env.evaluation_result_list)

    return _made(object, run, __call__=call)


def keras_callback(run: Run, metric: str = "val_loss") -> Any:
    """For ``model.fit(callbacks=[...])`` of Keras; metric: a name in the logs of an epoch."""
    base = _imported("keras.callbacks", "Keras").Callback

    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        if self.tell(_chosen(logs or {}, metric, "logs"), epoch + 1):
            self.model.stop_training = True

    return _made(base, run, on_epoch_end=on_epoch_end)


def lightning_callback(run: Run, metric: str = "val_loss") -> Any:
    """For ``Trainer(callbacks=[...])`` of Lightning; metric: a name that the module logs in validation."""
    base = _imported("lightning.pytorch.callbacks", "Lightning").Callback

    def on_fit_start(self: Any, trainer: Any, module: Any) -> None:
        if not trainer.enable_validation:
            raise TrialError(f"the training has no validation that logs {metric!r}: give fit its data")

    def on_validation_end(self: Any, trainer: Any, module: Any) -> None:
        if trainer.sanity_checking or trainer.state.fn != "fit":  # trainer.validate() does not train
            return
        value = _chosen(trainer.callback_metrics, metric, "callback_metrics")
        if self.tell(value, trainer.current_epoch + 1):
            trainer.should_stop = True

    return _made(base, run, on_fit_start=on_fit_start, on_validation_end=on_validation_end)


def _made(base: type, run: Run, **methods: Any) -> Any:
    """A callback of the library's class with these methods; ``tell`` reports a value and keeps it."""

    def tell(self: Any, value: Any, step: int) -> bool:
        self.value, self.last_step = float(value), max(step, self.last_step + 1)
        return run.report(self.value, self.last_step)

    return type("BoughCallback", (base,), {**methods, "tell": tell, "value": None, "last_step": 0})()


def _imported(module: str, library: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        raise MissingExtraError(f"this callback needs {library}: pip install {package}") from None


def _chosen(logged: Mapping[str, Any], name: str | None, where: str) -> Any:
    """The entry of that name, or the last one."""
    if not logged:
        raise TrialError(f"the training logs nothing to report: give it {where}")
    if name is not None and name not in logged:
        raise TrialError(f"the training logs no {name!r} to report: there is {', '.join(map(str, logged))}")
    return logged[next(reversed(list(logged))) if name is None else name]
