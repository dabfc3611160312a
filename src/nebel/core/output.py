"""Files that nebel writes: whole or not at all, and never over something that the user did not mean."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from nebel.core.errors import BadFile


def check_target(path: Path, force: bool = False, same_kind: Callable[[Path], bool] | None = None) -> None:
    """Raise `BadFile` unless `path` can be written, before any work is done for it.

    A new file can always be written. A regular file is replaced only with `force`, or if `same_kind(path)` says that it holds the same
    kind of thing. Devices, pipes, folders and links are never replaced.
    """
    if not path.name:
        raise BadFile(f"{path} is a folder; give the name of a file")
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}") from error
    if mode is not None:
        if kind := _special(mode):
            raise BadFile(f"{path} is {kind}, which is not written over; give the name of a new file")
        if not force and not (same_kind and same_kind(path)):
            raise BadFile(f"{path} exists and holds something else; give another name, or --force to replace it")
    _check_folder(path)


def _special(mode: int) -> str:
    """Name what is not a regular file."""
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "" if stat.S_ISREG(mode) else "a device"


def _check_folder(path: Path) -> None:
    """Raise `BadFile` unless a file can be made beside `path`, in folders that may still have to be made."""
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the name of a file to write, which takes the place of `path` when the block ends without an error.

    A reader finds the old file or the new one, never a part, also after a loss of power. The new file has the permissions that the umask
    gives. Raises `BadFile` that names `path` if the disk is full or the file cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
        mode = stat.S_IMODE(part.stat().st_mode)  # as the umask has it; some writers make the file anew with another one
        yield part
        part.chmod(mode)
        _sync(part)
        os.replace(part, path)
        with contextlib.suppress(OSError):  # not every system can do that for a folder
            _sync(path.parent)
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all; raises `BadFile` if it cannot be written."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; raises `BadFile` if it cannot be written."""
    with replacing(path) as part:
        part.write_bytes(content)


def _sync(path: Path) -> None:
    """Wait until a file or a folder's list of files is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
