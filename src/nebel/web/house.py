"""What all parts of the server share, and how a route gets at it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from nebel.web.hall import Hall
from nebel.web.inside import Study
from nebel.web.matches import Matches
from nebel.web.setup import Setup
from nebel.web.shelf import Shelf
from nebel.web.store import Store
from nebel.web.workers import Workers

THINKERS, LOADERS = 2, 2


class House:
    """setup     what the server was started with
    shelf     games, agents and policies by the names that visitors use
    hall      games that are played
    store     where they are kept
    loaders   threads for reading files and other work of some seconds: `await house.loaders.run(function, *args)`
    thinkers  threads in which agents think about their moves
    lookers   the one thread in which strategies are looked into and games reviewed, with what it knows already in `study`
    builders  a thread for steps of strategies that are built, and judges one for their guarantees
    arena     matches, played in a thread of their own
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.loaders, self.thinkers = Workers(LOADERS, "load"), Workers(THINKERS, "think")
        self.lookers, self.study = Workers(1, "look"), Study()
        self.shelf = Shelf(setup)
        self.store = Store(setup.db)
        self.hall = Hall(self.shelf, self.store, self.loaders, self.thinkers)
        self.builders, self.judges = Workers(1, "build"), Workers(1, "judge")
        self.arena = Matches(self.shelf, self.store)


def _house(connection: HTTPConnection) -> House:
    house: House = connection.app.state.house
    return house


Here = Annotated[House, Depends(_house)]
"""In a route: `async def games(house: Here)`."""
