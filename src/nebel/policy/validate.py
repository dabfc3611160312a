"""What a policy file must hold: a checksum says that a file was not changed, and not that it makes sense."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile
from nebel.policy.checked import check_shares
from nebel.policy.net import BENDS
from nebel.policy.table import MISSING, Shares

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]

LONGEST, MOST_FACTS, MOST_LAYERS = 2000, 100_000, 1000
"""Characters of a name in a header, and of a fact; layers of a network."""


def check_header(header: Header) -> Header:
    """Return the header of a policy if all that every policy says of itself is there; raises `BadFile` if it is not."""
    for name in ("game", "fingerprint", "recall"):
        text = header.get(name)
        if not isinstance(text, str) or not 0 < len(text) <= LONGEST or not text.isprintable():
            raise BadFile(f"its header has no {name}, or one that is not a name")
    facts = header.get("facts")
    if not isinstance(facts, dict) or not all(_is_shown(name) and _is_shown(value) for name, value in facts.items()):
        raise BadFile("its header has no facts, or some that are too long or cannot be shown")
    kind = header.get("kind")
    if kind == "policy" and header.get("missing") not in MISSING:
        raise BadFile(f"its header must say that missing is {' or '.join(MISSING)}")
    if kind in ("network", "networks"):
        _check_kinds(header.get("layers"))
    return header


def _is_shown(fact: Any) -> bool:
    """Whether a terminal can show a fact: Python writes whatever is inside of others in characters that can be printed."""
    text = str(fact)
    return len(text) <= MOST_FACTS and text.isprintable()


def _check_kinds(layers: Any) -> None:
    """Each layer's bend, whether it skips, and how many sums it pools."""
    if not isinstance(layers, list) or not 1 <= len(layers) <= MOST_LAYERS:
        raise BadFile(f"its header must list 1 to {MOST_LAYERS} layers")
    for kind in layers:
        fits = isinstance(kind, list) and len(kind) == 3 and kind[0] in BENDS and type(kind[1]) is bool and type(kind[2]) is int
        if not fits or kind[2] < 1:
            raise BadFile("its header lists a layer of an unknown kind")


def names_of(header: Header) -> set[str]:
    """Return the names of the arrays that a policy with this header has."""
    if header["kind"] == "policy":
        return {f"{name}{p}" for p in range(2) for name in Shares._fields}
    parts = [f"{name}{i}" for i in range(len(header["layers"])) for name in ("weights", "biases")]
    if header["kind"] == "network":
        return set(parts)
    return {f"{p}{part}" for p in range(2) for part in parts} | {"odds0", "odds1"}


def check_names(arrays: Arrays, header: Header) -> None:
    """Raise `BadFile` unless the arrays are those that the header asks for."""
    wanted = names_of(header)
    if lacking := sorted(wanted - arrays.keys()):
        raise BadFile(f"it lacks {', '.join(lacking[:3])}")
    if strange := sorted(arrays.keys() - wanted):
        raise BadFile(f"it holds {strange[0][:40]!r}, which has no meaning there")


def check_table(table: Shares, player: int) -> None:
    """Raise `BadFile` unless this is a player's table: keys in ascending order, and for each a distribution over different moves."""
    for name, array in table._asdict().items():
        wanted = np.float64 if name == "share" else np.int64
        if array.dtype != wanted or array.ndim != 1:
            raise BadFile(f"{name}{player} is an array of {array.ndim} dimensions of {array.dtype}, not a row of {wanted.__name__}")
    if len(table.first) != len(table.keys) + 1 or table.first[0] != 0 or table.first[-1] != len(table.move):
        raise BadFile(f"the rows of player {player} do not fit its moves")
    check_shares(table, player)
