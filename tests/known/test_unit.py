"""Units of scores, and games in which somebody has nothing to decide, or nobody wins for long: numbers stay numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy import int64

import nebel
from nebel import CHANCE, END, Game, Rules, record, rule
from nebel.learn.deep_cfr import DeepCfr, DeepCfrSettings
from nebel.learn.dream import Dream, DreamSettings
from nebel.learn.mirror import Mirror
from nebel.learn.mmd_ppo import MmdPpo, MmdPpoSettings
from nebel.learn.nfsp import Nfsp, NfspSettings
from nebel.learn.traverse import OVER, blank
from nebel.learn.unit import Unit
from nebel.learn.vr_deep_dcfr import VrDeepDcfr, VrDeepDcfrSettings
from nebel.learn.workers import Alone
from nebel.search.target import in_rules

ONE: dict[str, Any] = {"traversals": 1, "steps": 2, "average_steps": 2, "hidden": "8"}
KINDS: dict[str, tuple[Any, Any]] = {
    "external": (DeepCfr, DeepCfrSettings(**ONE)),
    "outcome": (DeepCfr, DeepCfrSettings(**ONE, sampling="outcome")),
    "samples": (DeepCfr, DeepCfrSettings(**ONE, sampling="outcome", memory="samples", room=50)),
    "dream": (Dream, DreamSettings(**ONE, baseline_steps=2)),
    "vr-deep-dcfr+": (VrDeepDcfr, VrDeepDcfrSettings(**ONE, baseline_steps=2)),
    "nfsp": (Nfsp, NfspSettings(boards=1, plies=1, hidden="8")),
    "mmd-closed": (Mirror, MmdPpoSettings(step="closed", games=1, steps=2, hidden="8", critic="8")),
    "mmd-ppo": (MmdPpo, MmdPpoSettings(boards=1, plies=1, hidden="8", critic="8")),
}


def leave_or_bet(prize: float = 3.0) -> Game:
    """A card for player 0, who may leave, and nobody wins; or bet, and player 1 answers."""
    state = record(card=int64, turn=int64, bet=int64, called=int64)

    @rule
    def start(s):
        s.card, s.turn, s.bet, s.called = 0, CHANCE, 0, 0

    @rule
    def turn(s):
        return s.turn

    @rule
    def moves(s, out):
        out[0], out[1] = 0, 1
        return 2

    @rule
    def odds(s, out):
        out[0] = out[1] = 0.5

    @rule
    def play(s, move, seen):
        if s.turn == CHANCE:
            s.card, s.turn = move, 0
            seen[0] = 1 + move
        elif s.turn == 0:
            s.bet, s.turn = move, 1 if move else END
            seen[1] = 3 + move
        else:
            s.called, s.turn = move, END
            seen[0] = 3 + move

    @rule
    def score(s):
        if not s.bet:
            return 0.0
        return (prize if s.card else -prize) if s.called else 1.0

    names = ("no", "yes")
    game = Game(
        state=state, rules=Rules(start, turn, moves, play, score, odds), actions=2, outcomes=2, depth=3,
        move_name=names.__getitem__, outcome_name=("low", "high").__getitem__,
        sight_name=("-", "low", "high", "no", "yes").__getitem__, view=lambda s, player: "",
    )  # fmt: skip
    return nebel.keeping_diaries(game, 3, 5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_player_may_have_nothing_to_decide(kind: str) -> None:
    """With one game an iteration that is so in about half of them, often in the first."""
    (make, settings), game = KINDS[kind], in_rules(nebel.game(f"{__file__}:leave_or_bet"))
    for seed in range(4):
        it = make(game, "perfect", settings, seed, Alone())
        for _ in range(8):
            it.iterate()
            assert all(np.isfinite(value) for value in it.metrics.values()), it.metrics
            held = it.save()
        again = make(game, "perfect", settings, seed, Alone())
        again.restore(held, it.iterations)
        assert all(np.array_equal(array, held[name]) for name, array in again.save().items())


@pytest.mark.parametrize(("make", "settings"), [
    (Nfsp, NfspSettings(boards=16, hidden="16")),
    (MmdPpo, MmdPpoSettings(boards=16, plies=8, hidden="16", critic="16")),
])  # fmt: skip
def test_games_may_last_longer_than_an_iteration(make: Any, settings: Any) -> None:
    """No game of 26 plies is over in the first one."""
    it = make(in_rules(nebel.game("goofspiel:13")), "perfect", settings, 1, Alone())
    for _ in range(6):
        it.iterate()
        assert max(it.metrics["loss"], it.metrics.get("critic_loss", 0.0)) < 10.0
    assert it.save()["scale"][0] == 1.0


def test_units_are_learned_from_games_that_are_over() -> None:
    unit, d = Unit(nebel.game("kuhn")), blank(3, 1, 2)
    d.then[:] = OVER
    assert Unit(nebel.game("geister")).size == 1.0
    assert unit.of(d).score.tolist() == [0.0, 0.0, 0.0]
    d.score[:], d.then[2] = (-2.0, 1.0, 8.0), 0  # the last is what was left there
    assert unit.of(d).score[:2].tolist() == [-1.0, 0.5]
    d.score[:2] = 4.0
    assert unit.of(d).score[:2].tolist() == [2.0, 2.0]
