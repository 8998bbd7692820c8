"""The report's statistics against worked examples, tables in the literature, and plain counting."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from benchmarks import statistics as own

# Demšar 2006, table 6: AUC of C4.5 and three variants on 14 data sets (higher is better), and what he
# computes from it: average ranks 3.143, 2.000, 2.893, 1.964; chi² 9.28; critical difference 1.25.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


@pytest.fixture
def demsar() -> dict[str, np.ndarray]:
    """One seed a problem; errors, so that lower is better."""
    return {str(i): 1 - row[:, None] for i, row in enumerate(DEMSAR)}


def test_average_ranks_of_demsars_example(demsar):
    np.testing.assert_allclose(own.average_ranks(demsar), [3.143, 2.000, 2.893, 1.964], atol=5e-4)


def test_friedman_of_demsars_example(demsar):
    # his formula (without the correction for ties) gives 9.28, p = 0.026; with the correction a bit less
    rank = np.array([3.143, 2.000, 2.893, 1.964])
    chi2 = 12 * 14 / (4 * 5) * (np.sum(rank**2) - 4 * 5**2 / 4)
    assert chi2 == pytest.approx(9.28, abs=0.03)
    assert own.friedman(demsar) == pytest.approx(stats.friedmanchisquare(*(1 - DEMSAR).T).pvalue)
    assert 0.015 < own.friedman(demsar) < stats.chi2.sf(chi2, 3)


def test_friedman_has_no_answer_where_there_is_no_question():
    assert math.isnan(own.friedman({"a": np.ones((3, 2)), "b": np.ones((3, 2))}))
    assert math.isnan(own.friedman({"a": np.arange(6.0).reshape(2, 3), "b": np.ones((2, 3))}))


def test_ranks_average_over_seeds_before_problems():
    scores = {"a": np.array([[1.0, 1, 9, 9], [2, 2, 2, 2]]), "b": np.array([[1.0], [1.0]])}
    np.testing.assert_allclose(own.problem_ranks(scores), [[1.5, 1.5], [1.5, 1.5]])
    scores["b"] = np.array([[0.0], [math.inf]])
    np.testing.assert_allclose(own.average_ranks(scores), [1.25, 1.75])


@pytest.mark.parametrize(
    ("methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (8, 3.031), (10, 3.164)]
)
def test_critical_differences_are_those_of_demsars_table_5(methods, q):
    assert own.critical_difference(methods, 14) == pytest.approx(
        q * math.sqrt(methods * (methods + 1) / (6 * 14)), abs=2e-3
    )
    assert own.critical_difference(4, 14) == pytest.approx(1.25, abs=5e-3)


def test_cliques_are_the_largest_groups_within_the_difference():
    assert own.cliques(np.array([3.143, 2.000, 2.893, 1.964]), 1.25) == [(3, 1, 2, 0)]
    assert own.cliques(np.array([1.0, 3.0, 2.0, 4.5]), 1.2) == [(0, 2), (2, 1)]
    assert own.cliques(np.array([1.0, 3.0]), 1.2) == []


def exact_wilcoxon(differences: list[float]) -> float:
    """Two-sided p by going through all signs."""
    rank = stats.rankdata(np.abs(differences))
    observed = min(sum(r for r, d in zip(rank, differences) if (d > 0) == side) for side in (True, False))
    n = len(differences)
    sums = [sum(r for r, s in zip(rank, signs) if s) for signs in itertools.product((0, 1), repeat=n)]
    return min(1.0, 2 * np.mean(np.array(sums) <= observed))


def test_wilcoxon_agrees_with_going_through_all_signs():
    rng = np.random.default_rng(3)
    for shift in (0.0, 0.4, 1.0):
        gaps = list(rng.normal(shift, 1.0, 9))
        assert own.wilcoxon(np.array(gaps)) == pytest.approx(exact_wilcoxon(gaps))
        assert own.wilcoxon(np.array([*gaps, 0.0, 0.0])) == pytest.approx(exact_wilcoxon(gaps))
        tied = np.round(gaps)
        assert own.wilcoxon(tied) == pytest.approx(exact_wilcoxon([gap for gap in tied if gap]))
    many = rng.normal(0.3, 1.0, 40)
    assert own.wilcoxon(many) == pytest.approx(stats.wilcoxon(many, method="exact").pvalue)
    more = rng.normal(0.2, 1.0, 60)
    assert own.wilcoxon(more) == pytest.approx(stats.wilcoxon(more, method="exact").pvalue, rel=0.1)
    assert own.wilcoxon(np.arange(1.0, 6.0), "greater") == pytest.approx(1 / 2**5)
    assert own.wilcoxon(np.zeros(4)) == 1.0


def test_leaning_is_the_sign_of_the_signed_ranks_not_of_the_count():
    assert own.leaning(np.array([-1.0, -2.0, -3.0, 4.0])) == -2.0
    assert own.leaning(np.array([-1.0, -2.0, 5.0])) == 0.0
    assert own.leaning(np.array([-1.0, -2.0, 4.0, 5.0])) == 4.0


def test_pooling_is_blind_to_the_unit_of_a_problem():
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(size=(2, 6)) for name in "abc"}
    rescaled = {"a": 1e6 * scores["a"], "b": scores["b"], "c": 1e-3 * scores["c"] + 7}
    np.testing.assert_allclose(
        own.pooled_differences(scores, 0, 1), own.pooled_differences(rescaled, 0, 1), rtol=1e-8
    )
    assert np.mean(np.abs(own.pooled_differences(scores, 0, 1))) == pytest.approx(1.0)


def test_a_success_is_better_than_none():
    gap = own.differences(np.array([1.0, math.inf, math.inf, 5.0]), np.array([math.inf, 2.0, math.inf, 2.0]))
    assert gap[2] == 0
    assert gap[3] == 3
    assert gap[0] < -3 < 3 < gap[1]


def test_holm_by_hand():
    # sorted 0.005 0.01 0.03 0.04: times 4 3 2 1 = 0.02 0.03 0.06 0.04, then never falling
    np.testing.assert_allclose(own.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(own.holm([0.9, 0.8]), [1.0, 1.0])


def test_losses_names_the_problem_and_the_method_and_nothing_else():
    rng = np.random.default_rng(1)
    alike = rng.normal(size=(3, 10))
    lost = np.stack([np.arange(10.0), np.arange(10.0) - 1 - 0.01 * np.arange(10), np.arange(10.0) + 1])
    found = own.losses({"alike": np.repeat(alike[:1], 3, axis=0), "lost": lost}, reference=0)
    assert [(loss.problem, loss.method, loss.better, loss.worse) for loss in found] == [("lost", 1, 10, 0)]
    assert found[0].p == pytest.approx(1 / 2**10)
    assert found[0].corrected == pytest.approx(2 / 2**10)


def test_with_few_seeds_a_loss_in_all_of_them_is_reported_although_no_test_could_show_it():
    scores = {"p": np.array([[2.0, 3.0, 4.0], [1.0, 1.5, 1.7]])}
    (loss,) = own.losses(scores, reference=0)
    assert (loss.better, loss.p) == (3, pytest.approx(1 / 8))


def test_evaluations_to_reach_are_counted_from_one_and_censored():
    curves = np.array([[5.0, 3.0, 1.0], [5.0, 5.0, 5.0], [2.0, 2.0, 2.0]])
    np.testing.assert_array_equal(
        own.evaluations_to_reach(curves, np.array([3.0, 4.0, 2.0])), [2.0, math.inf, 1.0]
    )


def test_the_share_of_the_budget_is_a_median_over_seeds_that_knows_censoring():
    def curve(*steps: float) -> list[float]:
        return list(np.minimum.accumulate(steps))

    first = [curve(9, 4, 1, 1), curve(9, 9, 9, 9), curve(3, 3, 3, 3)]
    second = [curve(9, 9, 9, 4), curve(9, 9, 9, 8), curve(9, 9, 9, 3)]
    curves = {"p": np.array([first, second])}
    # needed: 2 of 4, never, 1 of 4
    assert own.share_needed(curves, 0, 1) == {"p": 0.5}
    # the other way round: never, at once (9 is all that is asked for), 4 of 4
    assert own.share_needed(curves, 1, 0) == {"p": 1.0}
    assert own.censored_median([1.0, math.inf]) == math.inf
    assert own.censored_median([1.0, 2.0, math.inf]) == 2.0
    assert own.censored_median([1.0, 2.0]) == 1.5


def test_the_bootstrap_of_a_mean_is_about_its_standard_error():
    rng = np.random.default_rng(5)
    samples = rng.normal(3.0, 2.0, 400)
    low, high = own.bootstrap(samples, lambda s: float(np.mean(s)), np.random.default_rng(0))
    error = samples.std(ddof=1) / math.sqrt(400)
    assert low == pytest.approx(samples.mean() - 1.645 * error, abs=0.25 * error)
    assert high == pytest.approx(samples.mean() + 1.645 * error, abs=0.25 * error)
