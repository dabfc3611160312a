"""`nebel sure-wins GAME [BOARD]`."""

from __future__ import annotations

import argparse
import re
from typing import Any

from nebel.cli.screen import emit, say, table
from nebel.core.errors import BadSetting

PLAYERS = ("Black", "White")


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("game", metavar="GAME", help="classic Dark Hex, for example dark_hex:4x3")
    parser.add_argument("board", nargs="?", metavar="BOARD", help="own stones x, discovered o, unknown ., row by row: x.o/.../.../...")
    parser.add_argument("--player", type=int, default=0, choices=(0, 1), help="who is to move on BOARD (default: 0, Black)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import load
    from nebel.dark_hex.sure_wins import sure_wins

    game = load(args.game)
    wins = sure_wins(game)
    counts = [wins.by_hidden(player) for player in range(2)]
    facts: dict[str, Any] = {"game": game.string, "winner": wins.winner(), "sure_wins": [sum(c) for c in counts], "by_hidden": counts}
    facts["information_states"] = [int(c[0].sum()) for c in wins.counts]
    if args.board is not None:
        cell = wins.move(args.player, *_stones(args.board, wins.rows, wins.cols))
        facts |= {"board": args.board, "player": args.player, "move": None if cell is None else game.name_of_move(cell)}
    if args.json:
        emit(facts)
        return 0
    if args.board is not None:
        say(f"{PLAYERS[args.player]} wins for sure with {facts['move']}" if facts["move"] else f"no sure win for {PLAYERS[args.player]}")
        return 0
    winner = wins.winner()
    say(f"{game.string}: {'nobody' if winner is None else PLAYERS[winner]} wins for sure from the start")
    states = facts["information_states"]
    rows = [(PLAYERS[p], f"{sum(counts[p]):,}", f"{states[p]:,}", " ".join(map(str, counts[p]))) for p in range(2)]
    table(("player", "sure wins", "of information states", "by hidden stones 0, 1, 2 ..."), rows)
    return 0


def _stones(text: str, rows: int, cols: int) -> tuple[int, int]:
    if not re.fullmatch("/".join([f"[xo.]{{{cols}}}"] * rows), text):
        raise BadSetting(f"{text!r} is not a board of {rows} rows and {cols} columns; write it like {'/'.join(['.' * cols] * rows)}")
    marks = text.replace("/", "")
    return sum(1 << c for c, mark in enumerate(marks) if mark == "x"), sum(1 << c for c, mark in enumerate(marks) if mark == "o")
