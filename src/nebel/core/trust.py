"""Which Python files of games the user has named: a file that only another file names is run if the user named it before, unchanged.

Each naming leaves a mark in a private folder: a file whose name is a digest of the game file's path and content. There is nothing in a
mark to be read, so nothing in it can be damaged. To forget all of them, delete the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from nebel.core.errors import BadFile
from nebel.core.output import write_text

FOLDER = "NEBEL_STATE"
"""The environment variable that names the folder in which nebel remembers things about this user."""

_named: set[str] = set()
"""Digests of what was named in this process, which holds where nothing can be written, too."""


def state_folder() -> Path | None:
    """Return the folder in which nebel remembers things about this user; None if there is no place for it."""
    if given := os.environ.get(FOLDER):
        return Path(given)
    if given := os.environ.get("XDG_STATE_HOME"):
        return Path(given) / "nebel"
    try:
        return Path.home() / ".local" / "state" / "nebel"
    except RuntimeError:  # a user without a home
        return None


def remember(path: Path, source: bytes) -> None:
    """Note that the user named the game file `path`, with this content. What cannot be written holds for this process only."""
    digest = _digest(path, source)
    if digest in _named:
        return
    _named.add(digest)
    folder = _marks()
    if folder is None or _is_private(folder / digest):
        return
    with contextlib.suppress(BadFile, OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        write_text(folder / digest, f"{path.resolve()}\n")
        (folder / digest).chmod(0o600)


def is_trusted(path: Path, source: bytes) -> bool:
    """Return whether the user named the game file `path` with this content, in this process or before on this machine.

    Marks that others could have made (of another owner, or writable for others) do not count.
    """
    digest = _digest(path, source)
    folder = _marks()
    return digest in _named or (folder is not None and _is_private(folder) and _is_private(folder / digest))


def _marks() -> Path | None:
    folder = state_folder()
    return folder and folder / "games"


def _digest(path: Path, source: bytes) -> str:
    place = hashlib.sha256(os.fsencode(path.resolve())).digest()
    return hashlib.sha256(place + hashlib.sha256(source).digest()).hexdigest()


def _is_private(path: Path) -> bool:
    """Whether it exists, belongs to this user, and nobody else may write it."""
    try:
        held = path.lstat()
    except (OSError, ValueError):
        return False
    others = stat.S_IMODE(held.st_mode) & (stat.S_IWGRP | stat.S_IWOTH)
    return not stat.S_ISLNK(held.st_mode) and not others and (not hasattr(os, "geteuid") or held.st_uid == os.geteuid())
