"""Settings as frozen dataclasses: one source for flags, help, documentation and the header of saved runs."""

from __future__ import annotations

import dataclasses
from typing import Any

from nebel.core.errors import BadSetting


def setting(default: Any, help: str, low: float | None = None, high: float | None = None, choices: tuple[str, ...] = ()) -> Any:
    """A field with its help and its range."""
    return dataclasses.field(default=default, metadata={"help": help, "low": low, "high": high, "choices": choices})


@dataclasses.dataclass(frozen=True)
class Settings:
    """Checks its own fields when made."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, meta = getattr(self, field.name), field.metadata
            low, high, choices = meta.get("low"), meta.get("high"), meta.get("choices")
            if choices and value not in choices:
                raise BadSetting(f"{flag_of(field.name)} {value} is not one of: {', '.join(choices)}")
            if (low is not None and value < low) or (high is not None and value > high):
                bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
                raise BadSetting(f"{flag_of(field.name)} {value} is out of range: it must be {bounds}")


def flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")
