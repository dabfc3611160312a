"""A game whose states also hold what players remember, so that perfect recall becomes a glance like any other."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from nebel.core.game import Game, Glance, Record, Rules, record
from nebel.core.recall import blank_memory, remember_move, remember_sight
from nebel.core.rule import rule

MEMORY = "memory"


@functools.lru_cache(maxsize=16)
def remembering(game: Game, players: tuple[int, ...]) -> Game:
    """The same game with the memories of `players` in its states; its only glance shows them.

    The fewer players, the better: histories that differ in what nobody remembers are one state.
    """
    start, turn, _, play, _, _ = game.rules
    keeps = (0 in players, 1 in players)
    layout: Any = game.state.fields

    @rule
    def begin(s: Record) -> None:
        start(s)
        for p in range(2):
            s.memory[p] = blank_memory(p) if keeps[p] else 0

    @rule
    def go_on(s: Record, move: int, seen: Any) -> None:
        who = turn(s)
        seen[0] = seen[1] = 0
        play(s, move, seen)
        for p in range(2):
            if keeps[p]:
                if p == who:
                    s.memory[p] = remember_move(s.memory[p], move)
                s.memory[p] = remember_sight(s.memory[p], seen[p])

    @rule
    def recall(s: Record, player: int) -> Any:
        return s.memory[player]

    # memory comes first: with new fields behind the old ones, Numba would take old code for the new layout, and warn
    fields = {name: layout[name][0] if layout[name][0].subdtype is None else layout[name][0].subdtype for name in game.state.names or ()}
    rules: Rules = game.rules._replace(start=begin, play=go_on)
    return replace(game, state=record(memory=(np.int64, 2), **fields), rules=rules, glances={MEMORY: Glance(recall)})
