"""One number for a game's behaviour in seeded random play, the same whether its rules run compiled or plain."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy import int64, uint64

from nebel.core.calls import LONGEST, located, unended
from nebel.core.errors import BadRules
from nebel.core.game import CHANCE, END, BaseGame, Game
from nebel.core.rng import generator, uniform
from nebel.core.rule import kernel, rule

OBSERVED = 1000
"""Steps of random play that a fingerprint is made of."""

GRAIN = 1e9
"""Odds and scores are compared to nine digits: compiled and plain arithmetic may round the last bit differently."""

# Unsigned throughout: the compiler takes it that signed integers never overflow, and computes nonsense when they do.
FACTOR, STEP, SHIFT = uint64(6364136223846793005), uint64(1442695040888963407), uint64(33)


@rule
def stir(total: Any, token: int) -> Any:
    total = (total ^ uint64(int64(token))) * FACTOR + STEP
    return total ^ (total >> SHIFT)


@rule
def grains(x: float) -> Any:
    return int64(np.floor(x * GRAIN + 0.5))


def playouts_of(game: Game) -> Any:
    """The loop that makes the number, plain; `kernel` compiles it."""
    start, turn, moves, play, score, odds = game.rules
    depth, width = game.depth, game.width

    def playouts(states: Any, random: Any, count: int) -> Any:
        s = states[0]
        seen = np.zeros(2, np.int64)
        legal = np.zeros(width, np.int64)
        luck = np.zeros(width)
        total = random
        for _ in range(count):
            start(s)
            for _ in range(depth + 1):
                who = turn(s)
                total = stir(total, who)
                if who == END:
                    total = stir(total, grains(score(s)))
                    break
                n = moves(s, legal)
                total = stir(total, n)
                for i in range(n):
                    total = stir(total, legal[i])
                if who == CHANCE:
                    odds(s, luck)
                    for i in range(n):
                        total = stir(total, grains(luck[i]))
                seen[:] = 0
                random = random * FACTOR + STEP
                play(s, legal[int64((random >> SHIFT) % uint64(n))], seen)
                total = stir(stir(total, seen[0]), seen[1])
        return total

    return playouts


def playout_checksum(game: Game, seed: int, playouts: int) -> int:
    """The number, from compiled rules (under NUMBA_DISABLE_JIT=1: from plain ones)."""
    return _run(kernel(playouts_of(game)), game, seed, playouts)


def plain_checksum(game: Game, seed: int, playouts: int) -> int:
    """The number, from plain rules in any case."""
    return _run(playouts_of(game), game, seed, playouts)


def behaviour(game: BaseGame) -> str:
    """The fingerprint of a game: who moves, what is legal, seen and scored in random play, by its plain rules."""
    digest, rng, steps = hashlib.sha256(), generator(20), 0
    while steps < OBSERVED:
        way: list[tuple[int, int]] = []
        try:
            position = game.begin()
            while (turn := game.turn_at(position)) != END:
                game.check_length(len(way))
                if len(way) > LONGEST:
                    raise BadRules(unended(LONGEST))
                options = game.options_at(position)
                odds = game.odds_at(position) if turn == CHANCE else []
                with np.errstate(over="ignore"):
                    pick = options[int(uniform(rng) * len(options))]
                way.append((turn, pick))
                position, seen = game.after(position, pick)
                digest.update(repr((turn, options, [round(x, 12) for x in odds], pick, seen)).encode())
            digest.update(repr(round(game.score_at(position), 12)).encode())
        except BadRules as error:
            raise located(game, error, way) from error
        steps += len(way) + 1
    return digest.hexdigest()[:16]


def _run(loop: Any, game: Game, seed: int, playouts: int) -> int:
    with np.errstate(all="ignore"):
        return int(loop(game.records(1), uint64(seed & 0xFFFFFFFFFFFFFFFF), playouts))
