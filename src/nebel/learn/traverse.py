"""Games in step for methods that learn from what was played: one call of the networks for all decisions of a step.

Somebody may explore; the others and chance move as they do. What happened is kept as a table of decisions in the order of time, whatever
games they belong to: `then` says which decision of the same game came next, so that values are passed back in one sweep from the last row
to the first. A game that is over is replaced by a new one, as long as there are any to begin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.game import CHANCE, END, Game
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.regret import pick
from nebel.core.rng import uniform
from nebel.core.rows import copy
from nebel.core.rule import kernel, rule
from nebel.core.unfold import look_away
from nebel.learn.memory import Arrays, Experience, put_back
from nebel.policy.net import encoding_of

BOARDS = 2048
"""Games that go on in step."""

OVER, ONGOING = -1, -2
"""What came after a decision: the end, or, of board j, ONGOING - j: a decision that is not in the table yet."""

NOBODY: Mapping[int, Any] = MappingProxyType({})

ENDLESS = 2**62
"""Games left to begin, where there is always another."""

Floats = NDArray[np.float32]
Reals = NDArray[np.float64]
Longs = NDArray[np.int64]
Strategy = Callable[[int, Floats, NDArray[np.bool_]], NDArray[np.floating[Any]]]
"""Shares of moves for a player's decisions: by player, encodings and legal moves."""
Rival = Callable[["Tables", Longs, NDArray[np.bool_], Longs], NDArray[np.floating[Any]]]
"""Shares of moves of somebody who does not learn: by boards, those asked about, what is legal there, and a generator."""


class Decisions(NamedTuple):
    """By decision: who decided what, knowing what, and what came of it."""

    player: Any
    key: Any  # of the information state
    both: Any  # what each player knew, in numbers
    legal: Any
    share: Any  # the strategy
    move: Any
    odds: Any  # of the move, exploration included
    reach: Any  # log of the product of the mover's own odds before, each times the number of moves
    opponent_reach: Any  # the same product for the opponent's moves before, as sampled, averaged over where it could explore
    then: Any  # the next decision of this game, or OVER, or ONGOING - board
    score: Any  # what player 0 got if it is over
    probe: Any  # whether this is the explorer's decision at which it explores once

    def cut(self, count: int) -> Decisions:
        return Decisions(*(column[:count] for column in self))

    def rows(self, at: Any, size: int | None = None) -> Floats:
        """What those who decided knew; `size` where the other is told more."""
        found: Floats = self.both[at, self.player[at], :size]
        return found

    def strategies_of(self, player: int, exponent: float = 1.0) -> tuple[Experience, Reals]:
        """Return the strategies of `player`, who does not explore, and the logarithms of their weights in its average strategy.

        An information state comes up in proportion to the player's own reach, by which its average counts, and to the sampling
        probability of the explorer's moves, which changes with the iteration and is divided out here, to the power `exponent`.
        """
        at = np.flatnonzero(self.player == player)
        return Experience(self.rows(at), self.share[at], self.legal[at]), -exponent * self.opponent_reach[at]

    def table(self, at: Any = slice(None)) -> Floats:
        """What both knew, and who was to move: of player 0, of player 1, and the seat."""
        both = self.both[at]
        return np.column_stack([both.reshape(len(both), -1), self.player[at]]).astype(np.float32, copy=False)


def blank(count: int, size: int, actions: int) -> Decisions:
    player, key, move, then = np.zeros((4, count), np.int64)
    odds, reach, opponent_reach, score = np.zeros((4, count))
    legal, share = np.zeros((count, actions), np.bool_), np.zeros((count, actions), np.float32)
    probe = np.zeros(count, np.bool_)
    both = np.zeros((count, 2, size), np.float32)
    return Decisions(player, key, both, legal, share, move, odds, reach, opponent_reach, then, score, probe)


class Tables(NamedTuple):
    """Games under way, by board."""

    state: Any
    live: Any
    memory: Any
    last: Any  # the last decision of this game, or OVER
    reach: Any  # by player: log of own odds so far
    explored: Any  # log of the explorer's odds so far if it explores at each decision
    settled: Any  # log of the sum of the explorer's odds so far over the decisions at which it can have explored for the last time
    made: Any  # decisions of the explorer so far
    pivot: Any  # decisions of the explorer until the one at which it explores once
    turn: Any
    both: Any
    legal: Any
    key: Any  # of the information state of whoever is to move
    games: Any  # how many were begun here
    moves: Any
    odds: Any
    seen: Any


class Steps(NamedTuple):
    begin: Any
    look: Any
    step: Any


@rule
def say_nothing(s: Any, player: int, out: Any) -> None:
    """Of players who are not told in numbers."""


@rule
def log_sum(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b)); either may be minus infinity."""
    high, low = max(a, b), min(a, b)
    return high + np.log1p(np.exp(low - high)) if low > -np.inf else high


@lru_cache(maxsize=16)
def stepping(game: Game, recalls: tuple[str, str], told: tuple[bool, bool]) -> Steps:
    """With players of these recalls; `told`: whether what they know is put into numbers."""
    start, turn, moves, play, score, odds = game.rules
    encode0, encode1 = (encoding_of(game, recalls[p]).write if told[p] else say_nothing for p in range(2))
    size0, size1 = (encoding_of(game, recalls[p]).size if told[p] else 0 for p in range(2))
    perfect0, perfect1 = (recall == PERFECT for recall in recalls)
    glance0, glance1 = (look_away if recall == PERFECT else game.glances[recall].look for recall in recalls)
    perfect = perfect0 or perfect1

    @rule
    def key_of(t: Tables, j: int, p: int) -> int:
        if p == 0:
            return t.memory[j, 0] if perfect0 else glance0(t.state[j], 0)
        return t.memory[j, 1] if perfect1 else glance1(t.state[j], 1)

    @rule
    def go_on(t: Tables, j: int, move: int, rng: Any) -> None:
        """A move, and what chance does then."""
        who = turn(t.state[j])
        while True:
            t.seen[0] = t.seen[1] = 0
            play(t.state[j], move, t.seen)
            if perfect:
                if who >= 0:
                    t.memory[j, who] = remember_move(t.memory[j, who], move)
                t.memory[j, 0] = remember_sight(t.memory[j, 0], t.seen[0])
                t.memory[j, 1] = remember_sight(t.memory[j, 1], t.seen[1])
            who = turn(t.state[j])
            if who != CHANCE:
                break
            move = dealt(t, j, rng)
        t.turn[j] = who

    @rule
    def dealt(t: Tables, j: int, rng: Any) -> int:
        n = moves(t.state[j], t.moves)
        odds(t.state[j], t.odds)
        return t.moves[pick(t.odds, n, uniform(rng))]

    @rule
    def restart(t: Tables, j: int, rng: Any, once: int) -> None:
        start(t.state[j])
        t.pivot[j] = int(uniform(rng) * once) if once > 0 else -1
        t.memory[j, 0], t.memory[j, 1] = blank_memory(0), blank_memory(1)
        t.last[j], t.reach[j, 0], t.reach[j, 1], t.live[j] = OVER, 0.0, 0.0, True
        t.explored[j], t.settled[j], t.made[j] = 0.0, -np.inf, 0
        t.games[j] += 1
        t.turn[j] = turn(t.state[j])
        if t.turn[j] == CHANCE:
            go_on(t, j, dealt(t, j, rng), rng)

    @rule
    def note_explorer(t: Tables, j: int, n: int, share: float, explore: float, once: int) -> None:
        """Follow the odds of the explorer's move: by its strategy if it explored for the last time before, or exploring."""
        settled = t.settled[j] + np.log(n * share) if share > 0.0 else -np.inf
        t.settled[j] = log_sum(settled, t.explored[j]) if t.made[j] < once else settled
        t.explored[j] += np.log(explore + (1.0 - explore) * n * share)
        t.made[j] += 1

    @rule
    def sampling_reach(t: Tables, j: int, once: int) -> float:
        """Return the log of the explorer's odds so far, averaged over the decisions at which it can explore for the last time."""
        later = t.explored[j] + np.log(float(once - t.made[j])) if t.made[j] < once else -np.inf
        return log_sum(t.settled[j], later) - np.log(float(once))

    @kernel
    def begin(t: Tables, rng: Any, count: int, once: int) -> None:
        for j in range(count):
            restart(t, j, rng, once)

    @kernel
    def look(t: Tables) -> None:
        for j in range(t.turn.size):
            if t.live[j]:
                t.both[j, :, :] = 0.0
                encode0(t.state[j], 0, t.both[j, 0, :size0])
                encode1(t.state[j], 1, t.both[j, 1, :size1])
                t.key[j] = key_of(t, j, t.turn[j])
                t.legal[j, :] = False
                for i in range(moves(t.state[j], t.moves)):
                    t.legal[j, t.moves[i]] = True

    @kernel
    def step(t: Tables, d: Decisions, at: int, share: Any, explorer: int, explore: float, once: int, rng: Any, left: int) -> Any:
        """Everybody decides; returns where the table of decisions ends now, and how many games are left to begin. With `once` the
        explorer strays before its pivot, moves evenly there, and then by its strategy."""
        for j in range(t.turn.size):
            if not t.live[j]:
                continue
            p = t.turn[j]
            n = moves(t.state[j], t.moves)
            stray, d.probe[at] = 0.0, False
            if p == explorer:
                stray = explore
                if once > 0:
                    stray, d.probe[at] = explore if t.pivot[j] > 0 else 0.0, t.pivot[j] == 0
                    if t.pivot[j] == 0:
                        stray = 1.0
                    t.pivot[j] -= 1
            for i in range(n):
                t.odds[i] = stray / n + (1.0 - stray) * share[j, t.moves[i]]
            c = pick(t.odds, n, uniform(rng))
            d.player[at], d.move[at], d.odds[at], d.reach[at] = p, t.moves[c], t.odds[c], t.reach[j, p]
            d.opponent_reach[at] = t.reach[j, 1 - p] if p == explorer or once == 0 else sampling_reach(t, j, once)
            if p == explorer:
                note_explorer(t, j, n, share[j, t.moves[c]], explore, once)
            d.key[at] = t.key[j]
            copy(t.both[j, 0], d.both[at, 0])
            copy(t.both[j, 1], d.both[at, 1])
            copy(t.legal[j], d.legal[at])
            copy(share[j], d.share[at])
            d.then[at] = ONGOING - j
            if t.last[j] >= 0:
                d.then[t.last[j]] = at
            t.last[j] = at
            t.reach[j, p] += np.log(t.odds[c] * n)
            go_on(t, j, t.moves[c], rng)
            if t.turn[j] == END:
                d.score[at], d.then[at], t.live[j] = score(t.state[j]), OVER, False
                if left > 0:
                    left -= 1
                    restart(t, j, rng, once)
            at += 1
        return at, left

    return Steps(begin, look, step)


class Traverser:
    """Whole games by `run`, or pieces of games that go on and on by `segment`. Rivals, by seat, do not ask for a strategy; their recalls
    may be others."""

    def __init__(
        self, game: Game, recall: str, boards: int = BOARDS, rivals: Mapping[int, Rival] = NOBODY, recalls: Mapping[int, str] = NOBODY
    ) -> None:
        recall0, recall1 = (recalls.get(p, recall) for p in range(2))
        told = [p not in rivals or recalls.get(p, recall) in game.encodings for p in range(2)]
        self.game, self.rivals, self._go = game, rivals, stepping(game, (recall0, recall1), (told[0], told[1]))
        self.sizes = [encoding_of(game, recalls.get(p, recall)).size if told[p] else 0 for p in range(2)]
        size, width = max(self.sizes), game.width
        self.size, self.actions, self.boards = size, game.actions, boards
        self.asked, self.at = np.zeros(0, np.int64), 0  # boards that a strategy is asked about, and decisions so far
        self.tables = Tables(
            game.blank(boards), np.zeros(boards, np.bool_), np.zeros((boards, 2), np.int64), np.zeros(boards, np.int64),
            np.zeros((boards, 2)), np.zeros(boards), np.zeros(boards), np.zeros(boards, np.int64),
            np.zeros(boards, np.int64), np.zeros(boards, np.int64), np.zeros((boards, 2, size), np.float32),
            np.zeros((boards, game.actions), np.bool_), np.zeros(boards, np.int64), np.zeros(boards, np.int64),
            np.zeros(width, np.int64), np.zeros(width), np.zeros(2, np.int64),
        )  # fmt: skip
        self._held = blank(4 * boards, size, game.actions)
        self._share = np.zeros((boards, game.actions))

    def run(self, count: int, strategy: Strategy, explorer: int, explore: float, rng: Longs, once: int = 0) -> Decisions:
        """So many games, in which `explorer` moves at random so often; with `once` at one of its first decisions for certain, and not after
        that. What is returned is overwritten by the next call."""
        t, at = self.tables, 0
        begun = min(count, self.boards)
        left = count - begun
        with np.errstate(over="ignore"):
            self._go.begin(t, rng, begun, once)
            while t.live.any():
                at, left = self._step(strategy, at, explorer, explore, once, rng, left)
        return self._held.cut(at)

    def segment(self, steps: int, strategy: Strategy, rng: Longs) -> tuple[Decisions, Floats]:
        """So many decisions on every board, from where the last segment ended; and what both know now, and who is to move, by board."""
        t, at = self.tables, 0
        with np.errstate(over="ignore"):
            if not t.live.all():
                self._go.begin(t, rng, self.boards, 0)
            t.last[:] = OVER
            for _ in range(steps):
                at, _ = self._step(strategy, at, OVER, 0.0, 0, rng, ENDLESS)
            self._go.look(t)
        ahead = np.column_stack([t.both.reshape(self.boards, -1), t.turn]).astype(np.float32, copy=False)
        return self._held.cut(at), ahead

    def _step(self, strategy: Strategy, at: int, explorer: int, explore: float, once: int, rng: Longs, left: int) -> tuple[int, int]:
        t, self.at = self.tables, at
        self._make_room(at + self.boards)
        self._go.look(t)
        if getattr(strategy, "alike", False) and not self.rivals:
            self.asked = np.flatnonzero(t.live)
            self._share[self.asked] = strategy(0, t.both[self.asked, t.turn[self.asked]], t.legal[self.asked])
            return self._decide(at, explorer, explore, once, rng, left)
        for p in (0, 1):
            asked = np.flatnonzero(t.live & (t.turn == p))
            if not len(asked):
                continue
            self.asked = asked
            if p in self.rivals:
                self._share[asked] = self.rivals[p](t, asked, t.legal[asked], rng)
            else:
                self._share[asked] = strategy(p, t.both[asked, p, : self.sizes[p]], t.legal[asked])
        return self._decide(at, explorer, explore, once, rng, left)

    def _decide(self, at: int, explorer: int, explore: float, once: int, rng: Longs, left: int) -> tuple[int, int]:
        at, left = self._go.step(self.tables, self._held, at, self._share, explorer, explore, once, rng, left)
        return at, left

    def _make_room(self, wanted: int) -> None:
        if wanted > len(self._held.move):
            more = blank(2 * wanted, self.size, self.actions)
            for old, new in zip(self._held, more, strict=True):
                new[: len(old)] = old
            self._held = more

    def save(self) -> Arrays:
        """Games under way between segments."""
        t = self.tables
        held = {"state": t.state.view(np.uint8), "live": t.live, "memory": t.memory, "turn": t.turn, "games": t.games}
        return {f"boards.{name}": array for name, array in held.items()}

    def restore(self, arrays: Arrays) -> None:
        put_back(arrays, self.save())


@kernel
def pass_back(d: Decisions, guess: Any, sign: float, values: Any, gains: Any) -> None:
    """Values of moves with a baseline as control variate, from the last decision to the first; gains over the strategy's value.

    Schmid et al. Variance Reduction in Monte Carlo Counterfactual Regret Minimization. 2019. `guess` is what player 0 gets by each move.
    """
    for r in range(d.move.size - 1, -1, -1):
        a, worth = d.move[r], 0.0
        after = sign * d.score[r] if d.then[r] == OVER else values[d.then[r]]
        for i in range(guess.shape[1]):
            if d.legal[r, i]:
                gains[r, i] = sign * guess[r, i]
        gains[r, a] += (after - gains[r, a]) / d.odds[r]
        for i in range(guess.shape[1]):
            if d.legal[r, i]:
                worth += d.share[r, i] * gains[r, i]
        for i in range(guess.shape[1]):
            gains[r, i] = gains[r, i] - worth if d.legal[r, i] else 0.0
        values[r] = worth


@kernel
def next_own(d: Decisions, ahead: Any, found: Any) -> None:
    """By decision: the next one of the same player in the same game, or OVER, or below that if it is not in the table yet. `ahead` is room:
    the next decision of each player, this one included; `d.score` is passed back to where it counts."""
    for r in range(d.move.size - 1, -1, -1):
        then = d.then[r]
        for p in range(2):
            ahead[r, p] = then if then < 0 else ahead[then, p]
        found[r] = ahead[r, d.player[r]]
        ahead[r, d.player[r]] = r
        if then >= 0:
            d.score[r] = d.score[then]


@kernel
def most_decisions(d: Decisions, player: int, before: Any) -> int:
    """That a player made in one of these games. `before` is room: how many there were before each."""
    most = 0
    for r in range(d.move.size):
        count = before[r] + (d.player[r] == player)
        most = max(most, count)
        if d.then[r] >= 0:
            before[d.then[r]] = count
    return most
