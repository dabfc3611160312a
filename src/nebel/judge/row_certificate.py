"""Certificates of simple strategies: probabilities by what a player of classic Dark Hex remembers, and what they guarantee.

It is a JSON file like those of `judge/certificate.py`, of format 2. `recall` is board or perfect; `actions` and `denominator` are the
limits that each row keeps to: the number of its cells, and the one denominator of its fractions. For each player there is the winning
probability that is guaranteed, and `rows`: by name the probabilities of cells, as fractions by letter (a, b, c ... in reading order). With
board recall a row is named by the board, cell by cell: o own, x discovered, a dot otherwise; with perfect recall by all that happened:
a letter for each cell that was tried, and + (placed) or - (taken). Rows that the strategy never comes by are left out.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from nebel.core.errors import BadFile, BadSetting, TooLarge
from nebel.core.game import BaseGame
from nebel.core.recall import PERFECT
from nebel.judge.certificate import KIND, PLAYERS, board_in, fraction_in, pack, read_data
from nebel.judge.verify import LETTERS, PATIENCE, Board, Unproven, joins
from nebel.judge.verify_rows import Row, check_rows, guarantee_of_rows
from nebel.policy.hex_table import BOARD, memory_key
from nebel.policy.simple_rows import MOST_DENOMINATOR, as_fractions
from nebel.policy.table import TablePolicy

FORMAT = 2
MOST_ROWS = 200_000
"""Of one player's strategy."""


class RowCertificate(NamedTuple):
    """What each player's simple strategy guarantees, in winning probability, and how."""

    board: Board
    recall: str
    actions: int
    denominator: int
    rows: tuple[dict[str, Row], dict[str, Row]]
    guarantees: tuple[Fraction, Fraction]


def can_certify(game: BaseGame, recall: str) -> bool:
    """Return whether simple strategies of this game can be written as a certificate."""
    classic = game.name == "dark_hex" and not game.options["abrupt"] and game.options["leak"] == "silent"
    return classic and recall in (PERFECT, BOARD) and game.options["rows"] * game.options["cols"] <= len(LETTERS)


def certify_rows(game: BaseGame, policy: TablePolicy, actions: int, denominator: int, patience: int = PATIENCE) -> RowCertificate:
    """Return a certificate with what a policy really guarantees, as the checker finds it; raises `BadSetting` if it is not so simple."""
    board = Board(game.options["rows"], game.options["cols"], game.options["abrupt"], game.options["leak"])
    rows = _rows(board, policy, 0), _rows(board, policy, 1)
    try:
        found = [checked(board, p, policy.recall, rows[p], (actions, denominator), patience) for p in range(2)]
    except Unproven as error:
        raise BadSetting(f"no certificate: {error}") from error
    return RowCertificate(board, policy.recall, actions, denominator, rows, (found[0], found[1]))


def checked(board: Board, player: int, recall: str, rows: dict[str, Row], limits: tuple[int, int], patience: int) -> Fraction:
    """Return what a player's rows guarantee; `Unproven` unless they keep to the limits: moves, and denominator."""
    check_rows(board, rows, *limits)
    return guarantee_of_rows(board, player, recall, rows, patience)


def _rows(board: Board, policy: TablePolicy, player: int) -> dict[str, Row]:
    """Return the rows that a player's strategy comes by, whatever the opponent does."""
    rows: dict[str, Row] = {}
    waiting: list[tuple[tuple[tuple[int, bool], ...], int, int]] = [((), 0, 0)]
    while waiting:
        path, own, met = waiting.pop()
        perfect = policy.recall == PERFECT
        key = memory_key(player, path) if perfect else own << board.cells | met
        name = "".join(LETTERS[c] + "+-"[hit] for c, hit in path) if perfect else _board_name(board, own, met)
        found = policy.lookup(player, key)
        if name in rows or joins(board, player, own) or joins(board, 1 - player, met) or found is None:
            continue
        held = {cell: share for cell, share in found.items() if share > 0}
        fractions = as_fractions([*held.values()], MOST_DENOMINATOR)
        if fractions is None:
            raise BadSetting(
                f"no certificate: {name or 'the start'!r} has probabilities that are not fractions k/n, n up to {MOST_DENOMINATOR}"
            )
        rows[name] = {LETTERS[cell]: p for cell, p in zip(held, fractions, strict=True)}
        if len(rows) > MOST_ROWS:
            raise TooLarge(f"no certificate: player {player}'s strategy comes by more than {MOST_ROWS:,} information states")
        for cell in held:
            waiting += [((*path, (cell, False)), own | 1 << cell, met), ((*path, (cell, True)), own, met | 1 << cell)]
    return rows


def _board_name(board: Board, own: int, met: int) -> str:
    return "".join(".ox"[(own >> c & 1) + 2 * (met >> c & 1)] for c in range(board.cells))


def write_rows(certificate: RowCertificate, path: Path) -> None:
    """Write a certificate, packed if the name ends in `.gz` or `.xz`."""
    data: dict[str, Any] = {"kind": KIND, "format": FORMAT, "game": "dark_hex", **certificate.board._asdict()}
    data |= {"recall": certificate.recall, "actions": certificate.actions, "denominator": certificate.denominator}
    for name, rows, promised in zip(PLAYERS, certificate.rows, certificate.guarantees, strict=True):
        texts = {key: {cell: str(p) for cell, p in row.items()} for key, row in sorted(rows.items())}
        data[name] = {"guarantee": str(promised), "rows": texts}
    pack((json.dumps(data, indent=0) + "\n").encode(), path)


def read_rows(path: Path) -> RowCertificate:
    """Return what a file claims; nothing of it is checked yet but its form."""
    data = read_data(path)
    if data.get("format") != FORMAT:
        raise BadFile(f"{path} is not a certificate of simple strategies; nebel simplify POLICY --guarantee writes one")
    try:
        board = board_in(data)
        if data["recall"] not in (PERFECT, BOARD):
            raise ValueError("recall is not perfect or board")
        limits = [data[name] for name in ("actions", "denominator")]
        if not all(type(n) is int and n > 0 for n in limits):
            raise ValueError("actions and denominator are not whole numbers of at least 1")
        rows = [{str(key): {str(c): fraction_in(p) for c, p in row.items()} for key, row in data[name]["rows"].items()} for name in PLAYERS]
        guarantees = [fraction_in(data[name]["guarantee"]) for name in PLAYERS]
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise BadFile(f"{path} is damaged: {error if not isinstance(error, KeyError) else f'{error} is missing'}") from error
    return RowCertificate(board, data["recall"], limits[0], limits[1], (rows[0], rows[1]), (guarantees[0], guarantees[1]))


def verify_rows(path: Path, patience: int = PATIENCE) -> RowCertificate:
    """Return the certificate with the guarantees that the checker finds.

    Raises `BadFile` if a row is not as simple as the file claims, or a guarantee is less. `patience` is the number of steps that the
    checker may take for each player.
    """
    claimed = read_rows(path)
    found = []
    for player, name in enumerate(PLAYERS):
        try:
            limits = claimed.actions, claimed.denominator
            found.append(checked(claimed.board, player, claimed.recall, claimed.rows[player], limits, patience))
        except (Unproven, RecursionError) as error:
            raise BadFile(f"{path}, {name}: {error}") from error
        if found[player] < claimed.guarantees[player]:
            raise BadFile(f"{path} claims that {name} guarantees {claimed.guarantees[player]}; the checker finds only {found[player]}")
    return claimed._replace(guarantees=(found[0], found[1]))
