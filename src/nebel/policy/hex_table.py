"""Tables of Dark Hex policies: how a player's information states are keyed, and a table from shares by cell."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from nebel.core.game import Game
from nebel.core.recall import blank_memory, remember_move, remember_sight
from nebel.policy.table import Shares, TablePolicy, sorted_shares

BOARD = "board"
TAKEN = 1
"""What the mover sees on a collision (the token of `games/dark_hex.py`)."""

Path_ = tuple[tuple[int, bool], ...]
"""Own moves in order, and whether each hit a hidden stone."""


def position(game: Game, player: int, own: int, met: int) -> Any:
    """A position of which `player` knows just this."""
    states = game.blank(1)
    states[0].stones[player] = own
    states[0].met[player] = met
    return states


def board_key(game: Game, player: int, own: int, met: int) -> int:
    with np.errstate(over="ignore"):
        return game.glance_at(BOARD, position(game, player, own, met), player)


def memory_key(player: int, path: Path_) -> int:
    with np.errstate(over="ignore"):
        memory = blank_memory(player)
        for cell, hit in path:
            memory = remember_sight(remember_move(memory, cell), TAKEN * hit)
        return int(memory)


def table_policy(
    game: Game,
    player: int,
    recall: str,
    rows: Iterable[tuple[int, tuple[int, int], dict[int, Fraction]]],
    method: str,
    board: str = "",
    before: str = "",
) -> TablePolicy:
    """One player's table from (key, own and discovered stones, shares by cell).

    board   the initial board; "" for the start of the game, and then the other player's moves are uniform
    before  from an initial board only: "uniform" lets all states that are not in the table be played uniformly, "" leaves them unknown
    """
    keys, width, move, share = [], [], [], []
    for key, (own, met), shares in rows:
        legal = [c for c in range(game.actions) if not (own | met) >> c & 1]
        keys.append(key)
        width.append(len(legal))
        move += legal
        share += [float(shares.get(c, 0)) for c in legal]
    longs = [np.array(x, np.int64) for x in (keys, width, move)]
    mine = sorted_shares(longs[0], longs[1], longs[2], np.array(share, np.float64))
    none = Shares(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    both = (none, mine) if player else (mine, none)
    facts = {"method": method, "player": player} | ({"board": board} if board else {})
    return TablePolicy(game.string, game.fingerprint, recall, both, "error" if board and not before else "uniform", facts)
