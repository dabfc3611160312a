"""`nebel bench`."""

from __future__ import annotations

import argparse

from nebel.cli.screen import emit, figure, say, table
from nebel.core.errors import BadSetting


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("--only", metavar="TEXT", action="append", help="only rows whose name contains this (may be repeated)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of solving in the convergence rows; others take a share (default: 10)")
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    parser.add_argument("--json", action="store_true", help="one JSON list on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.bench import names_of
    from nebel.bench import run as measure

    if not args.seconds > 0:
        raise BadSetting(f"--seconds {args.seconds:g} is out of range: it must be greater than 0")
    names = names_of()
    chosen = [n for n in names if not args.only or any(text in n for text in args.only)]
    if not chosen:
        raise BadSetting(f"no row is called like {' or '.join(args.only)}; rows: {', '.join(names)}")
    if args.list:
        emit(chosen) if args.json else say("\n".join(chosen))
        return 0
    rows = measure(chosen, args.seconds, lambda text: say(text, to_error=True))
    if args.json:
        emit([row._asdict() for row in rows])
        return 0
    head = ("name", "ours", "peer", "ratio", "unit", "against", "note")
    table(head, [(r.name, figure(r.ours), figure(r.peer), f"{r.ratio:.1f}" if r.ratio else "-", r.unit, r.peer_name, r.note) for r in rows])
    return 0
