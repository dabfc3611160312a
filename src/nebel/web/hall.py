"""All games of a server: those in memory, and those that sleep in the store."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Sequence
from typing import NamedTuple

from nebel.core.errors import BadFile, Problem
from nebel.core.game import BaseGame
from nebel.core.state import State, read_record
from nebel.match.agents import Agent
from nebel.web.refusal import Refusal
from nebel.web.reply import Pace
from nebel.web.session import Session, warm
from nebel.web.setup import Limits
from nebel.web.shelf import Shelf
from nebel.web.store import PERSON, Row, Store
from nebel.web.visitor import VISITOR, Rate
from nebel.web.workers import Workers

AWAKE, KEPT = 400, 200_000
"""Games in memory before idle ones are put away, and games in the store before old ones are deleted."""
MEMORY = 1 << 30
"""Bytes that agents may remember of all games in memory; beyond, those that were asked for the longest ago think from the start again."""
OLD, UNPLAYED = 30 * 24 * 3600, 24 * 3600
"""Seconds after the last move, from which on a game may be deleted, and one in which no person has moved is."""
TIDY = 60.0
"""Seconds between looks at what can be put away."""
LOOKED_AT = 100
"""Games of a visitor among which one that nobody plays now is looked for."""


RESIGNED = re.compile(r'^\[Resigned "([01])"\]$', re.MULTILINE)


class SoFar(NamedTuple):
    """What has happened in a game that is gone on with."""

    moves: Sequence[int] = ()
    resigned: int | None = None


NOTHING = SoFar()


class Hall:
    """Begins games and finds them again, after a restart, too."""

    def __init__(self, shelf: Shelf, store: Store, loaders: Workers, pace: Pace, limits: Limits) -> None:
        self._shelf, self._store, self._loaders, self._pace, self._limits = shelf, store, loaders, pace, limits
        self._rate = Rate(limits.games_a_minute, "games begun")
        self._tidied = -TIDY
        self._awake: dict[str, Session] = {}
        self._kept = store.count()
        self._waking: dict[str, asyncio.Task[Session]] = {}

    async def begin(self, game: str, players: tuple[str, str], seed: int | None, practice: bool, so_far: SoFar = NOTHING) -> Session:
        """A new game, or one that goes on."""
        if PERSON not in players:
            raise Refusal("a game on the page needs a person: give one player as 'person'; agents play each other in the arena")
        if practice and players == (PERSON, PERSON):
            raise Refusal("a practice game lets one person take moves back, and both players are persons")
        if seed is not None and players == (PERSON, PERSON):
            raise Refusal("between people no seed can be given: whoever gives the seed could work out what is hidden")
        self._rate.take()
        table, agents = await self._loaders.run(self._seat, game, players)
        self._make_room()
        keys = tuple((_key(), _key()) if player == PERSON else ("", "") for player in players)
        row = Row(_key(), game, players, (keys[0], keys[1]), secrets.randbits(48) if seed is None else seed, practice, list(so_far.moves))
        row.resigned, row.visitor = so_far.resigned, VISITOR.get()
        session = Session(row, table, agents, self._store, self._pace)
        session.begin()
        self._kept += 1
        self._keep(session)
        return session

    def _make_room(self) -> None:
        """A place in the store for one more game: of the same visitor if it keeps many already, else of whoever keeps the most."""
        visitor = VISITOR.get()
        self.tidy()
        if self._store.count(visitor) >= self._limits.games and not self._drop_oldest(visitor):
            raise Refusal(f"you keep {self._limits.games:,} games that are all being played; end one first", 429)
        if self._kept >= KEPT:
            self._kept -= self._store.forget(OLD)
        if self._kept >= KEPT and not self._drop_oldest(self._store.busiest()):
            raise Refusal("the server keeps as many games as it can, all of them being played; start it with another --db", 503)

    def _drop_oldest(self, visitor: str) -> bool:
        return any(self._drop(id) for id in self._store.oldest(visitor, LOOKED_AT))

    def _drop(self, id: str) -> bool:
        """Forget a game for ever, unless somebody plays it now."""
        session = self._awake.get(id)
        if id in self._waking or (session is not None and not session.idle):
            return False
        self._store.drop(id)
        self._awake.pop(id, None)
        self._kept -= 1
        return True

    def tidy(self) -> None:
        """Now and then: forget games that nobody has ever played, and what agents remember beyond what there is room for."""
        now = time.monotonic()
        if now - self._tidied < TIDY:
            return
        self._tidied = now
        for id in self._store.unplayed(UNPLAYED):
            self._drop(id)
        self._forget_thoughts()

    def _forget_thoughts(self) -> None:
        held = {session: session.nbytes for session in self._awake.values()}
        total = sum(held.values())
        for session, nbytes in sorted(held.items(), key=lambda pair: not pair[0].idle):  # else in the order in which they were asked for
            if total <= MEMORY:
                break
            if nbytes and not session.thinks:
                session.forget_thoughts()
                total -= nbytes

    async def load(self, text: str, players: tuple[str, str], practice: bool) -> Session:
        """Go on with a record, or look at one that is finished."""

        state = await self._loaders.run(self._read, text)
        resigned = RESIGNED.search(text)
        made = SoFar([step.option for step in state.steps], int(resigned[1]) if resigned and not state.over else None)
        return await self.begin(state.game.string, players, None, practice, made)

    def _read(self, text: str) -> State:
        named = [line[7:-2] for line in text.splitlines() if line.startswith('[Game "') and line.endswith('"]')]
        if not named:
            raise BadFile('not a record: the line [Game "..."] is missing')
        return read_record(text, self._shelf.game(named[0]))

    def _seat(self, game: str, players: tuple[str, str]) -> tuple[BaseGame, tuple[Agent | None, Agent | None]]:
        table = self._shelf.game(game)
        agents: list[Agent | None] = []
        for player in players:
            agent = None
            if player != PERSON:
                agent, table = self._shelf.agent(player, table)
            agents.append(agent)
        for seat, agent in enumerate(agents):
            if agent is not None:
                warm(agent, table, seat)
        return table, (agents[0], agents[1])

    async def find(self, id: str) -> Session:
        """The game of this id, woken up if it slept."""
        if id in self._awake:
            self._awake[id] = session = self._awake.pop(id)
            session.go_on()
            return session
        if id not in self._waking:
            row = self._store.find(id)
            if row is None:
                raise Refusal("no such game here", 404)
            self._waking[id] = asyncio.create_task(self._restore(row))
        return await asyncio.shield(self._waking[id])

    async def _restore(self, row: Row) -> Session:
        try:
            table, agents = await self._loaders.run(self._seat, row.game, row.players)
            session = Session(row, table, agents, self._store, self._pace)
        except Problem as problem:
            raise Refusal(f"this game cannot go on: {problem}", 410) from problem
        finally:
            self._waking.pop(row.id, None)
        self._keep(session)
        session.go_on()
        return session

    def _keep(self, session: Session) -> None:
        self._awake[session.row.id] = session
        for id, other in list(self._awake.items()):
            if len(self._awake) <= AWAKE:
                break
            if other.idle and other is not session:
                del self._awake[id]


def _key() -> str:
    return secrets.token_urlsafe(12)
