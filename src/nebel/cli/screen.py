"""What people see: tables and progress on standard error, one JSON object on standard output."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nebel.core.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 2000
"""Characters of a line of an error; it may quote a file that is one line."""
LINE_EVERY = 5.0
"""Seconds between two lines of one stage."""


def emit(result: dict[str, Any] | list[Any]) -> None:
    """The one JSON object of a command."""
    say(json.dumps(result, indent=1))


def say(text: str = "", to_error: bool = False) -> None:
    """Print a line, at once because servers are read while they run; raises `BadFile` if the disk that it goes to is full."""
    try:
        print(text, file=sys.stderr if to_error else sys.stdout, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise BadFile(f"standard {'error' if to_error else 'output'} cannot be written: {error.strerror or error}") from error


def printable(text: str) -> str:
    """Return a text as a terminal may be given it: what cannot be printed is escaped, and long lines are cut."""
    lines = []
    for line in text.split("\n"):
        shown = "".join(sign if sign.isprintable() or sign == "\t" else ascii(sign)[1:-1] for sign in line[:LONGEST])
        lines.append(shown + (" ..." if len(line) > LONGEST else ""))
    return "\n".join(lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns as wide as they need to be."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        say("  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())


def figure(x: float | None) -> str:
    """A number for people: few digits, no noise."""
    if x is None:
        return "-"
    if not math.isfinite(x):
        return str(x)
    if abs(x) < 1e-15:  # what rounding leaves of nothing
        return "0"
    if x == int(x) and abs(x) < 1e15:
        return f"{int(x):,}"
    return f"{x:.6g}" if 1e-4 <= abs(x) < 1e6 else f"{x:.3g}"


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[float, str], None]]:
    """A bar with a figure beside it, on standard error and only for a person."""
    if quiet or not sys.stderr.isatty():
        yield lambda share, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share, text: bar.update(task, completed=share, description=text)


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """Say on standard error at once what is done, and how far it is: a bar for a person, else a line a stage and one every few seconds."""
    stage, shown = "", 0.0

    def due(now: str, every: float) -> bool:
        nonlocal stage, shown
        if now == stage and time.monotonic() - shown < every:
            return False
        stage, shown = now, time.monotonic()
        return True

    if not sys.stderr.isatty():

        def tell(now: str, steps: int, most: int) -> None:
            if due(now, LINE_EVERY):
                say(f"{now}: {steps:,} of at most {most:,} steps", to_error=True)

        yield tell
        return
    with progress_bar(False) as bar:
        yield lambda now, steps, most: bar(steps / max(most, 1), f"{now}: {steps:,} of at most {most:,} steps") if due(now, 0.1) else None


@contextmanager
def live_table(quiet: bool) -> Iterator[Callable[[float, str, dict[str, float]], None]]:
    """A bar, a line, and below it figures by name: as they were first, and now. On standard error and only for a person."""
    if quiet or not sys.stderr.isatty():
        yield lambda share, text, figures: None
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    first: dict[str, float] = {}
    with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:

        def show(share: float, text: str, figures: dict[str, float]) -> None:
            rows = Table("", "first", "now", box=None, pad_edge=False)
            for name, value in figures.items():
                rows.add_row(name.replace("_", " "), figure(first.setdefault(name, value)), figure(value))
            live.update(Group(ProgressBar(1.0, share, width=40), text, rows))

        yield show
