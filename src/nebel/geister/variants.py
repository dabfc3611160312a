"""Small variants of Geister solved on merged positions, up to any limit of plies, and judged in the game with perfect recall."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import BadSetting
from nebel.core.game import BaseGame, Game
from nebel.core.rng import fold_all
from nebel.games.geister import short_limit
from nebel.games.geister_looks import KEY
from nebel.geister.belief import board_of
from nebel.geister.layers import Layers, Reals
from nebel.geister.positions import MOST_POSITIONS, Positions
from nebel.geister.respond import Bounds, Responder
from nebel.policy.table import Longs, Shares, TablePolicy, sorted_shares

RECALL = "clock"
"""What the strategies go by: the board, what was captured, and the ply."""


class Solved(NamedTuple):
    """A strategy of a variant and what is known of it; `responses` by seat of the responder."""

    layers: Layers
    share: Reals
    value: float
    responses: tuple[Bounds, Bounds]
    endings: dict[str, Reals]

    @property
    def exploitability(self) -> Bounds:
        (low0, high0), (low1, high1) = self.responses
        return Bounds((low0 + low1) / 2, (high0 + high1) / 2)


def layers_of(game: BaseGame, most: int = MOST_POSITIONS) -> Layers:
    """Of a game of Geister with random set-up and without assistance, and at most so many positions."""
    board, options = board_of(game), game.options
    if options["setup"] != "random" or options["assist"]:
        raise BadSetting(f"{game.string}: merged positions are for setup=random and assist=false")
    return Layers(Positions(board, most), options["limit"] or short_limit(board.cells))


def judged(layers: Layers) -> Solved:
    share = layers.average()
    responder = Responder(layers)
    responses = responder.bounds(share, 0), responder.bounds(share, 1)
    return Solved(layers, share, layers.value(share), responses, layers.endings(share))


def policy_of(game: BaseGame, layers: Layers, share: Reals, facts: dict[str, Any]) -> TablePolicy:
    """For play: by ply and by view, as the game's glance numbers what a player sees. What its owner never comes to is left out."""
    assert isinstance(game, Game)
    p, look = layers.positions, game.glances["captured"].look
    members = p.views.members[p.views.first[:-1]]
    state, seen = game.blank(1), np.zeros(len(members), np.int64)
    with np.errstate(over="ignore"):
        for v, n in enumerate(members.tolist()):
            mine, my_reds, theirs, their_reds = p.positions[n]
            s = state[0]
            s.ghosts[:], s.reds[:], s.taken[:] = (mine, theirs), (my_reds, their_reds), 0
            s.taken[0, 0] = p.board.reds - their_reds.bit_count()
            seen[v] = look(s, 0)
    width = np.diff(p.place)
    places = np.concatenate([np.arange(p.first[n], p.first[n + 1]) for n in members])
    tables: list[Shares] = []
    for seat in (0, 1):
        keys: list[Longs] = []
        rows: list[Longs] = []
        shares: list[Reals] = []
        for t in range(seat, layers.limit, 2):
            known = layers.met(t)
            keys.append(fold_all(seen[known], np.full(int(known.sum()), t, np.int64)) & KEY)
            inside = np.repeat(known, width)
            rows.append(p.move[places[inside]])
            shares.append(share[t, inside])
        widths = np.concatenate([width[layers.met(t)] for t in range(seat, layers.limit, 2)])
        tables.append(sorted_shares(np.concatenate(keys), widths, np.concatenate(rows), np.concatenate(shares)))
    return TablePolicy(game.string, game.fingerprint, RECALL, (tables[0], tables[1]), "uniform", facts)
