"""Flags: a parser that says in one line what is wrong, and settings as flags as their frozen dataclass describes them."""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from nebel.core.amounts import MOST, read_count
from nebel.core.errors import BadSetting
from nebel.core.settings import Settings, flag_of, types_of
from nebel.core.suggest import did_you_mean

REQUIRED = "the following arguments are required: "
"""How argparse begins its message about what is missing."""


class Parser(argparse.ArgumentParser):
    """A parser that raises `BadSetting` with one line, suggests flags that are close to unknown ones, and takes no abbreviations.

    `elsewhere` says of a flag that this parser does not know whose it is, or "" if it is unknown there, too.
    """

    def __init__(self, prog: str, description: str, epilog: str = "", elsewhere: Callable[[str], str] = lambda flag: "") -> None:
        super().__init__(
            prog=prog, description=description, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
        )
        self.elsewhere = elsewhere
        self.register("type", float, finite)
        self.register("type", int, integer)

    def error(self, message: str) -> NoReturn:
        if message.startswith(REQUIRED):
            missing = message.removeprefix(REQUIRED).split(", ")
            helps = {"/".join(action.option_strings) or str(action.metavar): action.help for action in self._actions}
            needs = "; ".join(f"{name}, {helps[name]}" if helps.get(name) else name for name in missing)
            message = f"{self.prog} needs {needs}"
        raise BadSetting(f"{message} (see {self.prog} --help)")

    def flags(self) -> list[str]:
        """Return all flags that this parser knows, without their short forms."""
        return [option for option in self._option_string_actions if option.startswith("--")]

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all arguments, or raise `BadSetting` that says of the first that is unknown what may have been meant."""
        found, extra = self.parse_known_args(args, namespace)
        for word in extra:
            if word.startswith("-") and len(word) > 1:
                flag = word.partition("=")[0]
                self.error(self.elsewhere(flag) or f"{flag} is not an option of {self.prog}{did_you_mean(flag, self.flags())}")
        if extra:
            self.error(f"{extra[0]!r} is one argument too many")
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is not among an argument's choices."""
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            raise argparse.ArgumentError(action, f"{value!r} is not one of: {', '.join(known)}{did_you_mean(str(value), known)}")


def add_settings(parser: argparse.ArgumentParser, kind: type[Settings], title: str) -> None:
    """One flag a field; a flag that is not given stays out of the namespace."""
    group = parser.add_argument_group(title)
    hold = types_of(kind)
    for field in dataclasses.fields(kind):
        what, meta = hold[field.name], field.metadata
        default = "" if field.default is None else f" (default: {field.default})"
        options: dict[str, Any] = {"help": meta["help"] + default, "default": argparse.SUPPRESS, "dest": field.name}
        if what is bool:
            options["action"] = argparse.BooleanOptionalAction
        else:
            options |= {"type": _reader(field.name, what), "metavar": "|".join(meta.get("choices") or ()) or what.__name__.upper()}
        group.add_argument(flag_of(field.name), **options)


def _reader(name: str, what: Any) -> Any:
    """Return what reads the text of a setting; its dataclass checks the range."""
    return {float: number, int: int if name == "seed" else whole}.get(what, what)


def owners(flag: str, kinds: Mapping[str, type[Settings]]) -> list[str]:
    """Return the names of the settings that have this flag."""
    name = flag.removeprefix("--")
    fields = {each: {flag_of(f.name).removeprefix("--") for f in dataclasses.fields(kind)} for each, kind in kinds.items()}
    return [each for each, has in fields.items() if name in has or name.removeprefix("no-") in has]


def given(namespace: argparse.Namespace, kind: type[Settings]) -> dict[str, Any]:
    """The fields of `kind` that were given as flags."""
    return {f.name: getattr(namespace, f.name) for f in dataclasses.fields(kind) if hasattr(namespace, f.name)}


def whole(text: str) -> int:
    """A number of things as people write it, such as 10k or 1e6: the type of a flag."""
    return _counted(text, MOST)


def integer(text: str) -> int:
    """A whole number of any size, such as a seed: the type of a flag."""
    return _counted(text, None)


def _counted(text: str, most: int | None) -> int:
    try:
        return read_count(text, most)
    except BadSetting as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def finite(text: str) -> float:
    """A number that is neither infinite nor "not a number": the type of a flag."""
    read = number(text)
    if not math.isfinite(read):
        raise argparse.ArgumentTypeError(f"{text} is not a finite number")
    return read


def number(text: str) -> float:
    """A number: the type of a flag."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def method_in(words: Sequence[str], default: str) -> str:
    """The METHOD of `--with METHOD` or `--with=METHOD`, whose settings are flags too."""
    return value_of("--with", words) or default


def value_of(flag: str, words: Sequence[str]) -> str:
    """Return what is given as `--flag VALUE` or `--flag=VALUE`, the last time if it is given more than once, else ""."""
    found = ""
    for word, after in zip(words, [*words[1:], ""], strict=False):
        if word == flag or word.startswith(f"{flag}="):
            found = after if word == flag else word.removeprefix(f"{flag}=")
    return found
