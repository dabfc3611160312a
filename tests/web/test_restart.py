"""A server that is killed in the middle of games goes on with them."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from .conftest import Serving

GAMES = {
    "dark_hex(rows=4,cols=3)": ["person", "shipped/board-4x3.nebel"],
    "leduc": ["random", "person"],
    "geister(setup=chosen)": ["person", "person"],
    "cheat": ["person", "heuristic"],
}


def positions(url: str, games: list[dict[str, Any]]) -> list[Any]:
    return [httpx.get(f"{url}api/play/{game['id']}", params={"key": seat["key"]}).json() for game in games for seat in game["seats"]]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_games_outlive_the_server(tmp_path: Path, how: int) -> None:
    serving = Serving(tmp_path)
    games = [httpx.post(f"{serving.url}api/play", json={"game": game, "players": players}).json() for game, players in GAMES.items()]
    for game in games:
        key = game["seats"][0]["key"]
        now = httpx.get(f"{serving.url}api/play/{game['id']}", params={"key": key}).json()
        if now["yours"]:
            moved = httpx.post(f"{serving.url}api/play/{game['id']}/move", params={"key": key}, json={"move": now["legal"][0]})
            assert moved.status_code == 200
    before = positions(serving.url, games)
    while any(not now["yours"] and "person" not in now["players"][1 - now["seat"]] and not now["over"] for now in before):
        before = positions(serving.url, games)
    assert serving.stop(how) == (130 if how == signal.SIGINT else -how)
    again = Serving(tmp_path)
    try:
        assert positions(again.url, games) == before
    finally:
        again.stop()
