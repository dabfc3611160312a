"""What a report is made of. A section is told on the terminal, on a page and as JSON from the same parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Table(NamedTuple):
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""  # what differs from the paper, or how to read it


class Figure(NamedTuple):
    """One or more pictures (SVG) side by side, each with a caption."""

    title: str
    pictures: Sequence[tuple[str, str]]  # caption, SVG
    note: str = ""


@dataclass
class Section:
    """`data` is what `--json` shows: every figure of the section, unrounded."""

    title: str
    lead: str
    parts: Sequence[Table | Figure]
    data: dict[str, Any] = field(default_factory=dict)
