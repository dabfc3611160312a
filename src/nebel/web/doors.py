"""Connections: how many there may be, and how long one may stay open without saying what it wants. Before any request, token or not."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from nebel.web.setup import Limits
from nebel.web.visitor import visitor_of

RESERVED = 100
"""Files that the server itself may have open besides connections, those among them that are about to be counted or closed."""
MOST_FILES = 65_536
"""That it asks the system for."""
LAST_WORDS = 10.0
"""Seconds in which a peer has to read what it was sent before the connection is cut."""


def most_connections() -> int:
    """Ask the system for as many open files as it allows; how many connections that makes."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 400
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    allowed = MOST_FILES if soft == resource.RLIM_INFINITY else soft
    return allowed - min(RESERVED, allowed // 2)


class Doors:
    """All open connections. Where there is no place for another one, the oldest that waits for a request, and so serves nobody, is closed.

    limits  what one address may have
    most    connections at a time, all addresses together
    proxy   the address that stands for many visitors
    """

    def __init__(self, limits: Limits, most: int, proxy: str = "") -> None:
        self.limits, self._most, self._proxy = limits, most, proxy
        self._each = max(1, min(limits.connections, most * 3 // 4))
        self._open: dict[asyncio.BaseTransport, str] = {}
        self._held: Counter[str] = Counter()
        self.waiting: dict[Http, str] = {}
        """Those that have not sent the head of a request, the oldest first, and their addresses."""

    def enter(self, transport: asyncio.BaseTransport) -> bool:
        """Whether there is a place for this connection; then it is counted until it leaves."""
        peer = transport.get_extra_info("peername")
        address = visitor_of({"client": peer if isinstance(peer, tuple) else None})
        free = self._room(address) if address == self._proxy or self._held[address] < self._each else self._evict(address)
        if free:
            self._open[transport] = address
            self._held[address] += 1
        return free

    def _room(self, address: str) -> bool:
        return len(self._open) < self._most or self._evict(None)

    def _evict(self, address: str | None) -> bool:
        """Close the oldest connection that waits, of this address or of any."""
        found = next((one for one, whose in self.waiting.items() if address in (None, whose)), None)
        if found is None:
            return False
        found.transport.abort()
        self.leave(found.transport)
        self.waiting.pop(found, None)
        return True

    def leave(self, transport: asyncio.BaseTransport) -> None:
        address = self._open.pop(transport, None)
        if address is not None:
            self._held -= Counter({address: 1})

    def address_of(self, transport: asyncio.BaseTransport) -> str:
        return self._open.get(transport, "")

    def protocols(self) -> dict[str, Callable[..., Any]]:
        """What uvicorn makes of each connection: its arguments `http` and `ws`."""
        return {"http": partial(Http, self), "ws": partial(Socket, self)}


class Http(H11Protocol):
    """HTTP whose requests arrive and are answered in time."""

    def __init__(self, doors: Doors, **given: Any) -> None:
        super().__init__(**given)
        self._doors, self._upgraded = doors, False
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._doors.enter(transport):
            self._wait()
        else:
            self._upgraded = True
            body = json.dumps({"error": "too many connections: close some, or come back later"}).encode()
            head = f"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
            transport.close()

    def data_received(self, data: bytes) -> None:
        if self._upgraded:
            return
        super().data_received(data)
        self._settle()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._settle(answered=True)

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._upgraded = True
        self._unwait()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwait()
        self._doors.leave(self.transport)
        super().connection_lost(exc)

    def _settle(self, answered: bool = False) -> None:
        """A request that has begun has its time to be answered, what comes after it its time to arrive."""
        if self._upgraded or self.transport.is_closing():
            self._unwait()
        elif self.cycle is not None and not self.cycle.response_complete:
            if self in self._doors.waiting or answered or self._deadline is None:
                self._unwait()
                limits = self._doors.limits
                self._deadline = self.loop.call_later(limits.body_seconds + limits.request_seconds + LAST_WORDS, self.transport.abort)
        elif answered or self not in self._doors.waiting:
            self._wait()

    def _wait(self) -> None:
        self._unwait()
        self._doors.waiting[self] = self._doors.address_of(self.transport)
        self._deadline = self.loop.call_later(self._doors.limits.head_seconds, self.transport.abort)

    def _unwait(self) -> None:
        self._doors.waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Socket(WebSocketsSansIOProtocol):
    """WebSockets whose connection is cut if what was said last is not read."""

    def __init__(self, doors: Doors, **given: Any) -> None:
        super().__init__(**given)
        self._doors = doors

    def connection_lost(self, exc: Exception | None) -> None:
        self._doors.leave(self.transport)
        super().connection_lost(exc)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.loop.call_later(LAST_WORDS, self.transport.abort)

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.close_sent:  # a refusal instead of a handshake is complete, too
            self.handshake_complete = True

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self.loop.call_later(LAST_WORDS, self.transport.abort)
