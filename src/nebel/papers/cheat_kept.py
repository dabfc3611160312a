"""Results that are kept in a folder while a long report is computed, so that the same command continues after an interruption."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nebel import __version__
from nebel.core.errors import BadFile
from nebel.core.input import read_bytes
from nebel.core.output import write_text

MOST_BYTES = 10_000_000


def kept(folder: Path | None, name: str, make: Callable[[], Any]) -> Any:
    """Return the value in JSON that the folder holds by this name, or make it and write it there; without a folder, make it.

    `name` must tell everything that the value depends on. Raises `BadFile` if the file is damaged or of another version of nebel.
    """
    if folder is None:
        return make()
    path = folder / f"{re.sub(r'[^a-z0-9.]+', '-', name.lower())}.json"
    if not path.exists():
        value = make()
        folder.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps({"name": name, "nebel": __version__, "value": value}) + "\n")
        return value
    try:
        held = json.loads(read_bytes(path, MOST_BYTES))
        version, value = held["nebel"], held["value"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadFile(f"{path} is damaged; remove it, and what it holds is computed again") from error
    if version != __version__:
        raise BadFile(f"{path} was computed by nebel {version}, this is {__version__}; give another folder")
    return value
