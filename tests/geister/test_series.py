"""Whole series over real sockets, and clients that mean no good."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import geister_plain
import pytest
from geister_host import FIRST, hosting, table
from geister_plain import Plain, plain_game, some_move

from nebel.core.rng import generator
from nebel.geister.client import Seat, play_at, sit_down
from nebel.geister.guest import MOST_REFUSED
from nebel.geister.server import Manners
from nebel.match.agents import read

GAMES = 200


@pytest.mark.long
def test_a_script_without_nebel_and_nebels_client_finish_two_hundred_games() -> None:
    """The script runs without site-packages, so that there is no nebel to import. Every tenth game is a long one at random."""
    runner, wanderer = read("rush"), read("random-escape")
    game = sit_down(runner)
    sit_down(wanderer)
    with hosting() as host:
        ports = [str(host.ports[1 - number % 2]) for number in range(GAMES)]
        command = [sys.executable, "-I", "-S", geister_plain.__file__, "1", *ports]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as script:
            scores = []
            for number in range(GAMES):
                seat = Seat("127.0.0.1", host.ports[number % 2], number % 2)
                scores.append(play_at(seat, runner if number % 10 else wanderer, game, generator(number)).score)
            last, _ = script.communicate(timeout=30)
        assert script.returncode == 0
        assert [{"WON:": -1, "LST:": 1, "DRW:": 0}[line[:4]] for line in json.loads(last)] == scores
        results = host.wait_for(GAMES)
    assert {result.by for result in results} <= {"escape", "blues", "reds", "limit"}


def hostile_line(dice: random.Random) -> bytes:
    kind = dice.randrange(8)
    if kind == 0:
        return dice.randbytes(dice.randrange(1, 80)).replace(b"\n", b"") + b"\n"
    if kind == 1:
        return b"A" * dice.choice([255, 256, 257, 300, 5000, 70_000]) + b"\r\n"
    if kind == 2:
        return f"MOV:{dice.choice('ABCDEFGH')},{dice.choice('NESW')}\r\n".encode()
    if kind == 3:
        return f"MOV:{dice.choice('IZa@1 ')}{dice.choice('AB ,')},{dice.choice(['N', 'UP', '', 'NN'])}\r\n".encode()
    if kind == 4:
        return b"\0" * dice.randrange(1, 20) + b"\r\n"
    if kind == 5:
        return dice.choice(["SET:ＡＢＣＤ", "MOV:Ａ,N", "SET:ABÇD", "МОV:A,N", "\u202eSET:ABCD"]).encode() + b"\r\n"
    if kind == 6:
        return dice.choice(
            [b"\r\n", b"\n", b"\r\r\n", b"SET:\r\n", b"SET:AAAA\r\n", b"SET:ABCZ\r\n", b"OK \r\n", b"WON:\r\n", b"SET:ABCDE\r\n"]
        )
    return f"{dice.choice(['SET:', 'MOV:', 'QUIT', '%s%n', '../'])}{dice.random()}\r\n".encode()


def hostile_client(port: int, dice: random.Random, lines: int) -> int:
    """Nonsense before the colours are chosen, and after; how much was sent."""
    sent = 0
    with Plain(port) as client:
        try:
            for _ in range(lines // 2):
                client.send(hostile_line(dice))
                sent += 1
                assert client.read() == "NG "
            assert client.ask("SET:BCFG") == "OK "
            client.send(b"".join(hostile_line(dice) for _ in range(lines - lines // 2)) + b"MOV:half a li")
            sent += lines - lines // 2
            if dice.random() < 0.5:
                while (line := client.read()[:4]) not in ("LST:", ""):
                    if line == "MOV?":
                        client.send(hostile_line(dice))
        except ConnectionError:
            pass
    return sent


def test_ten_thousand_hostile_lines_cost_only_their_sender() -> None:
    dice, sent, games = random.Random(1), 0, 0
    with hosting() as host, ThreadPoolExecutor(1) as pool:
        while sent < 10_000:
            hostile = pool.submit(hostile_client, host.ports[games % 2], dice, 400)
            assert plain_game(host.ports[1 - games % 2], games)[:4] == "WON:"
            sent += hostile.result()
            games += 1
            assert host.wait_for(games)[-1].winner == 1 - (games - 1) % 2
        assert {result.by for result in host.results} <= {"illegal", "left"}
        last = pool.submit(plain_game, host.ports[0], 7)
        assert {plain_game(host.ports[1], 8)[:4], last.result()[:4]} == {"WON:", "LST:"}


def test_floods_are_ended() -> None:
    with hosting() as host:
        with table(host) as (first, second):
            assert first.read() == "MOV?" + FIRST
            second.send(b"MOV:A,N\r\n" * (MOST_REFUSED + 1))
            assert [second.read() for _ in range(MOST_REFUSED + 1)] == ["NG "] * (MOST_REFUSED + 1)
            assert second.read()[:4] == "LST:"
            assert first.read()[:4] == "WON:"
        assert host.wait_for(1)[0].by == "flood"
        with Plain(host.ports[0]) as flooder:
            flooder.send(b"SET:\r\n" * (MOST_REFUSED + 1))
            while flooder.read():
                pass


def test_ten_thousand_hostile_lines_out_of_turn_disturb_nobody() -> None:
    """After each own move the second player sends nonsense until it is refused as often as allowed; both play to the end."""
    dice, refused, games = random.Random(2), 0, 0
    with hosting(Manners(limit=60, gap=0.0)) as host:
        while refused < 10_000:
            with table(host) as players:
                begin, line, ply = refused, players[0].read(), 0
                while line[:4] == "MOV?":
                    players[ply % 2].send(some_move(line[4:], dice))
                    assert players[ply % 2].read()[:2] == "OK"
                    ply += 1
                    if ply % 2 == 0 and ply < 60 and refused - begin < MOST_REFUSED - 40:
                        lines = [hostile_line(dice) for _ in range(39)] + [b"\xff" * 2_000_000 + b"\r\n"] * (ply == 2)
                        players[1].send(b"".join(lines))
                        assert [players[1].read() for _ in lines] == ["NG "] * len(lines)
                        refused += len(lines)
                    line = players[ply % 2].read()
                ends = {line[:4], players[1 - ply % 2].read()[:4]}
                assert ends in ({"WON:", "LST:"}, {"DRW:"})
            games += 1
            assert host.wait_for(games)[-1].by in ("escape", "blues", "reds", "limit")
