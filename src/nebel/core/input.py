"""Files that nebel reads: at most so many bytes of them, and errors in one line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from nebel.core.errors import BadFile

MEGABYTE = 1_000_000


def read_bytes(path: Path, most: int, open_as: Callable[[Path], IO[bytes]] | None = None) -> bytes:
    """Return the content of a file, perhaps unpacked by `open_as`; raises `BadFile` if there is none, or more than `most` bytes of it.

    What `open_as` cannot unpack raises an error of its own.
    """
    check_file(path)
    try:
        with open_as(path) if open_as else path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        if error.errno is None:  # not the system's: the content cannot be unpacked
            raise
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error
    if len(content) > most:
        raise BadFile(f"{path} is too large to be read: it holds more than {most / MEGABYTE:,g} MB")
    return content


def read_start(path: Path, count: int) -> bytes:
    """Return the first `count` bytes of a file, or all of a shorter one; raises `BadFile` if there is none."""
    check_file(path)
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error


def file_inside(folder: Path, name: str | Path) -> Path | None:
    """Return the regular file of this name in a folder or below it; None if there is none, or if the name or links lead elsewhere."""
    try:
        path = (folder / name).resolve()
        return path if path.is_relative_to(folder.resolve()) and path.is_file() else None
    except (OSError, ValueError, RuntimeError):  # a name that no file could have, or links that lead to each other
        return None


def check_file(path: Path) -> None:
    """Refuse what is not a regular file, and so might have no end."""
    if not path.exists():
        raise BadFile(f"no file {path}")
    if not path.is_file():
        kind = "folder" if path.is_dir() else "device or pipe"
        raise BadFile(f"{path} is a {kind}; give the name of a file")


def read_text(path: Path, most: int, what: str) -> str:
    """Return a text in UTF-8; `what` says what the file should be, such as "a strategy"."""
    try:
        return read_bytes(path, most).decode()
    except UnicodeDecodeError as error:
        raise BadFile(f"{path} is not text in UTF-8, and so it is not {what}") from error


def parse_json(text: str | bytes, unique: bool = False) -> Any:
    """Return what a text in JSON holds; raises `ValueError` for all that JSON does not have, and for what is nested too deeply.

    unique: raise it also for a name that an object has twice, of which else the last one counts
    """
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique if unique else None)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has {twice!a:.60} twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number in JSON")
