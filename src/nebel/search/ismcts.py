"""Information Set Monte Carlo Tree Search with a tree for each player (multiple observers).

Cowling, Powley, Whitehouse. Information Set Monte Carlo Tree Search. 2012
Lisy, Lanctot, Bowling. Online Monte Carlo Counterfactual Regret Minimization for Search in Imperfect Information Games. 2015 (as rival)

Every simulation draws a history from what the player to move knows (`search/hidden.py`) and goes on from there: in information
states that are remembered by a bandit, uniformly at random after the first one that is new, which is then remembered. Bandits
are UCT, w/n + C * sqrt(ln N / n), with scores in units of the largest met so far, and the most visited move is played; or
regret matching with exploration, of which the average strategy is played. Information states are those of perfect recall, so
all states of one have the same moves, and no count of how often a move was available is needed.

A row of the memory holds sums of scores and visits (UCT), or regrets and sums of strategies (regret matching).
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import CHANCE, END, BaseGame, Game
from nebel.core.regret import match_regrets, pick
from nebel.core.rng import generator, uniform
from nebel.core.rule import kernel, rule
from nebel.core.settings import Settings, setting
from nebel.core.state import State
from nebel.core.tree import Reals, Side
from nebel.policy.table import Uniform
from nebel.search import memory
from nebel.search.budget import spend
from nebel.search.hidden import ROOM, Hidden, Ways, drawing, moving
from nebel.search.memory import NOWHERE, USED, Memory, Own, enter, look_up, own
from nebel.search.target import in_rules, to_move

BYTES = 2e9
"""What a search may fill."""

KINDS = 2
"""Numbers a move: sums of scores and visits, or regrets and sums of the average strategy."""


@dataclass(frozen=True)
class IsmctsSettings(Settings):
    """How to search."""

    selection: str = setting("uct", "by upper confidence bounds (most visits are played) or regret matching (average strategy)",
                             choices=("uct", "rm"))  # fmt: skip
    constant: float = setting(1.0, "of UCT: how much moves count that were tried seldom", low=0.0)
    exploration: float = setting(0.2, "of regret matching: how often a move is tried at random", low=1e-3, high=1.0)
    room: int = setting(ROOM, "nodes of hidden histories that are held; beyond that they are drawn less exactly", low=2)


class Trip(NamedTuple):
    """A simulation under way, and the decisions in which the memory had a say."""

    states: Any  # one
    keys: Any  # what each player remembers
    legal: Any
    odds: Any
    seen: Any
    who: Any  # by decision
    place: Any
    count: Any
    chosen: Any
    share: Any  # of the move chosen, with exploration
    gains: Any
    largest: Any  # one: the largest score so far


def trip(game: Game) -> Trip:
    depth, width = game.depth + 1, game.width

    def longs(size: int) -> Any:
        return np.zeros(size, np.int64)

    return Trip(
        game.blank(1), longs(2), longs(width), np.zeros(width), longs(2), longs(depth), longs(depth), longs(depth), longs(depth),
        np.zeros(depth), np.zeros(width), np.zeros(1),
    )  # fmt: skip


@rule
def by_uct(o: Own, f: Trip, d: int, n: int, place: int, rng: Any, constant: float) -> int:
    """A move that was never tried, or the one with the highest bound; chance decides between equals."""
    pool, visits = o.pool, 0.0
    for i in range(n):
        visits += pool[place + n + i]
    wide, best, most, ties = constant * f.largest[0] * np.sqrt(np.log(visits)) if visits > 0.0 else 0.0, 0, -np.inf, 0
    for i in range(n):
        tried = pool[place + n + i]
        bound = pool[place + i] / tried + wide / np.sqrt(tried) if tried > 0.0 else np.inf
        if bound > most:
            best, most, ties = i, bound, 1
        elif bound == most:
            ties += 1
            if uniform(rng) * ties < 1.0:
                best = i
    return best


@rule
def learn_uct(o: Own, f: Trip, d: int, gain: float) -> None:
    n, place, c = f.count[d], f.place[d], f.chosen[d]
    o.pool[place + c] += gain
    o.pool[place + n + c] += 1.0


@rule
def by_regrets(o: Own, f: Trip, d: int, n: int, place: int, rng: Any, exploration: float) -> int:
    scale = 1.0 / match_regrets(o.pool, place, n, f.gains)
    for i in range(n):
        o.pool[place + n + i] += scale * f.gains[i]
        f.gains[i] = exploration / n + (1.0 - exploration) * scale * f.gains[i]
    c = pick(f.gains, n, uniform(rng))
    f.share[d] = f.gains[c]
    return c


@rule
def learn_regrets(o: Own, f: Trip, d: int, gain: float) -> None:
    n, place, c = f.count[d], f.place[d], f.chosen[d]
    for i in range(n):
        o.pool[place + i] -= gain
    o.pool[place + c] += gain / f.share[d]


@functools.lru_cache(maxsize=16)
def searcher(game: Game, selection: str) -> Any:
    """The kernel of ISMCTS; `knob` is the bandit's constant or exploration."""
    _, turn, moves, _, score, odds = game.rules
    select, learn = (by_uct, learn_uct) if selection == "uct" else (by_regrets, learn_regrets)
    draw, go_on = drawing(game), moving(game).go_on

    @rule
    def remembered(o: Own, f: Trip, who: int, n: int) -> int:
        """Where the information state is kept, perhaps from now on."""
        place = look_up(o, f.keys[who])
        return place if place != NOWHERE else enter(o, f.keys[who], KINDS * n)

    @kernel
    def search(m: Memory, ways: Ways, f: Trip, rng: Any, knob: float, simulations: int) -> None:
        o = own(m, 0)
        for _ in range(simulations):
            s, d, playout = f.states[0], 0, False
            draw(ways, s, f.keys, f.seen, rng)
            who = turn(s)
            while who != END:
                n = moves(s, f.legal)
                place, held = NOWHERE, o.counts[USED]
                if who >= 0 and not playout:
                    place = remembered(o, f, who, n)
                    playout = place == NOWHERE or o.counts[USED] > held
                if who == CHANCE:
                    odds(s, f.odds)
                    c = pick(f.odds, n, uniform(rng))
                elif place == NOWHERE:
                    c = min(int(uniform(rng) * n), n - 1)
                else:
                    c = select(o, f, d, n, place, rng, knob)
                    f.who[d], f.place[d], f.count[d], f.chosen[d] = who, place, n, c
                    d += 1
                go_on(s, f.keys, f.legal[c], f.seen)
                who = turn(s)
            gain = score(s)
            f.largest[0] = max(f.largest[0], abs(gain))
            for e in range(d):
                learn(o, f, e, gain if f.who[e] == 0 else -gain)

    return search


class Ismcts:
    """`ismcts.think(state, simulations=10_000); ismcts.shares(state)`, for the player to move. The memory is kept until `forget`.

    simulations  all so far
    exact        whether hidden histories were drawn exactly the last time
    """

    def __init__(self, game: BaseGame, settings: IsmctsSettings | None = None, seed: int = 1) -> None:
        self.game, self.settings, self._seed = in_rules(game), settings or IsmctsSettings(), seed
        self._search, self._trip, self._rng = searcher(self.game, self.settings.selection), trip(self.game), generator(seed)
        self.forget()

    def forget(self) -> None:
        """A new game begins."""
        self._memory = memory.blank(1, KINDS * self.game.width)
        self._hidden: tuple[tuple[int, int], Hidden] | None = None
        self.exact, self.simulations = True, 0

    @property
    def nodes(self) -> int:
        """Information states remembered."""
        return int(self._memory.counts[0, USED])

    def think(self, state: State, simulations: int | None = None, seconds: float | None = None) -> int:
        """Simulate this often, or for this long, for the player to move; returns how often."""
        began = time.perf_counter()
        me = to_move(state)
        at = me, state.key(me)
        if self._hidden is None or self._hidden[0] != at:
            self._hidden = at, Hidden(self.game, state, me, self.settings.room, self._seed)
        self.exact = self._hidden[1].exact
        left = None if seconds is None else seconds - (time.perf_counter() - began)
        return spend(self._simulate, simulations, left)

    def _simulate(self, count: int) -> None:
        assert self._hidden is not None
        s = self.settings
        self._memory = memory.make_room(self._memory, count, KINDS * self.game.width, int(BYTES))
        knob = float(s.constant if s.selection == "uct" else s.exploration)
        with np.errstate(over="ignore"):
            self._search(self._memory, self._hidden[1].ways, self._trip, self._rng, knob, count)
        self.simulations += count

    def shares(self, state: State) -> dict[int, float]:
        """How often each move would be played: the most visited one, or the average strategy; uniformly where nothing is known."""
        visits = self.tendency(state)
        if self.settings.selection == "rm":
            return visits
        most = [move for move, share in visits.items() if share == max(visits.values())]
        return {move: (move in most) / len(most) for move in visits}

    def tendency(self, state: State) -> dict[int, float]:
        """How often each move was tried in the search, or its share in the average strategy; uniformly where nothing is known."""
        return memory.shares(self._memory, 0, state) or Uniform().probabilities(state)

    def sums(self, side: Side) -> Reals:
        """The visits of a player's information states, shared among their moves as it would play; 0 where nothing is remembered."""
        counts = memory.sums(self._memory, 0, side.keys, side.row)
        if self.settings.selection == "rm":
            return counts
        width, first = np.diff(side.row), side.row[:-1]
        most = counts == np.repeat(np.maximum.reduceat(counts, first), width)
        return most * np.repeat(np.add.reduceat(counts, first) / np.add.reduceat(most, first, dtype=np.int64), width)
