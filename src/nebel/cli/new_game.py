"""`nebel new-game NAME`."""

from __future__ import annotations

import argparse
from pathlib import Path

from nebel.cli.screen import say


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("name", metavar="NAME", help="of the game, and so of the file and the function in it")
    parser.add_argument("--folder", type=Path, default=Path(), help="where to write it (default: here)")


def run(args: argparse.Namespace) -> int:
    from nebel.core.template import new_game

    path = new_game(args.name, args.folder)
    say(f"{path} is a small poker that works as it stands. Edit it, then:")
    for line in (f"nebel check {path}:{args.name}", f"nebel solve {path}:{args.name}", f"nebel play {path}:{args.name}"):
        say(f"  {line}")
    return 0
