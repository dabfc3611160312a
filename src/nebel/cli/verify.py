"""`nebel verify FILE`."""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from pathlib import Path

from nebel.cli.flags import whole
from nebel.cli.screen import emit, say
from nebel.core.errors import BadSetting


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help="a certificate, as nebel solve GAME --with double-oracle or nebel simplify --guarantee writes it",
    )
    parser.add_argument("--patience", type=whole, default=1_000_000_000, metavar="STEPS", help="of the search (default: 1e9, some hours)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.judge import row_certificate
    from nebel.judge.certificate import PLAYERS, read_data, verify

    if args.patience < 1:
        raise BadSetting(f"--patience {args.patience} is out of range: it must be at least 1")
    if read_data(args.file)["format"] == row_certificate.FORMAT:
        return _simple(args)
    begin = time.perf_counter()
    proven = verify(args.file, args.patience)
    seconds = time.perf_counter() - begin
    black, white = proven.guarantees
    facts = {
        "file": str(args.file),
        "game": f"dark_hex(rows={proven.board.rows},cols={proven.board.cols},abrupt={proven.board.abrupt},leak={proven.board.leak})",
        "guarantees": [str(black), str(white)],
        "bounds": [float(black), float(1 - white)],
        "value": str(proven.value) if proven.value is not None else None,
        "strategies": [len(mixture) for mixture in proven.mixtures],
        "seconds": round(seconds, 3),
    }
    if args.json:
        emit(facts)
        return 0
    version = "abrupt" if proven.board.abrupt else "classic"
    say(f"Dark Hex {proven.board.rows}x{proven.board.cols}, {version}, {proven.board.leak}: the certificate holds ({seconds:.1f} s)")
    for name, promised, mixture in zip(PLAYERS, proven.guarantees, proven.mixtures, strict=True):
        say(f"{name:5} wins with probability {_fraction(promised)} at least, by a mixture of {2 * len(mixture)} pure strategies")
    if proven.value is not None:
        say(f"so the value to Black is exactly {_fraction(proven.value)}")
    else:
        say(f"so the value to Black lies between {float(black):.7f} and {float(1 - white):.7f}")
    return 0


def _simple(args: argparse.Namespace) -> int:
    """Check a certificate of simple strategies."""
    from nebel.judge.certificate import PLAYERS
    from nebel.judge.row_certificate import verify_rows

    begin = time.perf_counter()
    proven = verify_rows(args.file, args.patience)
    seconds = time.perf_counter() - begin
    black, white = proven.guarantees
    facts = {
        "file": str(args.file),
        "game": f"dark_hex(rows={proven.board.rows},cols={proven.board.cols})",
        "recall": proven.recall,
        "actions": proven.actions,
        "denominator": proven.denominator,
        "guarantees": [str(black), str(white)],
        "bounds": [float(black), float(1 - white)],
        "rows": [len(rows) for rows in proven.rows],
        "seconds": round(seconds, 3),
    }
    if args.json:
        emit(facts)
        return 0
    say(f"Dark Hex {proven.board.rows}x{proven.board.cols}, classic, {proven.recall} recall: the certificate holds ({seconds:.1f} s)")
    say(f"no row has more than {proven.actions} moves or a denominator above {proven.denominator}")
    for name, promised, rows in zip(PLAYERS, proven.guarantees, proven.rows, strict=True):
        say(f"{name:5} wins with probability {_fraction(promised)} at least, by {len(rows)} information states")
    return 0


def _fraction(x: Fraction) -> str:
    """With its decimals, and as a fraction where people can read it."""
    return f"{x} = {float(x):.7f}" if x.denominator < 10**9 else f"{float(x):.7f}"
