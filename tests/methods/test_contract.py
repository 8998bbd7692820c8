"""What every method owes: legal proposals on every kind of space, whatever happens to the trials."""

from __future__ import annotations

import inspect
import sys
from functools import partial
from pathlib import Path

import pytest
from tests.methods.spaces import FINITE, NESTED, SPACES, value

import bough
from bough import registry
from bough.errors import ExhaustedError, MethodError, MissingExtraError
from bough.papers.levesque2017 import surrogates
from bough.registry import Method

QUICK = {"samples": 1, "candidates": 64, "initial": 3, "startup": 3, "population": 4}
"""Options that make a method quick without changing what it is."""


def quick(name: str) -> Method:
    """The method with those of QUICK that it takes."""
    options = {}
    known = inspect.signature(registry._load(name)).parameters
    for option, setting in QUICK.items():
        if option in ("samples", "candidates") and option in known and not known[option].default:
            continue  # the mode and the search by gradients are quicker
        try:
            bough.method(name, **{option: setting})
        except MethodError:
            continue
        options[option] = setting
    return bough.method(name, **options)


@pytest.fixture(autouse=True)
def _rough_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proposal is legal and repeatable whatever its model: a few samples are enough."""
    monkeypatch.setattr("bough.surrogates.base.BURN_IN_SWEEPS", 1)
    monkeypatch.setattr("bough.surrogates.base.WARM_BURN_IN_SWEEPS", 0)
    monkeypatch.setattr(surrogates, "mondrian", partial(surrogates.mondrian, trees=4))


@pytest.fixture(params=sorted(bough.methods()))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=pytest.mark.slow if name == "mondrian" and kind != "nested" else ())
        for name in sorted(bough.methods())
        for kind in sorted(SPACES)
    ],
)
def test_proposals_are_legal_through_results_failures_and_batches(name: str, kind: str) -> None:
    space = SPACES[kind]
    study = bough.Study(space, method=quick(name), seed=3)
    for number in range(4):
        trial = study.ask()
        assert trial.number == number
        assert space.validate(trial.config) == trial.config
        if number == 2:
            study.fail(trial, "no memory")
        else:
            study.tell(trial, value(trial.config))
    batch = study.ask(2)
    for trial in batch:
        assert space.validate(trial.config) == trial.config
    study.tell(batch[1], value(batch[1].config))
    later = study.ask()  # batch[0] is still running
    assert space.validate(later.config) == later.config


def test_one_seed_one_sequence_and_dropping_caches_changes_nothing(name: str, tmp_path: Path) -> None:
    kept = bough.Study(NESTED, method=quick(name), seed=11)
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    for _ in range(5):
        # opened again every time: only the stored trials are remembered
        fresh = bough.Study(NESTED, name="s", storage=storage, method=quick(name), seed=11)
        one, other = kept.ask(), fresh.ask()
        assert one.config == other.config
        kept.tell(one, value(one.config))
        fresh.tell(other, value(other.config))


def test_another_seed_gives_another_sequence(name: str) -> None:
    def sequence(seed: int) -> list[dict[str, object]]:
        study = bough.Study(NESTED, method=quick(name), seed=seed)
        return [trial.config for trial in study.ask(3)]

    assert sequence(1) != sequence(2)


def test_a_finite_space_is_used_up_without_repeats(name: str) -> None:
    study = bough.Study(FINITE, method=quick(name), seed=5)
    seen = []
    for _ in range(FINITE.size):
        trial = study.ask()
        study.tell(trial, value(trial.config))
        seen.append(tuple(sorted(trial.config.items())))
    assert len(set(seen)) == FINITE.size == 5
    with pytest.raises(ExhaustedError):
        study.ask()


def test_a_batch_may_use_up_a_finite_space_before_any_result(name: str) -> None:
    study = bough.Study(FINITE, method=quick(name), seed=6)
    batch = study.ask(FINITE.size)
    assert len({tuple(sorted(trial.config.items())) for trial in batch}) == FINITE.size
    with pytest.raises(ExhaustedError):
        study.ask()


def test_nothing_but_failures_is_survived(name: str) -> None:
    study = bough.Study(NESTED, method=quick(name), seed=7)
    for _ in range(6):
        trial = study.ask()
        assert NESTED.validate(trial.config) == trial.config
        study.fail(trial, "always")
    assert len({str(trial.config) for trial in study.trials}) > 1


def test_equal_values_are_survived(name: str) -> None:
    study = bough.Study(SPACES["unbranched"], method=quick(name), seed=8)
    for _ in range(5):
        study.tell(study.ask(), 1.0)
    assert study.best.value == 1.0


@pytest.mark.parametrize(
    ("method", "package", "extra"), [("cma", "cmaes", "cma"), ("forest", "sklearn.tree", "sklearn")]
)
def test_a_missing_extra_is_named(
    method: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'bough-opt\[{extra}\]'"):
        bough.Study(NESTED, method=method, seed=0)


def test_an_unknown_option_is_an_error_that_lists_the_known_ones(name: str) -> None:
    with pytest.raises(MethodError, match="has no option 'depth'"):
        bough.method(name, depth=3)


@pytest.mark.parametrize(
    ("method", "option", "setting"),
    [
        ("auto", "acquisition", ["ei"]),
        ("auto", "refit_growth", True),
        ("auto", "exploit_every", -1),
        ("add-tree", "kernel", {}),
        ("treed", "samples", -1),
        ("treed-warp", "samples", -1),
    ],
)
def test_an_impossible_value_of_an_option_is_an_error_that_says_what_to_give(
    method: str, option: str, setting: object
) -> None:
    with pytest.raises(MethodError, match=rf"method '{method}': option '{option}' is .*: give "):
        bough.method(method, **{option: setting})


def test_a_name_that_is_no_string_is_an_error() -> None:
    with pytest.raises(MethodError, match="name is a string"):
        bough.method(["auto"])  # type: ignore[arg-type]
