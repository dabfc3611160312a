"""Players that come with games, among them those that look ahead: to a depth (`purple:4`) or by the clock (`purple:50ms`)."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np

from nebel.core.errors import BadSetting, IllegalMove
from nebel.core.game import BaseGame, Bot, Game
from nebel.core.registry import GAMES, load
from nebel.core.rng import uniform
from nebel.core.rule import kernel
from nebel.core.state import State
from nebel.core.suggest import did_you_mean
from nebel.match.agents import Agent, Generator
from nebel.search.budget import read_budget

FIRST_NODES = 20_000
"""That a look ahead may take before the first look at the clock."""


def bot_of(game: BaseGame, name: str) -> Bot:
    """A game's bot of this name."""
    offered = game.bots if isinstance(game, Game) else {}
    if name not in offered:
        others = _built_in(name)
        hint = f", which is a bot of {' and '.join(others)}" if others else did_you_mean(name, offered)
        raise BadSetting(f"{game.string} has no bot {name!r}{hint}; " + (f"it has: {', '.join(offered)}" if offered else "it has no bots"))
    return offered[name]


def _built_in(name: str) -> dict[str, Bot]:
    """Return the bots of this name, by built-in game."""
    games = [game for game in map(load, GAMES) if isinstance(game, Game)]
    return {game.name: game.bots[name] for game in games if name in game.bots}


@lru_cache(maxsize=32)
def _looking(game: Game, name: str) -> Any:
    """Compiled, with a depth."""
    choose = game.bots[name].choose

    @kernel
    def look(states: Any, u: float, depth: int) -> int:
        return choose(states[0], u, depth)

    return look


@lru_cache(maxsize=32)
def _looking_within(game: Game, name: str) -> Any:
    """Compiled, with a depth and so many nodes."""
    choose: Any = game.bots[name].within

    @kernel
    def look_within(states: Any, u: float, depth: int, nodes: int) -> int:
        return choose(states[0], u, depth, nodes)

    return look_within


def _checked(state: State, bot: str, move: int) -> int:
    if move not in state.options():
        after = f"after {state.moves_text()}" if state.steps else "at the start"
        raise IllegalMove(f"the bot {bot!r} of {state.game.string} plays {move} {after}; legal: {state.options()}")
    return move


class BotAgent(Agent):
    """A player that comes with a game; `depth` is for those that look ahead, 0 for as far as they do unless told."""

    def __init__(self, name: str, bot: str, depth: int = 0) -> None:
        self.name, self.bot, self.depth = name, bot, depth

    def choose(self, state: State, rng: Generator) -> int:
        assert isinstance(state.game, Game)
        with np.errstate(over="ignore"):
            u = uniform(rng)
            if self.depth:
                return _checked(state, self.bot, int(_looking(state.game, self.bot)(state.position, u, self.depth)))
            return _checked(state, self.bot, int(state.game.bots[self.bot].choose(state.position[0], u)))

    def join(self, game: BaseGame) -> BaseGame:
        bot = bot_of(game, self.bot)
        if self.depth and not bot.depth:
            raise BadSetting(f"{self.name}: {self.bot} does not look ahead, so it has no depth; write {self.bot}")
        if self.depth > bot.deepest:
            raise BadSetting(f"{self.name}: {self.bot} looks 1 to {bot.deepest} plies ahead")
        self.depth = self.depth or bot.depth
        return game


class ByTheClock(Agent):
    """A bot that looks one ply further ahead as long as there is time, and plays what it found at the last depth that was finished."""

    thinks = True

    def __init__(self, name: str, looker: str, seconds: float) -> None:
        self.name, self.looker, self.seconds = name, looker, seconds
        self._pace = 0.0  # nodes a second, once measured

    def choose(self, state: State, rng: Generator) -> int:
        return self.choose_within(state, rng, 1.0)

    def choose_within(self, state: State, rng: Generator, share: float) -> int:
        assert isinstance(state.game, Game)
        assert self.seconds is not None
        options, seconds = state.options(), share * self.seconds
        if len(options) == 1:
            return options[0]
        look, deepest = _looking_within(state.game, self.looker), state.game.bots[self.looker].deepest
        with np.errstate(over="ignore"):
            u = uniform(rng)
            move, depth, nodes = int(look(state.position, u, 1, 1 << 40)), 2, FIRST_NODES
            begun = time.perf_counter()  # what was compiled does not count
            end = begun + seconds
            while depth <= deepest and (now := time.perf_counter()) < end:
                nodes = max(nodes, int(self._pace * (end - now)))
                found = int(look(state.position, u, depth, nodes))
                if found >= 0:
                    move, depth = found, depth + 1
                    continue
                self._pace = nodes / (time.perf_counter() - now)
                if now + nodes / self._pace >= end - 0.1 * seconds:
                    break
        return _checked(state, self.looker, move)

    def join(self, game: BaseGame) -> BaseGame:
        bot = bot_of(game, self.looker)
        if bot.within is None:
            raise BadSetting(f"{self.name}: {self.looker} does not think by the clock; write {self.looker}")
        return game


def read_bot(text: str, name: str, how: str | None) -> Agent:
    """A game's bot, with how deep or how long it thinks."""
    if how is None:
        return BotAgent(text, name)
    known = _built_in(name).values()
    if known and not any(bot.depth or bot.within for bot in known):
        raise BadSetting(f"{text}: {name} does not look ahead, so it has neither depth nor time; write {name}")
    if how.isdecimal():
        if int(how) < 1:
            raise BadSetting(f"{text}: a depth is at least 1; write {name}:4")
        return BotAgent(text, name, int(how))
    try:
        seconds = read_budget(how).seconds
    except BadSetting:
        seconds = None
    if seconds is None:
        raise BadSetting(f"{text} is not understood; write {name}:DEPTH, such as {name}:4, or {name}:TIME, such as {name}:50ms")
    return ByTheClock(text, name, seconds)
