"""Files that nebel writes: whole or not at all, and never over something that the user did not mean."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from nebel.core.errors import BadFile

_KINDS = {stat.S_IFREG: "", stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
_NUMBERS = itertools.count()


def check_target(path: Path, force: bool = False, same_kind: Callable[[Path], bool] | None = None) -> None:
    """Raise `BadFile` unless `path` can be written, before any work is done for it.

    A new or an empty file can always be written. A regular file is replaced only with `force`, or if `same_kind(path)` says that it
    holds the same kind of thing. Devices, pipes, sockets, folders and links are never replaced.
    """
    mode = _mode_of(path)
    if mode is not None:
        if not force and path.stat().st_size and not (same_kind and same_kind(path)):
            raise BadFile(f"{path} exists and holds something else; give another name, or --force to replace it")
        if not os.access(path, os.W_OK):
            raise BadFile(f"{path} cannot be written: it is read-only")
    _check_room(path)


def check_folder(path: Path) -> None:
    """Raise `BadFile` unless files can be written into a folder, which may still have to be made."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        if not isinstance(error, FileNotFoundError) or path.is_symlink():
            raise _unwritable(path, error) from error
        _check_room(path)
        return
    if not stat.S_ISDIR(mode):
        raise BadFile(f"{path} is not a folder; give the name of a folder, or of a new one")
    _check_room(path / "file", path)


def _mode_of(path: Path) -> int | None:
    """Return the mode of the regular file `path`, None if nothing is there; raise `BadFile` for everything else."""
    if not path.name:
        raise BadFile(f"{path} is a folder; give the name of a file")
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    if kind := _KINDS.get(stat.S_IFMT(mode), "a device"):
        raise BadFile(f"{path} is {kind}, which is not written over; give the name of a file")
    return mode


def _check_room(path: Path, named: Path | None = None) -> None:
    """Raise `BadFile` unless a file can be made beside `path`, in folders that may still have to be made."""
    folder = path.parent
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".nebel-"):
            pass
    except OSError as error:
        raise _unwritable(named or path, error) from error


def _unwritable(path: Path, error: Exception) -> BadFile:
    """Say in one line why a file cannot be written."""
    return BadFile(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the name of a file to write, which takes the place of `path` when the block ends without an error.

    A reader finds the old file or the new one, never a part, also after a loss of power. The new file has the permissions that the umask
    gives. Raises `BadFile` that names `path` if the disk is full or the file cannot be written, and where `check_target` with `force` does.
    """
    _mode_of(path)
    part = path.with_name(f".{path.name[:40]}.{os.getpid()}.{next(_NUMBERS)}.part")  # a name that is not too long if that of `path` is not
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        with part.open("xb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)  # as the umask has it; some writers make the file anew with another one
        yield part
        part.chmod(mode)
        _sync(part)
        os.replace(part, path)
        with contextlib.suppress(OSError):  # not every system can do that for a folder
            _sync(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
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


def append_line(path: Path, line: str, durable: bool = False) -> None:
    """Append a line to a file, which is made if it is new; `durable`: wait until it is on the disk.

    It goes below whatever a killed run left of its last line. A line that does not fit on the disk is taken back, and `BadFile` raised.
    """
    _mode_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            whole = size == 0 or os.pread(file.fileno(), 1, size - 1) == b"\n"
            rest = (("" if whole else "\n") + line + "\n").encode()
            try:
                while rest:
                    rest = rest[file.write(rest) or 0 :]
                if durable:
                    os.fsync(file)
            except OSError:
                file.truncate(size)
                raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _sync(path: Path) -> None:
    """Wait until a file or a folder's list of files is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
