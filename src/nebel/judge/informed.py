"""What a player who sees everything gets against a policy that remembers a glance at most, from any state of the game.

That is an upper bound for a player who does not see everything. With nobody informed, both following the policy, the same
search gives the value of the policy. Every distinct state is judged once; the table of states grows as they are met. If the
search also follows moves that the policy never makes, it meets all information states, and tells whether the table is complete.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadRules, BadSetting, TooLarge, UnknownInformationState
from nebel.core.game import CHANCE, END, Game, Hints
from nebel.core.recall import PERFECT
from nebel.core.remember import MEMORY
from nebel.core.rule import kernel, rule
from nebel.core.words import digest, words_of
from nebel.judge.patience import Patience
from nebel.policy.checked import in_words, strange_keys, strange_row
from nebel.policy.table import Policy, Shares, TablePolicy, Uniform

NOBODY, ALL_MOVES = 2, 3
"""Nobody is informed; the same, and moves are followed that are never made, too."""
FINE, TOO_MANY, TOO_DEEP, PAUSED, STRANGE, LACKING = range(6)
PIECE = 1 << 20
"""Steps of a search between two looks at how far it is."""
CERTAIN = 1e-12
"""An informed player who is this close to the most that can be won has it."""

Reals = NDArray[np.float64]


class Table(NamedTuple):
    """States judged so far, by digest (0: a free place), and what they are worth; the counts have names of their own."""

    keys: NDArray[np.int64]
    worth: Reals
    counts: NDArray[np.int64]


HELD, STEPS, ODD, TASK, WHO, KEY = range(6)
"""What is counted: states held, states looked at, scores other than +1 and -1; where a search paused; and the player and key of a row
that went wrong."""
NO_ROW, OTHER_MOVES = -1, -2
"""The table says nothing of an information state; it has other moves there than the game."""


@rule
def place(keys: Any, key: Any) -> int:
    """Where `key` stands, or the free place where it belongs."""
    slot = key & (keys.size - 1)
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & (keys.size - 1)
    return slot


@rule
def shares_at(shares: Any, key: Any, legal: Any, n: int, out: Any) -> int:
    """Write the policy's shares of the `n` legal moves. Returns the row of its table, NO_ROW, which means uniform, or OTHER_MOVES."""
    i = np.searchsorted(shares.keys, key)
    if i == shares.keys.size or shares.keys[i] != key:
        for a in range(n):
            out[a] = 1.0 / n
        return NO_ROW
    first = shares.first[i]
    if shares.first[i + 1] - first != n:
        return OTHER_MOVES
    for a in range(n):
        if shares.move[first + a] != legal[a]:
            return OTHER_MOVES
        out[a] = shares.share[first + a]
    return i


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
        me: int, policy: Any, met: Any, strict: bool, states: Any, tries: Any, stack: Any, words: Any, keys: Any, worth: Any, counts: Any,
        room: int, until: int, out: Any,
    ) -> Any:  # fmt: skip
        """out[j, m] = what state j is worth to `me` after the move tries[m] (-1: as it is). Returns the table and what went wrong.

        Stops after `until` steps; called again, it soon is where it was. ALL_MOVES: met[player][row] becomes True where the search comes
        to a row of the table. `strict`: where both follow the policy and there is no row, that is an error.
        """
        sign = -1.0 if me == 1 else 1.0
        legal, count = np.zeros((stack.size, width), np.int64), np.zeros(stack.size, np.int64)
        luck, at = np.zeros((stack.size, width)), np.zeros(stack.size, np.int64)
        total, mine = np.zeros(stack.size), np.zeros(stack.size, np.bool_)
        name, seen = np.zeros(stack.size, np.int64), np.zeros(2, np.int64)
        never = np.zeros(stack.size, np.bool_)  # whether moves of share 0 are left out
        for task in range(counts[TASK], states.size * tries.size):
            stack[0] = states[task // tries.size]
            if tries[task % tries.size] >= 0:
                play(stack[0], tries[task % tries.size], seen)
            got = 0.0  # by the state just left
            d, entering = 0, True
            while d >= 0:
                if entering:
                    if counts[STEPS] >= until:
                        counts[TASK] = task
                        return keys, worth, PAUSED
                    counts[STEPS] += 1
                    who = turn(stack[d])
                    if who == END:
                        got = sign * score(stack[d])
                        counts[ODD] += abs(got) != 1.0
                        d, entering = d - 1, False
                        continue
                    if me < NOBODY:
                        reveal(stack[d], me)
                    name[d] = digest(words, d)
                    slot = place(keys, name[d])
                    if keys[slot] != 0:
                        got = worth[slot]
                        d, entering = d - 1, False
                        continue
                    count[d], at[d], mine[d] = moves(stack[d], legal[d]), 0, who == me
                    total[d] = -np.inf if mine[d] else 0.0
                    never[d] = not mine[d] and (who == CHANCE or me != ALL_MOVES)
                    if mine[d]:
                        best = sure(stack[d])
                        if best >= 0:
                            legal[d, 0], count[d] = best, 1
                    elif who == CHANCE:
                        odds(stack[d], luck[d])
                    else:
                        key = np.int64(look(stack[d], who))
                        row = shares_at(policy[who], key, legal[d], count[d], luck[d])
                        if row == OTHER_MOVES or (row == NO_ROW and strict and me >= NOBODY):
                            counts[WHO], counts[KEY] = who, key
                            return keys, worth, STRANGE if row == OTHER_MOVES else LACKING
                        if row >= 0 and me == ALL_MOVES:
                            met[who][row] = True
                else:
                    total[d] = max(total[d], got) if mine[d] else total[d] + luck[d, at[d]] * got
                    at[d] += 1
                while at[d] < count[d] and never[d] and luck[d, at[d]] == 0.0:
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
        counts[TASK] = 0
        return keys, worth, FINE

    return informed


AS_IT_IS = np.array([-1], np.int64)


class Informed:
    """The best that `me` could get, seeing everything (NOBODY, ALL_MOVES: what player 0 gets if both follow the policy)."""

    def __init__(self, game: Game, policy: Policy, me: int, room: int = 1 << 26, patience: Patience | None = None) -> None:
        self.game, self.me, self.room, self.patience = game, me, room, patience or Patience()
        self.recall = remembered(game, policy)
        if isinstance(policy, TablePolicy):
            policy.check_shares(game)
        self.strict = isinstance(policy, TablePolicy) and policy.missing == "error"
        self.policy = tuple(_as_arrays(held) for held in policy.shares) if isinstance(policy, TablePolicy) else (_NOTHING, _NOTHING)
        self.met = tuple(np.zeros(len(held.keys), np.bool_) for held in self.policy)
        self._search = _informed(game, self.recall)
        self._stack = np.asarray(game.blank(2 * game.depth + 4))
        self._words = words_of(self._stack)
        self._table = Table(np.zeros(1 << 14, np.int64), np.zeros(1 << 14), np.zeros(6, np.int64))

    def worth(self, states: Any, tries: NDArray[np.int64] = AS_IT_IS) -> Reals:
        """By state and move tried."""
        out = np.empty((len(states), len(tries)))
        fault = PAUSED
        while fault == PAUSED:
            before = self.steps
            until = before + min(PIECE, self.patience.left)
            given = (self.me, self.policy, self.met, self.strict, states, tries, self._stack, self._words, *self._table)
            with np.errstate(over="ignore"):
                keys, worth, fault = self._search(*given, self.room, until, out)
            self._table = Table(keys, worth, self._table.counts)
            if not self.patience.spend(self.steps - before) or (fault == PAUSED and not self.patience.left):
                raise TooLarge(self._excuse())
        self._refuse(fault)
        return out

    def _refuse(self, fault: int) -> None:
        if fault == TOO_MANY:
            raise TooLarge(f"{self.game.string} has more states than the {self.room * 3 // 4:,} that can be held; take a smaller variant")
        if fault == TOO_DEEP:
            raise BadRules(f"{self.game.string}: hints.reveal makes the game longer than twice its depth; it must not undo moves")
        if fault in (STRANGE, LACKING):
            player, key = int(self._table.counts[WHO]), int(self._table.counts[KEY])
            words = in_words(self.game, player, self.recall)(key)
            if fault == STRANGE:
                raise strange_row(player, words)
            raise UnknownInformationState(f"the policy does not know player {player}'s state '{words}'")

    def _excuse(self) -> str:
        most = f" (it gets {self.game.most:.6g} at most)" if np.isfinite(self.game.most) and self.me < NOBODY else ""
        what = f"the best response of player {self.me}" if self.me < NOBODY else "the value of the policy"
        return (
            f"{what} on {self.game.string} takes more than {self.patience.most:,} steps{most}; allow more (--patience), or take a smaller "
            "variant or a simpler policy"
        )

    @property
    def steps(self) -> int:
        return int(self._table.counts[STEPS])

    @property
    def won_or_lost(self) -> bool:
        """Whether all games met end with +1 or -1."""
        return not self._table.counts[ODD]


def both_follow(game: Game, policy: Policy, room: int = 1 << 22, patience: Patience | None = None) -> float | None:
    """What player 0 gets when both follow the policy; None if that takes a table of more than `room` states, or too many steps."""
    try:
        return float(Informed(game, policy, NOBODY, room, patience).worth(np.asarray(game.begin()))[0, 0])
    except TooLarge:
        return None


def follow_all(game: Game, policy: TablePolicy, room: int = 1 << 22, patience: Patience | None = None) -> float:
    """What player 0 gets when both follow the policy, and a check that its table has the information states and the moves of the game.

    Looks at all states of the game. Raises `TooLarge` if that takes a table of more than `room` states, or too many steps.
    """
    search = Informed(game, policy, ALL_MOVES, room, patience)
    value = float(search.worth(np.asarray(game.begin()))[0, 0])
    for player, (held, met) in enumerate(zip(policy.shares, search.met, strict=True)):
        if search.strict and not met.all():
            words = in_words(game, player, policy.recall)(int(held.keys[~met][0]))
            raise strange_keys(player, words, int(np.count_nonzero(~met)), game.string)
    return value


def remembered(game: Game, policy: Policy) -> str:
    """The glance by which a policy plays."""
    if isinstance(policy, Uniform):
        if not game.glances:
            raise BadSetting(f"{game.string} has no glance, so a belief over its states is not enough to tell how it goes on")
        return next(iter(game.glances))
    if not isinstance(policy, TablePolicy):
        raise BadSetting(f"only tables and the uniform policy can be judged by beliefs, not a {type(policy).__name__}")
    if policy.recall == PERFECT:
        raise BadSetting("a policy with perfect recall cannot be judged by beliefs over states: it remembers more than they hold")
    return policy.recall


def _as_arrays(table: Shares) -> Shares:
    """The table as compiled code reads it, always of the same types."""
    keys, first, move = (np.ascontiguousarray(column, np.int64) for column in table[:3])
    return Shares(keys, first, move, np.ascontiguousarray(table.share, np.float64))


_NOTHING = Shares(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
