"""Calling the parts of a game that its author wrote: what they do wrong is said in words, with the place in the author's file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nebel.core.errors import BadRules, FailedRule, Problem
from nebel.core.findings import reason, where

if TYPE_CHECKING:
    from nebel.core.game import BaseGame


LONGEST = 10_000
"""Moves after which random play must have ended."""
SHOWN, ENDS = 100, 10
"""Moves that a message names, and of a longer way how many of the first and of the last."""


def place(function: Any) -> str:
    """The file and line of a function in brackets; empty if it has none."""
    code = getattr(function, "__code__", None)
    return f" ({Path(code.co_filename).name}, line {code.co_firstlineno})" if code else ""


def call(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a part of a game.

    Raises:
        FailedRule: whatever error the part raised, in one line.
    """
    try:
        return function(*arguments)
    except Problem:
        raise
    except Exception as error:
        here = where(error)
        raise FailedRule(f"{name} fails: {reason(error)}{f' ({here})' if here else place(function)}") from error


def whole_number(name: str, function: Callable[..., Any], meaning: str, *arguments: Any) -> int:
    """What a part of a game returns, which must be an integer."""
    value = call(name, function, *arguments)
    if not isinstance(value, (int, np.integer, np.bool_)):
        raise _unfit(name, function, value, f"return {meaning}")
    return int(value)


def number(name: str, function: Callable[..., Any], meaning: str, *arguments: Any) -> float:
    """What a part of a game returns, which must be a finite number."""
    value = call(name, function, *arguments)
    if not isinstance(value, (Real, np.bool_)):
        raise _unfit(name, function, value, f"return {meaning}")
    if not isfinite(value):
        raise BadRules(f"{name} is {value}; it must be a finite number")
    return float(value)


def text(name: str, function: Callable[..., Any], *arguments: Any) -> str:
    """What a part of a game returns, which must be text."""
    value = call(name, function, *arguments)
    if not isinstance(value, str):
        raise _unfit(name, function, value, "be text")
    return value


def nothing(name: str, function: Callable[..., Any], meaning: str, *arguments: Any) -> None:
    """Call a part of a game that writes what it has to say, and so must return nothing."""
    value = call(name, function, *arguments)
    if value is not None:
        raise _unfit(name, function, value, f"{meaning}, and return nothing")


def _unfit(name: str, function: Callable[..., Any], value: Any, wanted: str) -> FailedRule:
    return FailedRule(f"{name} returned {shown(value)}{place(function)}; it must {wanted}")


def shown(value: Any) -> str:
    """A value in one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 120 else f"{text[:117]}..."


def after(words: Sequence[str]) -> str:
    """Where in a game something is: the moves that lead there."""
    if not words:
        return "at the start"
    if len(words) > SHOWN:
        return f"after {' '.join(words[:ENDS])} ... {' '.join(words[-ENDS:])} ({len(words):,} moves)"
    return f"after {' '.join(words)}"


def located(game: BaseGame, error: BadRules, way: Sequence[tuple[int, int]]) -> BadRules:
    """The same error with the moves that lead to it: by each, whose turn it was and what was played."""
    if str(error).startswith(f"{game.string}: "):  # it says so already
        return error
    return type(error)(f"{game.string}: {after([word(game, turn, option) for turn, option in way])}: {error}")


def word(game: BaseGame, turn: int, option: int) -> str:
    """The name of a move or outcome for a message; where the game has none, its number."""
    try:
        return game.name_of_outcome(option) if turn < 0 else game.name_of_move(option)
    except Problem:
        return f"#{option}"


def unended(moves: int) -> str:
    """What is wrong with a game whose random play takes too long."""
    return f"random play has not ended after {moves:,} moves; a game must end"


def endless(depth: int, declared: bool) -> BadRules:
    """The error of a game that does not end in time."""
    if declared:
        return BadRules(f"the game goes on after {depth:,} moves, yet declares depth={depth}")
    return BadRules(f"the game goes on after {depth:,} moves; a game must end")
