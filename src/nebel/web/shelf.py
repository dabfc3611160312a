"""What a visitor can name: games, agents and policies. A name is looked up here, and never becomes a path or code in any other way."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nebel.core.errors import BadFile, BadSetting, Problem, TooLarge, UnknownGame
from nebel.core.game import BaseGame, Game
from nebel.core.input import file_inside
from nebel.core.registry import load
from nebel.match.agents import THINKING, Agent, PolicyAgent, bots, read
from nebel.match.bots import BotAgent, ByTheClock
from nebel.match.thinkers import Thinker
from nebel.policy.io import POLICIES, SHIPPED, policy_path, read_header
from nebel.web.setup import Setup

MOST_SECONDS, MOST_SIMULATIONS, MOST_PLIES = 30, 1_000_000, 9
"""That an agent may think about a move: others wait for their turn, too."""
MOST_MOVES = 10_000
"""That a game may have, or offer at a time."""
MOST_FILES = 500
"""Policies listed of a folder."""
MOST_SEATED = 200
"""Agents at games that are kept ready."""
OPENSPIEL = "openspiel:"
"""Games of OpenSpiel are taken as they were named: some of their options name files."""
BOT = re.compile(r"(bot:)?([^:/\\]+)(?::([^:/\\]+))?")


class Held(NamedTuple):
    """A policy on the shelf: its name here, where it is, the game it was made for and what it is."""

    name: str
    path: Path
    game: str
    kind: str
    recall: str


class Shelf:
    """Safe to use from several threads."""

    def __init__(self, setup: Setup) -> None:
        self._folders = {"shipped": SHIPPED.resolve()}
        for folder in (*setup.policies, setup.runs):  # that of the runs may come into being later
            if folder.resolve() not in self._folders.values():
                self._folders[self._label(folder.resolve())] = folder.resolve()
        self.own_games = tuple(setup.games)
        own = {string: load(string) for string in setup.games}
        self._games = own | {game.string: game for game in own.values()}
        self._factories = {string.partition("(")[0].strip() for string in own if not string.startswith(OPENSPIEL)}
        self._seated: dict[tuple[str, str], tuple[Any, Agent, BaseGame]] = {}
        self._lock = threading.Lock()

    def _label(self, folder: Path) -> str:
        names = [folder.name or "root", *(f"{folder.name}-{n}" for n in range(2, 1000))]
        return next(name for name in names if name not in self._folders)

    def game(self, string: str) -> BaseGame:
        """A built-in game, or one that the server was started with."""
        head = string.partition("(")[0].strip()
        with self._lock:
            if string not in self._games and head in self._factories:
                self._games[string] = load(string)
            if string in self._games:
                return self._games[string]
        if ".py" in head or head.startswith(OPENSPIEL):
            raise UnknownGame(f"the server was not started with {head!r}; start it with: nebel serve --game '{head}'")
        game = load(string)
        if isinstance(game, Game) and (moves := max(game.width, game.actions)) > MOST_MOVES:
            raise TooLarge(f"{game.string} has {moves:,} moves, and the page shows games of at most {MOST_MOVES:,}")
        return game

    def policies(self) -> Iterator[Held]:
        """All policy files that can be read, folder by folder."""
        for name, path in self._files():
            try:
                header = read_header(path)
            except BadFile:
                continue
            if header.get("kind") in POLICIES:
                yield Held(name, path, header["game"], header["kind"], header["recall"])

    def skipped(self) -> Iterator[tuple[str, str]]:
        """Yield the names of the policy files that cannot be read, each with the reason."""
        for name, path in self._files():
            try:
                read_header(path)
            except BadFile as problem:
                yield name, str(problem).replace(str(path), path.name)

    def _files(self) -> Iterator[tuple[str, Path]]:
        """The files that are called like policies, by their names here."""
        for label, folder in self._folders.items():
            for path in sorted(folder.rglob("*.nebel") if folder.is_dir() else [])[:MOST_FILES]:
                name = f"{label}/{path.relative_to(folder).as_posix()}"
                if name.isprintable() and file_inside(folder, path):  # others could not be named in an answer
                    yield name, path

    def find(self, name: str) -> Path:
        """The file of this name on the shelf: inside its folder, whatever the name says."""
        label, _, rest = name.partition("/")
        folder = self._folders.get(label)
        path = file_inside(folder, rest) if folder else None
        if path is None or path.suffix != ".nebel":
            raise BadSetting(f"no agent and no policy {name[:200]!r} here; policies are in: {', '.join(self._folders)}")
        return path

    def agent(self, text: str, game: BaseGame) -> tuple[Agent, BaseGame]:
        """The agent of this name for one seat of one game, and the game as it needs to see it."""
        called, paths = self._resolved(text)
        stamp = [(path, path.stat().st_mtime_ns) for path in paths]
        with self._lock:
            known = self._seated.get((text, game.string))
        if known is None or known[0] != stamp:
            try:
                agent = read(called)
                agent.name = text
                known = stamp, agent, self._join(agent, game)
            except Problem as problem:
                raise type(problem)(_with_names(str(problem), text, called, paths)) from None
            with self._lock:
                self._seated[text, game.string] = known
                if len(self._seated) > MOST_SEATED:
                    del self._seated[next(iter(self._seated))]
        return known[1].sit(), known[2]

    def _join(self, agent: Agent, game: BaseGame) -> BaseGame:
        _refuse_long_thoughts(agent)
        if isinstance(agent, PolicyAgent) and agent.game is not None:
            self.game(agent.game)  # a file must not bring in a game that may not be named
        return agent.join(game)

    def _resolved(self, text: str) -> tuple[str, list[Path]]:
        """The agent's name with the files of policies in place of their names on the shelf."""
        if thinking := THINKING.fullmatch(text):
            if not thinking[1]:
                return text, []
            before, paths = self._resolved(thinking[1])
            return f"{before}+{thinking[2]}", paths
        bot = BOT.fullmatch(text)
        if text in ("uniform", "random") or (bot and (bot[1] or bot[2] in bots())):
            return text, []
        name = text.removeprefix("policy:")
        path = policy_path(name) if name.startswith("shipped:") else self.find(name)
        return str(path), [path]


def _with_names(message: str, text: str, called: str, paths: list[Path]) -> str:
    """Visitors need not know where folders are."""
    for path in paths:
        message = message.replace(str(path), path.name)
    return message.replace(called, text)


def _refuse_long_thoughts(agent: Agent) -> None:
    other = getattr(agent, "other", None)
    if isinstance(other, Agent):
        _refuse_long_thoughts(other)
    seconds = agent.budget.seconds if isinstance(agent, Thinker) else agent.seconds if isinstance(agent, ByTheClock) else None
    simulations = agent.budget.simulations if isinstance(agent, Thinker) else None
    if (seconds or 0) > MOST_SECONDS or (simulations or 0) > MOST_SIMULATIONS:
        raise BadSetting(f"{agent.name} thinks too long for the page; at most {MOST_SECONDS}s or {MOST_SIMULATIONS:,} simulations a move")
    if isinstance(agent, BotAgent) and agent.depth > MOST_PLIES:
        raise BadSetting(f"{agent.name} looks too far ahead for the page; at most {MOST_PLIES} plies")
