"""Callbacks of training libraries: against stand-ins with their signatures, and real ones where installed."""

import sys
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import bough
from bough.errors import MissingExtraError, TrialError
from bough.integrations.training import (
    keras_callback,
    lightgbm_callback,
    lightning_callback,
    xgboost_callback,
)
from bough.study.running.objective import Run
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
    run = Reported()
    callback = xgboost_callback(run)
    callback.after_iteration(None, 0, {"valid": {"error": [0.2]}})
    callback.after_iteration(None, 0, {"valid": {"error": [0.1]}})  # trained again
    assert run.pairs == [(1, 0.2), (2, 0.1)]
    callback.after_iteration(None, 1, {"test": {"error": [(0.1, 0.01)]}})  # as xgboost.cv logs mean and sd
    assert callback.value == 0.1
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
    run = Reported()
    more = SimpleNamespace(iteration=10, evaluation_result_list=[("valid", "l2", 0.3, False)])
    lightgbm_callback(run)(more)  # continues a model of ten iterations
    assert run.pairs == [(11, 0.3)]


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
    trainer = SimpleNamespace(sanity_checking=True, should_stop=False, current_epoch=0)
    trainer.state = SimpleNamespace(fn="fit")
    trainer.enable_validation, trainer.callback_metrics = True, {}
    callback.on_fit_start(trainer, None)
    callback.on_validation_end(trainer, None)
    trainer.sanity_checking, trainer.callback_metrics = False, {"val_loss": 0.5}
    for epoch in range(3):
        assert not trainer.should_stop
        trainer.current_epoch = epoch
        callback.on_validation_end(trainer, None)
    assert trainer.should_stop and run.pairs == [(1, 0.5), (2, 0.5), (3, 0.5)]

    run = Reported()
    callback = lightning_callback(run)
    callback.on_validation_end(trainer, None)
    callback.on_validation_end(trainer, None)  # another validation in the same epoch
    trainer.state.fn = "validate"
    callback.on_validation_end(trainer, None)  # trainer.validate() after the training
    assert run.pairs == [(3, 0.5), (4, 0.5)]
    trainer.enable_validation = False
    with pytest.raises(TrialError, match="no validation that logs 'val_loss'"):
        callback.on_fit_start(trainer, None)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", None)
    monkeypatch.setitem(sys.modules, "keras.callbacks", None)
    with pytest.raises(MissingExtraError, match="needs Keras: pip install keras"):
        keras_callback(Reported())


def test_a_real_lightgbm_stops():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    train = lightgbm.Dataset(x[:150], x[:150, 0])
    valid = lightgbm.Dataset(x[150:], x[150:, 0], reference=train)
    run = Reported()
    lightgbm.train({"verbose": -1}, train, 20, valid_sets=[valid], callbacks=[lightgbm_callback(run)])
    assert [step for step, _ in run.pairs] == [1, 2, 3]


def test_a_real_xgboost_stops():
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    train, valid = xgboost.DMatrix(x[:150], x[:150, 0]), xgboost.DMatrix(x[150:], x[150:, 0])
    run = Reported()
    callback = xgboost_callback(run)
    xgboost.train({}, train, 20, evals=[(valid, "valid")], callbacks=[callback], verbose_eval=False)
    assert [step for step, _ in run.pairs] == [1, 2, 3]


def test_a_real_keras_stops(monkeypatch):
    if find_spec("jax") is not None:
        monkeypatch.setenv("KERAS_BACKEND", "jax")
    keras = pytest.importorskip("keras")
    x = np.random.default_rng(0).normal(size=(40, 3))
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    run = Reported()
    callback = keras_callback(run)
    log = model.fit(x, x[:, 0], validation_split=0.25, epochs=9, verbose=0, callbacks=[callback])
    assert run.pairs == [(step, pytest.approx(loss)) for step, loss in enumerate(log.history["val_loss"], 1)]
    assert len(run.pairs) == 3 and callback.value == run.pairs[-1][1]


def test_a_real_lightning_stops(tmp_path):
    torch = pytest.importorskip("torch")
    lightning = pytest.importorskip("lightning")

    class Line(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 1)

        def loss(self, batch):
            return ((self.layer(batch[0])[:, 0] - batch[1]) ** 2).mean()

        def training_step(self, batch, index):
            return self.loss(batch)

        def validation_step(self, batch, index):
            self.log("val_loss", self.loss(batch))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x[:, 0]), batch_size=10)
    run = Reported()
    trainer = lightning.Trainer(
        max_epochs=9,
        accelerator="cpu",
        default_root_dir=tmp_path,
        callbacks=[lightning_callback(run)],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Line(), data, data)
    assert [step for step, _ in run.pairs] == [1, 2, 3], "the sanity check before the training is no epoch"
    assert trainer.current_epoch == 3


def test_a_loop_of_pytorch_stops():
    torch = pytest.importorskip("torch")
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))

    def objective(config, run):
        model = torch.nn.Linear(3, 1)
        optimiser = torch.optim.AdamW(model.parameters(), lr=config["rate"])
        for epoch in range(1, 21):
            optimiser.zero_grad()
            loss = ((model(x)[:, 0] - x[:, 0]) ** 2).mean()
            loss.backward()
            optimiser.step()
            if run.report(loss.detach(), epoch):
                break
        return loss.detach()

    space = bough.Space({"rate": bough.Float(1e-4, 1.0, log=True)})
    study = bough.minimize(objective, space, trials=12, seed=0, method="random", progress=False)
    states = [trial.state for trial in study.trials]
    assert "stopped" in states and "failed" not in states
    assert all(isinstance(value, float) for trial in study.trials for _, value in trial.curve)
