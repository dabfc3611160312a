"""What a player cannot tell apart looks the same inside a strategy, byte for byte: states, values, beliefs, ways on and refusals."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from nebel.core.state import State
from nebel.web import shown
from nebel.web.setup import Setup

from .conftest import Local
from .test_told import alike

LOOKED = [
    ("kuhn", "random"),
    ("kuhn", "oos:20"),
    ("leduc(suits=false)", "ismcts:20"),
    ("leduc", "random"),
    ("liars_dice", "random"),
    ("goofspiel(cards=3,order=random)", "random"),
    ("cheat", "oos:20"),
    ("cheat(hp=none,limit=4,alike=true)", "random"),
    ("dark_hex:2x2", "random"),
    ("dark_hex(rows=2,cols=2,abrupt=true,leak=flash)", "random"),
    ("dark_hex(rows=2,cols=2,leak=noisy)", "random"),
    ("dark_hex:4x3", "shipped/board-4x3.nebel"),
    ("geister:x4y4g4b0", "random"),
    ("geister", "shipped/geister.nebel"),
    ("geister(width=4,height=4,ghosts=4,buffer=0,setup=chosen)", "random"),
]
PAIRS = 3


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    serving = Local(Setup(runs=tmp_path_factory.mktemp("none")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shown, "PLAYED_ON", 600)  # which is enough to be the same, if not to be right
        yield serving
    serving.stop()


def decisions(string: str) -> Iterator[tuple[State, State, int]]:
    return (found for found in alike(string) if found[0].turn == found[2])


def seen(here: Local, state: State, string: str, agent: str) -> list[bytes]:
    """All that the interface says of this state; `way` is left out, which says again what was asked."""
    asked = {"agent": agent, "game": string, "after": state.moves_text()}
    said = [here.get(f"/api/look/{what}", **asked).content for what in ("state", "values", "belief")]
    moves = [*state.legal()[:2], "zz", ""]
    said += [here.get("/api/look/next", move=move, **asked).content for move in moves]
    return [*said, here.get("/api/look/state", **{**asked, "agent": "nobody"}).content]


@pytest.mark.parametrize(("string", "agent"), LOOKED)
def test_same_bytes(here: Local, string: str, agent: str) -> None:
    pairs = list(itertools.islice(decisions(string), PAIRS))
    assert len(pairs) == PAIRS
    for one, other, _ in pairs:
        assert one.moves() != other.moves()
        assert seen(here, one, string, agent) == seen(here, other, string, agent)
