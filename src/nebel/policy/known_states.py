"""All information states that a game has, by name: what tables from outside are compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from nebel.core.errors import BadSetting, TooLarge
from nebel.core.game import BaseGame
from nebel.core.interrupt import check
from nebel.core.state import State, resolve_recall
from nebel.core.tree import grow, measure
from nebel.policy.hex_table import BOARD
from nebel.policy.listing import LISTED_TREE
from nebel.policy.states import START, States

MOST_BOARD_CELLS = 12
"""Cells of a board of Dark Hex whose information states by board are listed one after the other (4x3: 367,919)."""


class Spelling(NamedTuple):
    """How a table names things: the information state of the player to move, and the legal moves in their order."""

    state: Callable[[State], str]
    moves: Callable[[State], list[str]]


class Known(NamedTuple):
    """An information state: its names (that of nebel first), its key in a table, and its moves, with their names."""

    names: list[str]
    key: int
    moves: list[int]
    move_names: list[str]


def known_states(game: BaseGame, player: int, recall: str, spelling: Spelling | None = None) -> Iterator[Known]:
    """Yield all information states in which a player can be to move; `spelling` adds a name of each, and names its moves.

    Raises `TooLarge` if there are too many to list.
    """
    recall = resolve_recall(game, recall)
    if not measure(game, LISTED_TREE).complete:
        yield from _by_board(game, player, recall)
        return
    tree = grow(game, recall, LISTED_TREE)
    side = tree.sides[player]
    points = np.unique(side.state, return_index=True)[1]  # the first of each information state
    for i, point in enumerate(points):
        check()
        state = tree.state_at(int(side.points.node[point]))
        names = [state.information(player, recall)] + ([spelling.state(state)] if spelling else [])
        moves = spelling.moves(state) if spelling else state.legal()
        yield Known(names, int(side.keys[i]), state.options(), moves)


def _by_board(game: BaseGame, player: int, recall: str) -> Iterator[Known]:
    """The boards of Dark Hex, where the tree is too large."""
    too_large = TooLarge(
        f"{game.string} has more than {LISTED_TREE:,} histories, too many to list its information states of {recall} recall; "
        "take a smaller variant"
    )
    try:
        states = States(game, player)
    except BadSetting:
        raise too_large from None
    if recall != BOARD or states.cells > MOST_BOARD_CELLS:
        raise too_large
    todo, seen = [START], {START}
    while todo:
        check()
        state = todo.pop()
        free = states.free(state)
        if states.occurs(state):
            yield Known([states.name(state)], states.keys(state)[0], free, [states.names[cell] for cell in free])
        after = {then for cell in free for _, then in states.after(state, cell)} - seen
        seen |= after
        todo += after
