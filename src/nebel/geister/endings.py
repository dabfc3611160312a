"""How games of Geister end, and whether a blue ghost moves first: of compiled matches, in which the score tells it all."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nebel.core.game import BaseGame, Game, Record
from nebel.core.remember import with_fields
from nebel.core.rule import rule
from nebel.games.geister import ESCAPED, LOST_BLUES, LOST_REDS
from nebel.match.agents import Agent
from nebel.match.arena import play_deals
from nebel.match.deals import Seats
from nebel.search.target import in_rules

NAMES = {ESCAPED: "escape", LOST_BLUES: "blues taken", LOST_REDS: "reds taken"}

NOBODY = -1
WINNERS, WAYS = 3, 4
"""What the score of a told game is made of: who won, if anybody, and how, if at all."""


class Endings(NamedTuple):
    """By game: who won, how, and whether the first move was of a blue ghost."""

    winner: NDArray[np.int64]
    how: NDArray[np.int64]
    blue: NDArray[np.bool_]

    @classmethod
    def told_by(cls, scores: NDArray[np.float64]) -> Self:
        said, winner = np.divmod(scores.astype(np.int64), WINNERS)
        blue, how = np.divmod(said, WAYS)
        return cls(winner + NOBODY, how, blue > 0)

    def won(self, player: int) -> float:
        """The share of games that this player won."""
        return float(np.mean(self.winner == player))

    def won_by(self, player: int) -> dict[str, float]:
        """The shares of games that this player won in each way."""
        return {name: float(np.mean((self.winner == player) & (self.how == how))) for how, name in NAMES.items()}

    def ways(self) -> dict[str, float]:
        """The shares of games that were won in each way by whoever, and of those that were drawn."""
        first, second = self.won_by(0), self.won_by(1)
        return {**{name: first[name] + second[name] for name in first}, "drawn": self.won(NOBODY)}

    def blue_first(self) -> float:
        return float(np.mean(self.blue))


def watch(game: BaseGame, seats: Seats, deals: int, seed: int) -> Endings:
    """Games of these agents in seats 0 and 1."""
    for agent in seats:
        game = agent.join(game)
    return Endings.told_by(play_deals(told(in_rules(game)), seats, deals, seed).scores)


def watch_both(game: BaseGame, ours: Agent, other: Agent, deals: int, seed: int) -> tuple[Endings, Endings]:
    """The same deals with us in seat 0, and in seat 1."""
    return watch(game, (ours, other), deals, seed), watch(game, (other, ours), deals, seed)


@functools.lru_cache(maxsize=16)
def told(game: Game) -> Game:
    """The same game, whose score is a number from which `Endings` reads how it ended."""
    start, _, _, play, _, _ = game.rules

    @rule
    def begin(s: Record) -> None:
        start(s)
        s.blue_first = 0

    @rule
    def go_on(s: Record, move: int, seen: Any) -> None:
        if s.ply == 0 and s.placed == 2:
            s.blue_first = 1 - (s.reds[0] >> (move >> 2) & 1)
        play(s, move, seen)

    @rule
    def tell(s: Record) -> float:
        return float((s.winner - NOBODY) + WINNERS * (s.how + WAYS * s.blue_first))

    return game.rescored(with_fields(game, blue_first=np.int64), game.rules._replace(start=begin, play=go_on, score=tell))
