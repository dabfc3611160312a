"""The competition on the command line: servers, clients, series, and what goes wrong."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from geister_host import FIRST, hosting
from geister_plain import plain_game

from nebel.cli import main
from nebel.core.rng import generator
from nebel.geister.client import Seat, play_at, sit_down
from nebel.match.agents import read


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
