"""What a player of Geister can know of the other's colours: every colouring that agrees with what was seen, and how likely it is.

Ghosts are followed by name: whose path is whose is public. A colouring is ruled out by a captured ghost of another colour, by a red ghost
that would have escaped, and, of an opponent who always escapes when it can, by a blue ghost that stood on an exit and stayed. What is left
counts by the odds of the set-up, and by how often a given policy would have moved as the opponent did.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from nebel.core.errors import BadSetting
from nebel.core.game import CHANCE, BaseGame
from nebel.core.state import State
from nebel.games.geister import SETUP, TOOK_BLUE, TOOK_RED
from nebel.games.geister_board import NORTH, Board
from nebel.policy.table import Policy

ERROR = 0.01
"""How often an opponent with a known policy is taken to move at random all the same."""


def board_of(game: BaseGame) -> Board:
    """The board of a game of Geister."""
    if game.name != "geister":
        raise BadSetting(f"{game.string} is not Geister")
    width, height, ghosts, reds, buffer = (game.options[name] for name in ("width", "height", "ghosts", "reds", "buffer"))
    return Board(width, height, ghosts, ghosts // 2 if reds is None else reds, buffer)


@dataclass(frozen=True)
class Ghost:
    """One of the other's: where it is as its owner counts (None: off the board), and how likely it is red."""

    letter: str
    cell: int | None
    red: float


@dataclass(frozen=True)
class Belief:
    """`odds` by colouring, named by its red ghosts, the likeliest first."""

    odds: dict[str, float]
    ghosts: list[Ghost]


class Trail:
    """The other's ghosts as one player saw them go: where they are, and which colours are certain."""

    def __init__(self, board: Board, escapes: bool) -> None:
        self.board, self.escapes = board, escapes
        self.cells: dict[int, int] = dict(enumerate(board.homes))
        self.red: dict[int, bool] = {}

    def moved(self, move: int) -> None:
        """The other's move, as it counts."""
        cell, way = divmod(move, 4)
        ghost = next(g for g, at in self.cells.items() if at == cell)
        leaves = way == NORTH and cell in self.board.exits
        if leaves:
            self.red[ghost] = False
            del self.cells[ghost]
            return
        if self.escapes:
            self.red |= {g: True for g, at in self.cells.items() if at in self.board.exits}
        self.cells[ghost] = cell + (self.board.width, 1, -self.board.width, -1)[way]

    def taken(self, move: int, colour: int) -> None:
        """The believer's own move, as the believer counts, and the colour that it saw."""
        if colour not in (TOOK_RED, TOOK_BLUE):
            return
        cell, way = divmod(move, 4)
        there = self.board.cells - 1 - (cell + (self.board.width, 1, -self.board.width, -1)[way])
        ghost = next(g for g, at in self.cells.items() if at == there)
        self.red[ghost] = colour == TOOK_RED
        del self.cells[ghost]


def trail(state: State, player: int, escapes: bool = False) -> Trail:
    """What `player` has seen of the other's ghosts."""
    board = board_of(state.game)
    seen = Trail(board, escapes or bool(state.game.options["assist"]))
    for step in state.steps:
        if step.turn == CHANCE or step.option >= 4 * board.cells:
            continue
        if step.turn == player:
            seen.taken(step.option, step.seen[player])
        else:
            seen.moved(step.option)
    return seen


def believe(state: State, player: int, escapes: bool = False, policy: Policy | None = None, error: float = ERROR) -> Belief:
    """What `player` can conclude; `escapes`: the other escapes whenever it can; `policy`: the other moves by it, with errors."""
    seen = trail(state, player, escapes)
    board, weights = seen.board, {}
    for colouring, reds in enumerate(board.colourings):
        if all((reds >> board.homes[ghost] & 1) == red for ghost, red in seen.red.items()):
            weights[colouring] = _likelihood(state, player, colouring, policy, error) if policy else 1.0
    total = sum(weights.values())
    odds = {colouring: weight / total for colouring, weight in sorted(weights.items(), key=lambda pair: -pair[1]) if weight > 0.0}
    ghosts = []
    for ghost, home in enumerate(board.homes):
        share = fsum(share for colouring, share in odds.items() if board.colourings[colouring] >> home & 1)
        red = float(seen.red[ghost]) if ghost in seen.red else min(share, 1.0)
        ghosts.append(Ghost(board.letter(ghost), seen.cells.get(ghost), red))
    return Belief({board.letters(colouring): share for colouring, share in odds.items()}, ghosts)


def _likelihood(state: State, player: int, colouring: int, policy: Policy, error: float) -> float:
    """How often the other would have moved as it did, had its ghosts these colours."""
    other, placing = 1 - player, 4 * board_of(state.game).cells
    likely, again = 1.0, state.game.start()
    set_up = [i for i, step in enumerate(state.steps) if step.seen[other] >= SETUP and step.turn == CHANCE]
    for i, step in enumerate(state.steps):
        option = step.option
        if i in set_up[:1]:
            option = colouring
        elif step.turn == other:
            option = placing + colouring if option >= placing else option
            shares = policy.probabilities(again)
            likely *= error / len(shares) + (1.0 - error) * shares.get(option, 0.0)
        again.push(option)
    return likely
