"""Matches that the page has started: one is played at a time, the others wait, and all are kept while the server runs."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import secrets
import time
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

from nebel.core.errors import BadSetting, Problem, TooLarge
from nebel.core.game import BaseGame
from nebel.match.agents import Agent
from nebel.match.arena import Arena, Result, Terms
from nebel.match.rating import Ratings, rate
from nebel.web.refusal import Refusal
from nebel.web.shelf import Shelf
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

    def __init__(self, game: BaseGame, agents: Sequence[Agent], terms: Terms) -> None:
        self.id = secrets.token_urlsafe(8)
        self.game, self.terms = game, terms
        self.names = [agent.name for agent in agents]
        self.pairs = list(combinations(agents, 2))
        self.stage: Stage = "waiting"
        self.reason = ""
        self.results: list[Result] = []
        self.ratings: Ratings | None = None
        self.played = 0
        self.began = time.time()
        self._stopping = False

    @property
    def is_over(self) -> bool:
        return self.stage not in ("waiting", "playing")

    @property
    def now(self) -> tuple[str, str] | None:
        """Who is playing."""
        at = len(self.results)
        return (self.pairs[at][0].name, self.pairs[at][1].name) if self.stage == "playing" and at < len(self.pairs) else None

    def stop(self) -> None:
        """What is finished stays; a pair that is at play is given up as soon as it can be."""
        self._stopping = True
        if self.stage == "waiting":
            self.stage = "stopped"

    def play(self) -> None:
        if self._stopping:
            return
        self.stage = "playing"
        arena = Arena(self.game)
        try:
            for a, b in self.pairs:
                self.played = 0
                result = arena.play(a, b, self.terms, self._tick)
                self.ratings = rate([*self.results, result])
                self.results.append(result)
                self._tick(0)
        except _Stopped:
            self.stage = "stopped" if len(self.results) < len(self.pairs) else "done"
        except Problem as problem:
            self.stage, self.reason = "failed", str(problem)
        except Exception:
            LOG.exception("a match failed")
            self.stage, self.reason = "failed", "the server made a mistake; it is in its log"
        else:
            self.stage = "done"

    def _tick(self, games: int) -> None:
        self.played += games
        if self._stopping:
            raise _Stopped


class Matches:
    """All matches, the latest last."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._kept: dict[str, Match] = {}
        self._workers = Workers(1, "arena")
        self._tasks: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Any:
        return iter(self._kept.values())

    def find(self, id: str) -> Match:
        if id not in self._kept:
            raise Refusal(f"no match {id[:40]!r}; matches are kept while the server runs", 404)
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
        table: Any = self._shelf.game(game)
        agents = []
        glances = dict(table.glances)
        for name in names:
            agent, seen = self._shelf.agent(name, table)
            agents.append(agent)
            glances |= seen.glances
        if glances != dict(table.glances):
            table = dataclasses.replace(table, glances=glances)
        return Match(table, agents, Terms(games, seed, threads=1))

    def begin(self, match: Match) -> None:
        """Let it be played when it is its turn."""
        if sum(not other.is_over for other in self) >= MOST_WAITING:
            raise Refusal(f"{MOST_WAITING} matches are waiting already; stop one, or wait", 503)
        over = [other.id for other in self if other.is_over]
        for id in over[: max(0, len(self._kept) + 1 - MOST_KEPT)]:
            del self._kept[id]
        self._kept[match.id] = match
        task = asyncio.create_task(self._workers.run(match.play))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def drop(self, match: Match) -> None:
        match.stop()
        self._kept.pop(match.id, None)
