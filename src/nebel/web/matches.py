"""Matches that the page has started: of each visitor one is played at a time. A server that starts again goes on with them."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, Literal
from weakref import WeakValueDictionary

from nebel.core.errors import BadSetting, Problem, TooLarge
from nebel.core.interrupt import Interrupted
from nebel.match.agents import Agent
from nebel.match.arena import Arena, Result, Terms
from nebel.match.rating import Ratings, rate
from nebel.web.refusal import Refusal
from nebel.web.shelf import Shelf
from nebel.web.store import NotKept, Store
from nebel.web.visitor import VISITOR
from nebel.web.workers import Workers

LOG = logging.getLogger("nebel.web")
MOST_AGENTS, MOST_GAMES = 20, 1_000_000
"""Of one match, all pairs together."""
MOST_WAITING, MOST_KEPT = 10, 50

Stage = Literal["waiting", "playing", "stopped", "failed", "done"]


class _Stopped(Exception):
    """Somebody stopped the match."""


class Match:
    """Every agent against every other. It is written by the thread that plays it and read by all."""

    def __init__(self, shelf: Shelf, game: str, names: Sequence[str], terms: Terms) -> None:
        self.id = secrets.token_urlsafe(8)
        self.game, self.names, self.terms = game, list(names), terms
        self.pairs = list(combinations(self.names, 2))
        self.stage: Stage = "waiting"
        self.reason = ""
        self.results: list[Result] = []
        self.ratings: Ratings | None = None
        self.played = 0
        self.began = time.time()
        self.visitor = VISITOR.get()
        self._shelf = shelf
        self._arena: Arena | None = None
        self._agents: dict[str, Agent] = {}
        self._stopping = False

    @property
    def is_over(self) -> bool:
        return self.stage not in ("waiting", "playing")

    @property
    def now(self) -> tuple[str, str] | None:
        """Who is playing."""
        at = len(self.results)
        return self.pairs[at] if self.stage == "playing" and at < len(self.pairs) else None

    def sit(self) -> Arena:
        """Read the game and all agents, or say why that cannot be."""
        table: Any = self._shelf.game(self.game)
        self.game = table.string
        glances = dict(table.glances)
        for name in self.names:
            self._agents[name], seen = self._shelf.agent(name, table)
            glances |= seen.glances
        if glances != dict(table.glances):
            table = dataclasses.replace(table, glances=glances)
        self._arena = Arena(table)
        return self._arena

    def stop(self) -> None:
        """What is finished stays; a pair that is at play is given up as soon as it can be."""
        self._stopping = True
        if self.stage == "waiting":
            self.stage = "stopped"

    def play_pair(self) -> None:
        """The next pair; after the last one, or when it cannot go on, the match is over."""
        if self.is_over:
            return
        self.stage, self.played = "playing", 0
        a, b = self.pairs[len(self.results)]
        try:
            self._tick(0)
            arena = self._arena or self.sit()
            self._take(arena.play(self._agents[a], self._agents[b], self.terms, self._tick))
        except _Stopped:
            self.stage = "stopped"
        except Interrupted:  # the server ends
            return
        except Problem as problem:
            self.stage, self.reason = "failed", str(problem)
        except Exception:
            LOG.exception("a match failed")
            self.stage, self.reason = "failed", "the server made a mistake; it is in its log"
        if len(self.results) == len(self.pairs):
            self.stage = "done"

    def _take(self, result: Result) -> None:
        self.ratings = rate([*self.results, result])
        self.results.append(result)

    def _tick(self, games: int) -> None:
        self.played += games
        if self._stopping:
            raise _Stopped

    def to_json(self) -> dict[str, Any]:
        facts = {"game": self.game, "names": self.names, "games": self.terms.games, "seed": self.terms.seed, "began": self.began}
        facts["visitor"] = self.visitor
        return facts | {"stage": self.stage, "reason": self.reason, "results": [result.as_json() for result in self.results]}

    @classmethod
    def from_json(cls, shelf: Shelf, id: str, kept: dict[str, Any]) -> Match:
        """As it was kept; one that was being played waits for its turn again."""
        match = cls(shelf, kept["game"], kept["names"], Terms(kept["games"], kept["seed"], threads=1))
        match.id, match.began, match.reason, match.visitor = id, kept["began"], kept["reason"], kept.get("visitor", "")
        match.stage = "waiting" if kept["stage"] == "playing" else kept["stage"]
        for result in kept["results"]:
            match._take(Result(**result))
        return match


class Matches:
    """All matches, the latest last."""

    def __init__(self, shelf: Shelf, store: Store, most: int) -> None:
        self._shelf, self._store, self._most = shelf, store, most
        self._kept: dict[str, Match] = {}
        for id, kept in store.matches():
            try:
                self._kept[id] = Match.from_json(shelf, id, kept)
            except (KeyError, TypeError):
                LOG.warning("match %s was kept by another version of nebel: it is left out", id)
        self._workers = Workers(2, "arena")
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By visitor."""
        self._tasks: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[Match]:
        return iter(self._kept.values())

    def find(self, id: str) -> Match:
        if id not in self._kept:
            raise Refusal(f"no match {id[:40]!r} here", 404)
        return self._kept[id]

    def prepare(self, game: str, names: Sequence[str], games: int, seed: int) -> Match:
        """A match that could begin, or a refusal."""
        if len(names) < 2:
            raise BadSetting("a match takes at least two agents")
        if len(names) > MOST_AGENTS:
            raise TooLarge(f"a match has at most {MOST_AGENTS} agents, not {len(names)}")
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise BadSetting(f"{twice} is named twice; against itself an agent scores exactly 0")
        total = games * len(names) * (len(names) - 1) // 2
        if total > MOST_GAMES:
            raise TooLarge(f"{len(names)} agents with {games:,} games a pair make {total:,} games; a match has at most {MOST_GAMES:,}")
        match = Match(self._shelf, game, names, Terms(games, seed, threads=1))
        match.sit()
        return match

    def begin(self, match: Match) -> None:
        """Let it be played when it is its turn."""
        if sum(not other.is_over and other.visitor == match.visitor for other in self) >= self._most:
            raise Refusal(f"{self._most} of your matches are waiting already; stop one, or wait", 429)
        if sum(not other.is_over for other in self) >= MOST_WAITING:
            raise Refusal(f"{MOST_WAITING} matches are waiting already; stop one, or wait", 503)
        over = [other for other in self if other.is_over]
        for other in over[: max(0, len(self._kept) + 1 - MOST_KEPT)]:
            self.drop(other)
        self._store.keep_match(match.id, match.to_json())
        self._kept[match.id] = match
        self._start(match)

    def go_on(self) -> None:
        """Let those be played that an earlier server has not finished."""
        for match in self:
            if not match.is_over:
                self._start(match)

    def _start(self, match: Match) -> None:
        task = asyncio.create_task(self._play(match))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _play(self, match: Match) -> None:
        VISITOR.set(match.visitor)
        async with self._turns.setdefault(match.visitor, asyncio.Lock()):
            while not match.is_over:
                await self._workers.run(match.play_pair)
                with suppress(NotKept):  # it is played again after a restart
                    self._keep(match)

    def _keep(self, match: Match) -> None:
        if match.id in self._kept:
            self._store.keep_match(match.id, match.to_json())

    def stop(self, match: Match) -> None:
        match.stop()
        self._keep(match)

    def drop(self, match: Match) -> None:
        self._store.drop_match(match.id)
        match.stop()
        self._kept.pop(match.id, None)

    async def close(self) -> None:
        """Nothing is written after this."""
        for task in list(self._tasks):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
