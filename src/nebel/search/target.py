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
from nebel.core.game import END, BaseGame, Game, Record, record
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


Aims = Any
"""Records of targets: `me`, who is to move when it is reached (-1: there is none), and the `length` first of `events`. Compiled code
counts who refers to an array, and not who to a record, and targets are handed on and on."""


class Room(NamedTuple):
    """Of the search."""

    states: Any  # by its depth
    words: Any  # the same memory
    legal: Any
    count: Any
    tried: Any
    at: Any  # how many events have come about
    name: Any
    seen: Any
    memo: Any  # by target; at the place that a key's digits give: the key, and in its last two bits the answer
    counts: Any

    def gave_up(self) -> int:
        """Of how many states nobody could tell in time whether there is a way from them to the target."""
        return int(self.counts[GAVE_UP])


class Follow(NamedTuple):
    """Rules for following a game towards a target.

    step(t, at, mover, move, seen)  how many events have come about after a step, if it was `at` before; -1: it contradicts the target
    reached(t, at, turn)            is this the target?
    hopeful(t, room, s, at)         is there a way from s to the target, when `at` events have come about?
    own_room(room, k)               that of target k; None if it takes no search to tell, and then there need be none
    """

    step: Any
    reached: Any
    hopeful: Any
    own_room: Any


@rule
def match(t: Record, at: int, event: int) -> int:
    """How many events have come about after this one (0: none)."""
    if event == 0 or at < 0:
        return at
    return at + 1 if at < t.length and t.events[at] == event else -1


@rule
def reached(t: Record, at: int, turn: int) -> bool:
    return at == t.length and turn == t.me


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


@rule
def no_room(room: None, k: int) -> None:
    return None


@rule
def room_of(room: Room, k: int) -> Room:
    r = room
    return Room(r.states, r.words, r.legal, r.count, r.tried, r.at, r.name, r.seen, r.memo[k], r.counts)


@functools.lru_cache(maxsize=32)
def follow(game: Game, common: bool = False) -> Follow:
    """Towards what a player knows or, `common`, what all know."""
    _, turn, moves, play, _, _ = game.rules
    told, essence, public, _ = game.clues
    may_be = told if told and not common else always_hopeful
    known = public or nothing_public

    @rule
    def step(t: Record, at: int, mover: int, move: int, seen: Any) -> int:
        if common:
            return match(t, at, 2 * known(mover, seen[0], seen[1]))
        if mover == t.me:
            at = match(t, at, 2 * move + 1)
        return match(t, at, 2 * seen[t.me])

    @rule
    def enter(t: Record, r: Room, d: int) -> int:
        """Look at the state that the search has come to: the answer, or 0 if its options must be tried."""
        who = turn(r.states[d])
        if reached(t, r.at[d], who):
            return YES
        if who == END or not may_be(r.states[d], t.me, t.events, r.at[d], t.length):
            return NO
        essence(r.states[d])
        r.name[d] = fold(digest(r.words, d), r.at[d])
        r.count[d], r.tried[d] = moves(r.states[d], r.legal[d]), 0
        return answer(r.memo, r.name[d])

    @rule
    def descend(t: Record, r: Room, d: int) -> bool:
        """Try the next option that contradicts nothing; False if there is none."""
        who = turn(r.states[d])
        while r.tried[d] < r.count[d]:
            move = r.legal[d, r.tried[d]]
            r.tried[d] += 1
            if who == t.me and not common and t.events[r.at[d]] != 2 * move + 1:  # it is known that something else was done here
                continue
            r.states[d + 1] = r.states[d]
            r.seen[0] = r.seen[1] = 0
            play(r.states[d + 1], move, r.seen)
            r.at[d + 1] = step(t, r.at[d], who, move, r.seen)
            if r.at[d + 1] >= 0:
                return True
        return False

    @rule
    def search(t: Record, r: Room, s: Record, at: int) -> bool:
        r.states[0], r.at[0] = s, at
        d, steps = 0, 0
        said = enter(t, r, 0)
        if said != 0:
            return said != NO
        while d >= 0:
            if not descend(t, r, d):
                keep(r.memo, r.name[d], NO)
                d -= 1
                continue
            steps += 1
            d += 1
            said = enter(t, r, d)
            if said == 0 and steps >= PATIENCE:
                said = MAYBE
            if said == NO:
                d -= 1
            elif said != 0:
                break
        r.counts[STEPS] += steps
        if d < 0:
            return False
        r.counts[GAVE_UP] += said == MAYBE
        for e in range(d if said == YES else 1):
            keep(r.memo, r.name[e], said)
        return True

    @rule
    def tell(t: Record, r: None, s: Record, at: int) -> bool:
        return may_be(s, t.me, t.events, at, t.length)

    return Follow(step, reached, search, room_of) if searches(game, common) else Follow(step, reached, tell, no_room)


def searches(game: Game, common: bool) -> bool:
    """Does it take a search to find out from where a target can be reached?"""
    return common or game.clues.hopeful is None or not game.clues.exact


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
        raise BadSetting(f"{state.game.string} does not say what is public (Clues.public); take target=information or target=none")
    return np.array([2 * token for step in state.steps if (token := tell(step.turn, *step.seen))], np.int64)


def in_rules(game: BaseGame) -> Game:
    if not isinstance(game, Game):
        raise BadSetting(f"{game.string} cannot be searched or learned: it is not written in rules; nebel solve and nebel judge take it")
    return game


def to_move(state: State) -> int:
    """The player who is to move."""
    if state.turn < 0:
        raise BadSetting(f"no player is to move after {state.moves_text() or 'no moves'}, so nobody can think")
    return state.turn


def target(game: Game, state: State, me: int, common: bool = False) -> Aims:
    """What player `me`, who is to move, knows in this state, or what all know."""
    if to_move(state) != me:
        raise BadSetting(f"player {me} is not to move after {state.moves_text() or 'no moves'}: a target is what the player to move knows")
    one = no_targets(game, 1)
    take_aim(one[0], me, public_events_of(state) if common else events_of(state, me))
    return one


def no_targets(game: Game, count: int) -> Aims:
    aims = np.zeros(count, record(me=np.int64, length=np.int64, events=(np.int64, 2 * game.depth + 2))).view(np.recarray)
    aims.me = -1
    return aims


def take_aim(t: Record, me: int, events: Events) -> None:
    t.me, t.length = me, len(events)
    t.events[: len(events)] = events


def room_for(game: Game, targets: int = 1) -> Room:
    depth = game.depth + 2

    def longs(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, np.int64)

    states = np.asarray(game.blank(depth))
    return Room(
        states, words_of(states), longs(depth, game.width), longs(depth), longs(depth), longs(depth), longs(depth), longs(2),
        longs(targets, ANSWERS), longs(2),
    )  # fmt: skip
