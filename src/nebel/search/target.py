"""What a player knows as a target, and which continuations of a game can still come to it.

What a player knows is a transcript of events, in the order in which memories are folded (`core/recall.py`): an own move m is
2*m + 1, a sight t is 2*t. A history is on its way to a target as long as the events that it brings about are the target's
first ones. Whether there is a way from a state to the target is what the game's `Clues` tell; where they do not, a depth-first
search finds out, which remembers its answers, goes by the game's `essence` of states and, if an answer takes too many steps,
gives up, says that there may be a way, and counts that.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadSetting
from nebel.core.game import END, BaseGame, Game, Record
from nebel.core.rng import fold
from nebel.core.rule import rule
from nebel.core.state import State
from nebel.core.words import digest, words_of

Events = NDArray[np.int64]

PATIENCE = 10_000
"""Steps of the search for one answer."""

ANSWERS = 1 << 16
"""Answers that are remembered; a later one may take an earlier one's place."""

NO, YES, MAYBE = 1, 2, 3
GAVE_UP, STEPS = 0, 1
"""What a target counts: states of which the search could not tell, and its steps."""


class Target(NamedTuple):
    """What compiled code gets: the events, and room for the search."""

    me: int  # who is to move when the target is reached; -1: there is no target
    public: int  # 1: only what all know counts
    events: Any
    states: Any  # by depth of the search
    words: Any  # the same memory
    legal: Any
    count: Any
    tried: Any
    at: Any  # how many events have come about
    name: Any
    seen: Any
    memo: Any  # at the place that a key's digits give: the key, and in its last two bits the answer
    counts: Any

    def gave_up(self) -> int:
        """Of how many states nobody could tell in time whether there is a way from them to the target."""
        return int(self.counts[GAVE_UP])


class Follow(NamedTuple):
    """Rules for following a game towards a target.

    step(t, at, mover, move, seen)  how many events have come about after a step, if it was `at` before; -1: it contradicts the target
    reached(t, at, turn)            is this the target?
    hopeful(t, s, at)               is there a way from s to the target, when `at` events have come about?
    """

    step: Any
    reached: Any
    hopeful: Any


@rule
def match(events: Any, at: int, event: int) -> int:
    """How many events have come about after this one (0: none)."""
    if event == 0 or at < 0:
        return at
    return at + 1 if at < events.size and events[at] == event else -1


@rule
def reached(t: Target, at: int, turn: int) -> bool:
    return at == t.events.size and turn == t.me


@rule
def nothing_public(mover: int, seen0: int, seen1: int) -> int:
    return 0


@rule
def always_hopeful(s: Record, me: int, events: Any, at: int, end: int) -> bool:
    return True


@rule
def answer(memo: Any, name: Any) -> int:
    """What is remembered of a question; 0: nothing."""
    held = memo[name & (memo.size - 1)]
    return held & 3 if held >> 2 == name >> 2 else 0


@rule
def keep(memo: Any, name: Any, said: int) -> None:
    memo[name & (memo.size - 1)] = name & ~3 | said


@functools.lru_cache(maxsize=32)
def follow(game: Game) -> Follow:
    _, turn, moves, play, _, _ = game.rules
    told, essence, public, exact = game.clues
    sure, may_be = told is not None and exact, told or always_hopeful
    known = public or nothing_public

    @rule
    def step(t: Target, at: int, mover: int, move: int, seen: Any) -> int:
        if t.public:
            return match(t.events, at, 2 * known(mover, seen[0], seen[1]))
        if mover == t.me:
            at = match(t.events, at, 2 * move + 1)
        return match(t.events, at, 2 * seen[t.me])

    @rule
    def forced(t: Target, d: int, who: int, move: int) -> bool:
        """Is it known that something else was done here?"""
        return who == t.me and t.public == 0 and t.events[t.at[d]] != 2 * move + 1

    @rule
    def enter(t: Target, d: int) -> int:
        """Look at the state that the search has come to: the answer, or 0 if its options must be tried."""
        who = turn(t.states[d])
        if reached(t, t.at[d], who):
            return YES
        if who == END or (t.public == 0 and not may_be(t.states[d], t.me, t.events, t.at[d], t.events.size)):
            return NO
        essence(t.states[d])
        t.name[d] = fold(digest(t.words, d), t.at[d])
        t.count[d], t.tried[d] = moves(t.states[d], t.legal[d]), 0
        return answer(t.memo, t.name[d])

    @rule
    def descend(t: Target, d: int) -> bool:
        """Try the next option that contradicts nothing; False if there is none."""
        who = turn(t.states[d])
        while t.tried[d] < t.count[d]:
            move = t.legal[d, t.tried[d]]
            t.tried[d] += 1
            if forced(t, d, who, move):
                continue
            t.states[d + 1] = t.states[d]
            t.seen[0] = t.seen[1] = 0
            play(t.states[d + 1], move, t.seen)
            t.at[d + 1] = step(t, t.at[d], who, move, t.seen)
            if t.at[d + 1] >= 0:
                return True
        return False

    @rule
    def search(t: Target, s: Record, at: int) -> bool:
        t.states[0], t.at[0] = s, at
        d, steps = 0, 0
        said = enter(t, 0)
        if said != 0:
            return said != NO
        while d >= 0:
            if not descend(t, d):
                keep(t.memo, t.name[d], NO)
                d -= 1
                continue
            steps += 1
            d += 1
            said = enter(t, d)
            if said == 0 and steps >= PATIENCE:
                said = MAYBE
            if said == NO:
                d -= 1
            elif said != 0:
                break
        t.counts[STEPS] += steps
        if d < 0:
            return False
        t.counts[GAVE_UP] += said == MAYBE
        for e in range(d if said == YES else 1):
            keep(t.memo, t.name[e], said)
        return True

    @rule
    def hopeful(t: Target, s: Record, at: int) -> bool:
        if sure and t.public == 0:
            return may_be(s, t.me, t.events, at, t.events.size)
        return search(t, s, at)

    return Follow(step, reached, hopeful)


def events_of(state: State, me: int) -> Events:
    """What player `me` has done and seen."""
    events = []
    for step in state.steps:
        if step.turn == me:
            events.append(2 * step.option + 1)
        if step.seen[me]:
            events.append(2 * step.seen[me])
    return np.array(events, np.int64)


def public_events_of(state: State) -> Events:
    """What all have seen."""
    tell = in_rules(state.game).clues.public
    if tell is None:
        raise BadSetting(f"{state.game.string} does not say what is public (Clues.public); take what the player to move knows instead")
    return np.array([2 * token for step in state.steps if (token := tell(step.turn, *step.seen))], np.int64)


def in_rules(game: BaseGame) -> Game:
    if not isinstance(game, Game):
        raise BadSetting(f"{game.string} cannot be searched: it is not written in rules")
    return game


def to_move(state: State) -> int:
    """The player who is to move."""
    if state.turn < 0:
        raise BadSetting(f"no player is to move after {state.moves_text() or 'no moves'}, so nobody can think")
    return state.turn


def no_target(game: Game) -> Target:
    return _target(game, -1, 0, np.zeros(0, np.int64))


def target(game: Game, state: State, me: int, public: bool = False) -> Target:
    """What player `me`, who is to move, knows in this state, or what all know."""
    if to_move(state) != me:
        raise BadSetting(f"player {me} is not to move after {state.moves_text() or 'no moves'}: a target is what the player to move knows")
    return _target(game, me, int(public), public_events_of(state) if public else events_of(state, me))


def _target(game: Game, me: int, public: int, events: Events) -> Target:
    depth = game.depth + 2

    def longs(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, np.int64)

    states = np.asarray(game.blank(depth))
    return Target(
        me, public, events, states, words_of(states), longs(depth, game.width), longs(depth), longs(depth), longs(depth), longs(depth),
        longs(2), longs(ANSWERS), longs(2),
    )  # fmt: skip
