"""What a server was started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

PORT = 8765
LOCAL = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Limits:
    """What one visitor, which is one address, may take of what all share, and how long a request may last.

    games_a_minute   games that may be begun
    games            games that are kept; beyond, those that were idle for the longest time make room
    sockets          WebSockets open at a time
    connections      connections open at a time, sockets among them; never more than three quarters of those that the system allows at all
    matches          matches of the arena that are waited for
    head_seconds     within which the head of a request has to arrive
    body_seconds     within which its body has to arrive
    request_seconds  within which it is answered, or given up
    """

    games_a_minute: int = 1000
    games: int = 5000
    sockets: int = 300
    connections: int = 400
    matches: int = 4
    head_seconds: float = 10.0
    body_seconds: float = 10.0
    request_seconds: float = 45.0


@dataclass(frozen=True)
class Setup:
    """host, port  where it listens
    token       what a request must bring; "" on this machine alone
    db          the file in which games are kept; ":memory:" for none
    runs        the folder of runs, whose policies can be played, too
    policies    folders whose policy files can be played
    games       games besides the built-in ones: path/to/file.py:factory or openspiel:NAME, nothing else is ever loaded
    proxy       the address of a reverse proxy, whose X-Forwarded-For says who the visitor is; "" where there is none
    limits      what one visitor may take
    """

    host: str = "127.0.0.1"
    port: int = PORT
    token: str = ""
    db: str = ":memory:"
    runs: Path = Path("runs")
    policies: tuple[Path, ...] = ()
    games: tuple[str, ...] = ()
    proxy: str = ""
    limits: Limits = field(default_factory=Limits)
