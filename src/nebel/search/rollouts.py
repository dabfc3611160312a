"""Playouts from what may be hidden: each simulation draws a history that the player to move cannot tell from the one at the board
(`search/hidden.py`), makes one of the player's moves, and goes on at random. UCB1 chooses the move; the one tried most is played.

Nothing is learned of how the other's moves betray what it hides, and nothing is remembered from move to move: simple, and strong
where chances decide. In playouts, moves that the game calls sure (`Hints.sure`, such as an escape in Geister) are made.
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
from nebel.core.rule import kernel
from nebel.core.settings import Settings, setting
from nebel.core.state import State
from nebel.core.tree import Reals, Side
from nebel.policy.table import Uniform
from nebel.search.budget import spend
from nebel.search.hidden import ROOM, Hidden, drawing
from nebel.search.target import in_rules, to_move


@dataclass(frozen=True)
class RolloutSettings(Settings):
    """How to play out."""

    constant: float = setting(1.0, "of UCB1: how much moves count that were tried seldom", low=0.0)
    horizon: int = setting(0, "moves after which a playout counts as a draw (0: it goes on to the end)", low=0)
    room: int = setting(ROOM, "nodes of hidden histories that are held; beyond that they are drawn less exactly", low=2)


@functools.lru_cache(maxsize=16)
def _playing(game: Game) -> Any:
    _, turn, moves, play, score, odds = game.rules
    draw, sure = drawing(game), game.hints.sure

    @kernel
    def simulate(
        ways: Any, states: Any, memory: Any, legal: Any, chances: Any, seen: Any, rng: Any, tried: Any, sums: Any, constant: float,
        horizon: int, count: int,
    ) -> None:  # fmt: skip
        s = states[0]
        for _ in range(count):
            draw(ways, s, memory, seen, rng)
            me = turn(s)
            n = moves(s, legal)
            best, most, total = 0, -np.inf, 1.0 + tried[:n].sum()
            for i in range(n):
                bound = sums[i] / tried[i] + constant * np.sqrt(np.log(total) / tried[i]) if tried[i] > 0.0 else 1e9 + uniform(rng)
                if bound > most:
                    best, most = i, bound
            play(s, legal[best], seen)
            who, left = turn(s), horizon
            while who != END and left != 1:
                left -= 1
                move = sure(s) if who >= 0 else -1
                if move < 0:
                    n = moves(s, legal)
                    if who == CHANCE:
                        odds(s, chances)
                        move = legal[pick(chances, n, uniform(rng))]
                    else:
                        move = legal[int(uniform(rng) * n)]
                play(s, move, seen)
                who = turn(s)
            gain = score(s) if who == END else 0.0
            tried[best] += 1.0
            sums[best] += gain if me == 0 else -gain

    return simulate


class Rollouts:
    """`rollouts.think(state, simulations=1000); rollouts.shares(state)`, for the player to move.

    exact  whether hidden histories were drawn exactly the last time
    """

    nodes = 1  # information states remembered: that at the board

    def __init__(self, game: BaseGame, settings: RolloutSettings | None = None, seed: int = 1) -> None:
        self.game, self.settings, self._seed = in_rules(game), settings or RolloutSettings(), seed
        self._simulate, self._rng, self.exact = _playing(self.game), generator(seed), True
        width = self.game.width
        self._room = self.game.blank(1), np.zeros(2, np.int64), np.zeros(width, np.int64), np.zeros(width), np.zeros(2, np.int64)
        self._at: tuple[int, int] | None = None
        self._tried, self._sums = np.zeros(width), np.zeros(width)

    def think(self, state: State, simulations: int | None = None, seconds: float | None = None) -> int:
        """Simulate this often, or for this long; returns how often."""
        began = time.perf_counter()
        me = to_move(state)
        hidden = Hidden(self.game, state, me, self.settings.room, self._seed)
        self.exact, self._at = hidden.exact, (me, state.key(me))
        self._tried[:] = self._sums[:] = 0.0

        def simulate(count: int) -> None:
            s = self.settings
            with np.errstate(over="ignore"):
                self._simulate(hidden.ways, *self._room, self._rng, self._tried, self._sums, s.constant, s.horizon, count)

        return spend(simulate, simulations, None if seconds is None else seconds - (time.perf_counter() - began))

    def tendency(self, state: State) -> dict[int, float]:
        """How often each move was tried; uniformly where the player did not think."""
        options = state.options()
        tried = self._tried[: len(options)]
        if self._at != (state.turn, state.key(state.turn)) or not tried.sum():
            return Uniform().probabilities(state)
        return dict(zip(options, (tried / tried.sum()).tolist(), strict=True))

    def shares(self, state: State) -> dict[int, float]:
        """The move that was tried most; of equals, each as often."""
        tried = self.tendency(state)
        most = [move for move, share in tried.items() if share == max(tried.values())]
        return {move: (move in most) / len(most) for move in tried}

    def sums(self, side: Side) -> Reals:
        """Of information states remembered besides those that were decided: none."""
        return np.zeros(len(side.move))
