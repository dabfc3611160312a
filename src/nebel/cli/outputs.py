"""Files that a command writes: the flags that name them, and the check before the work begins."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from nebel.core.output import check_target


def add_out(parser: argparse.ArgumentParser, help: str, required: bool = False, flag: str = "--out") -> None:
    """Add `--out FILE` (or another flag of that kind) and `--force`."""
    parser.add_argument(flag, type=file_name, metavar="FILE", required=required, help=help)
    parser.add_argument("--force", action="store_true", help=f"let {flag} replace a file that holds something else")


def check_out(path: Path | None, force: bool, same_kind: Callable[[Path], bool]) -> None:
    """Raise `BadFile` unless the file can be written; `same_kind` says whether a file that is there may be replaced without --force."""
    if path is not None:
        check_target(path, force, same_kind)


def file_name(text: str) -> Path:
    """Return the name of a file to write: the type of a flag."""
    if not Path(text).name or text.endswith("/"):
        raise argparse.ArgumentTypeError(f"{text!r} is a folder; give the name of a file")
    return Path(text)
