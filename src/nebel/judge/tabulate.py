"""What remembers the board of Dark Hex, as a table over all views of it: networks too can then be judged, simplified and shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import TooLarge
from nebel.core.game import BaseGame, Game
from nebel.core.rule import kernel
from nebel.dark_hex.merged import BOARD, Merged, Views, count_bytes, merge, merged_kind
from nebel.policy.net import NetPolicy, encoding_of
from nebel.policy.table import Shares, TablePolicy

GIGABYTE = 1 << 30
MOST_GIGABYTES = 4
BLOCK = 1 << 16
"""Views that a network is asked about at once."""


def fitting_kind(game: BaseGame) -> tuple[int, int, bool]:
    """Return the board of Dark Hex whose merged states are asked for, as `merge` takes it; raises `TooLarge` if they do not fit."""
    kind = merged_kind(game)
    need = count_bytes(*kind, np.float64)
    if need > MOST_GIGABYTES * GIGABYTE:
        raise TooLarge(f"the merged states of {game.string} take {need / GIGABYTE:,.3g} GB, over {MOST_GIGABYTES}; take a smaller board")
    return kind


def merged_of(game: BaseGame) -> Merged:
    """Return the states of Dark Hex for players who remember the board, and all views of it, if they fit."""
    return merge(*fitting_kind(game))


def on_views(game: BaseGame, views: Views, share: NDArray[np.float64], facts: dict[str, Any]) -> TablePolicy:
    """A table from shares of all moves of all views."""
    tables = []
    for player in range(2):
        begin, end = views.start[player : player + 2]
        first = views.first[begin : end + 1]
        at = slice(first[0], first[-1])
        tables.append(Shares(views.key[begin:end], first - first[0], views.move[at], share[at]))
    return TablePolicy(game.string, game.fingerprint, BOARD, (tables[0], tables[1]), facts=facts)


def tabulated(game: BaseGame, views: Views, policy: NetPolicy) -> TablePolicy:
    """What a network that remembers the board plays in every view."""
    assert isinstance(game, Game)
    encoding = encoding_of(game, BOARD)
    share, write = np.zeros(views.first[-1]), encoding.write

    @kernel
    def encode(state: Any, player: int, cells: int, keys: Any, out: Any) -> None:
        for i in range(keys.size):
            state[0].stones[player], state[0].met[player] = keys[i] >> cells, keys[i] & ((1 << cells) - 1)
            write(state[0], player, out[i])

    for player in range(2):
        for begin in range(views.start[player], views.start[player + 1], BLOCK):
            end = min(begin + BLOCK, views.start[player + 1])
            rows = np.zeros((end - begin, encoding.size), np.float32)
            encode(game.blank(1), player, game.actions, views.key[begin:end], rows)
            first = views.first[begin : end + 1]
            at, moves = slice(first[0], first[-1]), np.repeat(np.arange(end - begin), np.diff(first))
            logits = policy.logits(rows).astype(float)[moves, views.move[at]]
            odds = np.exp(logits - np.maximum.reduceat(logits, first[:-1] - first[0])[moves])
            share[at] = odds / np.add.reduceat(odds, first[:-1] - first[0])[moves]
    return on_views(game, views, share, policy.facts)
