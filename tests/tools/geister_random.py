"""Random games of Geister, every ply of which is checked by rules written once more, compiled, on a plain board of squares.

    python geister_random.py GAME GAMES SEED

A position is a grid of who stands where in which colour, as player 0 counts; nothing is taken from the game but its moves and its record.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

import nebel
from nebel.core.game import CHANCE, END, Game
from nebel.core.rng import generator, uniform
from nebel.core.rule import kernel, rule
from nebel.geister.belief import board_of

EMPTY, BLUE, RED = 0, 1, 2
"""On the grid; the second player's ghosts are negative."""

FINE, WRONG_MOVES, WRONG_BOARD, WRONG_END = range(4)


class Played(NamedTuple):
    """Of games at random: what was wrong first (FINE: nothing), wins of both seats, endings by how, and plies by game."""

    wrong: int
    wins: tuple[int, int]
    how: Any
    plies: Any


@rule
def own_moves(grid: Any, me: int, width: int, height: int, must_leave: bool, out: Any) -> int:
    """By cell as the mover counts: 4 * cell + north, east, south, west; a blue one on a far corner goes north to leave."""
    n, sign, last = 0, 1 - 2 * me, width * height - 1
    leaves = False
    for cell in range(width * height):
        ghost = sign * grid[cell if me == 0 else last - cell]
        x, y = cell % width, cell // width
        if ghost <= 0:
            continue
        for way in range(4):
            to_x, to_y = x + (way == 1) - (way == 3), y + (way == 0) - (way == 2)
            out_there = to_y == height and ghost == BLUE and (x == 0 or x == width - 1)
            leaves = leaves or out_there
            inside = 0 <= to_x < width and 0 <= to_y < height
            if inside:
                to = to_y * width + to_x
                inside = sign * grid[to if me == 0 else last - to] <= 0
            if inside or out_there:
                out[n] = 4 * cell + way
                n += 1
    if must_leave and leaves:
        kept = 0
        for i in range(n):
            cell = out[i] >> 2
            ghost = sign * grid[cell if me == 0 else last - cell]
            if ghost == BLUE and out[i] & 3 == 0 and cell >= width * (height - 1) and (cell % width == 0 or cell % width == width - 1):
                out[kept] = out[i]
                kept += 1
        return kept
    return n


@rule
def own_play(grid: Any, me: int, move: int, width: int, height: int) -> int:
    """Who has won by that, or -1."""
    sign, last = 1 - 2 * me, width * height - 1
    cell, way = move >> 2, move & 3
    x, y = cell % width + (way == 1) - (way == 3), cell // width + (way == 0) - (way == 2)
    source = cell if me == 0 else last - cell
    ghost, grid[source] = grid[source], EMPTY
    if y == height:
        return me
    to = y * width + x
    place = to if me == 0 else last - to
    taken, grid[place] = -sign * grid[place], ghost
    if taken > 0:
        left = 0
        for i in range(last + 1):
            left += -sign * grid[i] == taken
        if left == 0:
            return me if taken == BLUE else 1 - me
    return -1


def checker(game: Game, assist: bool) -> Any:
    start, turn, moves, play, score, _ = game.rules
    board = board_of(game)
    width, height, ghosts, ways = board.width, board.height, board.ghosts, board.ways
    homes, limit, options = np.array(board.homes), game.depth - 2, game.width

    @rule
    def disagrees(s: Any, grid: Any) -> bool:
        """The record against the grid."""
        last = width * height - 1
        for p in range(2):
            for cell in range(last + 1):
                there = grid[cell if p == 0 else last - cell] * (1 - 2 * p)
                if (s.ghosts[p] >> cell & 1) != (there > 0) or (s.reds[p] >> cell & 1) != (there == RED):
                    return True
        return False

    @kernel
    def run(states: Any, rng: Any, games: int, wins: Any, how: Any, plies: Any) -> int:
        s, seen = states[0], np.zeros(2, np.int64)
        legal, mine, grid = np.zeros(options, np.int64), np.zeros(4 * ghosts + 1, np.int64), np.zeros(width * height, np.int64)
        for number in range(games):
            start(s)
            grid[:] = EMPTY
            for p in range(2):
                if turn(s) != CHANCE or moves(s, legal) != ways:
                    return WRONG_MOVES
                play(s, int(uniform(rng) * ways), seen)
                for cell in homes:  # colours are the game's choice, and their number is checked
                    grid[cell if p == 0 else width * height - 1 - cell] = (1 - 2 * p) * (RED if s.reds[p] >> cell & 1 else BLUE)
            if disagrees(s, grid) or np.sum(grid == RED) != np.sum(grid == -RED):
                return WRONG_BOARD
            winner, ply = -1, 0
            while winner < 0 and ply < limit:
                me = ply % 2
                n = moves(s, legal)
                if turn(s) != me or own_moves(grid, me, width, height, assist, mine) != n:
                    return WRONG_MOVES
                for i in range(n):
                    if legal[i] != mine[i]:
                        return WRONG_MOVES
                move = legal[int(uniform(rng) * n)]
                play(s, move, seen)
                winner = own_play(grid, me, move, width, height)
                ply += 1
                if disagrees(s, grid):
                    return WRONG_BOARD
            if turn(s) != END or score(s) != (0.0 if winner < 0 else 1.0 - 2.0 * winner) or s.ply != ply:
                return WRONG_END
            plies[number] = ply
            how[s.how] += 1
            if winner >= 0:
                wins[winner] += 1
        return FINE

    return run


def play_at_random(string: str, games: int, seed: int) -> Played:
    game = nebel.game(string)
    assert isinstance(game, Game)
    wins, how, plies = np.zeros(2, np.int64), np.zeros(4, np.int64), np.zeros(games, np.int64)
    with np.errstate(over="ignore"):
        wrong = checker(game, bool(game.options["assist"]))(game.blank(1), generator(seed), games, wins, how, plies)
    return Played(int(wrong), (int(wins[0]), int(wins[1])), how, plies)


if __name__ == "__main__":
    found = play_at_random(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    total = len(found.plies)
    print(["no violation", "wrong moves", "wrong board", "wrong end"][found.wrong], f"in {total:,} games of {sys.argv[1]}")
    print("first won", found.wins[0] / total, "second", found.wins[1] / total, "drawn", found.how[0] / total)
    print("escape, blues taken, reds taken:", found.how[1:] / total)
    print("longer than 100 plies", float(np.mean(found.plies > 100)), "median", float(np.median(found.plies)))
    print(f"{found.plies.sum():,} plies")
