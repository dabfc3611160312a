"""The average strategies of sampling learners are those that every traversal would give: the traverser's exploring is divided out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nebel
from nebel.core.game import CHANCE, Game
from nebel.core.state import State
from nebel.learn.deep_cfr import DeepCfr, DeepCfrSettings, RegretLearner
from nebel.learn.dream import Dream, DreamSettings
from nebel.learn.memory import Experience, LossWeighted
from nebel.learn.mirror import Mirror
from nebel.learn.mmd_ppo import MmdPpoSettings
from nebel.learn.spread import Plain
from nebel.learn.tallies import Means
from nebel.learn.vr_deep_dcfr import VrDeepDcfr, VrDeepDcfrSettings
from nebel.learn.workers import Alone
from nebel.policy.net import encoding_of
from nebel.search.target import in_rules

ITERATIONS, TRAVERSALS = 3, 20_000
SMALL: dict[str, Any] = {"traversals": TRAVERSALS, "hidden": "8", "room": 2000}
LEARNERS: dict[str, tuple[Any, Any, float]] = {  # learner, settings, the power of t by which iteration t counts
    "external": (DeepCfr, DeepCfrSettings(**SMALL), 1.0),
    "once": (DeepCfr, DeepCfrSettings(**SMALL, sampling="outcome"), 1.0),
    "always": (DeepCfr, DeepCfrSettings(**SMALL, sampling="outcome", estimate="always"), 1.0),
    "as in the paper on Geister": (
        DeepCfr, DeepCfrSettings(**{**SMALL, "room": 500_000}, sampling="outcome", estimate="paper", memory="reservoir"), 1.0,
    ),
    "dream": (Dream, DreamSettings(**SMALL), 1.0),
    "vr-deep-dcfr+": (VrDeepDcfr, VrDeepDcfrSettings(**SMALL), 2.0),
    "vr-deep-dcfr+ as in the paper": (VrDeepDcfr, VrDeepDcfrSettings(**SMALL, divide_sampling=False), 2.0),
    "mmd-closed": (Mirror, MmdPpoSettings(step="closed", games=TRAVERSALS, hidden="8", critic="8", room=2000), 2.0),
}
BIASED = ["vr-deep-dcfr+ as in the paper"]


class Changing(Plain):
    """Strategies that are far from even, and other ones in each iteration."""

    def __init__(self, iteration: int, size: int, actions: int) -> None:
        self.weights = np.random.default_rng([5, iteration]).normal(scale=3.0, size=(2, size, actions))

    def __call__(self, player: int, rows: Any, legal: Any) -> Any:
        shares = np.where(legal, np.exp(rows.astype(np.float64) @ self.weights[player]), 0.0)
        return shares / shares.sum(axis=1, keepdims=True)


def exact_averages(game: Game, power: float) -> dict[bytes, tuple[float, Any]]:
    """By encoding of an information state: its weight, and the average strategy that all traversals would give."""
    encoding, found = encoding_of(game, "perfect"), dict[bytes, Any]()
    minds = [Changing(t, encoding.size, game.actions) for t in range(ITERATIONS)]

    def walk(state: State, reach: Any, odds: float) -> None:
        if state.over:
            return
        options = state.options()
        if state.turn == CHANCE:
            for option, share in zip(options, state.odds(), strict=True):
                walk(state.copy().push(option), reach, odds * share)
            return
        row, legal = np.zeros((1, encoding.size), np.float32), np.zeros((1, game.actions), np.bool_)
        encoding.write(state.position[0], state.turn, row[0])
        legal[0, options] = True
        shares = np.array([mind(state.turn, row, legal)[0] for mind in minds])
        own = odds * reach[:, state.turn] * np.arange(1.0, ITERATIONS + 1.0) ** power
        found[row.tobytes()] = found.get(row.tobytes(), 0.0) + own @ shares
        for option in options:
            after = reach.copy()
            after[:, state.turn] *= shares[:, option]
            walk(state.copy().push(option), after, odds)

    walk(game.start(), np.ones((ITERATIONS, 2)), 1.0)
    return {row: (float(sums.sum()), sums / sums.sum()) for row, sums in found.items()}


def play(it: Any, iteration: int, player: int) -> None:
    """One player's traversals, of which the opponent's average strategy learns."""
    rng = np.random.default_rng([iteration, player])
    if isinstance(it, RegretLearner):
        it.gather(player, 2 * iteration + player, rng)
        return
    d = it.games.run(TRAVERSALS, it.mind(), 2 * iteration + player, player, it.settings.explore)
    (it._learn_strategy if isinstance(it, Mirror) else it._remember)(d, 1 - player, rng)


def means_of(memory: Any) -> Any:
    """Sums by information state; of samples whose weights multiply the loss, what a perfect fit would give."""
    if not isinstance(memory, LossWeighted):
        return memory
    rows = memory.all()
    means = Means(Experience.blank(2000, rows.rows.shape[1], rows.legal.shape[1]))
    means.add(rows, memory._weights[: memory.held], np.random.default_rng(1))
    return means


@pytest.mark.parametrize("kind", LEARNERS)
def test_averages_do_not_depend_on_the_traverser(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, settings, power = LEARNERS[kind]
    game = in_rules(nebel.game("leduc(suits=false)"))
    it = make(game, "perfect", settings, 1, Alone())
    for iteration in range(ITERATIONS):
        it.iterations = iteration
        monkeypatch.setattr(it, "mind", lambda t=iteration: Changing(t, it.games.size, game.actions))
        for player in (0, 1):
            play(it, iteration, player)
    exact, learned = exact_averages(game, power), means_of(it._strategies).draw(10**9, np.random.default_rng(1))
    weights = np.array([exact[row.tobytes()][0] for row in learned.rows])
    errors = np.array([np.abs(exact[row.tobytes()][1] - shares).max() for row, shares in zip(learned.rows, learned[1], strict=True)])
    error = float(weights @ errors / weights.sum())
    assert weights.sum() > 0.99 * sum(weight for weight, _ in exact.values())
    assert error > 0.03 if kind in BIASED else error < 0.02
