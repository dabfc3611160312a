"""Tables of information states and probabilities as other programs write them: CSV, JSON, and OpenSpiel's TabularPolicy in JSON."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from nebel.core.errors import BadFile
from nebel.core.input import MEGABYTE, parse_json, read_text

MOST_BYTES = 100 * MEGABYTE
"""Of a table."""
COLUMNS = ("player", "state", "move", "share")
LOOKUP, ARRAY = "state_lookup", "action_probability_array"
"""What OpenSpiel's TabularPolicy consists of."""
NUMBER = r"-?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?(/\d{1,40})?"
QUOTED = 60
"""Characters of a file that an error quotes."""


class Given(NamedTuple):
    """A row of a table: what is played in an information state, by name; `player` is None where the file does not say."""

    player: int | None
    state: str
    moves: dict[str, Fraction]


class RowFile(NamedTuple):
    """The rows of a file. `numbered`: moves are OpenSpiel's numbers, and those that are not legal have the share 0."""

    rows: list[Given]
    numbered: bool = False


def read_rows(path: Path) -> RowFile:
    """Return the rows of a file that ends in .csv or .json; raises `BadFile` if it is not a table."""
    kind = path.suffix.lower()
    if kind not in (".csv", ".json"):
        raise BadFile(f"{path} is of no kind that can be imported; give a file that ends in .csv, .json or .dhs")
    text = read_text(path, MOST_BYTES, "a table")
    try:
        return _of_csv(text) if kind == ".csv" else _of_json(text)
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from error


def _of_csv(text: str) -> RowFile:
    lines = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        head = [name.strip().lower() for name in next(lines, [])]
        if sorted(head) != sorted(COLUMNS):
            raise BadFile(f"its first line has to name the columns {', '.join(COLUMNS)}")
        at = [head.index(name) for name in COLUMNS]
        cells = (_cells(line, lines.line_num, at) for line in lines if line)
        return RowFile(_gathered(cells))
    except csv.Error as error:
        raise BadFile(f"line {lines.line_num} cannot be read as CSV: {error}") from error


def _cells(line: list[str], number: int, at: list[int]) -> tuple[str, Any, Any, Any, Any]:
    if len(line) != len(COLUMNS):
        raise BadFile(f"line {number} has {len(line)} columns, not {len(COLUMNS)}; put names that hold a comma into double quotes")
    player, state, move, share = (line[i] for i in at)
    return f"line {number}", player.strip(), state, move.strip(), share.strip()


def _of_json(text: str) -> RowFile:
    try:
        found = parse_json(text, unique=True)
    except ValueError as error:
        raise BadFile(f"it cannot be read as JSON: {error}") from error
    if isinstance(found, list):
        return RowFile(_gathered(_listed(found)))
    if isinstance(found, dict) and LOOKUP in found and ARRAY in found:
        return _of_openspiel(found[LOOKUP], found[ARRAY])
    if isinstance(found, dict) and found.keys() <= {"0", "1"}:
        return RowFile(_gathered(_nested(found)))
    raise BadFile(
        'it has to be {"0": {STATE: {MOVE: SHARE}}, "1": ...}, a list of {"player": 0, "state": STATE, "move": MOVE, "share": SHARE}, or '
        f"the {LOOKUP} and {ARRAY} of an OpenSpiel TabularPolicy"
    )


def _listed(found: list[Any]) -> Iterator[tuple[str, Any, Any, Any, Any]]:
    for i, row in enumerate(found):
        if not isinstance(row, dict) or row.keys() != set(COLUMNS):
            raise BadFile(f"entry {i} of the list has to be an object of {', '.join(COLUMNS)}")
        yield f"entry {i}", str(row["player"]), row["state"], row["move"], row["share"]


def _nested(found: dict[str, Any]) -> Iterator[tuple[str, Any, Any, Any, Any]]:
    for player, states in found.items():
        if not isinstance(states, dict):
            raise BadFile(f"player {player} has to be an object of information states")
        for state, moves in states.items():
            if not isinstance(moves, dict):
                raise BadFile(f"player {player}, state '{short(state)}' has to be an object of moves and shares")
            for move, share in moves.items():
                yield "", player, state, move, share


def _gathered(cells: Iterator[tuple[str, Any, Any, Any, Any]]) -> list[Given]:
    """Put the shares of each information state together."""
    rows: dict[tuple[str, str], Given] = {}
    for where, player, state, move, share in cells:
        if player not in ("0", "1"):
            raise BadFile(f"{where}: player {short(player)!r} has to be 0 or 1")
        if not isinstance(state, str) or not isinstance(move, str):
            raise BadFile(f"{where}: the state and the move have to be text")
        moves = rows.setdefault((player, state), Given(int(player), state, {})).moves
        if move in moves:
            raise BadFile(f"player {player}, state '{short(state)}': the move '{short(move)}' is given twice")
        moves[move] = read_share(share, f"player {player}, state '{short(state)}', move '{short(move)}'")
    return list(rows.values())


def _of_openspiel(lookup: Any, array: Any) -> RowFile:
    if not isinstance(lookup, dict) or not isinstance(array, list) or not all(isinstance(row, list) for row in array):
        raise BadFile(f"{LOOKUP} has to be an object of row numbers by state, and {ARRAY} a list of rows of shares")
    rows = []
    for state, at in lookup.items():
        if type(at) is not int or not 0 <= at < len(array):
            raise BadFile(f"{LOOKUP} sends the state '{short(state)}' to row {short(at)}, and {ARRAY} has {len(array):,} rows")
        where = f"state '{short(state)}', action "
        rows.append(Given(None, state, {str(i): read_share(share, f"{where}{i}") for i, share in enumerate(array[at])}))
    return RowFile(rows, numbered=True)


def read_share(share: Any, where: str) -> Fraction:
    """Return a share as the exact number that is written: 0.25, 1/3, 1e-3; raises `BadFile` if it is not a number."""
    if type(share) in (int, float) or isinstance(share, str):
        text = share if isinstance(share, str) else _digits(share, where)
        if re.fullmatch(NUMBER, text, re.ASCII):
            number, _, below = text.partition("/")
            if not below or int(below):
                return Fraction(number) / int(below or 1)
    raise _refusal(share, where)


def _digits(share: float, where: str) -> str:
    try:
        return repr(share)
    except ValueError:  # a whole number of thousands of digits
        raise _refusal("too many digits", where) from None


def _refusal(share: Any, where: str) -> BadFile:
    return BadFile(f"{where}: {short(share)!r} is not a share; write a number such as 0.25 or 1/3, of at most 40 digits")


def short(text: Any) -> str:
    """Quote a name in one line."""
    line = " ".join(str(text)[: 2 * QUOTED].split())
    return line if len(line) <= QUOTED else f"{line[:QUOTED]}..."
