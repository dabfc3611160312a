"""What learners remember: uniform, fading, weighted, newest, and sums by information state."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from nebel.learn.memory import Lessons, Reservoir, Ring, Weighted
from nebel.learn.tallies import Means


class Rows(NamedTuple):
    number: Any


def rows(first: int, count: int) -> Rows:
    return Rows(np.arange(first, first + count, dtype=np.float64))


def test_a_reservoir_holds_all_ages_alike() -> None:
    memory, rng = Reservoir(Rows(np.zeros(2000))), np.random.default_rng(1)
    for at in range(0, 20_000, 500):
        memory.add(rows(at, 500), rng)
    assert memory.held == 2000
    assert memory.seen == 20_000
    assert memory.all().number.mean() == pytest.approx(10_000, abs=500)


@pytest.mark.parametrize("room", [500, 4000, 20_000])
def test_weighted_rows_are_drawn_by_their_weights(room: int) -> None:
    """Whether all are held, some, or few."""
    memory, rng = Weighted(Rows(np.zeros(room))), np.random.default_rng(2)
    weights = np.log(np.where(np.arange(10_000) % 2, 4.0, 1.0))
    for at in range(0, 10_000, 1000):
        memory.add(rows(at, 1000), weights[at : at + 1000], rng)
    drawn = memory.draw(40_000, rng).number
    assert np.mean(drawn % 2) == pytest.approx(0.8, abs=0.04 if room == 500 else 0.02)
    assert drawn.mean() == pytest.approx(5000, abs=400)
    assert 0.5 * memory.held < memory.effective() <= memory.held


def test_huge_and_tiny_weights_stay_finite() -> None:
    memory, rng = Weighted(Rows(np.zeros(10))), np.random.default_rng(3)
    memory.add(rows(0, 40), np.linspace(-3000, 3000, 40), rng)
    assert set(memory.draw(100, rng).number) == {39.0}
    assert memory.effective() == pytest.approx(1.0)


def test_a_ring_holds_the_newest() -> None:
    memory = Ring(Rows(np.zeros(5)))
    memory.add(rows(0, 3))
    assert sorted(memory.all().number) == [0, 1, 2]
    memory.add(rows(3, 4))
    assert sorted(memory.all().number) == [2, 3, 4, 5, 6]
    memory.add(rows(7, 12))
    assert sorted(memory.all().number) == [14, 15, 16, 17, 18]


@pytest.mark.parametrize("kind", [Reservoir, Weighted, Ring])
def test_memories_are_kept_and_go_on(kind: Any) -> None:
    def add(memory: Any, at: int, rng: np.random.Generator) -> None:
        more = {Reservoir: (rng,), Weighted: (np.sin(np.arange(at, at + 30)), rng), Ring: ()}[kind]
        memory.add(rows(at, 30), *more)

    one, two = kind(Rows(np.zeros(50))), kind(Rows(np.zeros(50)))
    for at in range(0, 90, 30):
        add(one, at, np.random.default_rng(at))
    two.restore({name: array.copy() for name, array in one.save("some.").items()}, "some.")
    for memory in (one, two):
        add(memory, 90, np.random.default_rng(90))
    assert np.array_equal(one.all().number, two.all().number)
    assert np.array_equal(one.draw(20, np.random.default_rng(5)).number, two.draw(20, np.random.default_rng(5)).number)


def lessons(which: Any, figures: Any) -> Lessons:
    """Rows of some information states, of which there are ten."""
    which = np.asarray(which)
    return Lessons(np.eye(10, dtype=np.float32)[which], np.asarray(figures, np.float32), np.ones((len(which), 2), bool))


def test_means_by_information_state_are_weighted() -> None:
    """As they are by hand, also where weights of one state are nothing beside those of another."""
    rng = np.random.default_rng(3)
    which, figures = rng.integers(0, 10, 600), rng.normal(size=(600, 2))
    weights = rng.normal(size=600) * 3 - 1000.0 * which
    memory = Means(Lessons.blank(50, 10, 2))
    for at in range(0, 600, 100):
        memory.add(lessons(which[at : at + 100], figures[at : at + 100]), weights[at : at + 100], rng)
    drawn = memory.draw(100, rng)
    assert memory.held == len(drawn.rows) == 10
    for row, mean in zip(drawn.rows, drawn.figures, strict=True):
        own = which == row.argmax()
        scaled = np.exp(weights[own] - weights[own].max())
        assert mean == pytest.approx(scaled @ figures[own] / scaled.sum(), abs=1e-5)
    assert 1.0 <= memory.effective() < 10.0
    other = Means(Lessons.blank(50, 10, 2))
    other.restore({name: array.copy() for name, array in memory.save("m.").items()}, "m.")
    assert (other.draw(100, rng).figures == drawn.figures).all()


def test_means_hold_no_more_states_than_there_is_room_for() -> None:
    memory, rng = Means(Lessons.blank(4, 10, 2)), np.random.default_rng(4)
    for which in range(10):
        memory.add(lessons([which], [[which, -which]]), np.zeros(1), rng)
    drawn = memory.draw(10, rng)
    assert memory.held == 4
    assert (drawn.figures[:, 0] == drawn.rows.argmax(axis=1)).all()
