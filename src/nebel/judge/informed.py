"""What a player who sees everything gets against a policy that remembers a glance at most, from any state of the game.

That is an upper bound for a player who does not see everything. With nobody informed, both following the policy, the same
search gives the value of the policy. Every distinct state is judged once; the table of states grows as they are met.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadRules, BadSetting, TooLarge
from nebel.core.game import CHANCE, END, Game, Hints
from nebel.core.recall import PERFECT
from nebel.core.remember import MEMORY
from nebel.core.rule import kernel, rule
from nebel.core.words import digest, words_of
from nebel.policy.table import Policy, Shares, TablePolicy, Uniform

NOBODY = 2
FINE, TOO_MANY, TOO_DEEP = 0, 1, 2
CERTAIN = 1e-12
"""An informed player who is this close to the most that can be won has it."""

Reals = NDArray[np.float64]


class Table(NamedTuple):
    """States judged so far, by digest (0: a free place), and what they are worth; the counts have names of their own."""

    keys: NDArray[np.int64]
    worth: Reals
    counts: NDArray[np.int64]


HELD, STEPS, ODD = 0, 1, 2
"""What is counted: states held, states looked at, scores other than +1 and -1."""


@rule
def place(keys: Any, key: Any) -> int:
    """Where `key` stands, or the free place where it belongs."""
    slot = key & (keys.size - 1)
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & (keys.size - 1)
    return slot


@rule
def shares_at(shares: Any, key: Any, n: int, out: Any) -> bool:
    """Write the policy's shares of the `n` legal moves; False if it knows nothing here, which means uniform."""
    i = np.searchsorted(shares.keys, key)
    known = i < shares.keys.size and shares.keys[i] == key
    for a in range(n):
        out[a] = shares.share[shares.first[i] + a] if known else 1.0 / n
    return known


def hints_against(game: Game, recall: str) -> Hints:
    """The game's hints, as far as they hold against a policy with this recall."""
    return Hints() if recall == MEMORY and not game.hints.always else game.hints


@functools.lru_cache(maxsize=16)
def _informed(game: Game, recall: str) -> Any:
    _, turn, moves, play, score, odds = game.rules
    sure, reveal, _ = hints_against(game, recall)
    look = game.glances[recall].look
    width, most = game.width, float(game.most)

    @kernel
    def informed(
        me: int, policy: Any, states: Any, tries: Any, stack: Any, words: Any, keys: Any, worth: Any, counts: Any, room: int, out: Any
    ) -> Any:  # fmt: skip
        """out[j, m] = what state j is worth to `me` after the move tries[m] (-1: as it is). Returns the table and what went wrong."""
        sign = -1.0 if me == 1 else 1.0
        legal, count = np.zeros((stack.size, width), np.int64), np.zeros(stack.size, np.int64)
        luck, at = np.zeros((stack.size, width)), np.zeros(stack.size, np.int64)
        total, mine = np.zeros(stack.size), np.zeros(stack.size, np.bool_)
        name, seen = np.zeros(stack.size, np.int64), np.zeros(2, np.int64)
        for task in range(states.size * tries.size):
            stack[0] = states[task // tries.size]
            if tries[task % tries.size] >= 0:
                play(stack[0], tries[task % tries.size], seen)
            got = 0.0  # by the state just left
            d, entering = 0, True
            while d >= 0:
                if entering:
                    counts[STEPS] += 1
                    who = turn(stack[d])
                    if who == END:
                        got = sign * score(stack[d])
                        counts[ODD] += abs(got) != 1.0
                        d, entering = d - 1, False
                        continue
                    if me != NOBODY:
                        reveal(stack[d], me)
                    name[d] = digest(words, d)
                    slot = place(keys, name[d])
                    if keys[slot] != 0:
                        got = worth[slot]
                        d, entering = d - 1, False
                        continue
                    count[d], at[d], mine[d] = moves(stack[d], legal[d]), 0, who == me
                    total[d] = -np.inf if mine[d] else 0.0
                    if mine[d]:
                        best = sure(stack[d])
                        if best >= 0:
                            legal[d, 0], count[d] = best, 1
                    elif who == CHANCE:
                        odds(stack[d], luck[d])
                    else:
                        shares_at(policy[who], np.int64(look(stack[d], who)), count[d], luck[d])
                else:
                    total[d] = max(total[d], got) if mine[d] else total[d] + luck[d, at[d]] * got
                    at[d] += 1
                while at[d] < count[d] and not mine[d] and luck[d, at[d]] == 0.0:
                    at[d] += 1
                safe = mine[d] and total[d] >= most - CERTAIN
                if at[d] == count[d] or safe:
                    got = most if safe else total[d]
                    if 4 * counts[HELD] >= 3 * keys.size:
                        if 2 * keys.size > room:
                            return keys, worth, TOO_MANY
                        old_keys, old_worth = keys, worth
                        keys, worth = np.zeros(2 * old_keys.size, np.int64), np.zeros(2 * old_keys.size)
                        for i in range(old_keys.size):
                            if old_keys[i] != 0:
                                slot = place(keys, old_keys[i])
                                keys[slot], worth[slot] = old_keys[i], old_worth[i]
                    slot = place(keys, name[d])
                    keys[slot], worth[slot] = name[d], got
                    counts[HELD] += 1
                    d, entering = d - 1, False
                    continue
                if d + 1 == stack.size:
                    return keys, worth, TOO_DEEP
                stack[d + 1] = stack[d]
                play(stack[d + 1], legal[d, at[d]], seen)
                d, entering = d + 1, True
            out[task // tries.size, task % tries.size] = got
        return keys, worth, FINE

    return informed


AS_IT_IS = np.array([-1], np.int64)


class Informed:
    """The best that `me` could get, seeing everything (NOBODY: what player 0 gets if both follow the policy)."""

    def __init__(self, game: Game, policy: Policy, me: int, room: int = 1 << 26) -> None:
        self.game, self.me, self.room = game, me, room
        self.recall = remembered(game, policy)
        self.policy = policy.shares if isinstance(policy, TablePolicy) else (_NOTHING, _NOTHING)
        self._search = _informed(game, self.recall)
        self._stack = np.asarray(game.blank(2 * game.depth + 4))
        self._words = words_of(self._stack)
        self._table = Table(np.zeros(1 << 14, np.int64), np.zeros(1 << 14), np.zeros(3, np.int64))

    def worth(self, states: Any, tries: NDArray[np.int64] = AS_IT_IS) -> Reals:
        """By state and move tried."""
        out = np.empty((len(states), len(tries)))
        with np.errstate(over="ignore"):
            keys, worth, fault = self._search(self.me, self.policy, states, tries, self._stack, self._words, *self._table, self.room, out)
        self._table = Table(keys, worth, self._table.counts)
        if fault == TOO_MANY:
            raise TooLarge(f"{self.game.string} has more states than the {self.room * 3 // 4:,} that can be held; take a smaller variant")
        if fault == TOO_DEEP:
            raise BadRules(f"{self.game.string}: hints.reveal makes the game longer than twice its depth; it must not undo moves")
        return out

    @property
    def steps(self) -> int:
        return int(self._table.counts[STEPS])

    @property
    def won_or_lost(self) -> bool:
        """Whether all games met end with +1 or -1."""
        return not self._table.counts[ODD]


def both_follow(game: Game, policy: Policy, room: int = 1 << 22) -> float | None:
    """What player 0 gets when both follow the policy; None if that takes a table of more than `room` states."""
    try:
        return float(Informed(game, policy, NOBODY, room).worth(np.asarray(game.begin()))[0, 0])
    except TooLarge:
        return None


def remembered(game: Game, policy: Policy) -> str:
    """The glance by which a policy plays."""
    if isinstance(policy, Uniform):
        if not game.glances:
            raise BadSetting(f"{game.string} has no glance, so a belief over its states is not enough to tell how it goes on")
        return next(iter(game.glances))
    if policy.recall == PERFECT:
        raise BadSetting("a policy with perfect recall cannot be judged by beliefs over states: it remembers more than they hold")
    return policy.recall


_NOTHING = Shares(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
