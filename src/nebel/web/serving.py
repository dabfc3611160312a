"""The app on a socket."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn

from nebel.core.errors import BadSetting
from nebel.web.app import make_app
from nebel.web.doors import Doors, most_connections
from nebel.web.setup import Setup

LONGEST_MESSAGE = 1 << 16
"""Bytes on a WebSocket; a longer one closes it."""
BACKLOG = 1024
"""Connections that wait until they are accepted."""
AT_A_TIME = 16
"""Of these, so many are accepted before it is looked at how many are open: asyncio takes as many as its backlog."""


def listen(host: str, port: int) -> socket.socket:
    """A socket there, or a refusal; port 0 is any free one."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)  # asyncio sends at once only where it sees that this is TCP
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(BACKLOG)  # whoever comes before the server runs waits for it
    except (OSError, UnicodeError) as error:
        why = "that is not the name of a host" if isinstance(error, UnicodeError) else error.strerror or error
        raise BadSetting(f"cannot listen at {host}:{port}: {why}; try another --port or --host") from error
    return listening


def serve(setup: Setup) -> uvicorn.Server:
    """A server to be run with `server.run(sockets=[listen(...)])`."""
    doors = Doors(setup.limits, most_connections(), setup.proxy)
    given: dict[str, Any] = {
        **doors.protocols(),
        "backlog": AT_A_TIME,
        "ws_max_size": LONGEST_MESSAGE,
        "ws_per_message_deflate": False,  # it costs more memory and time than the few kilobytes are worth
        "proxy_headers": bool(setup.proxy),
        "forwarded_allow_ips": setup.proxy,
        "timeout_graceful_shutdown": 2,
        "log_level": "warning",
        "access_log": False,
    }
    return _Server(uvicorn.Config(make_app(setup), **given))


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or []:
            listening.listen(BACKLOG)  # asyncio has made its backlog that of the socket
