"""Searchers at the board: OOS for whoever is to move, one game or several side by side, by simulations or by the clock."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadSetting
from nebel.core.game import BaseGame
from nebel.core.interrupt import check
from nebel.core.recall import PERFECT
from nebel.core.rng import generator
from nebel.core.sequence import shares_of
from nebel.core.state import State
from nebel.core.tree import Side, Tree
from nebel.policy.net import NetPolicy
from nebel.policy.table import Policy, Reals, TablePolicy, Uniform
from nebel.search import memory
from nebel.search.budget import spend
from nebel.search.flights import flights, goals
from nebel.search.oos import KINDS, MORE, NET, TABLE, TO_DO, UNIFORM, WEIGHTINGS, OosSettings, simulator
from nebel.search.target import events_of, in_rules, public_events_of, take_aim, to_move

ROOM = 2e9
"""Bytes that searches may fill."""

AT_ONCE = 4096
"""Simulations of a search that are begun without a look at how full its memory is."""

TOGETHER = 64
"""Simulations of one search that wait for a network together."""


class Searches:
    """Several searches side by side, numbered from 0; `policy` moves in playouts (default: uniformly)."""

    def __init__(
        self,
        game: BaseGame,
        settings: OosSettings | None = None,
        seed: int = 1,
        policy: Policy | None = None,
        count: int = 1,
        together: int = TOGETHER,
    ) -> None:
        self.game, self.settings, self.count = in_rules(game), settings or OosSettings(), count
        self.policy = policy or Uniform()
        s = self.settings
        kind, recall, self._shares, self._ask = _playouts(self.game, self.policy)
        each = together if kind == NET else 1
        common = s.target == "public"
        self._pump = simulator(self.game, kind, recall, common)
        self._flights = flights(self.game, count, each)
        self._goals = goals(self.game, count, common)
        self._memory = memory.blank(count, KINDS * self.game.width + MORE)
        self._rngs = np.array([generator(seed, k) for k in range(count)])
        self._tally, self._plan = np.zeros((count, 3)), np.zeros((count, 2), np.int64)
        numbers = (s.epsilon, s.delta, s.gamma, WEIGHTINGS.index(s.weighting), s.rate, s.trust)
        self._knobs = tuple(map(float, numbers))
        size = self.game.encodings[recall].size if kind == NET else 1
        self._asks = np.zeros((count * each, size), np.float32)
        self._said = np.zeros((count * each, self.game.actions), np.float32)

    def guide(self, net: NetPolicy) -> None:
        """Another network moves in playouts from now on, in the place of one of its kind."""
        net.check_game(self.game)
        assert isinstance(self.policy, NetPolicy)
        assert net.recall == self.policy.recall
        self.policy, self._ask = net, net.logits

    def forget(self, k: int = 0, luck: NDArray[np.int64] | None = None) -> None:
        """A new game begins, perhaps with chances of its own."""
        if luck is not None:
            self._rngs[k], self._plan[k] = luck, 0
        memory.forget(self._memory, k)
        self._goals.aims[k].me = -1
        self._tally[k] = 0.0

    def nodes(self, k: int = 0) -> int:
        """Information states remembered."""
        return int(self._memory.counts[k, memory.USED])

    @property
    def gave_up(self) -> int:
        """How often nobody could say in time whether a move leads to the target."""
        return self._goals.room.gave_up() if self._goals.room else 0

    def aim(self, state: State, k: int = 0) -> None:
        """Lead simulations to what the player to move knows."""
        me = to_move(state)
        if self.settings.target == "none":
            return
        t, room = self._goals.aims[k], self._goals.room
        events = public_events_of(state) if self.settings.target == "public" else events_of(state, me)
        if t.me == me and np.array_equal(t.events[: t.length], events):
            return
        take_aim(t, me if len(events) else -1, events)
        if room:
            room.memo[k] = 0
        self._tally[k] = 0.0

    def simulate(self, todo: NDArray[np.int64]) -> None:
        """So many simulations more in each search. They are begun as many at a time as the memory has room for, before it is seen how much
        they needed: a larger table is a slower one. Those under way need not end for others to begin."""
        left, full = todo.copy(), len(self._asks)
        with np.errstate(over="ignore"):
            while left.any():
                check()
                part = np.minimum(left, max(AT_ONCE, int(self._memory.counts[:, memory.USED].max())))
                left -= part
                more = left.any()
                self._memory = memory.make_room(self._memory, 2 * int(part.max()), KINDS * self.game.width + MORE, int(ROOM))
                self._plan[:, TO_DO] = part
                tables = (self._memory, self._flights, self._goals, self._shares, self._rngs, self._tally, self._knobs, self._plan)
                while waiting := self._pump(*tables, self._said, self._asks):
                    self._said[:waiting] = self._ask(self._asks[:waiting])
                    if more and waiting < full and not self._plan[:, TO_DO].any():
                        break

    def think(self, state: State, simulations: int | None = None, seconds: float | None = None, k: int = 0) -> int:
        """Simulate this often, or for this long, for the player to move; returns how often."""
        self.aim(state, k)
        return spend(functools.partial(self._simulate_one, k), simulations, seconds)

    def _simulate_one(self, k: int, count: int) -> None:
        todo = np.zeros(self.count, np.int64)
        todo[k] = count
        self.simulate(todo)

    def shares(self, state: State, k: int = 0) -> dict[int, float]:
        """How often each move would be played: the average strategy, or the playout policy where nothing is known."""
        return memory.shares(self._memory, k, state) or self.policy.probabilities(state)

    def lesson(self, state: State, step: float, k: int = 0) -> dict[int, float]:
        """The playout policy with each move's odds times exp(step * what it is worth more than what was played), as far as is known."""
        advised = self.policy.probabilities(state)
        n = len(advised)
        held = memory.numbers(self._memory, k, state.key(state.turn), n, n, n, MORE)
        if held is None or held[-1][0] <= 0.0:
            return advised
        regrets, (lessons, confided) = held[0], held[-1]
        odds = np.array(list(advised.values()))
        gains = (regrets - confided * odds) / lessons
        odds *= np.exp(step * (gains - gains.max()))
        return dict(zip(advised, (odds / odds.sum()).tolist(), strict=True))

    def on_tree(self, tree: Tree, k: int = 0) -> tuple[Reals, Reals]:
        """The average strategies of both players as far as they are remembered, the playout policy elsewhere."""
        elsewhere = self.policy.on_tree(tree).strategies
        first, second = (shares_of(side.row, self.sums(side, k), other) for side, other in zip(tree.sides, elsewhere, strict=True))
        return first, second

    def sums(self, side: Side, k: int = 0) -> Reals:
        """The sums of which a player's average strategy is made; 0 where nothing is remembered."""
        return memory.sums(self._memory, k, side.keys, side.row)


Ask = Callable[[NDArray[np.float32]], NDArray[np.float32]]


def _playouts(game: Any, policy: Policy) -> tuple[str, str, Any, Ask]:
    """The kind of playouts, what their policy remembers, the tables that compiled code reads, and how to ask a network."""
    if isinstance(policy, Uniform):
        return UNIFORM, PERFECT, None, _nobody
    if isinstance(policy, NetPolicy):
        policy.check_game(game)
        return NET, policy.recall, None, policy.logits
    if isinstance(policy, TablePolicy):
        policy.check_game(game)
        return TABLE, policy.recall, policy.shares, _nobody
    raise BadSetting("playouts go by a table or a network")


def _nobody(asks: NDArray[np.float32]) -> NDArray[np.float32]:
    raise AssertionError("nobody is asked in these playouts")
