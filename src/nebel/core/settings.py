"""Settings as frozen dataclasses: one source for flags, help, documentation and the header of saved runs."""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
import types
import typing
from collections.abc import Sequence
from typing import Any, TypeVar

from nebel.core.amounts import MOST, read_count
from nebel.core.errors import BadSetting
from nebel.core.suggest import did_you_mean


def setting(default: Any, help: str, low: float | None = None, high: float | None = None, choices: tuple[str, ...] = ()) -> Any:
    """A field with its help and its range."""
    return dataclasses.field(default=default, metadata={"help": help, "low": low, "high": high, "choices": choices})


@dataclasses.dataclass(frozen=True)
class Settings:
    """Checks its own fields when made."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, meta = getattr(self, field.name), field.metadata
            if value is None and field.name in _may_be_none(type(self)):
                continue
            _check_type(field.name, value, types_of(type(self))[field.name])
            low, high, choices = meta.get("low"), meta.get("high"), meta.get("choices")
            if choices and value not in choices:
                raise BadSetting(f"{flag_of(field.name)} {value} is not one of: {', '.join(choices)}{did_you_mean(str(value), choices)}")
            if (low is not None and not value >= low) or (high is not None and not value <= high):  # not a number is neither
                bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
                raise BadSetting(f"{flag_of(field.name)} {value} is out of range: it must be {bounds}")
            if low is not None and value > MOST:  # seeds may be larger
                raise BadSetting(f"{flag_of(field.name)} {str(value)[:40]} is out of range: it must be at most {MOST}")
            if isinstance(value, float) and not math.isfinite(value):
                raise BadSetting(f"{flag_of(field.name)} {value} is out of range: it must be finite")


_KINDS: dict[type, tuple[type, str]] = {
    bool: (bool, "true or false"), int: (numbers.Integral, "a whole number"), float: (numbers.Real, "a number"), str: (str, "a word"),
}  # fmt: skip


def _check_type(name: str, value: Any, kind: type) -> None:
    """Raise `BadSetting` unless a value is of the kind that its field holds."""
    accepted, words = _KINDS[kind]
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        raise BadSetting(f"{flag_of(name)} {str(value)[:40]!r} is not {words}")


def flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")


Kind = TypeVar("Kind", bound=Settings)


def made_of(kind: type[Kind], values: dict[str, Any]) -> Kind:
    """Return settings with these values, which may come from a file; raises `BadSetting` where names, kinds or ranges do not fit."""
    known = [field.name for field in dataclasses.fields(kind)]
    if strange := [name for name in values if name not in known]:
        raise BadSetting(f"no setting {strange[0][:40]!r}{did_you_mean(strange[0][:40], known)}; there are: {', '.join(known)}")
    return kind(**values)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _may_be_none(kind: type) -> set[str]:
    return {name for name, hint in _hints(kind).items() if type(None) in typing.get_args(hint)}


def types_of(kind: type) -> dict[str, Any]:
    """What the fields hold, leaving out that they may be None."""
    return {name: _plain_type(hint) for name, hint in _hints(kind).items()}


def _plain_type(hint: Any) -> Any:
    if isinstance(hint, types.UnionType):
        return next(kind for kind in typing.get_args(hint) if kind is not type(None))
    return hint


def read_settings(kind: type[Kind], words: Sequence[str]) -> Kind:
    """Settings from words such as `epsilon=0.6`."""
    known = {field.name: types_of(kind)[field.name] for field in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign or name not in known:
            raise BadSetting(f"{word!r} is not NAME=VALUE with a name among: {', '.join(known)}{did_you_mean(name, known)}")
        values[name] = _read(known[name], name, text)
    try:
        return kind(**values)
    except BadSetting as error:
        raise BadSetting(str(error).removeprefix("--")) from error


def _read(what: Any, name: str, text: str) -> Any:
    try:
        return read_count(text, MOST) if what is int else what(text)
    except BadSetting as error:
        raise BadSetting(f"{name}: {error}") from error
    except ValueError as error:
        raise BadSetting(f"{name}: {text!r} is not a number") from error
