"""Which continuations are true to what a player knows, against enumeration of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.core.errors import BadSetting
from nebel.core.game import CHANCE, END, Clues, Game
from nebel.core.rng import generator, uniform
from nebel.core.rule import kernel
from nebel.core.state import State
from nebel.search import target as targets
from nebel.search.target import events_of, follow, public_events_of, room_for, searches, target

GOOFSPIELS = [
    f"goofspiel(cards={cards},{options})"
    for cards in (3, 4)
    for options in ("order=ascending", "order=descending,first_prize=1", "turns=2", "forced_last=false", "order=ascending,turns=3")
]
SHUFFLED = [f"goofspiel(cards=3,order=random,{options})" for options in ("first_prize=1", "forced_last=false", "turns=2")]
DARK_HEX = [
    f"dark_hex(rows={rows},cols={cols},abrupt={abrupt},leak={leak})"
    for rows, cols in ((2, 2), (2, 3), (3, 2))
    for abrupt in ("false", "true")
    for leak in ("silent", "noisy", "flash")
]
CHEATS = ["cheat:1", "cheat:2", "cheat(hp=1,alike=true,put=counts)", "cheat(hp=none,limit=3,hand=1)"]
DEALT_ONE_BY_ONE = "cheat(ranks=4,suits=3,hand=3,alike=true,put=counts,hp=1,limit=3)"
GAMES = ["kuhn", "leduc", "leduc(suits=false)", "liars_dice(faces=3)", *GOOFSPIELS, *SHUFFLED, *DARK_HEX, *CHEATS, DEALT_ONE_BY_ONE]


def load(string: str) -> Game:
    game = nebel.game(string)
    assert isinstance(game, Game)
    return game


def random_game(game: Game, rng: Any) -> Iterator[State]:
    """All states of a random game in which a player is to move."""
    state = game.start()
    while not state.over:
        if state.turn >= 0:
            yield state
        options = state.options()
        with np.errstate(over="ignore"):
            state.push(options[int(uniform(rng) * len(options))])


class Enumeration:
    """Every continuation that agrees with the events, and which of their states lead to the target."""

    def __init__(self, state: State, me: int, public: bool) -> None:
        self.game, self.me, self.public = state.game, me, public
        assert isinstance(self.game, Game)
        self.tell = self.game.clues.public
        self.events = (public_events_of(state) if public else events_of(state, me)).tolist()
        self.found: list[tuple[Any, int, bool]] = []
        self.visit(self.game.begin(), 0)

    def news(self, turn: int, option: int, seen: tuple[int, int]) -> list[int]:
        if self.public:
            assert self.tell is not None
            return [2 * token for token in (self.tell(turn, *seen),) if token]
        return [2 * option + 1] * (turn == self.me) + [2 * seen[self.me]] * (seen[self.me] > 0)

    def visit(self, position: Any, at: int) -> bool:
        turn = self.game.turn_at(position)
        alive = at == len(self.events) and turn == self.me
        for option in self.game.options_at(position) if turn != END and not alive else ():
            after, seen = self.game.after(position, option)
            news = self.news(turn, option, seen)
            if self.events[at : at + len(news)] == news:
                alive |= self.visit(after, at + len(news))
        self.found.append((position, at, alive))
        return alive


def asking(game: Game, common: bool = False) -> Callable[..., bool]:
    """Whether there is a way, by the rules without compiling them."""
    _, _, hopeful, own_room = follow(game, common)
    return lambda aims, room, s, at: hopeful(aims[0], own_room(room, 0), s, at)


def compare(game: Game, state: State, public: bool, hopeful: Callable[..., bool]) -> int:
    """Of how many states of all continuations the rule was asked."""
    aims, room = target(game, state, state.turn, public), room_for(game)
    found = Enumeration(state, state.turn, public).found
    assert found[-1][2]  # the start
    with np.errstate(over="ignore"):
        for position, at, alive in found:
            assert hopeful(aims, room, position[0], at) == alive, (state, position[0], at)
    assert room.gave_up() == 0
    return len(found)


def check(game: Game, hopeful: Callable[..., bool], public: bool = False, enough: int = 3000, games: int = 6) -> None:
    rng, asked = generator(5), 0
    for _ in range(games):
        for state in random_game(game, rng):
            if asked < enough:
                asked += compare(game, state, public, hopeful)


@pytest.mark.parametrize("string", GAMES)
def test_hope_is_exact(string: str) -> None:
    game = load(string)
    check(game, asking(game))


@pytest.mark.parametrize("string", [*GOOFSPIELS[5:7], SHUFFLED[0], *DARK_HEX[6:12], "leduc"])
def test_the_search_alone_is_exact_too(string: str) -> None:
    game = load(string)
    check(game, asking(replace(game, clues=Clues(essence=game.clues.essence))), games=2)


@pytest.mark.parametrize("string", ["kuhn", "leduc", "liars_dice(faces=2)", *GOOFSPIELS[:4], SHUFFLED[0], *DARK_HEX[:6], "cheat:1"])
def test_hope_for_what_is_public_is_exact(string: str) -> None:
    game = load(string)
    check(game, asking(game, common=True), public=True, enough=1000, games=2)


@pytest.mark.parametrize("string", ["kuhn", "goofspiel(cards=3,order=random)", "dark_hex:2x3"])
def test_compiled_code_says_the_same(string: str) -> None:
    game = load(string)
    rule, own_room = follow(game)[2:]

    @kernel
    def hopeful(aims: Any, room: Any, states: Any, at: int) -> bool:
        return rule(aims[0], own_room(room, 0), states[0], at)

    def ask(aims: Any, room: Any, record: Any, at: int) -> bool:
        states = game.blank(1)
        states[0] = record
        return hopeful(aims, room if searches(game, False) else None, states, at)

    check(game, ask, games=2)


@pytest.mark.parametrize("string", ["kuhn", "leduc", "goofspiel:3", "dark_hex(abrupt=true,leak=flash)", "cheat:1"])
def test_events_are_what_is_folded_into_memory(string: str) -> None:
    game, rng = load(string), generator(2)
    for state in random_game(game, rng):
        with np.errstate(over="ignore"):
            memory = np.int64(state.turn + 1)
            for event in events_of(state, state.turn):
                memory = nebel.core.rng.fold(memory, event)
        assert memory == state.key(state.turn)


def test_following_the_true_history_reaches_the_target() -> None:
    game = load("goofspiel:4")
    state = game.start().play("0 1 2 2 3")
    aim, (step, reached, _, _) = target(game, state, 1)[0], follow(game)
    at = 0
    for move in state.steps:
        assert not reached(aim, at, move.turn)
        at = step(aim, at, move.turn, move.option, np.array(move.seen))
    assert reached(aim, at, 1)
    assert step(aim, 0, CHANCE, 0, np.array([0, 99])) == -1


def test_a_search_that_gives_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "PATIENCE", 5)
    game = load("goofspiel:6")
    state = game.start().play("5 4 4 3 3 2 2 1")
    room = room_for(game)
    with np.errstate(over="ignore"):
        assert asking(replace(game, clues=Clues()))(target(game, state, 0), room, game.begin()[0], 0)
        assert room.gave_up() == 1


def test_only_the_player_to_move_has_a_target() -> None:
    game = load("goofspiel:3")
    with pytest.raises(BadSetting, match="player 1 is not to move"):
        target(game, game.start(), 1)


def test_games_that_do_not_say_what_is_public_are_refused() -> None:
    game = replace(load("kuhn"), clues=Clues())
    state = game.start().play("Q K")
    with pytest.raises(BadSetting, match="does not say what is public"):
        target(game, state, 0, common=True)
