"""A Geister server for tests, in a thread of its own, and tables at it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from geister_plain import Plain

from nebel.geister.server import Manners, Played, Server

FIRST = "14R24R34R44R15B25B35B45B41u31u21u11u40u30u20u10u"
QUICK = Manners(gap=0.0005)


class Hosted:
    def __init__(self) -> None:
        self.ports, self.results, self.ready = (0, 0), list[Played](), threading.Event()
        self.loop = asyncio.new_event_loop()

    def begin(self, ports: tuple[int, int]) -> None:
        self.ports = ports
        self.ready.set()

    def wait_for(self, games: int) -> list[Played]:
        until = time.monotonic() + 10
        while len(self.results) < games and time.monotonic() < until:
            time.sleep(0.005)
        assert len(self.results) == games
        return self.results


@contextmanager
def hosting(manners: Manners = QUICK, log: Path | None = None) -> Iterator[Hosted]:
    """A server in a thread of its own, which must not have failed in the end."""
    host = Hosted()
    server = Server(manners, log, host.results.append)
    task = host.loop.create_task(server.serve("127.0.0.1", (0, 0), None, host.begin))

    def run() -> None:
        with pytest.raises(asyncio.CancelledError):
            host.loop.run_until_complete(task)
        host.loop.close()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        assert host.ready.wait(10)
        try:
            yield host
            assert not task.done()
        finally:
            host.loop.call_soon_threadsafe(task.cancel)
            running.result(10)


@contextmanager
def table(host: Hosted, reds: tuple[str, str] = ("ABCD", "ABCD")) -> Iterator[tuple[Plain, Plain]]:
    """Two players who have chosen their colours."""
    with Plain(host.ports[0]) as first, Plain(host.ports[1]) as second:
        assert second.ask(f"SET:{reds[1]}") == "OK "
        assert first.ask(f"SET:{reds[0]}") == "OK "
        yield first, second


def play_out(players: tuple[Plain, Plain], orders: str) -> None:
    """Orders such as `AN BE`, in turn, all of which are taken."""
    for ply, word in enumerate(orders.split()):
        mover = players[ply % 2]
        assert mover.read()[:4] == "MOV?"
        assert mover.ask(f"MOV:{word[0]},{word[1]}")[:2] == "OK"


ESCAPE = "AW EW AN EE AN EW AN EE AN EW"
"""After this A stands on the corner, and it is its turn."""
