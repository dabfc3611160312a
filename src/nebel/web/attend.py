"""What stands between the guard and the app: a request has so long to arrive and so long to be answered, and is answered only while
somebody waits for it."""

from __future__ import annotations

import asyncio

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nebel.web.refusal import answer
from nebel.web.setup import Limits
from nebel.web.visitor import VISITOR, visitor_of

MOST_BYTES = 1 << 18
"""Of a request's body."""
TOO_LARGE = f"a request has at most {MOST_BYTES:,} bytes"


class _Gone(Exception):
    """Whoever sent the request has left."""


class Attend:
    """An ASGI app around the app."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            VISITOR.set(visitor_of(scope))
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                body = await _body(receive)
        except TimeoutError:
            await _last(f"the body of the request has not arrived within {self.limits.body_seconds:g} s", 408)(scope, receive, send)
        except OverflowError:
            await _last(TOO_LARGE, 413)(scope, receive, send)
        except _Gone:
            return
        else:
            await self._answer(scope, body, receive, send)

    async def _answer(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """The app's answer, unless it takes too long or nobody is there to read it: then the app's task is cancelled."""
        begun = False

        async def noticing(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        work = asyncio.ensure_future(self.app(scope, _replay(body), noticing))
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({work, gone}, timeout=self.limits.request_seconds, return_when=asyncio.FIRST_COMPLETED)
            if begun and not work.done():  # a reader that is slow: the connection has a deadline of its own
                await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            work.cancel()
            await asyncio.wait({work})
            if not gone.done() and not begun:
                why = f"this took longer than {self.limits.request_seconds:g} s, and the server has given it up: ask for less"
                await answer(why, 503)(scope, receive, send)
        finally:
            work.cancel()
            gone.cancel()


def _last(reason: str, status: int) -> Response:
    """A refusal after which the connection is closed: the rest of the request may still be on its way."""
    refusal = answer(reason, status)
    refusal.headers["Connection"] = "close"
    return refusal


async def _body(receive: Receive) -> bytes:
    parts, taken = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        parts.append(message.get("body", b""))
        taken += len(parts[-1])
        if taken > MOST_BYTES:
            raise OverflowError
        if not message.get("more_body"):
            return b"".join(parts)


def _replay(body: bytes) -> Receive:
    """The body as one message, and then nothing more for as long as the app asks."""
    told = False

    async def replayed() -> Message:
        nonlocal told
        if told:
            await asyncio.Event().wait()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
