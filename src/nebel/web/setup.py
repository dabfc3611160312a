"""What a server was started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PORT = 8765
LOCAL = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Setup:
    """host, port  where it listens
    token       what a request must bring; "" on this machine alone
    db          the file in which games are kept; ":memory:" for none
    runs        the folder of runs, whose policies can be played, too
    policies    folders whose policy files can be played
    games       games besides the built-in ones: path/to/file.py:factory or openspiel:NAME, nothing else is ever loaded
    """

    host: str = "127.0.0.1"
    port: int = PORT
    token: str = ""
    db: str = ":memory:"
    runs: Path = Path("runs")
    policies: tuple[Path, ...] = ()
    games: tuple[str, ...] = ()
