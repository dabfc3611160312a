"""`nebel geister-puzzles`: one move wins for certain; which?"""

from __future__ import annotations

import argparse
from itertools import islice
from typing import TYPE_CHECKING

from nebel.cli.flags import whole
from nebel.cli.screen import emit, say
from nebel.core.errors import BadSetting

if TYPE_CHECKING:
    from nebel.geister.puzzles import Puzzle


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.epilog = "example: nebel geister-puzzles --count 3 --plies 5"
    parser.add_argument(
        "game", nargs="?", default="geister", metavar="GAME", help="geister, or a variant such as geister:x4y4g4b1 (default: geister)"
    )
    parser.add_argument("--count", type=whole, default=5, help="puzzles (default: 5)")
    parser.add_argument("--plies", type=int, default=5, help="moves of both sides to the end of the win: 3, 5, 7 ... (default: 5)")
    parser.add_argument("--seed", type=int, default=1, help="other puzzles (default: 1)")
    parser.add_argument("--solutions", action="store_true", help="show them at once, without asking")
    parser.add_argument("--json", action="store_true", help="puzzles with solutions as one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import load
    from nebel.geister.puzzles import puzzles

    game = load(args.game)
    if game.name != "geister":
        raise BadSetting(f"{game.string} is not Geister; write geister or a variant such as geister:x4y4g4b1")
    if args.count < 1:
        raise BadSetting(f"--count {args.count} is out of range: it must be at least 1")
    posed = islice(puzzles(game, args.plies, args.seed), args.count)
    if args.json:
        emit({"game": game.string, "plies": args.plies, "seed": args.seed, "puzzles": [_as_json(puzzle) for puzzle in posed]})
        return 0
    solved = 0
    for number, puzzle in enumerate(posed, 1):
        say(f"Puzzle {number} of {args.count}: you are player {puzzle.state.turn}, and go up.")
        say(puzzle.state.view(puzzle.state.turn))
        say(f"One move alone wins within {args.plies} plies, whatever colours the grey ghosts (?) have.")
        answer = None if args.solutions else _ask(puzzle)
        solved += answer is True
        if answer is False:
            break
        say(f"{'Right' if answer else 'It is'}: {puzzle.solution}. If the other resists longest: {' '.join(puzzle.line)}\n")
    if not args.solutions:
        say(f"{solved} of {args.count} solved")
    return 0


def _as_json(puzzle: Puzzle) -> dict[str, object]:
    state = puzzle.state
    view = state.view(state.turn)
    return {"player": state.turn, "moves": state.moves_text(), "view": view, "solution": puzzle.solution, "line": puzzle.line}


def _ask(puzzle: Puzzle) -> bool | None:
    """True: solved; None: given up; False: no more."""
    while True:
        try:
            line = input("your move (or: legal, give up, quit)> ").strip()
        except EOFError:
            return False
        if line in ("quit", "exit"):
            return False
        if line in ("give up", "?"):
            return None
        if line == puzzle.solution:
            return True
        legal = puzzle.state.legal()
        say(" ".join(legal) if line == "legal" else f"{line} does not win for certain" if line in legal else f"{line} is not legal here")
