"""Exact best responses without a tree: the responder keeps a belief over what is hidden.

Against a policy that remembers only a glance, or nothing, the whole state of the game tells how it will go on; so all that a
responder with perfect recall has learned is a distribution over states. The search is depth first over such beliefs. Equal
beliefs are judged once, however they came about. What a responder who sees everything would get (`judge/informed.py`) bounds
every belief and every move, and a belief is searched only as far as it could beat what is already in hand.

The value found is exact but for two roundings. Beliefs count as equal if each state's probability is the same to one part in
UNIT; a move or belief is passed over if it could be better by no more than SLACK. With n states in a belief and d turns of the
responder that makes at most d * (n / UNIT + SLACK) of the most that can be won: for a thousand states and twelve turns 1.4e-10.
Floating-point sums add less. Beliefs are told apart by a 64-bit digest: among ten million, one mistake has a chance of 3e-6.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import TooLarge, UnknownInformationState
from nebel.core.game import CHANCE, END, Game
from nebel.core.rng import fold
from nebel.core.rows import copy
from nebel.core.rule import kernel
from nebel.core.state import Step
from nebel.core.words import digest, words_of
from nebel.judge.informed import NO_ROW, OTHER_MOVES, PIECE, Informed, hints_against, place, shares_at
from nebel.judge.patience import PATIENCE, Patience
from nebel.policy.checked import in_words, strange_row
from nebel.policy.table import Policy, TablePolicy

UNIT = 1e14
SLACK = 1e-12
NO_MOVE = -1
NO_ROOM, STRANGE = -1, -2

Reals = NDArray[np.float64]
Longs = NDArray[np.int64]
Way = tuple[tuple[int, int], ...]
"""What the responder saw before each of its moves (folded), and the moves."""


@kernel
def _gather(n: int, words: Any, p: Any, sight: Any) -> Any:
    """Make equal states one and put what cannot be told apart side by side. Returns for each such part where it begins (and
    ends), its probability, and its name: a digest of states and normalised probabilities, whatever their order."""
    size = 16
    while size < 2 * n:
        size *= 2
    keys, where = np.zeros(size, np.int64), np.zeros(size, np.int64)
    mark = np.zeros(n, np.int64)
    used = 0
    for j in range(n):
        key = digest(words, j)
        slot = place(keys, fold(key, sight[j]))
        if keys[slot] != 0:
            p[where[slot]] += p[j]
            continue
        keys[slot], where[slot] = fold(key, sight[j]), used
        copy(words[j], words[used])
        p[used], sight[used], mark[used] = p[j], sight[j], key
        used += 1
    order = np.argsort(sight[:used], kind="mergesort")
    old_words, old_p, old_sight, old_mark = words[:used].copy(), p[:used].copy(), sight[:used].copy(), mark[:used].copy()
    for j in range(used):
        copy(old_words[order[j]], words[j])
        p[j], sight[j], mark[j] = old_p[order[j]], old_sight[order[j]], old_mark[order[j]]
    begin, mass, name = np.zeros(used + 1, np.int64), np.zeros(used), np.zeros(used, np.int64)
    parts = 0
    for j in range(used):
        if j == 0 or sight[j] != sight[j - 1]:
            begin[parts] = j
            parts += 1
        mass[parts - 1] += p[j]
    begin[parts] = used
    for i in range(parts):
        total = np.uint64(0)
        for j in range(begin[i], begin[i + 1]):
            p[j] /= mass[i]
            total += np.uint64(fold(mark[j], np.int64(p[j] * UNIT + 0.5)))
        name[i] = np.int64(total)
    return begin[: parts + 1], mass[:parts], name[:parts]


@functools.lru_cache(maxsize=16)
def _kernels(game: Game, recall: str) -> Any:
    _, turn, moves, play, score, odds = game.rules
    sure = hints_against(game, recall).sure
    look = game.glances[recall].look
    width = game.width

    @kernel
    def options(states: Any, out: Any) -> int:
        """The moves worth trying, the same in all states of a belief."""
        best = sure(states[0])
        if best < 0:
            return moves(states[0], out)
        out[0] = best
        return 1

    @kernel
    def reply(
        me: int, policy: Any, move: int, states: Any, chance: Any, stack: Any, made: Any, p: Any, sight: Any
    ) -> Any:  # fmt: skip
        """What follows when `me` makes the move (-1: none) in a belief, until `me` is to move again.

        Fills `made` with states, `p` with their probabilities and `sight` with what `me` saw on the way. Returns how many states there are
        (NO_ROOM: more than there is room for; STRANGE: the policy has other moves than the game, in the information state sight[0]), what
        player 0 wins in games that end, and how often the policy knew nothing.
        """
        seen, legal, luck = np.zeros(2, np.int64), np.zeros(width, np.int64), np.zeros(width)
        open_p, open_sight = np.zeros(stack.size), np.zeros(stack.size, np.int64)
        ended, n, unknown = 0.0, 0, 0
        for j in range(states.size):
            stack[0] = states[j]
            open_p[0], open_sight[0] = chance[j], 1
            if move >= 0:
                seen[:] = 0
                play(stack[0], move, seen)
                open_sight[0] = fold(1, seen[me]) if seen[me] != 0 else 1
            waiting = 1
            while waiting > 0:
                waiting -= 1
                q, sighted = open_p[waiting], open_sight[waiting]
                who = turn(stack[waiting])
                if who == END:
                    ended += q * score(stack[waiting])
                    continue
                if who == me:
                    if n == made.size:
                        return NO_ROOM, ended, unknown
                    made[n] = stack[waiting]
                    p[n], sight[n] = q, sighted
                    n += 1
                    continue
                count = moves(stack[waiting], legal)
                if who == CHANCE:
                    odds(stack[waiting], luck)
                else:
                    key = np.int64(look(stack[waiting], who))
                    row = shares_at(policy[who], key, legal, count, luck)
                    if row == NO_ROW:
                        unknown += 1
                    if row == OTHER_MOVES:
                        sight[0] = key
                        return STRANGE, ended, unknown
                stack[stack.size - 1] = stack[waiting]
                for a in range(count):
                    if luck[a] > 0.0:
                        stack[waiting] = stack[stack.size - 1]
                        seen[:] = 0
                        play(stack[waiting], legal[a], seen)
                        open_p[waiting] = q * luck[a]
                        open_sight[waiting] = fold(sighted, seen[me]) if seen[me] != 0 else sighted
                        waiting += 1
        return n, ended, unknown

    return options, reply


class Belief(NamedTuple):
    """What the responder may hold true at a turn, and how likely that turn comes about after the move before it."""

    states: Any
    chance: Reals  # of each state, 1 in all
    mass: float
    name: int
    moves: list[tuple[int, float]]  # those worth trying, with the most that each could be worth, the best first
    ceiling: float  # the most that the belief could be worth


class Response(NamedTuple):
    """The best response of one player to the other's policy."""

    value: float  # what the responder gets
    guarantee: float | None  # how often the policy wins at least, in a game that pays +1 and -1 only
    ceiling: float  # what a responder would get who sees everything
    beliefs: int  # how many were judged
    unknown: int  # decisions met at which the policy had no answer, and played uniformly


class _Search:
    def __init__(self, game: Game, policy: Policy, me: int, patience: Patience) -> None:
        self.game, self.me, self.patience = game, me, patience
        self.informed = Informed(game, policy, me, patience=patience)
        self.exact: dict[int, float] = {}
        self.at_most: dict[int, float] = {}
        self.unknown = 0
        self._options, self._reply = _kernels(game, self.informed.recall)
        self._stack = np.asarray(game.blank(game.depth * game.width + 3))
        self._make_room(1 << 12)
        self.start = Belief(np.asarray(self.game.begin()), np.ones(1), 1.0, 0, [], self.game.most)

    def _make_room(self, size: int) -> None:
        made = np.asarray(self.game.blank(size))  # handled faster than a recarray, and its items are records as well
        self._made = made, words_of(made), np.zeros(size), np.zeros(size, np.int64)

    def run(self) -> Response:
        value = self.play(self.start, NO_MOVE, -np.inf)
        ceiling = float(self.informed.worth(self.start.states)[0, 0])
        guarantee = (1 - value) / 2 if self.informed.won_or_lost else None
        return Response(value, guarantee, ceiling, len(self.exact.keys() | self.at_most.keys()), self.unknown)

    def best(self, belief: Belief, alpha: float) -> float:
        """What the belief is worth, if that is more than `alpha`; else something that it is not worth more than."""
        best = ceiling = -np.inf
        for move, most in belief.moves:
            cut = max(best, alpha)
            if most <= cut + SLACK:
                ceiling = max(ceiling, most)
                break
            value = self.play(belief, move, cut)
            ceiling = max(ceiling, value)
            if value > cut:
                best = value
        if best > alpha:
            self.exact[belief.name] = best
            return best
        self.at_most[belief.name] = ceiling
        return min(ceiling, alpha)

    def play(self, belief: Belief, move: int, cut: float) -> float:
        """What the move is worth, if that is more than `cut`; else something that it is not worth more than."""
        gained, parts = self.after(belief, move)
        rests = [*accumulate((part.mass * part.ceiling for part in reversed(parts)), initial=0.0)]
        for part in parts:
            ceiling = gained + rests.pop()
            if ceiling <= cut + SLACK:
                return min(ceiling, cut)
            alpha = (cut - gained - rests[-1]) / part.mass
            value = self.best(part, alpha)
            gained += part.mass * value
            if value <= alpha:  # compared before any rounding: a bound must never be taken for the worth
                return min(gained + rests[-1], cut)
        return gained

    def choice(self, belief: Belief) -> int:
        """Return a best move: the first one tried that no other beats."""
        best, chosen = -np.inf, belief.moves[0][0]
        for move, most in belief.moves:
            if most <= best + SLACK:
                break
            value = self.play(belief, move, best)
            if value > best:
                best, chosen = value, move
        return chosen

    def beliefs_after(self, belief: Belief, move: int) -> dict[int, Belief]:
        """Return all beliefs that may follow a move, by what the responder sees on the way (folded)."""
        _, begin, mass, names = self._expand(belief, move)
        made, _, chance, sight = self._made
        found = {}
        for i, name in enumerate(names.tolist()):
            here = slice(begin[i], begin[i + 1])
            states, shares = made[here].copy(), chance[here].copy()
            moves = self._weigh_moves(states, shares)
            found[int(sight[begin[i]])] = Belief(states, shares, float(mass[i]), name, moves, moves[0][1])
        return found

    def after(self, belief: Belief, move: int) -> tuple[float, list[Belief]]:
        """What is known to be gained by a move, and the beliefs that may follow whose worth is not known yet."""
        ended, begin, mass, names = self._expand(belief, move)
        made, _, chance, _ = self._made
        gained = -ended if self.me else ended
        parts = []
        for i, name in enumerate(names.tolist()):
            if name in self.exact:
                gained += mass[i] * self.exact[name]
                continue
            here = slice(begin[i], begin[i + 1])
            moves = self._weigh_moves(made[here], chance[here])
            ceiling = min(moves[0][1], self.at_most.get(name, np.inf))
            parts.append(Belief(made[here].copy(), chance[here].copy(), float(mass[i]), name, moves, ceiling))
        floor = self.game.most if np.isfinite(self.game.most) else 0.0
        parts.sort(key=lambda part: -part.mass * (part.ceiling + floor))  # what decides most comes first
        return float(gained), parts

    def _expand(self, belief: Belief, move: int) -> tuple[float, Longs, Reals, Longs]:
        with np.errstate(over="ignore"):
            while True:
                made, words, chance, sight = self._made
                n, ended, unknown = self._reply(
                    self.me, self.informed.policy, move, belief.states, belief.chance, self._stack, made, chance, sight
                )
                if n == STRANGE:
                    player, key = 1 - self.me, int(sight[0])
                    raise strange_row(player, in_words(self.game, player, self.informed.recall)(key))
                if n != NO_ROOM:
                    break
                self._make_room(2 * len(made))
            begin, mass, names = _gather(n, words, chance, sight)
        self.unknown += unknown
        if not self.patience.spend(n):
            raise TooLarge(self._excuse())
        return float(ended), begin, mass, names

    def _weigh_moves(self, states: Any, chance: Reals) -> list[tuple[int, float]]:
        moves = np.zeros(self.game.width, np.int64)
        moves = moves[: self._options(states, moves)]
        worth = chance @ self.informed.worth(states, moves)
        return [(int(moves[i]), float(worth[i])) for i in np.argsort(-worth, kind="stable")]

    def _excuse(self) -> str:
        self.informed.patience = Patience(PIECE)  # what is asked is all but known
        most = float(self.informed.worth(np.asarray(self.game.begin()))[0, 0])
        return (
            f"the best response of player {self.me} on {self.game.string} takes more than {self.patience.most:,} steps (it gets {most:.6g} "
            "at most, as if seeing everything); allow more (--patience), or take a smaller variant or a simpler policy"
        )


def respond(game: Game, policy: Policy, responder: int, patience: int | Patience | None = None) -> Response:
    """The best response of one player, with perfect recall, to the other's policy, which remembers a glance at most.

    `patience`: states to look at before giving up, some millions a second.
    """
    return Responder(game, policy, responder, patience).response


class Responder:
    """The same best response, and the moves that it plays."""

    def __init__(self, game: Game, policy: Policy, responder: int, patience: int | Patience | None = None) -> None:
        allowed = patience if isinstance(patience, Patience) else Patience(PATIENCE if patience is None else patience)
        self._search = _Search(game, policy, responder, allowed)
        response = self._search.run()
        if not isinstance(policy, TablePolicy):
            response = response._replace(unknown=0)
        elif response.unknown and policy.missing == "error":
            raise UnknownInformationState(f"the policy of player {1 - responder} has no answer at {response.unknown:,} decisions")
        self.response = response
        self._after: dict[Way, dict[int, Belief]] = {}
        self._moves: dict[Way, int] = {}

    def move(self, steps: Sequence[Step]) -> int:
        """Return the best move after these steps of the game, which lead to a turn of the responder and are possible against the policy."""
        me, sighted = self._search.me, 1
        way: Way = ()
        beliefs = self._beliefs_after(way, self._search.start, NO_MOVE)
        for step in steps:
            seen = step.seen[me]
            if step.turn == me:
                belief = beliefs[sighted]
                way, sighted = (*way, (sighted, step.option)), 1
                beliefs = self._beliefs_after(way, belief, step.option)
            with np.errstate(over="ignore"):
                sighted = int(fold(sighted, seen)) if seen else sighted
        here = (*way, (sighted, NO_MOVE))
        if here not in self._moves:
            self._moves[here] = self._search.choice(beliefs[sighted])
        return self._moves[here]

    def _beliefs_after(self, way: Way, belief: Belief, move: int) -> dict[int, Belief]:
        if way not in self._after:
            self._after[way] = self._search.beliefs_after(belief, move)
        return self._after[way]
