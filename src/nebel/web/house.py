"""What all parts of the server share, and how a route gets at it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from nebel.web.hall import Hall
from nebel.web.inside import Study
from nebel.web.matches import Matches
from nebel.web.reply import Pace
from nebel.web.setup import Setup
from nebel.web.shelf import Shelf
from nebel.web.store import Store
from nebel.web.visitor import Counted
from nebel.web.workers import Workers

THREADS, EACH = 3, 2
"""For each kind of work, and of these for one visitor: somebody else always finds one."""
WAITING, BEGINNING = 30, 500
"""Requests of a visitor that may wait for a thread; games are begun by many players at once."""


class House:
    """setup     what the server was started with
    shelf     games, agents and policies by the names that visitors use
    hall      games that are played
    store     where they are kept
    sockets   counts the WebSockets of each visitor
    loaders   threads for reading files and other work of some seconds: `await house.loaders.run(function, *args)`
    lookers   threads in which strategies are looked into and games reviewed, with what they know already in `study`
    builders  threads for steps of strategies that are built, and judges those for their guarantees
    arena     matches, played in threads of their own
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.loaders = Workers(THREADS, "load", EACH, BEGINNING)
        self.lookers, self.study = Workers(THREADS, "look", EACH, WAITING), Study()
        self.builders, self.judges = (Workers(THREADS, name, EACH, WAITING) for name in ("build", "judge"))
        self.shelf = Shelf(setup)
        self.store = Store(setup.db)
        self.hall = Hall(self.shelf, self.store, self.loaders, Pace(), setup.limits)
        self.sockets = Counted(setup.limits.sockets, "open games")
        self.arena = Matches(self.shelf, self.store, setup.limits.matches)


def _house(connection: HTTPConnection) -> House:
    house: House = connection.app.state.house
    return house


Here = Annotated[House, Depends(_house)]
"""In a route: `async def games(house: Here)`."""
