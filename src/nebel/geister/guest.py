"""A connection to the server: lines in, however they come, and lines out, never two in one breath."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Literal, NamedTuple

MOST_BYTES = 256
"""Of a line; a longer one is no line of the protocol."""

MOST_REFUSED = 1000
"""Lines of one client in one game that are answered with NG, before it has to go."""

FAREWELL = 2.0
"""Seconds that a client has to take in its last line and close."""

GARBLED = "\0"
"""What stands for a line that was too long or not ASCII."""


class Event(NamedTuple):
    guest: Guest
    what: Literal["came", "said", "left"]
    line: str = ""


class Guest:
    """A client on one of the two ports. `gap`: seconds between an answer and the line after it. asyncio sets TCP_NODELAY."""

    def __init__(self, seat: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gap: float) -> None:
        self.seat, self.gap = seat, gap
        self._reader, self._writer = reader, writer
        self._refused, self._spoke = 0, 0.0
        self._listening: asyncio.Task[None] | None = None

    @property
    def gone(self) -> bool:
        return self._reader.at_eof() or self._writer.is_closing()

    def listen(self, events: asyncio.Queue[Event]) -> None:
        """Have all that happens here put into a queue; a full one makes this client wait, not the other."""
        self._listening = asyncio.create_task(self._listen(events))

    async def _listen(self, events: asyncio.Queue[Event]) -> None:
        await events.put(Event(self, "came"))
        async for line in self.lines():
            await events.put(Event(self, "said", line))
        await events.put(Event(self, "left"))

    async def lines(self) -> AsyncIterator[str]:
        """Whole lines until the connection ends; what is too long counts once."""
        held, skipping = b"", False
        with contextlib.suppress(OSError):
            while data := await self._reader.read(4096):
                *whole, held = (held + data).split(b"\n")
                for line in whole:
                    if not skipping:
                        yield _text(line)
                    skipping = False
                if skipping or len(held) > MOST_BYTES:
                    if not skipping:
                        yield GARBLED
                    held, skipping = b"", True

    def say(self, line: str) -> None:
        """Without waiting for clients that do not read: there are not many lines in a game."""
        if not self._writer.is_closing():
            self._writer.write(line.encode() + b"\r\n")
        self._spoke = asyncio.get_running_loop().time()

    async def say_apart(self, line: str) -> None:
        """A while after the answer before, because there are clients that lose one of two lines in a segment."""
        await asyncio.sleep(max(0.0, self._spoke + self.gap - asyncio.get_running_loop().time()))
        self.say(line)

    def refuse(self) -> bool:
        """Say so; whether that was once too often."""
        self.say("NG ")
        self._refused += 1
        return self._refused > MOST_REFUSED

    async def part(self) -> None:
        """Close so that the last line still arrives: a socket closed with bytes unread would take it back."""
        try:
            if self._listening:
                self._listening.cancel()
                await asyncio.gather(self._listening, return_exceptions=True)
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(FAREWELL):
                    self._writer.write_eof()
                    while await self._reader.read(4096):
                        pass
        finally:  # also when the server is interrupted
            self._writer.transport.abort()


def _text(line: bytes) -> str:
    line = line.removesuffix(b"\r")
    return line.decode() if len(line) <= MOST_BYTES and line.isascii() else GARBLED
