"""Beliefs in random games of Geister: the true colours are always possible, and those of a revealed ghost are certain.

    python geister_beliefs.py GAMES
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable

import nebel
from nebel.core.game import CHANCE
from nebel.core.rng import generator
from nebel.geister.belief import believe


def beliefs_hold(seeds: Iterable[int], every: int = 1, escapes: bool = False) -> int:
    """How many beliefs were looked at, after every so many plies; `escapes`: of players who escape when they can."""
    looked, game = 0, nebel.game("geister(assist=true)") if escapes else nebel.game("geister")
    for seed in seeds:
        state, rng, luck = game.start(), generator(seed), random.Random(seed)
        while state.turn == CHANCE:
            state.deal(rng)
        truth = [game.name_of_outcome(step.option) for step in state.steps]
        while True:
            if len(state.steps) % every == 0:
                for player in (0, 1):
                    belief, others = believe(state, player, escapes), truth[1 - player]
                    assert belief.odds[others] > 0.0
                    assert abs(sum(belief.odds.values()) - 1.0) < 1e-9
                    for ghost in belief.ghosts:
                        assert ghost.cell is not None or ghost.red == (ghost.letter in others)
                    looked += 1
            if state.over:
                break
            state.push(luck.choice(state.options()))
    return looked


if __name__ == "__main__":
    for escapes in (False, True):
        print(f"{beliefs_hold(range(int(sys.argv[1])), 1, escapes):,} beliefs hold, escapes={escapes}")
