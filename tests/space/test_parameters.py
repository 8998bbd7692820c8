"""Parameters: their values, their unit positions, and the way back."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from bough.errors import SpaceError
from bough.space import Categorical, Choice, Float, Int
from bough.space.scalars import UNSET


def there_and_back(domain, values):
    """Values decoded from the unit positions of ``values``."""
    units = domain.position(domain.ranks(values))
    assert ((units >= 0) & (units <= 1)).all()
    return domain.values(domain.rank_at(units)).tolist()


def test_evenly_spaced_positions_are_the_middles_of_equal_cells():
    grids = [Int(3, 9), Int(0, 30, step=5), Float(0, 3, step=0.5), Categorical(list("abcdefg"))]
    for domain in [*grids, Categorical(["s", "m", "l"], ordered=True)]:
        ranks = np.arange(domain.levels, dtype=float)
        expected = [float((Fraction(i) + Fraction(1, 2)) / domain.levels) for i in range(domain.levels)]
        np.testing.assert_allclose(domain.position(ranks), expected, rtol=0, atol=1e-16)
        # anywhere inside cell i is option i
        for i in range(domain.levels):
            inside = np.array([i + 1e-9, i + 0.5, i + 1 - 1e-9]) / domain.levels
            assert (domain.rank_at(inside) == i).all()
        assert domain.rank_at(np.array([-0.1, 1.0, 1.7])).tolist() == [
            0,
            domain.levels - 1,
            domain.levels - 1,
        ]


def test_log_int_positions_follow_the_formula():
    domain = Int(2, 1000, log=True)
    for value in (2, 3, 17, 999, 1000):
        expected = (math.log(value) - math.log(1.5)) / (math.log(1000.5) - math.log(1.5))
        assert domain.position(domain.ranks([value]))[0] == pytest.approx(expected, abs=1e-15)


def test_float_positions_follow_the_formula():
    linear, log = Float(-3, 5), Float(1e-4, 1e3, log=True)
    assert linear.position(np.array([-3.0, 1.0, 5.0])).tolist() == [0.0, 0.5, 1.0]
    assert log.position(np.array([10**-0.5]))[0] == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize(
    "domain",
    [
        Int(-7, 12),
        Int(0, 2**50),
        Int(-(2**50), 2**50 - 1, step=3),
        Int(1, 2**36, log=True),
        Int(1000, 1001, log=True),
        Int(5, 100, step=7),
    ],
)
def test_integers_survive_exactly(domain):
    rng = np.random.default_rng(0)
    ranks = np.unique([0, 1, domain.levels - 2, domain.levels - 1, *rng.integers(domain.levels, size=2000)])
    values = [domain.low + int(rank) * (domain.step or 1) for rank in ranks]
    assert there_and_back(domain, values) == values
    assert all(type(value) is int for value in there_and_back(domain, values))


@pytest.mark.parametrize(
    "domain", [Float(0, 1), Float(-1e6, 3e7), Float(1e-12, 1e9, log=True), Float(0.1, 0.3)]
)
def test_reals_survive_to_1e14_of_the_unit_scale_and_stay_inside(domain):
    unit = np.concatenate([[0.0, 1.0, 1e-17, 1 - 1e-16], np.random.default_rng(1).random(5000)])
    values = domain.rank_at(unit)
    assert (values >= domain.low).all()
    assert (values <= domain.high).all()
    np.testing.assert_allclose(domain.position(values), unit, rtol=0, atol=1e-14)
    assert values[0] == domain.low  # the ends exactly
    assert values[1] == domain.high


def test_steps_read_as_written_and_survive_exactly():
    domain = Float(0, 1, step=0.1)
    written = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert domain.levels == 11
    assert there_and_back(domain, written) == written
    assert Float(0.05, 0.3, step=0.1).levels == 3  # 0.05 0.15 0.25
    assert domain.check(0.1 + 0.2) == 0.3
    with pytest.raises(Exception, match=r"multiple of 0\.1"):
        domain.check(0.15)
    tiny = Float(1e-7, 2e-6, step=1e-7)
    assert there_and_back(tiny, [3e-7, 2e-6]) == [3e-7, 2e-6]


def test_options_are_told_apart_by_type():
    domain = Categorical([1, True, "1", None, "None", 2.5, False, 0])
    assert [domain.check(option) for option in domain.options] == list(domain.options)
    assert [type(v) for v in there_and_back(domain, domain.options)] == [type(v) for v in domain.options]
    assert domain.check(1.0) == 1
    assert type(domain.check(1.0)) is int  # 1.0 is the number 1
    assert domain.check(np.float64(2.5)) == 2.5
    assert domain.check(np.bool_(True)) is True
    assert Categorical([1, 2]) != Categorical([True, 2])
    assert Categorical([1, 2]) == Categorical([1.0, 2])
    with pytest.raises(Exception, match="must be one of"):
        domain.check([1])


def test_none_may_be_a_default_where_it_is_an_option():
    assert Categorical([None, 1]).default is UNSET
    assert Categorical([None, 1], default=None).default is None
    assert Categorical(["a"], default=None).default is UNSET
    assert repr(Categorical([None, 1], default=None)) == "Categorical([None, 1], default=None)"


def test_defaults_are_normalised_and_checked():
    assert Int(1, 5, default=3.0).default == 3
    assert Float(0, 1, default=1).default == 1.0
    for make in (
        lambda: Int(1, 5, default=6),
        lambda: Float(0, 1, default="x"),
        lambda: Categorical(["a"], default="b"),
        lambda: Choice({"a": {}}, default="b"),
    ):
        with pytest.raises(SpaceError, match="default must be"):
            make()


def test_parameters_are_values():
    choice = Choice({"a": {"x": Float(0, 1, log=False)}, "b": {}}, when="z==1")
    assert choice == Choice({"a": {"x": Float(0.0, 1.0)}, "b": {}}, when="(z == 1)")
    assert pickle.loads(pickle.dumps(choice)) == choice  # noqa: S301
    with pytest.raises(TypeError):
        choice.options["c"] = {}
    with pytest.raises(AttributeError):
        Float(0, 1).low = 3
