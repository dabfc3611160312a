"""The protocol's lines as values, and games followed ghost by ghost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadFile, BadSetting, IllegalMove
from nebel.core.rng import generator
from nebel.core.state import read_record
from nebel.games.geister_board import EAST, NORTH, SOUTH, WEST
from nebel.geister.client import Follower, choose_colours, sit_down
from nebel.geister.protocol import (
    DRAW,
    FIELD,
    BadLine,
    Course,
    Ghost,
    Line,
    Order,
    competition,
    ending,
    read_ghosts,
    read_line,
    read_log,
    read_order,
    read_set,
    write_ghosts,
    write_log,
    write_order,
    write_set,
)
from nebel.match.agents import Agent, read

FIRST = "14R24R34R44R15B25B35B45B41u31u21u11u40u30u20u10u"


def played(colourings: tuple[int, int], orders: str, limit: int = 300) -> Course:
    """A course after orders such as `AN BE`."""
    course = Course(competition(limit), colourings)
    for word in orders.split():
        course.push(read_order(f"MOV:{word[0]},{word[1]}"))
    return course


def random_course(seed: int, limit: int = 300) -> Course:
    dice = random.Random(seed)
    course = Course(competition(limit), (dice.randrange(FIELD.ways), dice.randrange(FIELD.ways)))
    while not course.state.over:
        course.push(course.order_of(dice.choice(course.state.options())))
    return course


def test_set_lines() -> None:
    assert write_set(read_set("SET:dcba")) == "SET:ABCD"
    assert [read_set(write_set(i)) for i in range(FIELD.ways)] == list(range(FIELD.ways))
    for bad in ("SET:AAAA", "SET:ABCZ", "SET:ABC", "SET:ABCDE", "SET ABCD", "set:ABCD", "SET:ABCD ", "SET:ABC\u0130", "", "MOV:A,N"):
        with pytest.raises(BadLine, match="SET:ABCD"):
            read_set(bad)


def test_move_lines() -> None:
    ways = {"N": NORTH, "e": EAST, "SOUTH": SOUTH, "West": WEST}
    assert [read_order(f"MOV:c,{word}") for word in ways] == [Order(2, way) for way in ways.values()]
    assert write_order(Order(7, WEST)) == "MOV:H,W"
    for bad in ("MOV:I,N", "MOV:A,X", "MOV:A N", "MOV:A,", "MOV:,N", "MOV:AB,N", "MOV:A,NO", "MOV:A,N,", " MOV:A,N", "SET:ABCD", ""):
        with pytest.raises(BadLine, match="MOV:A,N"):
            read_order(bad)


def test_lines_of_servers() -> None:
    assert read_line("SET?") == Line("SET?")
    assert [read_line(text) for text in ("OK ", "OKR", "OKB", "NG ")] == [Line("OK"), Line("OK", (), "R"), Line("OK", (), "B"), Line("NG")]
    assert read_line("MOV?" + FIRST) == Line("MOV?", read_ghosts(FIRST))
    assert read_line("DRW:" + FIRST).kind == "DRW"
    for bad in ("", "HELLO", "MOV?", "MOV?" + FIRST[:-1], "WON:" + FIRST.replace("u", "x"), "WON:" + "66R" + FIRST[3:]):
        with pytest.raises(BadLine):
            read_line(bad)


def test_the_first_board() -> None:
    course = Course(competition(), (read_set("SET:ABCD"), read_set("SET:EFGH")))
    assert write_ghosts(course.seen(0)) == FIRST
    assert write_ghosts(read_ghosts(FIRST)) == FIRST
    assert write_ghosts(course.seen(1)) == FIRST.replace("R", "x").replace("B", "R").replace("x", "B")
    assert write_ghosts(course.seen(0, True)) == FIRST[:24] + "41b31b21b11b40r30r20r10r"


def test_moves_are_seen_from_both_sides() -> None:
    course = played((0, 0), "AN HE")
    assert (course.seen(0)[0], course.seen(1)[8]) == (Ghost(1, 3, "R"), Ghost(4, 2, "u"))
    assert (course.seen(1)[7], course.seen(0)[15]) == (Ghost(5, 5, "B"), Ghost(0, 0, "u"))
    with pytest.raises(IllegalMove, match="MOV:E,N is not legal: E is 15B"):
        played((0, 0), "EN")


def test_letters_stay_with_their_ghosts() -> None:
    """What a course says agrees with the state below it, in whole games."""
    for seed in range(4):
        course = random_course(seed)
        position = course.state.position[0]
        for p in range(2):
            standing = [(FIELD.width * (5 - g.y) + g.x, g.colour) for g in course.ghosts[p] if g.on_board]
            assert sum(1 << cell for cell, _ in standing) == int(position.ghosts[p])
            assert sum(1 << cell for cell, colour in standing if colour == "R") == int(position.reds[p])
            taken = [g.colour for g in course.ghosts[p] if g.taken]
            assert [taken.count("r"), taken.count("b")] == position.taken[1 - p].tolist()


ESCAPE_WEST = "AW EW AN EE AN EW AN EE AN EW"
ESCAPE_EAST = "DE HE DN HW DN HE DN HW DN HE"
"""A or D goes to its corner, while the other goes to and fro."""


@pytest.mark.parametrize(("orders", "letter", "ways"), [(ESCAPE_WEST, "A", "NW"), (ESCAPE_EAST, "D", "NE")])
def test_escapes_by_both_exits(orders: str, letter: str, ways: str) -> None:
    for way in ways:
        course = played((read_set("SET:EFGH"), read_set("SET:EFGH")), orders)
        course.push(read_order(f"MOV:{letter},{way}"))
        assert course.state.over
        assert course.state.score() == 1
        assert course.seen(0)["ABCDEFGH".index(letter)] == Ghost(8, 8, "b")
        assert ending(course.seen(1, True)) == "escape"
        reds = played((read_set("SET:ABCD"), read_set("SET:EFGH")), orders)
        with pytest.raises(IllegalMove):
            reds.push(read_order(f"MOV:{letter},{way}"))


def test_logs_and_records_tell_the_same_game() -> None:
    for seed in range(4):
        course = random_course(seed)
        score = course.state.score() or 0.0
        log = write_log(course, {1.0: 0, -1.0: 1, 0.0: DRAW}[score])
        assert read_log(log).state.moves() == course.state.moves()
        assert read_record('[Winner "0"]\n' + course.state.record()).moves() == course.state.moves()


def test_logs_with_lines_that_were_refused() -> None:
    lines = ["player=1,SET:AAAA", "player=1,SET:ABCD", "player=0,SET:EFGH", "player=1,MOV:A,N", "player=0,MOV:A,N", "player=1,nonsense"]
    assert read_log("\n".join([*lines, "winner=0", ""])).state.moves() == ["EFGH", "ABCD", "b2-b3"]
    for bad in ("", "player=0,SET:ABCD\n", "something else\n"):
        with pytest.raises(BadFile):
            read_log(bad)


def test_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course = played((0, 69), "AN AN BN")
    (tmp_path / "log.txt").write_text(write_log(course, 1))
    assert main(["geister-replay", str(tmp_path / "log.txt")]) == 0
    out = capsys.readouterr().out
    assert "5. player 0: c2-c3" in out
    assert "given to player 1" in out
    (tmp_path / "other.record").write_text(nebel.game("leduc").start().record())
    assert main(["geister-replay", str(tmp_path / "other.record")]) == 2
    assert "not Geister" in capsys.readouterr().err
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    assert main(["geister-replay", str(tmp_path / "bytes")]) == 2
    assert "so it is not a log file or a record" in capsys.readouterr().err


@pytest.mark.parametrize("seat", [0, 1])
def test_followers_know_what_their_player_knows(seat: int) -> None:
    """From boards alone, with some colouring of the other's: the same information states as in the true game."""
    for seed in range(3):
        dice, rng = random.Random(seed), random.Random(seed + 1000)
        course = Course(competition(), (dice.randrange(FIELD.ways), dice.randrange(FIELD.ways)))
        follower = Follower(competition(), course.colourings[seat], seat)
        while not course.state.over:
            if course.state.turn == seat:
                follower.look(course.seen(seat))
                assert follower.state.key(seat) == course.state.key(seat)
                assert follower.state.options() == course.state.options()
                course.push(follower.order(rng.choice(follower.state.options())))
            else:
                course.push(course.order_of(dice.choice(course.state.options())))


def test_followers_refuse_boards_that_do_not_follow() -> None:
    follower = Follower(competition(), read_set("SET:ABCD"), 0)
    with pytest.raises(BadLine, match="does not follow"):
        follower.look(read_ghosts(FIRST.replace("14R", "13R")))
    with pytest.raises(BadLine, match="no ghost"):
        Follower(competition(), read_set("SET:ABCD"), 1).look(read_ghosts(FIRST))


class MadeFor(Agent):
    name = "made"

    def __init__(self, game: str) -> None:
        self.game = game

    def choose(self, state: object, rng: object) -> int:
        raise AssertionError


def test_agents_of_other_variants() -> None:
    """Agents that were made for drawn colours, or for shorter games, sit down as well; others are refused."""
    assert sit_down(read("rush")) is competition()
    drawn = competition(setup="random").string
    assert sit_down(MadeFor(drawn)).string == drawn
    short = competition(100, "random").string
    assert "limit=300" in sit_down(MadeFor(short)).string
    with pytest.raises(BadFile, match="made for kuhn"):
        sit_down(MadeFor("kuhn"))
    with pytest.raises(BadFile, match="made for geister"):
        sit_down(MadeFor("geister(width=4,height=4,ghosts=4,buffer=1)"))
    with pytest.raises(BadSetting, match="no bot"):
        sit_down(read("heuristic"))


def test_colours_of_clients() -> None:
    assert [choose_colours(read("rush"), competition(), seat, generator(1)) for seat in range(2)] == [read_set("SET:BCFG")] * 2
    game = competition(setup="random")
    assert {choose_colours(MadeFor(game.string), game, 0, generator(seed)) for seed in range(500)} == set(range(FIELD.ways))
