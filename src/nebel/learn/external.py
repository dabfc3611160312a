"""External sampling in step: of the traverser's decisions every move is followed, of the others' and of chance one.

All histories that many traversals have come to at a depth are one array, and the networks are asked about them at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import TooLarge
from nebel.core.game import CHANCE, END, Game
from nebel.core.regret import pick
from nebel.core.rng import uniform
from nebel.core.rule import kernel, rule
from nebel.learn.traverse import Floats, Longs, Strategy
from nebel.policy.net import encoding_of

TOGETHER = 256
"""Traversals that go on in step."""
MOST = 2_000_000
"""Decisions that they may come to in all."""


class Front(NamedTuple):
    """Histories at one depth: where they came from, and what the player to move knows."""

    state: Any
    parent: Any  # decision before, or -1
    via: Any  # and the move made there
    turn: Any
    row: Any
    legal: Any

    @classmethod
    def of(cls, game: Game, size: int, count: int) -> Front:
        parent, via, turn = np.zeros((3, count), np.int64)
        return cls(game.blank(count), parent, via, turn, np.zeros((count, size), np.float32), np.zeros((count, game.actions), np.bool_))


class Wide(NamedTuple):
    """Decisions of a wide traversal, and what the traverser gains by each move there."""

    player: Any
    row: Any
    legal: Any
    share: Any
    gains: Any  # of the traverser's decisions


@lru_cache(maxsize=16)
def expanding(game: Game, recall: str) -> Any:
    start, turn, moves, play, score, odds = game.rules
    encode, width = encoding_of(game, recall).write, game.width

    @rule
    def settle(f: Front, at: int, legal: Any, chances: Any, seen: Any, rng: Any) -> None:
        """Let chance move; then see what whoever is to move knows."""
        who = turn(f.state[at])
        while who == CHANCE:
            n = moves(f.state[at], legal)
            odds(f.state[at], chances)
            play(f.state[at], legal[pick(chances, n, uniform(rng))], seen)
            who = turn(f.state[at])
        f.turn[at] = who
        if who != END:
            f.row[at, :] = 0.0
            encode(f.state[at], who, f.row[at])
            f.legal[at, :] = False
            for i in range(moves(f.state[at], legal)):
                f.legal[at, legal[i]] = True

    @kernel
    def begin(f: Front, rng: Any) -> None:
        legal, chances, seen = np.zeros(width, np.int64), np.zeros(width), np.zeros(2, np.int64)
        for at in range(f.turn.size):
            start(f.state[at])
            f.parent[at] = -1
            settle(f, at, legal, chances, seen, rng)

    @kernel
    def expand(f: Front, share: Any, first: int, traverser: int, then: Front, worth: Any, rng: Any) -> int:
        """One move from all of them, or every move of the traverser; ends go into `worth`. Returns how many go on."""
        legal, chances, seen = np.zeros(width, np.int64), np.zeros(width), np.zeros(2, np.int64)
        made = 0
        for at in range(f.turn.size):
            n = moves(f.state[at], legal)
            low, high = 0, n
            if f.turn[at] != traverser:
                for i in range(n):
                    chances[i] = share[at, legal[i]]
                low = pick(chances, n, uniform(rng))
                high = low + 1
            for i in range(low, high):
                move = legal[i]
                then.state[made] = f.state[at]
                play(then.state[made], move, seen)
                settle(then, made, legal, chances, seen, rng)
                if then.turn[made] == END:
                    worth[first + at, move] = score(then.state[made]) if traverser == 0 else -score(then.state[made])
                else:
                    then.parent[made], then.via[made] = first + at, move
                    made += 1
                n = moves(f.state[at], legal)
        return made

    return begin, expand


@kernel
def sum_up(player: Any, parent: Any, via: Any, share: Any, legal: Any, traverser: int, worth: Any) -> None:
    """From the last decision to the first: what moves are worth to the traverser becomes what is gained by them."""
    for r in range(player.size - 1, -1, -1):
        value = 0.0
        for a in range(legal.shape[1]):
            if legal[r, a]:
                value += (share[r, a] if player[r] == traverser else 1.0) * worth[r, a]
        if parent[r] >= 0:
            worth[parent[r], via[r]] = value
        for a in range(legal.shape[1]):
            worth[r, a] = worth[r, a] - value if legal[r, a] else 0.0


class External:
    """`external.run(count, strategy, player, rng)`."""

    def __init__(self, game: Game, recall: str) -> None:
        self.game, self.size, self._go = game, encoding_of(game, recall).size, expanding(game, recall)

    def run(self, count: int, strategy: Strategy, traverser: int, rng: Longs) -> list[Wide]:
        """So many traversals."""
        return [self._some(min(TOGETHER, count - at), strategy, traverser, rng) for at in range(0, count, TOGETHER)]

    def _some(self, count: int, strategy: Strategy, traverser: int, rng: Longs) -> Wide:
        begin, expand = self._go
        front, first = Front.of(self.game, self.size, count), 0
        fronts, shares = list[Front](), list[Floats]()
        worth = np.zeros((0, self.game.actions))
        with np.errstate(over="ignore"):
            begin(front, rng)
            while len(front.turn):
                share = np.zeros(front.legal.shape, np.float32)
                for p in (0, 1):
                    asked = np.flatnonzero(front.turn == p)
                    if len(asked):
                        share[asked] = strategy(p, front.row[asked], front.legal[asked])
                made = int(np.where(front.turn == traverser, front.legal.sum(axis=1), 1).sum())
                if first + len(front.turn) + made > MOST:
                    raise TooLarge(
                        f"external sampling follows every move of the traverser, and in {self.game.string} {count} traversals come to more "
                        f"than {MOST:,} decisions; use --sampling outcome"
                    )
                then = Front.of(self.game, self.size, made)
                worth = np.concatenate([worth, np.zeros((len(front.turn), self.game.actions))])
                made = expand(front, share, first, traverser, then, worth, rng)
                fronts.append(front)
                shares.append(share)
                first += len(front.turn)
                front = Front(*(column[:made] for column in then))
        names = ("turn", "parent", "via", "row", "legal")
        player, parent, via, row, legal = (np.concatenate([getattr(f, name) for f in fronts]) for name in names)
        share = np.concatenate(shares)
        sum_up(player, parent, via, share, legal, traverser, worth)
        return Wide(player, row, legal, share, worth)
