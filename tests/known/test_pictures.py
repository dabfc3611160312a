"""Views and pictures show a player what was seen and nothing else: equal transcripts, equal views and pictures."""

from __future__ import annotations

from itertools import product
from xml.etree import ElementTree

import pytest

import nebel
from nebel.report.charts import Axis, Scale

DARK_HEX = [f"dark_hex(rows=2,cols=2,abrupt={a},leak={leak})" for a, leak in product(("false", "true"), ("silent", "noisy", "flash"))]
SMALL = [
    "kuhn",
    "leduc",
    "leduc(suits=false)",
    "liars_dice(dice=1,faces=3)",
    "liars_dice(dice=2,faces=2)",
    "goofspiel:3",
    "goofspiel(cards=3,order=random)",
    "goofspiel(cards=3,forced_last=false)",
    "geister(width=2,height=3,ghosts=2,buffer=0,limit=4)",
    "geister(width=2,height=3,ghosts=2,buffer=0,limit=4,setup=chosen)",
    "cheat(hp=1,starter=1)",
    "cheat(hp=1,starter=0,alike=true)",
    *DARK_HEX,
]
Sight = tuple[tuple[str, int], ...]


@pytest.mark.parametrize("string", SMALL)
def test_nothing_leaks(string: str) -> None:
    game = nebel.game(string)
    shown: tuple[dict[Sight, tuple[str | None, str | None]], ...] = ({}, {})
    truths = set()
    nothing: tuple[Sight, Sight] = ((), ())
    open_ = [(game.begin(), nothing)]
    while open_:
        position, seen = open_.pop()
        for player in (0, 1):
            now = game.view_at(position, player), game.svg_at(position, player)
            assert shown[player].setdefault(seen[player], now) == now
        truths.add(game.view_at(position, None))
        turn = game.turn_at(position)
        if turn == nebel.END:
            continue
        for option in game.options_at(position):
            after, tokens = game.after(position, option)
            open_.append((after, (remember(seen[0], turn == 0, option, tokens[0]), remember(seen[1], turn == 1, option, tokens[1]))))
    for player in (0, 1):  # and yet something is shown: what a player knows changes what is drawn, and the truth is more than that
        views, pictures = zip(*shown[player].values(), strict=True)
        assert len(set(pictures)) >= len(set(views)) > 1
        assert len(set(views)) < len(truths)


def remember(seen: Sight, moved: bool, option: int, token: int) -> Sight:
    return seen + ((("did", option),) if moved else ()) + ((("saw", token),) if token else ())


@pytest.mark.parametrize(
    ("string", "moves", "own", "hidden"),
    [
        ("kuhn", "K J", ">K<", ">J<"),
        ("leduc", "Ks Jh", ">K<", ">J<"),
        ("liars_dice(faces=12)", "11 7", ">11<", ">7<"),
        ("goofspiel(cards=12)", "11 9", ">11<", ">9<"),
        ("cheat", "2s2h-3s3h-0", ">2<", ">3<"),
    ],
)
def test_pictures_show_the_own_side_and_hide_the_other(string: str, moves: str, own: str, hidden: str) -> None:
    state = nebel.game(string).start().play(moves)
    mine, truth = state.svg(0), state.svg("truth")
    assert own in mine
    assert own in truth
    assert hidden in truth
    assert mine.count(hidden) < truth.count(hidden)


@pytest.mark.parametrize(
    ("string", "moves"),
    [
        ("kuhn", "K J pass bet"),
        ("leduc", "Ks Jh raise raise call Kh raise"),
        ("liars_dice(dice=5)", "12346 11266 3-1 4-6 liar"),
        ("liars_dice(faces=20)", "20 3"),
        ("goofspiel(cards=30,order=random)", "prize29 3 4"),
        ("cheat", "As3h-Ah2s-1 Ah2s challenge As3h"),
        ("cheat(ranks=6,suits=7,hand=1,max_discard=2)", "2x-3z-0 2x"),
        ("dark_hex:1x1", ""),
        ("dark_hex:4x3", "b2 b2 a1 a1 c1"),
    ],
)
def test_pictures_are_well_formed(string: str, moves: str) -> None:
    state = nebel.game(string).start().play(moves)
    for seat in (0, 1, "truth"):
        root = ElementTree.fromstring(state.svg(seat))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(root.attrib["width"]) > 0


@pytest.mark.parametrize(
    ("values", "ticks"), [((0.9611646, 2.3710169), [1, 2]), ((0.34567, 0.36543), [0.346, 0.365]), ((0.002, 30), [0.01, 0.1, 1, 10])]
)
def test_logarithmic_axes_have_plain_numbers(values: tuple[float, float], ticks: list[float]) -> None:
    assert Scale(Axis("", log=True), values, 0.0, 1.0).ticks == ticks
