"""Playouts by a network's advice, from what may be hidden: which move is worth most if both go on as the network does?

Sokota and others. The Update-Equivalence Framework for Decision-Time Planning. 2024: the network's own odds of a move are multiplied by
exp(strength * what the move is worth). Without the odds, searching is worse than not to search.

Histories that may be hidden are as likely as the other's moves make them (`search/bayes.py`); playouts go on in step, and the network
is asked once a step.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from nebel.core.game import CHANCE, END, BaseGame, Game
from nebel.core.regret import pick
from nebel.core.rng import generator, uniform
from nebel.core.rule import kernel, rule
from nebel.core.settings import Settings, setting
from nebel.core.state import State
from nebel.core.tree import Reals, Side
from nebel.policy.net import NetPolicy, encoding_of
from nebel.search.bayes import look, odds_of, weighed
from nebel.search.budget import spend
from nebel.search.hidden import ROOM, Hidden, Ways, drawing
from nebel.search.target import in_rules, to_move

TOGETHER = 256
"""Playouts that go on in step."""


@dataclass(frozen=True)
class AdvisedSettings(Settings):
    """How to play out, and how much that counts."""

    strength: float = setting(8.0, "how much a move's worth counts beside the network's odds, for wins and losses of 1", low=0.0)
    trust: float = setting(0.9, "how often the other is taken to have moved as the network does, and not at random", low=0.0, high=1.0)
    horizon: int = setting(0, "moves after which a playout counts as a draw (0: it goes on to the end)", low=0)
    room: int = setting(ROOM, "nodes of hidden histories that are held; beyond that they are drawn less exactly", low=2)


@functools.lru_cache(maxsize=16)
def _playing(game: Game, recall: str) -> Any:
    _, turn, moves, play, score, odds = game.rules
    draw, write = drawing(game), look(game, recall)

    @rule
    def settle(s: Any, legal: Any, chances: Any, seen: Any, rng: Any) -> int:
        """Let chance move; returns who is next."""
        who = turn(s)
        while who == CHANCE:
            n = moves(s, legal)
            odds(s, chances)
            play(s, legal[pick(chances, n, uniform(rng))], seen)
            who = turn(s)
        return who

    @kernel
    def begin(ways: Any, states: Any, first: Any, who: Any, memory: Any, legal: Any, chances: Any, seen: Any, rng: Any) -> None:
        """Histories that may be, each with a first move."""
        for j in range(first.size):
            draw(ways, states[j], memory, seen, rng)
            play(states[j], first[j], seen)
            who[j] = settle(states[j], legal, chances, seen, rng)

    @kernel
    def ask(states: Any, going: Any, who: Any, legal: Any, rows: Any, allowed: Any) -> None:
        for i in range(going.size):
            write(states[going[i]], who[going[i]], legal, rows[i], allowed[i])

    @kernel
    def step(states: Any, going: Any, who: Any, said: Any, legal: Any, chances: Any, seen: Any, rng: Any, scores: Any) -> None:
        for i in range(going.size):
            j = going[i]
            n = moves(states[j], legal)
            for k in range(n):
                chances[k] = said[i, legal[k]]
            play(states[j], legal[pick(chances, n, uniform(rng))], seen)
            who[j] = settle(states[j], legal, chances, seen, rng)
            if who[j] == END:
                scores[j] = score(states[j])

    return begin, ask, step


class Advised:
    """`advised.think(state, simulations=1000); advised.shares(state)`, for the player to move.

    exact  whether hidden histories were drawn exactly the last time
    """

    nodes = 1  # information states remembered: that at the board

    def __init__(self, game: BaseGame, policy: NetPolicy, settings: AdvisedSettings | None = None, seed: int = 1) -> None:
        self.game, self.policy, self.settings, self._seed = in_rules(game), policy, settings or AdvisedSettings(), seed
        self._go, self._rng, self.exact = _playing(self.game, policy.recall), generator(seed), True
        width = self.game.width
        self._states, self._who = self.game.blank(TOGETHER), np.zeros(TOGETHER, np.int64)
        self._one = np.zeros(width, np.int64), np.zeros(width), np.zeros(2, np.int64)
        self._at: tuple[int, int] | None = None
        self._tried, self._sums, self._options = np.zeros(0), np.zeros(0), list[int]()

    def think(self, state: State, simulations: int | None = None, seconds: float | None = None) -> int:
        """Simulate this often, or for this long; returns how often."""
        began, me = time.perf_counter(), to_move(state)
        hidden = Hidden(self.game, state, me, self.settings.room, self._seed)
        self.exact, self._at, self._options = hidden.exact, (me, state.key(me)), state.options()
        self._tried, self._sums = np.zeros(len(self._options)), np.zeros(len(self._options))
        ways = weighed(hidden, self.policy, me, self.settings.trust, self._rng)

        def simulate(count: int) -> None:
            for at in range(0, count, TOGETHER):
                self._simulate(ways, me, min(TOGETHER, count - at))

        return spend(simulate, simulations, None if seconds is None else seconds - (time.perf_counter() - began))

    def _simulate(self, ways: Ways, me: int, count: int) -> None:
        begin, ask, step = self._go
        legal, chances, seen = self._one
        chosen = (int(self._tried.sum()) + np.arange(count)) % len(self._options)
        states, who, scores = self._states[:count], self._who[:count], np.zeros(count)
        rows = np.zeros((count, encoding_of(self.game, self.policy.recall).size), np.float32)
        allowed = np.zeros((count, self.game.actions), np.bool_)
        with np.errstate(over="ignore"):
            first = np.array(self._options, np.int64)[chosen]
            begin(ways, states, first, who, np.zeros(2, np.int64), legal, chances, seen, self._rng)
            for j in np.flatnonzero(who == END):
                scores[j] = self.game.rules.score(states[j])
            left = self.settings.horizon
            while len(going := np.flatnonzero(who != END)) and left != 1:
                left -= 1
                ask(states, going, who, legal, rows, allowed)
                odds = odds_of(self.policy, rows[: len(going)], allowed[: len(going)])
                step(states, going, who, odds, legal, chances, seen, self._rng, scores)
        np.add.at(self._tried, chosen, 1.0)
        np.add.at(self._sums, chosen, scores if me == 0 else -scores)

    def tendency(self, state: State) -> dict[int, float]:
        """The network's odds of a move, times exp(strength * what it is worth); where the player did not think, the network's."""
        advice = self.policy.probabilities(state)
        if self._at != (state.turn, state.key(state.turn)) or not self._tried.sum():
            return advice
        scale = self.game.most if np.isfinite(self.game.most) else 1.0
        worth = self._sums / np.maximum(self._tried, 1.0) / scale
        raised = np.array(list(advice.values())) * np.exp(self.settings.strength * (worth - worth.max()))
        return dict(zip(advice, (raised / raised.sum()).tolist(), strict=True))

    def shares(self, state: State) -> dict[int, float]:
        return self.tendency(state)

    def sums(self, side: Side) -> Reals:
        """Of information states remembered besides those that were decided: none."""
        return np.zeros(len(side.move))
