"""Callbacks of training libraries, against stand-ins with the libraries' own signatures."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from bough.errors import MissingExtraError, TrialError
from bough.integrations.training import (
    keras_callback,
    lightgbm_callback,
    lightning_callback,
    xgboost_callback,
)
from bough.study.running.run_handle import Run
from bough.trial import Trial


class Reported(Run):
    """A run that is stopped by its third report."""

    def __init__(self):
        self.pairs = []
        super().__init__(Trial(0, {}, "running"), self._store)

    def _store(self, trial, value, step):
        self.pairs.append((step, value))
        return len(self.pairs) >= 3


class Base:
    """What the libraries' callbacks derive from."""


@pytest.fixture
def module(monkeypatch):
    def put(name, **contents):
        made = ModuleType(name)
        vars(made).update(contents)
        parts = name.split(".")
        for end in range(1, len(parts)):
            monkeypatch.setitem(sys.modules, ".".join(parts[:end]), ModuleType(".".join(parts[:end])))
        monkeypatch.setitem(sys.modules, name, made)

    return put


def test_xgboost(module):
    module("xgboost.callback", TrainingCallback=Base)
    run = Reported()
    callback = xgboost_callback(run, metric="error")
    assert isinstance(callback, Base)
    log = {"train": {"error": []}, "valid": {"error": [], "logloss": []}}
    answers = []
    for epoch, error in enumerate([0.5, 0.4, 0.3]):
        log["valid"]["error"].append(error)
        log["valid"]["logloss"].append(9.0)
        answers.append(callback.after_iteration(None, epoch, log))
    assert run.pairs == [(1, 0.5), (2, 0.4), (3, 0.3)] and answers == [False, False, True]
    assert callback.value == 0.3
    with pytest.raises(TrialError, match="logs no 'auc' to report: there is error, logloss"):
        xgboost_callback(run, metric="auc").after_iteration(None, 0, log)


def test_lightgbm(module):
    class EarlyStopException(Exception):
        pass

    module("lightgbm.callback", EarlyStopException=EarlyStopException)
    run = Reported()
    callback = lightgbm_callback(run)
    for step in range(2):
        results = [("train", "l2", 0.1, False), ("valid", "l2", 0.5 - step / 10, False)]
        callback(SimpleNamespace(iteration=step, evaluation_result_list=results))
    with pytest.raises(EarlyStopException):
        callback(SimpleNamespace(iteration=2, evaluation_result_list=[("valid", "l2", 0.3, False)]))
    assert run.pairs == [(1, 0.5), (2, 0.4), (3, 0.3)]


def test_keras(module):
    module("keras.callbacks", Callback=Base)
    run = Reported()
    callback = keras_callback(run)
    callback.model = SimpleNamespace(stop_training=False)
    for epoch in range(3):
        assert not callback.model.stop_training
        callback.on_epoch_end(epoch, {"loss": 9.0, "val_loss": 0.5})
    assert callback.model.stop_training
    with pytest.raises(TrialError, match="logs nothing"):
        callback.on_epoch_end(3, None)


def test_lightning(module):
    module("lightning.pytorch.callbacks", Callback=Base)
    run = Reported()
    callback = lightning_callback(run)
    trainer = SimpleNamespace(sanity_checking=True, should_stop=False, current_epoch=0, callback_metrics={})
    callback.on_validation_end(trainer, None)
    trainer.sanity_checking, trainer.callback_metrics = False, {"val_loss": 0.5}
    for epoch in range(3):
        assert not trainer.should_stop
        trainer.current_epoch = epoch
        callback.on_validation_end(trainer, None)
    assert trainer.should_stop and run.pairs == [(1, 0.5), (2, 0.5), (3, 0.5)]


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", None)
    monkeypatch.setitem(sys.modules, "keras.callbacks", None)
    with pytest.raises(MissingExtraError, match="needs Keras: pip install keras"):
        keras_callback(Reported())


def test_a_real_lightgbm_stops():
    lightgbm = pytest.importorskip("lightgbm")
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    train = lightgbm.Dataset(x[:150], x[:150, 0])
    valid = lightgbm.Dataset(x[150:], x[150:, 0], reference=train)
    run = Reported()
    lightgbm.train({"verbose": -1}, train, 20, valid_sets=[valid], callbacks=[lightgbm_callback(run)])
    assert [step for step, _ in run.pairs] == [1, 2, 3]


def test_a_real_xgboost_stops():
    xgboost = pytest.importorskip("xgboost")
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    train, valid = xgboost.DMatrix(x[:150], x[:150, 0]), xgboost.DMatrix(x[150:], x[150:, 0])
    run = Reported()
    callback = xgboost_callback(run)
    xgboost.train({}, train, 20, evals=[(valid, "valid")], callbacks=[callback], verbose_eval=False)
    assert [step for step, _ in run.pairs] == [1, 2, 3]
