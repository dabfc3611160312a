"""`nebel new-game`: a file with a small working game, to be edited into another."""

from __future__ import annotations

import keyword
import os
import sys
from importlib.resources import files
from pathlib import Path

from nebel.core.errors import BadFile, BadSetting
from nebel.core.output import write_text

PLACEHOLDER = "my_game"


def new_game(name: str, folder: Path) -> Path:
    """Write `<name>.py` with a game of that name into `folder`."""
    text = (files("nebel.core") / "template_game.py.txt").read_text(encoding="utf-8")
    if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise BadSetting(f"{name!r} cannot name a game: use letters, digits and _, not beginning with a digit, and no word of Python's own")
    # A game called `rule` would hide what its own file imports, and random.py would hide Python's module.
    if name in compile(text, PLACEHOLDER, "exec").co_names and name != PLACEHOLDER:
        raise BadSetting(f"{name!r} cannot name a game: the file itself uses that name; take another")
    if name in sys.stdlib_module_names or name in ("nebel", "numba"):
        raise BadSetting(f"{name!r} cannot name a game: {name}.py would hide the Python module {name!r}; take another")
    if not folder.is_dir():
        raise BadFile(f"no folder {folder}")
    path = folder / f"{name}.py"
    if os.path.lexists(path):
        raise BadFile(f"{path} exists already; take another name, or move the file away")
    write_text(path, text.replace(PLACEHOLDER, name))
    return path
