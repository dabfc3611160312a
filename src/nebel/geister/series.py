"""A series between two agents over real sockets: a server and both clients in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nebel.core.rng import generator
from nebel.geister.client import Outcome, Seat, play_at, sit_down
from nebel.geister.protocol import DRAW
from nebel.geister.server import Manners, Played, Server
from nebel.match.agents import Agent

HOST = "127.0.0.1"


class Tally:
    """What came of a series, for the first agent."""

    def __init__(self, names: tuple[str, str]) -> None:
        self.names = names
        self.games: list[Played] = []
        self.outcomes: tuple[list[Outcome], list[Outcome]] = ([], [])

    def count(self, score: int) -> int:
        return sum(self.score(number) == score for number in range(len(self.games)))

    def score(self, number: int) -> int:
        """Of the first agent, which has the first seat in even games."""
        winner = self.games[number].winner
        return 0 if winner == DRAW else 1 if winner == number % 2 else -1

    def by(self) -> dict[str, int]:
        ways = [game.by for game in self.games]
        return {way: ways.count(way) for way in sorted(set(ways))}

    @property
    def plies(self) -> int:
        return sum(game.plies for game in self.games)

    @property
    def ms_a_ply(self) -> float:
        return 1000 * sum(game.seconds for game in self.games) / max(self.plies, 1)

    def ms_a_move(self, which: int) -> float:
        """That an agent thought."""
        outcomes = self.outcomes[which]
        return 1000 * sum(outcome.seconds for outcome in outcomes) / max(sum(outcome.moves for outcome in outcomes), 1)

    def as_json(self) -> dict[str, object]:
        wins, draws, losses = (self.count(score) for score in (1, 0, -1))
        return {
            "a": self.names[0],
            "b": self.names[1],
            "games": len(self.games),
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "by": self.by(),
            "plies": self.plies,
            "ms_a_ply": self.ms_a_ply,
            "ms_a_move": [self.ms_a_move(0), self.ms_a_move(1)],
        }


def play_series(
    agents: tuple[Agent, Agent], games: int, seed: int, manners: Manners, log: Path | None = None, tick: Callable[[int], None] | None = None
) -> Tally:
    """So many games, in which the agents take the first seat in turn."""
    return asyncio.run(_series(agents, games, seed, manners, log, tick))


async def _series(
    agents: tuple[Agent, Agent], games: int, seed: int, manners: Manners, log: Path | None, tick: Callable[[int], None] | None
) -> Tally:
    tally = Tally((agents[0].name, agents[1].name))

    def tell(played: Played) -> None:
        tally.games.append(played)
        if tick:
            tick(len(tally.games))

    variants = [sit_down(agent, manners.limit) for agent in agents]
    ports: asyncio.Future[tuple[int, int]] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(Server(manners, log, tell).serve(HOST, (0, 0), games, ports.set_result))
    either: list[asyncio.Future[Any]] = [serving, ports]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()  # raises: it would go on otherwise
    seats = ports.result()

    def play_all(which: int) -> None:
        for number in range(games):
            player = (which + number) % 2
            rng = generator(seed, 2 * number + which)
            tally.outcomes[which].append(play_at(Seat(HOST, seats[player], player), agents[which], variants[which], rng))

    try:
        await asyncio.gather(serving, *(asyncio.to_thread(play_all, which) for which in range(2)))
    finally:
        serving.cancel()
    return tally
