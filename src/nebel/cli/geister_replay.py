"""`nebel geister-replay FILE`: a game of a log file or a record, move by move, with all colours."""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

from nebel.cli.screen import say
from nebel.core.errors import BadSetting
from nebel.core.game import CHANCE
from nebel.core.input import read_text
from nebel.core.state import State

MOST_BYTES = 10_000_000
"""Bytes of a file that is read."""
WINNER = re.compile(r'^(?:winner=|\[Winner ")([012])', re.MULTILINE)


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="a log file of the competition, or a record of nebel's")
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument("--delay", type=float, default=0.0, metavar="S", help="seconds between moves (default: 0)")
    pace.add_argument("--step", action="store_true", help="wait for Enter after each move")


def run(args: argparse.Namespace) -> int:
    from nebel.geister.protocol import DRAW, read_game

    if not 0 <= args.delay <= 3600:
        raise BadSetting(f"--delay {args.delay:g}: 0 to 3600 seconds")
    text = read_text(args.file, MOST_BYTES, "a log file or a record")
    told = read_game(text)
    shown = State(told.game)
    say("Each player's moves are named as it counts cells; boards are as player 0 sees them, with all colours.\n")
    for number, step in enumerate(told.steps):
        who = "chance" if step.turn == CHANCE else f"player {step.turn}"
        say(f"{number + 1}. {who}: {shown.name(step.option)}")
        shown.push(step.option)
        say(f"{shown.view('truth')}\n")
        if number + 1 < len(told.steps) and not _wait(args):
            return 0
    if not told.over and (winner := WINNER.search(text)):
        say("the game was called a draw" if int(winner[1]) == DRAW else f"the game was given to player {winner[1]}")
    return 0


def _wait(args: argparse.Namespace) -> bool:
    """False when there will be no more."""
    if args.step:
        try:
            return input("Enter: next, q: quit > ").strip() != "q"
        except EOFError:
            return False
    time.sleep(args.delay)
    return True
