"""From a game's string to the game: `leduc`, `dark_hex(rows=4,cols=3)`, `dark_hex:4x3`, `my_game.py:factory(cards=5)`, `openspiel:...`."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from nebel.core.errors import BadFile, Problem, UnknownGame
from nebel.core.game import BaseGame, Game
from nebel.core.suggest import did_you_mean

GAMES = ("kuhn", "leduc", "liars_dice", "goofspiel", "dark_hex", "geister", "cheat")
"""The built-in games: each is the function of that name in the module of that name in `nebel.games`."""

_CALL = re.compile(r"(?P<head>[^()]*)(\((?P<options>[^()]*)\))?$")


def load(string: str) -> BaseGame:
    """The game that `string` names."""
    string = string.strip()
    if not string:
        raise UnknownGame(f"which game? its name is empty; games: {', '.join(GAMES)}")
    if string.startswith("openspiel:"):
        bridge = importlib.import_module("nebel.bridge.openspiel")
        return typing.cast(BaseGame, bridge.from_openspiel(string.removeprefix("openspiel:")))
    match = _CALL.match(string)
    if not match:
        raise UnknownGame(f"{string!r} is not a game string; write name, name(option=value,...) or file.py:factory")
    head, options = match["head"].strip(), _split(string, match["options"])
    if ".py:" in head or head.endswith(".py"):
        path, _, factory = head.rpartition(":") if ".py:" in head else (head, "", "")
        return _build(_from_file(Path(path), factory), f"{path}:{factory}", options)
    name, colon, brief = head.partition(":")
    if name not in GAMES:
        hint, known = did_you_mean(name, GAMES), ", ".join(GAMES)
        raise UnknownGame(f"no game {name!r}{hint}; games: {known}; your own: path/to/file.py:factory; OpenSpiel's: openspiel:name")
    module = importlib.import_module(f"nebel.games.{name}")
    if colon:
        if not hasattr(module, "brief"):
            offered = list(describe(name)[1])
            right = f"{name}({offered[0]}=VALUE)" if offered else f"{name}, which has no options"
            raise UnknownGame(f"{name} has no short form; write {right}")
        short = module.brief(brief)
        if both := ", ".join(short.keys() & options):
            raise UnknownGame(f"{string!r} gives {both} in both forms; leave out one of them")
        options = short | options
    return _built_in(name, tuple(options.items()))


@functools.lru_cache(maxsize=128)
def _built_in(name: str, options: tuple[tuple[str, str], ...]) -> BaseGame:
    """Made once in a process, and with it what was compiled for it."""
    return _build(getattr(importlib.import_module(f"nebel.games.{name}"), name), name, dict(options))


def describe(name: str) -> tuple[str, dict[str, str]]:
    """One sentence on a built-in game, and its options with their defaults."""
    factory = getattr(importlib.import_module(f"nebel.games.{name}"), name)
    parameters = inspect.signature(factory).parameters.values()
    return (inspect.getdoc(factory) or "").splitlines()[0], {p.name: str(p.default) for p in parameters}


def _split(string: str, options: str | None) -> dict[str, str]:
    pairs = [part.partition("=") for part in (options or "").split(",") if part.strip()]
    if any(not sign for _, sign, _ in pairs):
        raise UnknownGame(f"options of {string!r} must read name=value, separated by commas")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _from_file(path: Path, factory: str) -> Callable[..., Any]:
    if not path.is_file():
        raise BadFile(f"no file {path}; a game of your own is given as path/to/file.py:factory")
    name = f"nebel_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadFile(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    offered = [n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == name and not n.startswith("_")]
    if factory not in offered:
        if not offered:
            raise UnknownGame(f"{path} defines no function or class that makes a game; nebel new-game writes a file that does")
        said = f"has no {factory!r}{did_you_mean(factory, offered)}" if factory else "needs the name of a factory behind it"
        raise UnknownGame(f"{path} {said}; write {path}:FACTORY with one of: {', '.join(offered)}")
    return typing.cast(Callable[..., Any], getattr(module, factory))


def _build(factory: Callable[..., Any], name: str, options: dict[str, str]) -> BaseGame:
    parameters = inspect.signature(factory).parameters
    hints = typing.get_type_hints(vars(factory).get("__init__", factory) if isinstance(factory, type) else factory)
    values: dict[str, Any] = {}
    for option, text in options.items():
        if option not in parameters:
            hint = did_you_mean(option, parameters)
            raise UnknownGame(f"{name} has no option {option!r}{hint}; its options: {', '.join(parameters) or 'none'}")
        values[option] = _value(name, option, text, hints.get(option, type(parameters[option].default)))
    missing = [p.name for p in parameters.values() if p.default is p.empty and p.name not in values]
    if missing:
        raise UnknownGame(f"{name} needs the options {', '.join(missing)}")
    try:
        made = factory(**values)
    except Problem:
        raise
    except (TypeError, ValueError) as error:
        raise UnknownGame(f"{name}{values or ''} cannot be made: {error}") from error
    chosen = {p.name: values.get(p.name, p.default) for p in parameters.values()}
    string = _canonical(name, chosen, parameters)
    if isinstance(made, Game):
        return dataclasses.replace(made, string=string, name=name, options=chosen)
    if isinstance(made, BaseGame):
        made.string = string
        return made
    from nebel.core.plain import PlainGame

    return PlainGame(made, string)


def _canonical(name: str, values: dict[str, Any], parameters: Any) -> str:
    """One string for one game: its sizes (whole numbers) and whatever else is not the default."""
    shown = [k for k, v in values.items() if v != parameters[k].default or type(v) is int]
    changed = any(v != parameters[k].default for k, v in values.items())
    return f"{name}({','.join(f'{k}={text_of(values[k])}' for k in shown)})" if changed else name


def text_of(value: Any) -> str:
    """An option's value as a game string has it."""
    return str(value).lower() if isinstance(value, (bool, type(None))) else str(value)


def _value(name: str, option: str, text: str, hint: Any) -> Any:
    """The text of an option as the type that its factory's signature asks for."""
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union else (hint,)
    for kind in kinds:
        if kind is type(None) and text.lower() == "none":
            return None
        if kind is bool and text.lower() in ("true", "false", "1", "0", "yes", "no"):
            return text.lower() in ("true", "1", "yes")
        if kind is int and re.fullmatch(r"[+-]?\d+", text):
            return int(text)
        if kind is float and re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.I):
            return float(text)
        if kind is str:
            return text
        if typing.get_origin(kind) is Literal:
            for choice in typing.get_args(kind):
                if str(choice).lower() == text.lower():
                    return choice
    wanted = " or ".join(_kind_text(kind) for kind in kinds)
    raise UnknownGame(f"{name}: {option}={text} is not {wanted}")


def _kind_text(kind: Any) -> str:
    if typing.get_origin(kind) is Literal:
        return " or ".join(str(choice) for choice in typing.get_args(kind))
    return {bool: "true or false", int: "a whole number", float: "a number", type(None): "none"}.get(kind, str(kind))
