"""Who may speak to the server at all: by host, origin, token and size. It stands before everything else, sockets included."""

from __future__ import annotations

import hmac
import re
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nebel.web.attend import MOST_BYTES, TOO_LARGE
from nebel.web.refusal import answer
from nebel.web.setup import LOCAL, Setup

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "frame-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    ]
)
HOST = re.compile(r"(?:\[([0-9a-fA-F:]+)\]|([^\[\]:@/]+))(?::\d+)?")
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Of every answer, unless a route has set one of them itself."""


WANTS_TOKEN = "this server wants its token: open the address that it printed when it started"


def stranger() -> Response:
    """The page of those who have no token."""
    words = f"<h1>nebel</h1><p>{WANTS_TOKEN.capitalize()}, or ask whoever started it for a link.</p>"
    return HTMLResponse(f'<!doctype html><html lang="en"><meta charset="utf-8"><title>nebel</title>{words}</html>', 401)


class Guard:
    """An ASGI app around the app."""

    def __init__(self, app: ASGIApp, setup: Setup) -> None:
        self.app, self.setup = app, setup
        self.cookie = f"nebel-{setup.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if scope["type"] == "websocket":
            await (_close(refused.body, receive, send) if refused else self.app(scope, receive, send))
        elif refused:
            await refused(scope, receive, _with_headers(send))
        else:
            await self.app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self.setup.token and _name(host) not in LOCAL:
            return answer(f"this server answers to {', '.join(LOCAL)}, not to {host[:100]!r}", 421)
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return answer(f"requests from {origin[:100]!r} are not taken: open the page of this server itself", 403)
        if _from_elsewhere(scope, headers):
            return answer("requests from other sites are not taken: open the page of this server itself", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return answer(TOO_LARGE, 413)
        return self._without_token(scope, headers) if self.setup.token else None

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        cookies = dict(pair.strip().partition("=")[::2] for pair in headers.get("cookie", "").split(";"))
        brought = self._right(cookies.get(self.cookie, "")) or self._right(headers.get("authorization", "").removeprefix("Bearer "))
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.pop("token", [""])[0]
        if not brought and not self._right(given):
            return stranger() if scope["path"] == "/" and "text/html" in headers.get("accept", "") else answer(WANTS_TOKEN, 401)
        if scope["type"] == "websocket" or scope["path"].startswith("/api/") or not given:
            return None
        # The token leaves the address bar, and the part after the # stays: browsers keep it.
        page = RedirectResponse("/" + scope["path"].lstrip("/") + ("?" + urlencode(query, doseq=True) if query else ""), 303)
        if self._right(given):  # "lax": a strict cookie is not sent to the target of a redirect after a click on another site
            page.set_cookie(self.cookie, self.setup.token, httponly=True, samesite="lax", max_age=30 * 24 * 3600)
        return page

    def _right(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.setup.token.encode())


def _from_elsewhere(scope: Scope, headers: Headers) -> bool:
    """Whether a browser says that another site makes this request. A link that is followed to the page itself may come from anywhere."""
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return False
    return not (scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate")


def _name(host: str) -> str:
    """Without the port; "" where it makes no sense."""
    named = HOST.fullmatch(host)
    return (named[1] or named[2]).lower() if named else ""


def _with_headers(send: Send) -> Send:
    async def adding(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return adding


async def _close(body: bytes | memoryview, receive: Receive, send: Send) -> None:
    """Refuse a socket before it is open; the reason is the answer's body where the server can send one."""
    await receive()
    start: Message = {"type": "websocket.http.response.start", "status": 403, "headers": [(b"content-type", b"application/json")]}
    await send(start)
    await send({"type": "websocket.http.response.body", "body": bytes(body)})
