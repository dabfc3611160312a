"""Many games at once: nobody is forgotten. How fast it goes is measured by `python -m nebel.web.load`."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from nebel.web.load import measure

from .conftest import Serving


def test_two_hundred_games_at_once(server: Serving) -> None:
    with ThreadPoolExecutor(1) as aside:  # a browser's loop may be running here
        found = aside.submit(lambda: asyncio.run(measure(server.url, games=200, seconds=4, pause=0.5))).result(120)
    assert found["games_at_once"] == 200
    assert found["games_finished"] >= 100
    assert found["answers"] >= 500
