"""The competition's server: two ports, one game after another.

A game begins when both players have chosen their colours. Until then nobody can win or lose: whoever leaves, takes too long or only
talks nonsense is shown the door, and the other keeps its seat and its colours for the next who comes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from nebel.core.errors import BadSetting, IllegalMove
from nebel.core.output import write_text
from nebel.core.settings import Settings, setting
from nebel.games.geister import LONG
from nebel.geister.guest import Event, Guest
from nebel.geister.protocol import DRAW, BadLine, Course, competition, ending, read_order, read_set, write_ghosts, write_log

MOST_WAITING = 16
"""Clients in the queue of a port; more are sent away."""

AHEAD = 8
"""Events that may be waiting for their turn."""


@dataclass(frozen=True)
class Manners(Settings):
    """How long games may take."""

    limit: int = setting(LONG, "plies before a draw", low=1, high=10_000)
    budget: float = setting(600.0, "seconds that each player has for a game", low=0)
    per_move: float = setting(10.0, "seconds for a move on top of what is left of the budget", low=0.01)
    gap: float = setting(0.005, "seconds between an answer and the next line to the same client", low=0, high=10)


class Played(NamedTuple):
    """A game: who won (2: nobody), and by what: escape, blues, reds, limit, or what the loser did: illegal, time, left, flood."""

    winner: int
    by: str
    plies: int
    seconds: float


class Server:
    """`await Server(Manners()).serve("127.0.0.1", (10000, 10001), games=1)`"""

    def __init__(self, manners: Manners, log: Path | None = None, tell: Callable[[Played], None] | None = None) -> None:
        self.manners, self.log, self.tell = manners, log, tell
        self.game = competition(manners.limit)
        self.played = 0
        self._seats: list[Guest | None] = [None, None]
        self._waiting: tuple[deque[Guest], deque[Guest]] = (deque(), deque())
        self._events: asyncio.Queue[Event] = asyncio.Queue(AHEAD)
        self._between_games = False
        self._parting: set[asyncio.Task[None]] = set()

    async def serve(
        self, host: str, ports: tuple[int, int], games: int | None = None, ready: Callable[[tuple[int, int]], None] | None = None
    ) -> None:
        """Play so many games, or for ever. `ready` is told the ports, of which 0 stands for a free one."""
        listeners = []
        try:
            for seat, port in enumerate(ports):
                try:
                    listeners.append(await asyncio.start_server(partial(self._arrive, seat), host, port))
                except (OSError, UnicodeError) as error:
                    why = getattr(error, "strerror", None) or error
                    raise BadSetting(f"port {port} of {host} cannot be used: {why}") from error
            if ready:
                first, second = (listener.sockets[0].getsockname()[1] for listener in listeners)
                ready((first, second))
            while games is None or self.played < games:
                result = await self._play(await self._set_up())
                self.played += 1
                if self.tell:
                    self.tell(result)
        finally:
            self._between_games = False
            for listener in listeners:
                listener.close()
            for seat in range(2):
                self._dismiss(seat)
                for guest in self._waiting[seat]:
                    self._see_off(guest)
            await asyncio.gather(*self._parting)

    def _arrive(self, seat: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._waiting[seat]) >= MOST_WAITING:
            writer.close()
            return
        self._waiting[seat].append(Guest(seat, reader, writer, self.manners.gap))
        self._fill_seats()

    def _fill_seats(self) -> None:
        for seat in range(2):
            while self._between_games and self._seats[seat] is None and self._waiting[seat]:
                guest = self._waiting[seat].popleft()
                if guest.gone:
                    self._see_off(guest)
                    continue
                self._seats[seat] = guest
                guest.say("SET?")
                guest.listen(self._events)

    def _dismiss(self, seat: int) -> None:
        guest, self._seats[seat] = self._seats[seat], None
        if guest:
            self._see_off(guest)

    def _see_off(self, guest: Guest) -> None:
        task = asyncio.create_task(guest.part())
        self._parting.add(task)
        task.add_done_callback(self._parting.discard)

    async def _event(self, until: float | None) -> Event | None:
        """What somebody at the table does next; None: the time is over."""
        try:
            async with asyncio.timeout_at(until):
                while True:
                    event = await self._events.get()
                    if event.guest is self._seats[event.guest.seat]:
                        return event
        except TimeoutError:
            return None

    async def _set_up(self) -> tuple[int, int]:
        """Both players' colourings. The clock runs as long as both are there."""
        chosen: dict[int, int] = {}
        until: float | None = None
        self._between_games = True
        while len(chosen) < 2:
            self._fill_seats()
            if None in self._seats:
                until = None
            elif until is None:
                until = _now() + self.manners.budget + self.manners.per_move
            event = await self._event(until)
            if event is None:
                until = None
                for seat in {0, 1} - chosen.keys():
                    self._dismiss(seat)
            elif event.what == "left" or (event.what == "said" and self._chose(chosen, event)):
                until = None
                chosen.pop(event.guest.seat, None)
                self._dismiss(event.guest.seat)
        self._between_games = False
        return chosen[0], chosen[1]

    def _chose(self, chosen: dict[int, int], event: Event) -> bool:
        """Take note of a colouring; True if the client was refused too often."""
        seat = event.guest.seat
        if seat in chosen:
            return event.guest.refuse()
        try:
            chosen[seat] = read_set(event.line)
        except BadLine:
            return event.guest.refuse()
        event.guest.say("OK ")
        return False

    async def _play(self, colourings: tuple[int, int]) -> Played:
        course, began = Course(self.game, colourings), _now()
        left, lost = [self.manners.budget, self.manners.budget], None
        while not course.state.over and not lost:
            mover = course.state.turn
            guest = self._seats[mover]
            assert guest
            await guest.say_apart("MOV?" + write_ghosts(course.seen(mover)))
            asked = _now()
            lost = await self._turn(course, asked + left[mover] + self.manners.per_move)
            left[mover] = max(0.0, left[mover] - (_now() - asked))
        if lost:
            loser, by = lost
            winner = 1 - loser
        else:
            score = course.state.score()
            winner, by = 0 if score == 1 else 1 if score == -1 else DRAW, ending(course.seen(0, True)) or "limit"
        for viewer, player in enumerate(self._seats):
            assert player
            word = "DRW" if winner == DRAW else "WON" if winner == viewer else "LST"
            await player.say_apart(f"{word}:{write_ghosts(course.seen(viewer, True))}")
            self._dismiss(viewer)
        result = Played(winner, by, course.plies, _now() - began)
        self._write(course, result)
        return result

    async def _turn(self, course: Course, until: float) -> tuple[int, str] | None:
        """Wait for a move; who has lost without one, and why."""
        mover = course.state.turn
        while True:
            event = await self._event(until)
            if event is None:
                return mover, "time"
            guest = event.guest
            if event.what == "left":
                return guest.seat, "left"
            if event.what == "came":
                continue
            if guest.seat != mover:
                if guest.refuse():
                    return guest.seat, "flood"
                continue
            try:
                took = course.push(read_order(event.line))
            except (BadLine, IllegalMove):
                guest.refuse()
                return mover, "illegal"
            guest.say(f"OK{took or ' '}")
            return None

    def _write(self, course: Course, result: Played) -> None:
        """The log file, and beside it nebel's record."""
        if self.log:
            stem = f"log-{datetime.now():%Y-%m-%d-%H-%M-%S-%f}-{self.played + 1:04}"
            write_text(self.log / f"{stem}.txt", write_log(course, result.winner))
            headers = f'[Winner "{result.winner}"]\n[By "{result.by}"]\n'
            write_text(self.log / f"{stem}.record", headers + course.state.record())


def _now() -> float:
    return asyncio.get_running_loop().time()
