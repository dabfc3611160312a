"""From a game's string to the game: `leduc`, `dark_hex(rows=4,cols=3)`, `dark_hex:4x3`, `my_game.py:factory(cards=5)`, `openspiel:...`."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.machinery
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
from nebel.core.findings import reason, where
from nebel.core.game import BaseGame, Game
from nebel.core.rule import is_rule
from nebel.core.suggest import did_you_mean
from nebel.core.trust import is_trusted, remember

GAMES = ("kuhn", "leduc", "liars_dice", "goofspiel", "dark_hex", "geister", "cheat")
"""The built-in games: each is the function of that name in the module of that name in `nebel.games`."""

_OPENSPIEL = "openspiel:"
SHOWN = 100
"""Characters of what is not a game string that an error repeats."""
LONGEST = 2000
"""Characters of a game string; more would only be a mistake, and its numbers could be too long to be read."""

_CALL = re.compile(r"(?P<head>[^()]*)(\((?P<options>[^()]*)\))?$")
_OTHER_FILE = re.compile(r"filename\s*=|\.py")


def load(string: str) -> BaseGame:
    """Return the game that `string` names, in the words of the user: a Python file is run, and remembered as named by the user.

    Strings that stand in a file go through `load_named`. Raises `UnknownGame` or `BadFile` if there is no such game.
    """
    return _load(string, remember)


def load_named(string: str, source: str, how: str = "--game {}") -> BaseGame:
    """Return the game that a file names. A Python file is run only if the user named it, with the same content, now or before.

    `source` says what names it, such as "the policy leduc.nebel", and `how` what the user can write to name it; {} is the game.
    Raises `BadFile` if the game is a Python file that the user has not named.
    """

    def require(path: Path, content: bytes) -> None:
        if not is_trusted(path, content):
            told = "a Python file that you have not named on this machine, or that has changed since"
            raise BadFile(f"{source} is about {string}, {told}; if you trust it, name it: {how.replace('{}', string, 1)}")

    string = string.strip()
    if string.startswith(_OPENSPIEL) and _OTHER_FILE.search(string):
        named = how.replace("{}", string[:SHOWN], 1)
        raise BadFile(f"{source} is about {string[:SHOWN]}, which reads another file; if you trust it, name it: {named}")
    return _load(string, require)


def _load(string: str, check: Callable[[Path, bytes], None]) -> BaseGame:
    """The game of this name; `check` sees the content of a Python file before it is run."""
    string = string.strip()
    if not string:
        raise UnknownGame(f"which game? Give a name, such as leduc ({', '.join(GAMES)}), or path/to/file.py:factory")
    if len(string) > LONGEST or not string.isprintable():
        raise UnknownGame(f"{string[:SHOWN]!r} is not a game string: they are printable, and have at most {LONGEST:,} characters")
    if string.startswith(_OPENSPIEL):
        bridge = importlib.import_module("nebel.bridge.openspiel")
        return typing.cast(BaseGame, bridge.from_openspiel(string.removeprefix(_OPENSPIEL)))
    match = _CALL.match(string)
    if not match:
        raise UnknownGame(f"{string!r} is not a game string; write name, name(option=value,...) or file.py:factory")
    head, options = match["head"].strip(), _split(string, match["options"])
    if is_file_name(head):
        path, _, factory = head.rpartition(":") if ".py:" in head else (head, "", "")
        return _build(_from_file(Path(path), factory, check), f"{path}:{factory}", options)
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


def is_file_name(head: str) -> bool:
    """Return whether a game string without its options names a Python file."""
    return ".py:" in head or head.endswith(".py")


@functools.lru_cache(maxsize=128)
def _built_in(name: str, options: tuple[tuple[str, str], ...]) -> BaseGame:
    """Made once in a process, and with it what was compiled for it."""
    made = _build(getattr(importlib.import_module(f"nebel.games.{name}"), name), name, dict(options))
    object.__setattr__(made, "tried", True)  # the conformance suite tries the built-in games
    return made


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


class _Held(importlib.machinery.SourceFileLoader):
    """Runs the source that it was given, whatever is in the file or compiled beside it now."""

    source: bytes

    def get_code(self, fullname: str) -> types.CodeType:
        return self.source_to_code(self.source, self.path)


def _from_file(path: Path, factory: str, check: Callable[[Path, bytes], None]) -> Callable[..., Any]:
    """Run a game file and return its factory. What is run is what `check` has seen: neither read again nor taken from a cache."""
    try:
        source = path.read_bytes() if path.is_file() else None
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read: {error}") from error
    if source is None:
        raise BadFile(f"no file {path}; a game of your own is given as path/to/file.py:factory")
    check(path, source)
    name = f"nebel_user_{path.stem}"
    loader = _Held(name, str(path))
    loader.source = source
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except Exception as error:
        raise BadFile(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    offered = [n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == name and not n.startswith("_")]
    if factory not in offered:
        offered = [name for name in offered if not is_rule(vars(module)[name])]
        if not offered:
            raise UnknownGame(f"{path} defines no function or class that makes a game; nebel new-game writes a file that does")
        if not factory:
            raise UnknownGame(f"say which factory of {path}: {path}:NAME, with NAME one of: {', '.join(offered)}")
        close = did_you_mean(factory, offered)
        raise UnknownGame(f"{path} has no {factory!r}{close}; write {path}:NAME with one of: {', '.join(offered)}")
    return typing.cast(Callable[..., Any], getattr(module, factory))


def _build(factory: Callable[..., Any], name: str, options: dict[str, str]) -> BaseGame:
    parameters = inspect.signature(factory).parameters
    try:
        hints = typing.get_type_hints(vars(factory).get("__init__", factory) if isinstance(factory, type) else factory)
    except Exception:  # an annotation need not mean anything
        hints = {}
    values: dict[str, Any] = {}
    for option, text in options.items():
        if option not in parameters:
            hint = did_you_mean(option, parameters)
            raise UnknownGame(f"{name} has no option {option!r}{hint}; its options: {', '.join(parameters) or 'none'}")
        values[option] = _value(name, option, text, hints.get(option, type(parameters[option].default)))
    missing = [p.name for p in parameters.values() if p.default is p.empty and p.name not in values]
    if missing:
        raise UnknownGame(f"{name} needs the options {', '.join(missing)}")
    asked = f"{name}({','.join(f'{k}={v}' for k, v in options.items())})" if options else name
    try:
        made = factory(**values)
    except Problem:
        raise
    except (TypeError, ValueError) as error:
        raise UnknownGame(f"{asked} cannot be made: {error}") from error
    except Exception as error:
        raise UnknownGame(f"{asked} cannot be made: {reason(error)} ({where(error) or name})") from error
    chosen = {p.name: values.get(p.name, p.default) for p in parameters.values()}
    string = _canonical(name, chosen, parameters)
    if isinstance(made, Game):
        return dataclasses.replace(made, string=string, name=name, options=chosen)
    if isinstance(made, BaseGame):
        made.string = string
        return made
    if made is None:
        raise UnknownGame(f"{name} returned None; a factory returns a Game or an object of a plain class: is a return missing?")
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
