"""One process at a time: a lock on a file, which ends with the process that holds it."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from nebel.core.errors import BadFile


class InUse(BadFile):
    """Another process holds a lock."""


@contextlib.contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock at `path` for as long as the block lasts; raises `InUse` if another process holds it, `BadFile` in a
    read-only folder."""
    try:
        with path.open("a") as file:
            if not _lock(file):
                raise InUse(f"{what} is in use by another process; wait until it has ended, or stop it")
            yield
    except OSError as error:
        if error.filename != str(path):
            raise
        raise BadFile(f"{path} cannot be written: {error.strerror or error}") from error


def _lock(file: IO[str]) -> bool:
    """Lock an open file; return whether nobody else had."""
    try:
        if sys.platform == "win32":
            windows = importlib.import_module("msvcrt")
            windows.locking(file.fileno(), windows.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
