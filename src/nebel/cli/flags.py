"""Settings as flags: what a frozen dataclass says of its fields is what the command line offers."""

from __future__ import annotations

import argparse
import dataclasses
import types
import typing
from typing import Any, NoReturn

from nebel.core.errors import BadSetting
from nebel.core.settings import Settings, flag_of


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise BadSetting(f"{message} (see {self.prog} --help)")


def add_settings(parser: argparse.ArgumentParser, kind: type[Settings], title: str) -> None:
    """One flag a field; a flag that is not given stays out of the namespace."""
    group = parser.add_argument_group(title)
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        what, meta = _plain_type(hints[field.name]), field.metadata
        default = "" if field.default is None else f" (default: {field.default})"
        options: dict[str, Any] = {"help": meta["help"] + default, "default": argparse.SUPPRESS, "dest": field.name}
        if what is bool:
            options["action"] = argparse.BooleanOptionalAction
        else:
            options |= {"type": _reader(what), "metavar": "|".join(meta.get("choices") or ()) or what.__name__.upper()}
        group.add_argument(flag_of(field.name), **options)


def given(namespace: argparse.Namespace, kind: type[Settings]) -> dict[str, Any]:
    """The fields of `kind` that were given as flags."""
    return {f.name: getattr(namespace, f.name) for f in dataclasses.fields(kind) if hasattr(namespace, f.name)}


def _plain_type(hint: Any) -> Any:
    if isinstance(hint, types.UnionType):
        return next(kind for kind in typing.get_args(hint) if kind is not type(None))
    return hint


def _reader(what: Any) -> Any:
    """Reads a number, whole ones also with an exponent: `--iterations 1e6`."""
    if what is not int:
        return what

    def whole(text: str) -> int:
        number = float(text)
        if not number.is_integer():
            raise ValueError(text)
        return int(number) if any(c in text for c in ".eE") else int(text)

    whole.__name__ = "whole number"
    return whole
