"""What a listener on a socket has still to read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

MOST_UNREAD = 100
"""Messages that a listener may leave unread before it is let go."""
PATIENCE = 30.0
"""Seconds in which it has to take one message."""


class Unread(Exception):
    """Nobody reads at the other end."""


class Outbox:
    """Messages on their way out, in order. Of positions only the latest is kept, since it says all that the earlier ones did."""

    def __init__(self) -> None:
        self._unread: dict[object, str] = {}
        self._filled = asyncio.Event()

    def show(self, position: str) -> None:
        """Send a position, in the place of one that has not been sent yet."""
        self._unread.pop("position", None)
        self._add("position", position)

    def answer(self, message: str) -> None:
        """Send an answer."""
        self._add(object(), message)

    def _add(self, name: object, message: str) -> None:
        if len(self._unread) >= MOST_UNREAD:
            raise Unread
        self._unread[name] = message
        self._filled.set()

    async def deliver(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Send all that comes, for ever; `Unread` if one message is not taken in time."""
        while True:
            await self._filled.wait()
            message = self._unread.pop(next(iter(self._unread)))
            if not self._unread:
                self._filled.clear()
            try:
                async with asyncio.timeout(PATIENCE):
                    await send(message)
            except TimeoutError as error:
                raise Unread from error


def refused(reason: str, ref: int | None) -> str:
    """The message that something has not been done, and why."""
    return json.dumps({"type": "refused", "ref": ref, "error": reason})
