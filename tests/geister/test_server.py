"""The competition's server and client over real sockets, with a client that knows nothing of nebel."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from nebel.cli import main
from nebel.core.rng import generator
from nebel.core.state import read_record
from nebel.geister.client import Seat, play_at, sit_down
from nebel.geister.guest import MOST_REFUSED
from nebel.geister.protocol import read_log
from nebel.geister.server import MOST_WAITING, Manners, Played, Server
from nebel.match.agents import read

FIRST = "14R24R34R44R15B25B35B45B41u31u21u11u40u30u20u10u"
QUICK = Manners(gap=0.0005)


class Hosted:
    def __init__(self) -> None:
        self.ports, self.results, self.ready = (0, 0), list[Played](), threading.Event()
        self.loop = asyncio.new_event_loop()

    def begin(self, ports: tuple[int, int]) -> None:
        self.ports = ports
        self.ready.set()

    def wait_for(self, games: int) -> list[Played]:
        until = time.monotonic() + 10
        while len(self.results) < games and time.monotonic() < until:
            time.sleep(0.005)
        assert len(self.results) == games
        return self.results


@contextmanager
def hosting(manners: Manners = QUICK, log: Path | None = None) -> Iterator[Hosted]:
    """A server in a thread of its own, which must not have failed in the end."""
    host = Hosted()
    server = Server(manners, log, host.results.append)
    task = host.loop.create_task(server.serve("127.0.0.1", (0, 0), None, host.begin))

    def run() -> None:
        with pytest.raises(asyncio.CancelledError):
            host.loop.run_until_complete(task)
        host.loop.close()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        assert host.ready.wait(10)
        try:
            yield host
            assert not task.done()
        finally:
            host.loop.call_soon_threadsafe(task.cancel)
            running.result(10)


class Plain:
    """The protocol by hand."""

    def __init__(self, port: int, greeted: bool = True) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines = self.socket.makefile("rb", newline=b"\r\n")
        if greeted:
            assert self.read() == "SET?"

    def read(self) -> str:
        """The next line; nothing: the server has closed."""
        try:
            line = self.lines.readline()
        except ConnectionError:
            return ""
        assert line == b"" or line.endswith(b"\r\n")
        return line[:-2].decode()

    def send(self, line: str | bytes) -> None:
        self.socket.sendall(line if isinstance(line, bytes) else f"{line}\r\n".encode())

    def ask(self, line: str) -> str:
        self.send(line)
        return self.read()

    def close(self) -> None:
        self.lines.close()
        self.socket.close()

    def __enter__(self) -> Plain:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def some_move(board: str, dice: random.Random) -> str:
    """A legal move, from the 48 characters alone."""
    own = {(int(board[i]), int(board[i + 1])): (board[i + 2], "ABCDEFGH"[i // 3]) for i in range(0, 24, 3) if int(board[i]) < 6}
    moves = []
    for (x, y), (colour, letter) in own.items():
        for way, (dx, dy) in {"N": (0, -1), "E": (1, 0), "WEST": (-1, 0), "S": (0, 1)}.items():
            to = (x + dx, y + dy)
            inside = 0 <= to[0] < 6 and 0 <= to[1] < 6
            leaves = colour == "B" and y == 0 and ((x == 0 and way in ("N", "WEST")) or (x == 5 and way in ("N", "E")))
            if leaves or (inside and to not in own):
                moves.append(f"MOV:{letter},{way}")
    return dice.choice(moves)


def plain_game(port: int, seed: int) -> str:
    """A whole game at random; the last line."""
    dice = random.Random(seed)
    with Plain(port) as client:
        assert client.ask("SET:" + "".join(dice.sample("ABCDEFGH", 4))) == "OK "
        line = client.read()
        while line[:2] in ("MO", "OK"):  # the other may go at any time, and then a move has no answer
            if line[:4] == "MOV?":
                client.send(some_move(line[4:], dice))
            line = client.read()
        assert line[:4] in ("WON:", "LST:", "DRW:")
        assert len(line) == 52
        assert "u" not in line[4:]
        assert client.read() == ""
    return line


@contextmanager
def table(host: Hosted, reds: tuple[str, str] = ("ABCD", "ABCD")) -> Iterator[tuple[Plain, Plain]]:
    """Two players who have chosen their colours."""
    with Plain(host.ports[0]) as first, Plain(host.ports[1]) as second:
        assert second.ask(f"SET:{reds[1]}") == "OK "
        assert first.ask(f"SET:{reds[0]}") == "OK "
        yield first, second


def play_out(players: tuple[Plain, Plain], orders: str) -> None:
    """Orders such as `AN BE`, in turn, all of which are taken."""
    for ply, word in enumerate(orders.split()):
        mover = players[ply % 2]
        assert mover.read()[:4] == "MOV?"
        assert mover.ask(f"MOV:{word[0]},{word[1]}")[:2] == "OK"


ESCAPE = "AW EW AN EE AN EW AN EE AN EW"
"""After this A stands on the corner, and it is its turn."""


def test_plain_clients_and_nebels_finish_games() -> None:
    agent = read("random-escape")
    game = sit_down(agent)
    with hosting() as host, ThreadPoolExecutor(2) as pool:
        for number in range(30):
            seat = number % 2
            ours = pool.submit(play_at, Seat("127.0.0.1", host.ports[seat], seat), agent, game, generator(number))
            theirs = plain_game(host.ports[1 - seat], number)
            assert ours.result().score == {"WON:": -1, "LST:": 1, "DRW:": 0}[theirs[:4]]
        results = host.wait_for(30)
    assert {result.by for result in results} <= {"escape", "blues", "reds", "limit"}
    assert sum(result.plies for result in results) > 300


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


def test_series_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["geister-server", "--between", "random-escape", "rush", "--games", "4", "--gap", "0.001", "--log", str(tmp_path), "--json"]
    found = []
    for _ in range(2):
        assert main(words) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["wins"] + found[0]["draws"] + found[0]["losses"] == 4
    assert [found[0][key] for key in ("wins", "by", "plies")] == [found[1][key] for key in ("wins", "by", "plies")]
    assert len(list(tmp_path.glob("*.record"))) == 8


def test_join_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with hosting() as host, ThreadPoolExecutor(1) as pool:
        plain = pool.submit(plain_game, host.ports[1], 3)
        words = ["geister-join", "127.0.0.1", str(host.ports[0]), "--agent", "rush", "--set", "abcd", "--seat", "0", "--json"]
        assert main(words) == 0
        assert json.loads(capsys.readouterr().out)["games"][0]["score"] == {"LST:": 1, "WON:": -1, "DRW:": 0}[plain.result()[:4]]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["geister-server", "--ports", "1"], "is not two ports"),
        (["geister-server", "--games", "0"], "at least 1"),
        (["geister-server", "--per-move", "0"], "--per-move 0.0 is out of range"),
        (["geister-server", "--budget", "nan"], "--budget nan is out of range"),
        (["geister-server", "--between", "rush", "nobody"], "no agent 'nobody'"),
        (["geister-server", "--between", "rush", "rush", "--ports", "1,2"], "leave out --ports"),
        (["geister-join", "localhost", "10000", "--agent", "rush", "--set", "AAAA"], "four different ghosts"),
        (["geister-join", "localhost", "10000", "--agent", "heuristic"], "has no bot"),
        (["geister-join", "localhost", "99999", "--agent", "rush"], "a port of 1 to 65535"),
        (["geister-join", "x" * 300, "10000", "--agent", "rush"], "there is no host"),
    ],
)
def test_mistakes_are_told_in_a_line(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert why in capsys.readouterr().err


def scripted_server(pieces: list[bytes], listener: socket.socket) -> list[bytes]:
    """A server that says what it is told to, whatever it hears; returns what it heard."""
    with listener, listener.accept()[0] as client:
        heard = []
        for piece in pieces:
            client.sendall(piece)
            time.sleep(0.02)
        while data := client.recv(4096):
            heard.append(data)
    return b"".join(heard).split(b"\r\n")


def test_the_client_reads_several_lines_at_once_and_half_ones() -> None:
    end = b"WON:" + FIRST.replace("u", "b").encode()
    pieces = [b"SE", b"T?\r\nOK \r", b"\nMOV?" + FIRST[:20].encode(), FIRST[20:].encode() + b"\r\nOK \r\n" + end + b"\r\n"]
    agent = read("rush")
    with ThreadPoolExecutor(1) as pool:
        listener = socket.create_server(("127.0.0.1", 0))
        seat = Seat("127.0.0.1", listener.getsockname()[1], 0)
        heard = pool.submit(scripted_server, pieces, listener)
        outcome = play_at(seat, agent, sit_down(agent), generator(1), colouring=0)
        assert outcome[:3] == (1, "forfeit", 1)
        assert heard.result()[0] == b"SET:ABCD"
        assert heard.result()[1][:4] == b"MOV:"


@pytest.mark.parametrize("nonsense", [b"HELLO\r\n", b"NG \r\n", b"MOV?\xff\xff\r\n"])
def test_servers_that_talk_nonsense(nonsense: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(1) as pool:
        listener = socket.create_server(("127.0.0.1", 0))
        pool.submit(scripted_server, [nonsense], listener)
        assert main(["geister-join", "127.0.0.1", str(listener.getsockname()[1]), "--agent", "rush"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def heed_interrupts() -> None:
    """Tests that run in the background ignore interrupts, and so would what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("words", [[], ["--between", "random-escape", "random-escape", "--games", "1000"]])
def test_interrupted_servers_end_at_once(words: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nebel", "geister-server", "--log", str(tmp_path), *(words or ["--ports", "0,0"])]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=buffered, preexec_fn=heed_interrupts
    ) as server:
        assert server.stdout
        try:
            deadline = time.monotonic() + 120
            if words:
                while not list(tmp_path.glob("*.record")) and time.monotonic() < deadline:
                    time.sleep(0.05)
            else:
                assert "waiting for the first player" in server.stdout.readline()
            server.send_signal(signal.SIGINT)
            _, errors = server.communicate(timeout=20)
        finally:
            server.kill()
    assert (server.returncode, errors) == (130, "nebel: interrupted\n")
