"""Settings as flags: what a frozen dataclass says of its fields is what the command line offers."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any, NoReturn

from nebel.core.amounts import read_count
from nebel.core.errors import BadSetting
from nebel.core.settings import Settings, flag_of, types_of


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise BadSetting(f"{message} (see {self.prog} --help)")


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
            options |= {"type": whole if what is int else what, "metavar": "|".join(meta.get("choices") or ()) or what.__name__.upper()}
        group.add_argument(flag_of(field.name), **options)


def given(namespace: argparse.Namespace, kind: type[Settings]) -> dict[str, Any]:
    """The fields of `kind` that were given as flags."""
    return {f.name: getattr(namespace, f.name) for f in dataclasses.fields(kind) if hasattr(namespace, f.name)}


def whole(text: str) -> int:
    """A whole number as people write it, such as 10k or 1e6: the type of a flag."""
    try:
        return read_count(text)
    except BadSetting as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def method_in(words: Sequence[str], default: str) -> str:
    """The METHOD of `--with METHOD` or `--with=METHOD`, whose settings are flags too."""
    named = [words[i + 1] for i, word in enumerate(words[:-1]) if word == "--with"]
    return next((word.removeprefix("--with=") for word in words if word.startswith("--with=")), next(iter(named), default))
