"""Games in step, spread over workers in a few parts. What comes of a part depends on the part alone, not on who plays it.

A mind is how everybody moves: called like a strategy, and sent to workers with its networks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from nebel.core.game import Game
from nebel.core.registry import load
from nebel.core.rng import generator
from nebel.dark_hex.pruned import pruned
from nebel.learn.external import External, Wide
from nebel.learn.memory import Arrays
from nebel.learn.traverse import BOARDS, ONGOING, OVER, Decisions, Floats, Reals, Traverser
from nebel.learn.workers import Workers
from nebel.policy.net import encoding_of
from nebel.policy.nets import match_regrets
from nebel.search.target import in_rules

PARTS, WORTH = 4, 256
"""However many workers there are: so many parts at most, each of so many games at least."""


class Mind(Protocol):
    """Shares of moves, by player, encodings and legal moves; `sit` tells which games it is asked about, `notes` are of a segment. Of one
    that is `alike` the player does not matter: it is asked about both at once."""

    alike: bool

    def __call__(self, player: int, rows: Floats, legal: Any) -> Reals: ...
    def sit(self, games: Traverser) -> None: ...
    def notes(self, decisions: int) -> Any: ...


class Plain:
    """A mind that takes no notice of games and makes no notes."""

    alike = False

    def sit(self, games: Traverser) -> None:
        """They are all the same."""

    def notes(self, decisions: int) -> Any:
        return np.zeros(0)


class Regrets(Plain):
    """Moves in proportion to positive regrets by each player's network; evenly as long as there is none."""

    def __init__(self, nets: Any = None) -> None:
        self.nets = nets

    def __call__(self, player: int, rows: Floats, legal: Any) -> Reals:
        if self.nets is None:
            return np.asarray(legal / legal.sum(axis=1, keepdims=True), np.float64)
        return match_regrets(self.nets[player](rows), legal)


@dataclass(frozen=True)
class Part:
    """Of the playing of a run: so many games of a game, or plies on so many boards that go on where `boards` ended."""

    game: str
    recall: str
    mind: Any
    count: int
    luck: tuple[int, int]
    explorer: int = OVER
    explore: float = 0.0
    once: int = 0
    plies: int = 0
    boards: Arrays | None = None
    pone: bool = False
    """Whether games end in sure wins."""


class Segment(NamedTuple):
    decisions: Decisions
    ahead: Floats  # what both know now and who is to move, by board
    legal: Any
    notes: Any
    boards: Arrays


@lru_cache(maxsize=4)
def _games(string: str, recall: str, boards: int, pone: bool = False) -> Traverser:
    game = _game(string)
    return Traverser(pruned(game) if pone else game, recall, boards)


@lru_cache(maxsize=4)
def _external(string: str, recall: str) -> External:
    return External(_game(string), recall)


def _game(string: str) -> Game:
    return in_rules(load(string))


def play_games(part: Part) -> Decisions:
    games = _games(part.game, part.recall, BOARDS)
    part.mind.sit(games)
    found = games.run(part.count, part.mind, part.explorer, part.explore, generator(*part.luck), part.once)
    return Decisions(*(column.copy() for column in found))


def play_on(part: Part) -> Segment:
    games = _games(part.game, part.recall, part.count, part.pone)
    part.mind.sit(games)
    if part.boards is None:
        games.tables.live[:], games.tables.games[:] = False, 0
    else:
        games.restore(part.boards)
    d, ahead = games.segment(part.plies, part.mind, generator(*part.luck))
    kept = {name: array.copy() for name, array in games.save().items()}
    return Segment(Decisions(*(column.copy() for column in d)), ahead, games.tables.legal.copy(), part.mind.notes(len(d.move)), kept)


def follow_all(part: Part) -> list[Wide]:
    return _external(part.game, part.recall).run(part.count, part.mind, part.explorer, generator(*part.luck))


def joined(parts: list[Decisions], boards: list[int]) -> Decisions:
    """One table of all: a decision's next one, and its board, are counted on."""
    first, board, shifted = 0, 0, []
    for d, count in zip(parts, boards, strict=True):
        then = np.where(d.then >= 0, d.then + first, np.where(d.then <= ONGOING, d.then - board, d.then))
        shifted.append(d._replace(then=then))
        first, board = first + len(d.move), board + count
    return Decisions(*(np.concatenate(column) for column in zip(*shifted, strict=True)))


def shared_out(count: int) -> list[int]:
    """By part, as evenly as can be."""
    parts = min(PARTS, max(1, count // WORTH))
    return [count // parts + (k < count % parts) for k in range(parts)]


class Spread:
    """Games of one recall. `iteration` and `stream` name the luck of a call, so that a run can be resumed. With `pone` segments are of
    Dark Hex that ends in sure wins."""

    def __init__(self, game: Game, recall: str, seed: int, workers: Workers, pone: bool = False) -> None:
        self.game, self.recall, self.seed, self.workers, self.pone = game, recall, seed, workers, pone
        self.size = encoding_of(game, recall).size
        self._boards: list[Arrays | None] = [None] * PARTS

    def prepare(self, work: Any, mind: Any, **more: Any) -> None:
        """Compile, or load what was compiled; with others waiting for the first of them to do so."""
        part = Part(self.game.string, self.recall, mind, 1, (0, 0), 0, 1.0, pone=self.pone, **more)
        self.workers.map(work, [part])
        if self.workers.count > 1:
            self.workers.map(work, [part] * self.workers.count)

    def _parts(self, count: int, mind: Any, stream: int, **more: Any) -> list[Part]:
        sizes = shared_out(count)
        return [
            Part(self.game.string, self.recall, mind, size, (self.seed, PARTS * stream + k), **more) for k, size in enumerate(sizes)
        ]  # fmt: skip

    def run(self, count: int, mind: Any, stream: int, explorer: int, explore: float, once: int = 0) -> Decisions:
        """So many games, in which `explorer` moves at random so often (`Traverser.run`)."""
        found = self.workers.map(play_games, self._parts(count, mind, stream, explorer=explorer, explore=explore, once=once))
        return joined(found, [0] * len(found))

    def follow_all(self, count: int, mind: Any, stream: int, traverser: int) -> list[Wide]:
        """So many traversals that follow every move of the traverser."""
        parts = self._parts(count, mind, stream, explorer=traverser)
        return [wide for found in self.workers.map(follow_all, parts) for wide in found]

    def segment(self, count: int, plies: int, mind: Any, stream: int) -> Segment:
        """So many plies on so many boards, from where they stood."""
        parts = self._parts(count, mind, stream, plies=plies, pone=self.pone)
        parts = [replace(part, boards=boards) for part, boards in zip(parts, self._boards, strict=False)]
        found = self.workers.map(play_on, parts)
        self._boards[: len(found)] = [each.boards for each in found]
        decisions = joined([each.decisions for each in found], [part.count for part in parts])
        ahead, legal, notes = (np.concatenate([getattr(each, name) for each in found]) for name in ("ahead", "legal", "notes"))
        return Segment(decisions, ahead, legal, notes, {})

    def save(self) -> Arrays:
        return {f"part{k}.{name}": array for k, boards in enumerate(self._boards) for name, array in (boards or {}).items()}

    def restore(self, arrays: Arrays) -> None:
        for k in range(PARTS):
            mine = {name.removeprefix(f"part{k}."): array for name, array in arrays.items() if name.startswith(f"part{k}.")}
            self._boards[k] = mine or None
