"""What a player cannot tell apart gives the same bytes: positions, streams of messages, and refusals, in all games."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

import nebel
from nebel.core.errors import Problem
from nebel.core.rng import generator
from nebel.core.state import State, Step
from nebel.web import told
from nebel.web.play import _hear
from nebel.web.reply import Pace
from nebel.web.session import Access, Session
from nebel.web.store import PERSON, Row, Store

ALL = [
    "kuhn",
    "leduc",
    "leduc(suits=false)",
    "liars_dice",
    "liars_dice(dice=2,faces=3)",
    "goofspiel:5",
    "goofspiel(cards=4,order=random)",
    "cheat",
    "cheat(hp=none,limit=6,alike=true)",
    *(f"dark_hex(rows=3,cols=3,abrupt={abrupt},leak={leak})" for abrupt in ("true", "false") for leak in ("silent", "noisy", "flash")),
    "dark_hex:4x3",
    "geister:x4y4g4b0",
    "geister(width=4,height=4,ghosts=4,buffer=0,setup=chosen)",
    "geister(setup=chosen)",
]
KEYS = (("key-0", "watch-0"), ("key-1", "watch-1"))
NONSENSE = ("", "zz", "a1", "b2-b3", "pass", "liar", "0", "AB", "2s", "challenge", "raise")
MOST_LOOKS = 400
STORE, NOBODY = Store(":memory:"), Pace()


def table(state: State, other: str = PERSON) -> Session:
    """The game at the page, with ids that have nothing to do with it."""
    row = Row("id", state.game.string, (PERSON, other), KEYS, 1, moves=[step.option for step in state.steps])
    return Session(row, state.game, (None, None), STORE, NOBODY)


def playouts(string: str, games: int) -> Iterator[State]:
    """States on the way through random games."""
    game, luck = nebel.game(string), random.Random(string)
    for seed in range(games):
        state = game.start()
        while not state.over and len(state.steps) < 16:
            state.deal(generator(seed, len(state.steps)))
            if state.over:
                break
            yield state.copy()
            state.push(luck.choice(state.options()))
        yield state.copy()


def another(like: State, me: int, luck: random.Random) -> State | None:
    """A game drawn from all those that `me` cannot tell from this one: a walk at random, stepping back where it leads elsewhere."""
    state, aim, looked = like.game.start(), like.transcript(me), 0

    def walk() -> bool:
        nonlocal looked
        looked += 1
        known = state.transcript(me)
        if known != aim[: len(known)] or looked > MOST_LOOKS:
            return False
        if known == aim and (state.turn == me, state.over) == (like.turn == me, like.over) and state.turn != nebel.CHANCE:
            return state.score() == like.score()
        for option in luck.sample(state.options(), len(state.options())):
            state.push(option)
            if walk():
                return True
            state.undo()
        return False

    return state if walk() and state.moves() != like.moves() else None


def alike(string: str) -> Iterator[tuple[State, State, int]]:
    """Pairs of different histories that a player cannot tell apart, to move or not."""
    luck = random.Random(string)
    for state in playouts(string, 200):
        for me in (0, 1):
            other = another(state, me, luck)
            if other is not None:
                yield state, other, me


def everything_told(state: State, me: int) -> list[str]:
    """Whatever the player can get out of the server in this position."""
    said = []
    for access, other in itertools.product((Access(me, True), Access(me, False)), (PERSON, "somebody")):
        session = table(state, other)
        said.append(session.tell(access))
        wrong = [move for move in NONSENSE if state.turn != me or move not in state.legal()]
        moves = [f'{{"do": "move", "move": "{move}", "ref": 1}}' for move in wrong]
        for text in (*moves, '{"do": "move", "move": "x", "at": 99}', '{"do": "move"}', "{", '{"do": "peek"}', "[]", '{"do": "undo"}'):
            said.append(_hear(session, access, text))
    session = table(state)
    for ask in (session.record, lambda: session.reveal(3)):
        try:
            said.append(str(ask()) if not session.over else "")
        except Problem as problem:
            said.append(str(problem))
    return said + [str(session.past(Access(me, True), n)) for n in range(len(state.transcript(me)) + 1)]


def stream(state: State, me: int) -> list[str]:
    """All that arrives at the player while the game is played to this point."""
    session, heard = table(state.game.start()), list[str]()
    session.listen(heard.append, Access(me, True))
    for step in state.steps:
        session.state.push(step.option)
        session._tell_all({})
    return heard


@pytest.mark.parametrize("string", ALL)
def test_same_bytes(string: str) -> None:
    pairs = waiting = 0
    for one, other, me in itertools.islice(alike(string), 40):
        assert everything_told(one, me) == everything_told(other, me)
        assert stream(one, me) == stream(other, me)
        pairs += 1
        waiting += one.turn != me
    assert pairs == 40
    assert waiting >= 5


def test_the_past_goes_back_step_by_step() -> None:
    """A cell that was taken is one step: there is no position in which it was tried and nothing was seen."""
    state = nebel.game("dark_hex:3x3").start().play("a1 a1 b2 b2 c1")  # White bumps into a1; then Black into b2
    told_of = told.position(state, 0, told.Ending(), told.Terms(False, True))
    assert [event["text"] for event in told_of["events"]] == ["a1", "b2", "taken", "c1"]
    assert told_of["stops"] == [0, 1, 3, 4]
    assert [len(told.past(state, 0, count)["events"]) for count in range(6)] == [0, 1, 1, 3, 4, 4]


def test_steps_do_not_tell_when_something_was_seen() -> None:
    """Of a game of which nobody knows whether that depends on what is hidden."""
    did, saw, nothing = Step(0, 1, (0, 0)), Step(-1, 5, (7, 7)), Step(1, 2, (0, 0))
    at_once = Step(0, 1, (7, 0))
    for name, same in (("pebbles", True), ("leduc", False)):
        pair = [SimpleNamespace(game=SimpleNamespace(name=name), steps=steps) for steps in ([at_once], [did, nothing, saw])]
        first, second = (told.stops(state, 0) for state in pair)
        assert (first == second) == same
        assert first == [0, 2]
    later = SimpleNamespace(game=SimpleNamespace(name="pebbles"), steps=[did, saw, saw, did, did])
    assert told.stops(later, 0) == [0, 2, 3, 4, 5]
