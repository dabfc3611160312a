"""Certificates: mixtures of pure strategies of Dark Hex, written out so that anybody can check what they guarantee.

A certificate is a JSON file, packed if its name ends in `.gz` or `.xz`. For each player it holds pure strategies with weights in
fractions, and the winning probability that the mixture guarantees. A strategy is a tree, written as text: a letter for the
cell to play (a, b, c ... in reading order), then what may happen next, each followed by the tree from there, and a semicolon.
What may happen: `+` the stone was placed, `-` the cell was taken, `*` the other side was heard bumping (in flash, `*` and the
letter of the cell). `.` stands where no move is made. Every strategy stands for two with half the weight each: itself, and
itself on the board turned by half a circle.
"""

from __future__ import annotations

import gzip
import json
import lzma
import re
import zlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from nebel.core.errors import BadFile
from nebel.core.game import BaseGame
from nebel.core.input import MEGABYTE, check_file, parse_json, read_bytes
from nebel.core.output import write_bytes
from nebel.dark_hex.forest import HEARD, NONE, PLACED, TAKEN, Forest
from nebel.judge.verify import LETTERS, PATIENCE, Board, Unproven, guarantee
from nebel.policy.io import POLICIES, kind_of, read_header

KIND = "nebel certificate"
PLAYERS = ("black", "white")

PACKED: dict[str, tuple[Callable[[bytes], bytes], Callable[[Path], Any]]] = {
    ".gz": (lambda text: gzip.compress(text, mtime=0), gzip.GzipFile),
    ".xz": (lzma.compress, lzma.LZMAFile),
}
"""By the end of a file's name: how it is packed, and opened to be unpacked."""
MOST_BYTES, AT_LEAST, RATIO = 128 * MEGABYTE, 4 * MEGABYTE, 100
"""Of an unpacked certificate: the most, and what may be unpacked of a file, as a multiple of its size (or at least so much)."""
MOST_VALUES = 1_000_000
"""That the JSON of a certificate may hold."""
MOST_DIGITS = 1000
"""Of the numerator and the denominator of a fraction."""
FRACTION = re.compile(rf"-?[0-9]{{1,{MOST_DIGITS}}}(/[0-9]{{1,{MOST_DIGITS}}})?|-?[0-9]{{0,{MOST_DIGITS}}}\.[0-9]{{1,{MOST_DIGITS}}}")

Mixture = list[tuple[Fraction, str]]


class Certificate(NamedTuple):
    """What each player guarantees, in winning probability, and how."""

    board: Board
    mixtures: tuple[Mixture, Mixture]
    guarantees: tuple[Fraction, Fraction]

    @property
    def value(self) -> Fraction | None:
        """Black's winning probability, if the guarantees meet."""
        return self.guarantees[0] if sum(self.guarantees) == 1 else None


def certify(game: BaseGame, mixtures: tuple[Mixture, Mixture]) -> Certificate:
    """A certificate with what the mixtures really guarantee, as the checker finds it."""
    options = game.options
    board = Board(options["rows"], options["cols"], options["abrupt"], options["leak"])
    return Certificate(board, mixtures, (guarantee(board, 0, mixtures[0]), guarantee(board, 1, mixtures[1])))


def tree_text(forest: Forest, start: int, leak: str) -> str:
    """A strategy as text, as far as its tree has grown."""
    parts: list[str] = []

    def write(node: int) -> None:
        move = int(forest.move[node])
        parts.append("." if move == NONE else LETTERS[move])
        child = int(forest.child[node])
        while child != NONE:
            if forest.move[child] != NONE or forest.child[child] != NONE:
                event = int(forest.event[child])
                noise = "*" + LETTERS[event - HEARD] if leak == "flash" else "*"
                parts.append({PLACED: "+", TAKEN: "-"}.get(event, noise))
                write(child)
            child = int(forest.sibling[child])
        parts.append(";")

    write(start)
    return "".join(parts)


def write_certificate(certificate: Certificate, path: Path) -> None:
    sides = zip(PLAYERS, certificate.mixtures, certificate.guarantees, strict=True)
    data: dict[str, Any] = {"kind": KIND, "format": 1, "game": "dark_hex", **certificate.board._asdict()}
    data |= {
        name: {"guarantee": str(promised), "strategies": [[str(weight), text] for weight, text in mixture]}
        for name, mixture, promised in sides
    }
    pack((json.dumps(data, indent=0) + "\n").encode(), path)


def pack(text: bytes, path: Path) -> None:
    """Write the text of a certificate, packed as the name says."""
    write_bytes(path, PACKED[path.suffix][0](text) if path.suffix in PACKED else text)


def holds_certificate(path: Path) -> bool:
    """Return whether a file is a certificate, of any format, which may be replaced by another one unasked."""
    try:
        read_data(path)
    except BadFile:
        return False
    return True


def read_data(path: Path) -> dict[str, Any]:
    """Return the JSON object of a certificate of any format."""
    check_file(path)
    try:
        if path.suffix in PACKED:
            raw = read_bytes(path, min(MOST_BYTES, max(AT_LEAST, RATIO * path.stat().st_size)), PACKED[path.suffix][1])
        else:
            raw = read_bytes(path, MOST_BYTES)
        if sum(raw.count(sign) for sign in (b"[", b"{", b",")) > MOST_VALUES:
            raise ValueError(f"it holds more than {MOST_VALUES:,} values")
        data = parse_json(raw)
    except BadFile:
        raise
    except (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise BadFile(f"{path} is not a certificate: {_what(path, error)}") from error
    if not isinstance(data, dict) or data.get("kind") != KIND or data.get("format") not in (1, 2):
        raise BadFile(f"{path} is not a certificate; nebel solve GAME --with double-oracle writes one")
    return data


def board_in(data: dict[str, Any]) -> Board:
    """Return the board of a certificate; raises `ValueError` if there is no such board."""
    board = Board(*(data[name] for name in Board._fields))
    if not all(type(n) is int and n > 0 for n in board[:2]) or board.cells > len(LETTERS):
        raise ValueError(f"a board of these rows and cols is not possible: it has 1 to {len(LETTERS)} cells")
    if type(board.abrupt) is not bool:
        raise ValueError("abrupt is not true or false")
    if board.leak not in ("silent", "noisy", "flash"):
        raise ValueError("leak is not silent, noisy or flash")
    return board


def read_certificate(path: Path) -> Certificate:
    """Return what a file of format 1 claims; nothing of it is checked yet but its form."""
    data = read_data(path)
    if data["format"] != 1:
        raise BadFile(f"{path} is a certificate of simple strategies, and here one of mixtures is needed")
    try:
        board = board_in(data)
        sides = [data[name] for name in PLAYERS]
        mixtures = [[(fraction_in(weight), _tree(text)) for weight, text in side["strategies"]] for side in sides]
        guarantees = [fraction_in(side["guarantee"]) for side in sides]
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise BadFile(f"{path} is damaged: {error if not isinstance(error, KeyError) else f'{error} is missing'}") from error
    return Certificate(board, (mixtures[0], mixtures[1]), (guarantees[0], guarantees[1]))


def _what(path: Path, error: Exception) -> str:
    """What a file that is not JSON is instead, as far as it can be told."""
    try:
        header = read_header(path)
    except BadFile:
        text = "it is not text; a certificate is JSON, which nebel solve GAME --with double-oracle writes"
        return text if isinstance(error, UnicodeDecodeError) else str(error)
    return f"it is {kind_of(header)}" + (f"; nebel judge {path} measures it" if header.get("kind") in POLICIES else "")


def fraction_in(text: Any) -> Fraction:
    """A number as certificates have it: text such as 2/3."""
    written = str(text) if type(text) is int else text
    if not isinstance(written, str) or not FRACTION.fullmatch(written):
        raise ValueError(f"{str(text)[:40]!r} is not a fraction such as 2/3, of at most {MOST_DIGITS:,} digits above and below")
    return Fraction(written)


def _tree(text: Any) -> str:
    if not isinstance(text, str):
        raise ValueError(f"{str(text)[:40]!r} is not a strategy")
    return text


def verify(path: Path, patience: int = PATIENCE) -> Certificate:
    """The certificate with the guarantees that the checker finds; refused if one of them is less than the file claims.

    `patience` is the number of steps that the checker may take for each player.
    """
    claimed = read_certificate(path)
    found = []
    for player, name in enumerate(PLAYERS):
        try:
            found.append(guarantee(claimed.board, player, claimed.mixtures[player], patience))
        except Unproven as error:
            raise BadFile(f"{path}, {name}: {error}") from error
        if found[player] < claimed.guarantees[player]:
            raise BadFile(f"{path} claims that {name} guarantees {claimed.guarantees[player]}; the checker finds only {found[player]}")
    return claimed._replace(guarantees=(found[0], found[1]))
