"""Properties of games as people play them, over random lines of play."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nebel
from nebel.core.game import CHANCE

STRINGS = [
    "kuhn",
    "leduc",
    "liars_dice",
    "goofspiel(cards=5,order=random)",
    "cheat",
    "cheat(ranks=4,suits=3,hand=4,alike=true)",
    "dark_hex:3x3",
    "dark_hex(rows=3,cols=4,abrupt=true,leak=flash)",
]
LINES = st.lists(st.integers(0, 10**6), max_size=40)


def played(string: str, line: list[int]) -> nebel.State:
    state = nebel.game(string).start()
    for number in line:
        if state.over:
            break
        options = state.options()
        state.push(options[number % len(options)])
    return state


@pytest.mark.parametrize("string", STRINGS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(line=LINES)
def test_records_and_undo(string: str, line: list[int]) -> None:
    state = played(string, line)
    again = nebel.read_record(state.record())
    assert again.steps == state.steps
    assert [again.view(seat) for seat in (0, 1, "truth")] == [state.view(seat) for seat in (0, 1, "truth")]
    keys = [state.key(p) for p in range(2)]
    if not state.over:
        state.push(state.legal()[0]).undo()
    assert [state.key(p) for p in range(2)] == keys


@pytest.mark.parametrize("string", STRINGS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(first=LINES, second=LINES)
def test_who_saw_the_same_knows_the_same(string: str, first: list[int], second: list[int]) -> None:
    one, two = played(string, first), played(string, second)
    for player in range(2):
        same = one.transcript(player) == two.transcript(player)
        assert same == (one.key(player) == two.key(player))
        if same and one.turn == player == two.turn:
            assert one.legal() == two.legal()
            assert one.view(player) == two.view(player)
            assert one.svg(player) == two.svg(player)


@pytest.mark.parametrize("string", STRINGS)
def test_illegal_moves_say_what_is_legal(string: str) -> None:
    state = nebel.game(string).start()
    with pytest.raises(nebel.Problem, match=r"z9 is not legal for (chance|player 0) at the start; legal: "):
        state.push("z9")
    with pytest.raises(nebel.Problem, match="nothing to undo"):
        state.undo()
    assert (state.turn == CHANCE) == bool(state.odds())
