"""The competition's server over real sockets, asked line by line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from geister_host import ESCAPE, FIRST, hosting, play_out, table
from geister_plain import Plain

from nebel.core.state import read_record
from nebel.geister.protocol import read_log
from nebel.geister.server import MOST_WAITING, Manners


def test_colours_are_refused_and_chosen_again() -> None:
    with hosting() as host, Plain(host.ports[0]) as first, Plain(host.ports[1]) as second:
        for bad in ("SET:AAAA", "SET:ABCZ", "SET:ABC", "MOV:A,N", "", "hello"):
            assert first.ask(bad) == "NG "
        assert first.ask("SET:gedh") == "OK "
        assert first.ask("SET:ABCD") == "NG "
        assert second.ask("SET:ABCD") == "OK "
        assert first.read() == "MOV?14B24B34B44R15R25B35R45R41u31u21u11u40u30u20u10u"


def test_answers_and_final_boards() -> None:
    """B goes straight on and takes a ghost; then the other takes B, and later A escapes west."""
    with hosting() as host, table(host, ("ACEG", "ABCD")) as (first, second):
        assert first.read() == "MOV?14R24B34R44B15R25B35R45B41u31u21u11u40u30u20u10u"
        assert second.ask("MOV:A,N") == "NG "
        assert first.ask("MOV:B,N") == "OK "
        assert second.read() == "MOV?14R24R34R44R15B25B35B45B41u32u21u11u40u30u20u10u"
        assert second.ask("MOV:H,EAST") == "OK "
        play_out((first, second), "BN HW")
        assert first.read()[:4] == "MOV?"
        assert first.ask("MOV:B,N") == "OKR"
        assert second.read() == "MOV?14R24R99r44R15B25B35B45B41u34u21u11u40u30u20u10u"
        assert second.ask("MOV:G,N") == "OKB"
        assert first.read() == "MOV?14R99b34R44B15R25B35R45B41u31u99r11u40u30u21u10u"
        assert first.ask("MOV:A,S") == "NG "
        assert first.read() == "LST:14R99b34R44B15R25B35R45B41r31r99r11r40b30b21b10b"
        assert second.read() == "WON:14R24R99r44R15B25B34B45B41r99b21r11b40r30b20r10b"
        assert (first.read(), second.read()) == ("", "")
        assert host.wait_for(1)[0][:3] == (1, "illegal", 6)


@pytest.mark.parametrize("way", ["N", "W", "NORTH", "west"])
def test_escapes(way: str) -> None:
    with hosting() as host, table(host, ("EFGH", "ABCD")) as (first, second):
        play_out((first, second), ESCAPE)
        assert first.read()[:10] == "MOV?00B24B"
        assert first.ask(f"MOV:A,{way}") == "OK "
        assert first.read()[:10] == "WON:88b24B"
        assert second.read()[28:34] == "88b31b"
        assert host.wait_for(1)[0].by == "escape"


@pytest.mark.parametrize("order", ["MOV:A,N", "MOV:A,W", "MOV:E,E", "MOV:I,N", "mov:B,N", "", "SET:ABCD", "\0", "MOV:B,N" + 300 * " "])
def test_what_loses_on_the_own_turn(order: str) -> None:
    """A is red and on the corner, so that it cannot leave; E has gone north and stands beside B."""
    with hosting() as host, table(host, ("ABCD", "ABCD")) as (first, second):
        play_out((first, second), "AW EW AN EE AN EW AN EE AN EW EN EE")
        assert first.read()[:7] == "MOV?00R"
        assert first.ask(order) == "NG "
        assert first.read()[:4] == "LST:"
        assert second.read()[:4] == "WON:"
        assert host.wait_for(1)[0][:2] == (1, "illegal")


def test_draw_at_the_limit_and_wins_on_the_last_ply() -> None:
    with hosting(Manners(limit=10, gap=0.0005)) as host, table(host, ("EFGH", "ABCD")) as players:
        play_out(players, ESCAPE)
        assert [player.read()[:4] for player in players] == ["DRW:", "DRW:"]
        assert host.wait_for(1)[0][:3] == (2, "limit", 10)
    with hosting(Manners(limit=11, gap=0.0005)) as host, table(host, ("EFGH", "ABCD")) as players:
        play_out(players, ESCAPE + " AN")
        assert [player.read()[:4] for player in players] == ["WON:", "LST:"]


def test_whoever_leaves_loses() -> None:
    with hosting() as host:
        for leaver in (0, 1):
            with table(host) as players:
                play_out(players, "AN AN AN")
                players[leaver].close()
                rest = [players[1 - leaver].read() for _ in range(1 + (leaver == 0))]
                assert rest[-1][:4] == "WON:"
                assert host.wait_for(leaver + 1)[-1][:2] == (1 - leaver, "left")


def test_leaving_before_the_game_costs_the_other_nothing() -> None:
    with hosting() as host, Plain(host.ports[0]) as first:
        assert first.ask("SET:ABCD") == "OK "
        for word in (b"", b"SET:AB", b"SET:AAAA\r\n"):
            with Plain(host.ports[1]) as leaver:
                leaver.send(word)
        with Plain(host.ports[1]) as second:
            assert second.ask("SET:EFGH") == "OK "
            assert first.read() == "MOV?" + FIRST
        assert first.read()[:4] == "WON:"
        assert len(host.wait_for(1)) == 1


def test_clocks() -> None:
    """A budget for the game, and a little for each move: both used up."""
    with hosting(Manners(budget=0.25, per_move=0.15, gap=0.0005)) as host:
        with table(host) as (first, second):
            assert first.read()[:4] == "MOV?"
            time.sleep(0.3)  # more than a move has, so it comes from the budget
            assert first.ask("MOV:A,N") == "OK "
            play_out((second, first), "AN")
            assert first.read()[:4] == "MOV?"
            began = time.monotonic()
            first.send(b"MOV:A")  # half a line is no move
            assert first.read()[:4] == "LST:"
            assert time.monotonic() - began < 0.35
            assert second.read()[:4] == "WON:"
            assert host.wait_for(1)[0][:2] == (1, "time")
        with Plain(host.ports[0]) as silent, Plain(host.ports[1]) as second:
            assert second.ask("SET:ABCD") == "OK "
            assert silent.read() == ""
            with Plain(host.ports[0]) as first:
                assert first.ask("SET:ABCD") == "OK "
                assert first.read() == "MOV?" + FIRST


def test_lines_in_pieces_and_several_at_once() -> None:
    with hosting() as host, table(host) as (first, second):
        for byte in b"MOV:A,N\r\n":
            first.send(bytes([byte]))
            time.sleep(0.002)
        assert first.read()[:4] == "MOV?"
        assert first.read() == "OK "
        assert second.read()[:4] == "MOV?"
        second.send(b"MOV:A,N\r\nMOV:A,N\nMOV:A,N\r\n")
        assert [second.read() for _ in range(3)] == ["OK ", "NG ", "NG "]
        assert first.read()[:4] == "MOV?"


def test_lines_to_a_client_come_apart() -> None:
    with hosting(Manners(gap=0.05)) as host, table(host, ("EFGH", "ABCD")) as (first, second):
        play_out((first, second), ESCAPE)
        assert first.read()[:4] == "MOV?"
        first.send("MOV:A,N")
        assert first.socket.recv(200) == b"OK \r\n"
        began = time.monotonic()
        assert first.socket.recv(200)[:4] == b"WON:"
        assert time.monotonic() - began > 0.03


def test_a_third_client_waits_and_a_crowd_is_sent_away() -> None:
    with hosting() as host, table(host) as (first, second), Plain(host.ports[0], greeted=False) as third:
        crowd = [Plain(host.ports[0], greeted=False) for _ in range(MOST_WAITING)]
        assert crowd[-1].read() == ""
        for one in crowd:
            one.close()
        third.send("SET:EFGH")
        assert first.read() == "MOV?" + FIRST
        second.close()
        assert first.read()[:4] == "WON:"
        assert (third.read(), third.read()) == ("SET?", "OK ")
        with Plain(host.ports[1]) as fourth:
            assert fourth.ask("SET:ABCD") == "OK "
            assert third.read()[:7] == "MOV?14B"


def test_nobody_is_told_what_it_may_not_know() -> None:
    """What a player receives before the end does not depend on colours that the other has not shown."""
    orders = "BN HE BN HW BN GN AN HE AE HW"  # B takes C and is taken by G
    heard = set()
    for reds in ("ABCD", "CEFH", "CDGH"):
        with hosting() as host, Plain(host.ports[0]) as first, Plain(host.ports[1]) as second:
            second.ask(f"SET:{reds}")
            lines = [first.ask("SET:ACEG")]
            for ply, word in enumerate(orders.split()):
                mover = (first, second)[ply % 2]
                said = [mover.read(), mover.ask(f"MOV:{word[0]},{word[1]}")]
                lines += said if mover is first else []
            heard.add((*lines, first.read()))
    assert len(heard) == 1


def test_log_files_and_records(tmp_path: Path) -> None:
    with hosting(log=tmp_path) as host, table(host, ("EFGH", "CGAD")) as players:
        play_out(players, ESCAPE + " AW")
        host.wait_for(1)
    (log,), (record,) = tmp_path.glob("log-*.txt"), tmp_path.glob("log-*.record")
    lines = log.read_text().splitlines()
    assert (lines[:3], lines[-2:]) == (["player=0,SET:EFGH", "player=1,SET:ACDG", "player=0,MOV:A,W"], ["player=0,MOV:A,W", "winner=0"])
    assert read_log(log.read_text()).state.moves() == read_record(record.read_text()).moves()
    assert '[By "escape"]' in record.read_text()
