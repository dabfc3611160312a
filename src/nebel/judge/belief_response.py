"""Exact best responses without a tree: the responder keeps a belief over what is hidden.

Against a policy that remembers only a glance, or nothing, the whole state of the game tells how it will go on; so all that a
responder with perfect recall has learned is a distribution over states. The search is depth first over such beliefs, and
beliefs that are equal (to 1e-11) are judged once, however they came about: on Dark Hex that merges most orders of moves. It
serves games in rules whose trees are too large, as long as few enough beliefs can occur.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from nebel.core.errors import BadSetting, TooLarge
from nebel.core.game import CHANCE, END, Game
from nebel.core.recall import PERFECT
from nebel.core.rng import fold
from nebel.core.rule import kernel
from nebel.judge.best_response import Verdict
from nebel.policy.table import Policy, Shares, TablePolicy, Uniform

FINE, NO_ROOM = 0, 1
UNIT = 1e11
"""Probabilities are told apart to one part in this."""


@functools.lru_cache(maxsize=16)
def _responder(game: Game, recall: str) -> Any:
    start, turn, moves, play, score, odds = game.rules
    look = game.glances[recall].look
    depth, width = game.depth, game.width

    @kernel
    def respond(
        me: int, states: Any, words: Any, chance_of: Any, sight: Any, digest: Any, scratch: Any, keys: Any, first: Any, share: Any,
        memo: Any, worth: Any, most: float, patience: int,
    ) -> Any:  # fmt: skip
        """`states`: a stack of beliefs, each a row of states with probabilities that sum to 1. `keys`, `first`, `share`: the other's
        policy. `memo`, `worth`: beliefs judged so far. `patience`: states to go through at most."""
        sign = 1.0 if me == 0 else -1.0
        begin, end = np.zeros(depth + 2, np.int64), np.zeros(depth + 2, np.int64)  # by decision: the belief
        option, options = np.zeros(depth + 2, np.int64), np.zeros(depth + 2, np.int64)
        at, last = np.zeros(depth + 2, np.int64), np.zeros(depth + 2, np.int64)  # what follows the option, up to now and in all
        best, gained, weight = np.zeros(depth + 2), np.zeros(depth + 2), np.zeros(depth + 2)
        name = np.zeros(depth + 2, np.int64)
        legal = np.zeros((depth + 2, width), np.int64)
        replies, luck, seen = np.zeros(width, np.int64), np.zeros(width), np.zeros(2, np.int64)
        open_chance, open_sight = np.zeros(depth * width + 2), np.zeros(depth * width + 2, np.int64)
        beliefs, unknown = 0, 0
        start(states[0])
        chance_of[0] = 1.0
        f, begin[0], end[0], options[0], best[0] = 0, 0, 1, 1, -most
        fresh = True  # an option has to be played out
        while True:
            if fresh:
                if patience < 0:
                    return 0.0, beliefs, unknown, NO_ROOM
                if option[f] == options[f] or best[f] >= most - 1e-12:
                    value = best[f]
                    if f == 0:
                        return value, beliefs, unknown, FINE
                    slot = name[f] & (memo.size - 1)
                    while memo[slot] != 0:
                        slot = (slot + 1) & (memo.size - 1)
                    if 4 * beliefs > 3 * memo.size:
                        return value, beliefs, unknown, NO_ROOM
                    memo[slot], worth[slot] = name[f], value
                    beliefs += 1
                    f -= 1
                    gained[f] += weight[f + 1] * value
                    fresh = False
                    continue
                out = end[f]
                gained[f] = 0.0
                for j in range(begin[f], end[f]):
                    scratch[0] = states[j]
                    open_chance[0], open_sight[0] = chance_of[j], 1
                    if f > 0:
                        seen[:] = 0
                        play(scratch[0], legal[f, option[f]], seen)
                        if seen[me] != 0:
                            open_sight[0] = fold(open_sight[0], seen[me])
                    waiting = 1
                    while waiting > 0:
                        waiting -= 1
                        patience -= 1
                        p, sighted = open_chance[waiting], open_sight[waiting]
                        who = turn(scratch[waiting])
                        if who == END:
                            gained[f] += p * sign * score(scratch[waiting])
                            continue
                        if who == me:
                            if out + 1 >= states.size:
                                return 0.0, beliefs, unknown, NO_ROOM
                            states[out] = scratch[waiting]
                            chance_of[out], sight[out] = p, sighted
                            mark = np.int64(1)
                            for k in range(words.shape[1]):
                                mark = fold(mark, words[out, k])
                            digest[out] = mark
                            out += 1
                            continue
                        n = moves(scratch[waiting], replies)
                        if who == CHANCE:
                            odds(scratch[waiting], luck)
                        else:
                            key = np.int64(look(scratch[waiting], who))
                            i = np.searchsorted(keys, key)
                            if i < keys.size and keys[i] == key:
                                for a in range(n):
                                    luck[a] = share[first[i] + a]
                            else:
                                unknown += 1
                                for a in range(n):
                                    luck[a] = 1.0 / n
                        scratch[scratch.size - 1] = scratch[waiting]
                        for a in range(n):
                            if luck[a] > 0.0:
                                scratch[waiting] = scratch[scratch.size - 1]
                                seen[:] = 0
                                play(scratch[waiting], replies[a], seen)
                                open_chance[waiting] = p * luck[a]
                                open_sight[waiting] = fold(sighted, seen[me]) if seen[me] != 0 else sighted
                                waiting += 1
                # what cannot be told apart stands together, equal states are one
                size = out - end[f]
                order = np.argsort(digest[end[f] : out], kind="mergesort")
                order = order[np.argsort(sight[end[f] : out][order], kind="mergesort")] + end[f]
                held_states, held_chance = states[end[f] : out].copy(), chance_of[end[f] : out].copy()
                held_sight, held_digest = sight[end[f] : out].copy(), digest[end[f] : out].copy()
                out = end[f]
                for j in range(size):
                    k = order[j] - end[f]
                    if out > end[f] and sight[out - 1] == held_sight[k] and digest[out - 1] == held_digest[k]:
                        chance_of[out - 1] += held_chance[k]
                        continue
                    states[out] = held_states[k]
                    chance_of[out], sight[out], digest[out] = held_chance[k], held_sight[k], held_digest[k]
                    out += 1
                at[f], last[f] = end[f], out
                fresh = False
                continue
            if at[f] == last[f]:
                best[f] = max(best[f], gained[f])
                option[f] += 1
                fresh = True
                continue
            low = at[f]
            high = low
            mass = 0.0
            while high < last[f] and sight[high] == sight[low]:
                mass += chance_of[high]
                high += 1
            at[f] = high
            known = np.int64(7)
            for j in range(low, high):
                chance_of[j] /= mass
                known = fold(fold(known, digest[j]), np.int64(chance_of[j] * UNIT + 0.5))
            slot = known & (memo.size - 1)
            while memo[slot] != 0 and memo[slot] != known:
                slot = (slot + 1) & (memo.size - 1)
            if memo[slot] == known:
                gained[f] += mass * worth[slot]
                continue
            f += 1
            # the belief is copied to the top of the stack, above all that is still needed
            top = last[f - 1]
            if top + high - low >= states.size:
                return 0.0, beliefs, unknown, NO_ROOM
            for j in range(high - low):
                states[top + j] = states[low + j]
                chance_of[top + j] = chance_of[low + j]
            begin[f], end[f] = top, top + high - low
            options[f] = moves(states[top], legal[f])
            option[f], best[f], weight[f], name[f] = 0, -most, mass, known
            fresh = True

    return respond


def believe(
    game: Game, policy: Policy, room: int = 1 << 20, beliefs: int = 1 << 23, patience: int = 400_000_000
) -> tuple[Verdict, tuple[int, int]]:
    """Best responses of both players to a policy that remembers a glance at most. The value of following the policy is not computed
    here: it is nan. Also returns, for each responder, how often the policy met a state that it does not know."""
    recall = policy.recall
    if isinstance(policy, Uniform):
        if not game.glances:
            raise BadSetting(f"{game.string} has no glance, so a belief over its states is not enough to tell how it goes on")
        recall = next(iter(game.glances))
    if recall == PERFECT:
        raise BadSetting("a policy with perfect recall cannot be judged by beliefs over states: it remembers more than they hold")
    values, unknown = [], []
    for me in range(2):
        shares = policy.shares[1 - me] if isinstance(policy, TablePolicy) else _nothing()
        states = game.blank(room)
        tables = (np.zeros(room), np.zeros(room, np.int64), np.zeros(room, np.int64))
        scratch = game.blank(game.depth * game.width + 3)
        memo = (np.zeros(beliefs, np.int64), np.zeros(beliefs))
        words = states.view(np.int64).reshape(room, -1)
        with np.errstate(over="ignore"):
            value, _, missed, fault = _responder(game, recall)(
                me, states, words, *tables, scratch, shares.keys, shares.first, shares.share, *memo, float(game.most), patience
            )
        if fault != FINE:
            raise TooLarge(f"judging this policy exactly on {game.string} takes more than {patience:,} steps; take a smaller variant")
        values.append(float(value))
        unknown.append(int(missed))
    return Verdict(float("nan"), (values[0], values[1])), (unknown[0], unknown[1])


def _nothing() -> Shares:
    return Shares(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
