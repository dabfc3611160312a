"""The competition's client: any agent on any server that speaks the protocol.

A client does not know the other's colours, and agents are asked about states of a game. So it follows the game with some colouring of
the other's that fits all that was taken. Agents look only at what their player knows, which is the same with any such colouring.
"""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nebel.core.errors import BadFile, BadSetting, Problem
from nebel.core.game import CHANCE, BaseGame
from nebel.core.kin import variant
from nebel.core.registry import load_named
from nebel.core.rng import uniform
from nebel.core.state import State
from nebel.games.geister import LONG
from nebel.geister.protocol import (
    FIELD,
    LETTERS,
    PLACING,
    STEPS,
    BadLine,
    Course,
    Ghosts,
    Line,
    Order,
    competition,
    ending,
    read_line,
    write_ghosts,
    write_order,
    write_set,
)
from nebel.match.agents import Agent, Generator, pick_even

PAUSE = 0.3
"""Seconds before a client comes again: servers need a moment after a game."""

PATIENCE = 10.0
"""Seconds for which a server that is not there, or not ready, is asked again."""

SCORES = {"WON": 1, "LST": -1, "DRW": 0}
BOARD_OPTIONS = {"width": 6, "height": 6, "ghosts": 8, "buffer": 1}


class Outcome(NamedTuple):
    """A game as its client saw it: +1, 0 or -1; by escape, blues, reds, limit or forfeit; own plies; seconds that the agent thought."""

    score: int
    by: str
    moves: int
    seconds: float


class Lost(Problem):
    """The server went away."""


class Wire:
    """Lines to and from a server, whatever segments they come in."""

    def __init__(self, host: str, port: int) -> None:
        try:
            self._socket = socket.create_connection((host, port), timeout=PATIENCE)
        except (socket.gaierror, UnicodeError) as error:
            raise BadSetting(f"there is no host {host!r}") from error
        except OSError as error:
            raise Lost(f"no Geister server at {host}:{port}: {error.strerror or error}") from error
        self._socket.settimeout(None)  # the other may think as long as the server lets it
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._held = b""

    def read(self) -> Line:
        while b"\n" not in self._held:
            if hasattr(socket, "TCP_QUICKACK"):  # has to be said again and again
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            try:
                data = self._socket.recv(4096)
            except OSError as error:
                raise Lost(f"the server broke off: {error.strerror or error}") from error
            if not data:
                raise Lost("the server closed the connection before the game was over")
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        return read_line(line.removesuffix(b"\r").decode("ascii", "replace"))

    def send(self, line: str) -> None:
        with contextlib.suppress(OSError):  # the game may have ended meanwhile: what the server said last is still to be read
            self._socket.sendall(line.encode() + b"\r\n")

    def close(self) -> None:
        self._socket.close()


class Follower:
    """A game as one player can follow it from the boards it is shown."""

    def __init__(self, game: BaseGame, colouring: int, seat: int) -> None:
        self.game, self.colouring, self.seat = game, colouring, seat
        self._ordered: Order | None = None
        self._course = self._with(0)

    @property
    def state(self) -> State:
        return self._course.state

    def order(self, move: int) -> Order:
        """Make a move; what it takes is known only when the next board is shown."""
        self._ordered = self._course.order_of(move)
        return self._ordered

    def look(self, ghosts: Ghosts) -> None:
        """Catch up with a board on which it is this player's turn."""
        known = {i: ghost.colour for i, ghost in enumerate(ghosts[FIELD.ghosts :]) if ghost.colour != "u"}
        theirs = self._course.colourings[1 - self.seat]
        if not _fits(theirs, known):
            orders = self._course.orders
            self._course = self._with(next(i for i in range(FIELD.ways) if _fits(i, known)))
            for order in orders:
                self._course.push(order)
        if self._ordered:
            self._course.push(self._ordered)
            self._ordered = None
        if self.state.turn != self.seat:
            self._course.push(self._difference(ghosts))
        if self._course.seen(self.seat) != ghosts:
            raise BadLine(f"the board {write_ghosts(ghosts)} does not follow from the moves before: {self.state.moves_text()}")

    def _difference(self, ghosts: Ghosts) -> Order:
        """The other's move, as the board shows it."""
        other = 1 - self.seat
        for i, (was, now) in enumerate(zip(self._course.ghosts[other], ghosts[FIELD.ghosts :], strict=True)):
            step = (now.turned.x - was.x, now.turned.y - was.y)
            if step in STEPS:
                return Order(i, STEPS.index(step))
        raise BadLine(f"on the board {write_ghosts(ghosts)} no ghost of the other's has moved")

    def _with(self, theirs: int) -> Course:
        return Course(self.game, (self.colouring, theirs) if self.seat == 0 else (theirs, self.colouring))


def _fits(colouring: int, known: dict[int, str]) -> bool:
    reds = FIELD.letters(colouring)
    return all((LETTERS[i] in reds) == (colour == "r") for i, colour in known.items())


def sit_down(agent: Agent, limit: int = LONG) -> BaseGame:
    """The game in which an agent can play in competitions: colours chosen by itself, or drawn, if it was made for that."""
    try:
        return agent.join(competition(limit))
    except (BadFile, BadSetting):
        made_for = load_named(agent.game, agent.name) if agent.game and agent.game.startswith("geister") else None
        if made_for is None or not _same_board(made_for):
            raise
    try:
        return agent.join(competition(limit, "random"))
    except (BadFile, BadSetting):
        agent.join(made_for)
        return variant(made_for, "limit", str(limit))  # training has shorter games than competitions


def _same_board(game: BaseGame) -> bool:
    return game.name == "geister" and BOARD_OPTIONS.items() <= game.options.items() and game.options["reds"] in (None, FIELD.reds)


def choose_colours(agent: Agent, game: BaseGame, seat: int, rng: Generator) -> int:
    """The agent's colouring; one at random where the game leaves that to chance."""
    state = game.start()
    if state.turn == CHANCE:
        with np.errstate(over="ignore"):
            return pick_even(FIELD.ways, uniform(rng))
    if seat == 1:
        state.push(PLACING)
    return agent.choose(state, rng) - PLACING


def play(wire: Wire, agent: Agent, game: BaseGame, seat: int, rng: Generator, colouring: int | None = None) -> Outcome:
    """One game, after `SET?`. Which seat this is shows in the first board; until then `seat` says."""
    if colouring is None:
        colouring = choose_colours(agent, game, seat, rng)
    wire.send(write_set(colouring))
    follower, moves, seconds = None, 0, 0.0
    while (line := wire.read()).kind not in SCORES:
        if line.kind == "NG" and follower is None:
            raise BadSetting(f"the server refused {write_set(colouring)}")
        if line.kind == "MOV?":
            began = time.perf_counter()
            if follower is None:
                begins = line.ghosts == Course(game, (colouring, 0)).seen(0)
                follower = Follower(game, colouring, 0 if begins else 1)
            follower.look(line.ghosts)
            order = follower.order(agent.choose(follower.state, rng))
            seconds += time.perf_counter() - began
            moves += 1
            wire.send(write_order(order))
    score = SCORES[line.kind]
    return Outcome(score, ending(line.ghosts) or ("forfeit" if score else "limit"), moves, seconds)


def connect(host: str, port: int) -> Wire:
    """To a server that has said `SET?`; it may need some time after a game, and forget who came too early."""
    until = time.monotonic() + PATIENCE
    while True:
        wire = None
        try:
            wire = Wire(host, port)
            if (line := wire.read()).kind == "SET?":
                return wire
            raise BadLine(f"{host}:{port} begins with {line.kind} instead of SET?")
        except Problem as problem:
            if wire:
                wire.close()
            if not isinstance(problem, Lost) or time.monotonic() > until:
                raise
            time.sleep(PAUSE)


@dataclass(frozen=True)
class Seat:
    """Where a client plays; `player` 0 begins."""

    host: str
    port: int
    player: int


def play_at(seat: Seat, agent: Agent, game: BaseGame, rng: Generator, colouring: int | None = None) -> Outcome:
    """One game on a server."""
    wire = connect(seat.host, seat.port)
    try:
        return play(wire, agent.sit(), game, seat.player, rng, colouring)
    finally:
        wire.close()
