"""Hashes of rows agree with their exact keys."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.acquisition.maximise.candidates import CandidateFilter
from bough.points import Points, row_hashes, row_keys, rows_among
from bough.strategies.hyperparameters import digest

SPACE = bough.Space(
    {
        "arm": bough.Choice({"a": {"x": bough.Float(0, 1), "n": bough.Int(1, 4)}, "b": {}, "c": {}}),
        "s": bough.Categorical(["p", "q", "r"]),
    }
)


def test_rows_with_equal_keys_have_equal_hashes_and_others_do_not() -> None:
    rng = np.random.default_rng(0)
    points = SPACE.encode(SPACE.sample(400, rng))
    again = points.take(rng.permutation(400))
    poisoned = Points(np.where(SPACE.layout.active(again.on), again.x, np.nan), again.on)
    both = Points.concat([points, poisoned])
    keys, hashes = row_keys(SPACE.layout, both), row_hashes(SPACE.layout, both)
    assert len(set(keys)) == len(set(hashes.tolist())) < 400
    assert len(set(zip(keys, hashes.tolist()))) == len(set(keys))


def test_numbers_with_few_bits_do_not_collide() -> None:
    space = bough.Space({f"x{i}": bough.Float(0, 1) for i in range(3)})
    steps = np.arange(0, 64) / 64
    grid = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    points = space.snap(grid)
    assert len(np.unique(row_hashes(space.layout, points))) == len(grid)


def test_kept_hashes_follow_their_rows() -> None:
    points = SPACE.encode(SPACE.sample(50, np.random.default_rng(2)))
    kept = Points(points.x, points.on, row_hashes(SPACE.layout, points))
    chosen = Points.concat([kept.take([3, 1]), kept.take(np.arange(50) > 40), kept.take(slice(5, 9))])
    assert chosen.hashes is not None
    np.testing.assert_array_equal(chosen.hashes, row_hashes(SPACE.layout, Points(chosen.x, chosen.on)))
    assert Points.concat([kept, points]).hashes is None


def test_no_rows_and_no_columns() -> None:
    empty = Points(np.empty((0, SPACE.layout.columns)), np.empty((0, SPACE.layout.groups), bool))
    assert row_hashes(SPACE.layout, empty).shape == (0,)


def test_rows_of_equal_hash_are_told_apart_by_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    from bough.acquisition.maximise import candidates

    rng = np.random.default_rng(1)
    points, avoid = SPACE.encode(SPACE.sample(30, rng)), SPACE.encode(SPACE.sample(9, rng))
    wanted = CandidateFilter(SPACE, avoid).mask(points)
    monkeypatch.setattr(candidates, "row_hashes", lambda layout, rows: np.zeros(len(rows), np.uint64))
    np.testing.assert_array_equal(CandidateFilter(SPACE, avoid).mask(points), wanted)
    avoided = set(row_keys(SPACE.layout, avoid))
    np.testing.assert_array_equal(wanted, [key not in avoided for key in row_keys(SPACE.layout, points)])


def test_rows_among_others_are_found_by_their_hashes() -> None:
    rng = np.random.default_rng(3)
    hashes = rng.integers(2**64, size=3000, dtype=np.uint64)
    wanted = np.concatenate([hashes[::7], rng.integers(2**64, size=500, dtype=np.uint64)])
    np.testing.assert_array_equal(rows_among(hashes, wanted), np.flatnonzero(np.isin(hashes, wanted)))
    assert len(rows_among(hashes[:0], wanted)) == len(rows_among(hashes, wanted[:0])) == 0


def test_the_key_of_a_history_depends_on_every_number_and_on_the_order() -> None:
    points = SPACE.encode(SPACE.sample(40, np.random.default_rng(4)))
    points = Points(points.x, points.on, row_hashes(SPACE.layout, points))
    y, noise = np.arange(40.0), np.full(40, np.nan)
    keys = [digest(points, y, noise, 0), digest(points, y, noise, 1)]
    for row in range(40):
        larger, told = y.copy(), noise.copy()
        larger[row], told[row] = -1.0, 0.5
        keys += [digest(points, larger, noise, 0), digest(points, y, told, 0)]
        keys.append(digest(points.take(slice(0, row)), y[:row], noise[:row], 0))
    keys += [digest(points, y[::-1], noise, 0), digest(points.take(slice(None, None, -1)), y, noise, 0)]
    assert len(set(keys)) == len(keys)
    assert digest(points, y.copy(), noise, 0) == keys[0]


def test_branches_are_numbered_by_their_first_row_however_many_rows() -> None:
    points = SPACE.encode(SPACE.sample(60, np.random.default_rng(5)))
    numbers = SPACE.tree.branch_ids(points)  # fewer branches than rows
    paths = [path.key for path in SPACE.tree.path_of(points)]
    assert numbers.tolist() == [list(dict.fromkeys(paths)).index(path) for path in paths]
    assert SPACE.tree.branch_ids(points.take([7])).tolist() == [0]
