"""`python -m nebel.web.load`: how long many players at once wait for the answers of a table policy."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

import numpy as np


class Terms(NamedTuple):
    """How long it all takes, for how long a player thinks on average, and what all wait for before they begin."""

    seconds: float
    pause: float
    ready: asyncio.Barrier


GAME, AGENT = "dark_hex(rows=4,cols=3)", "shipped/board-4x3.nebel"


async def player(url: str, seed: int, terms: Terms, waits: list[float], finished: list[str]) -> None:
    """Plays game after game at random; `waits` gets the time from each move to the next turn or to the end."""
    from websockets.asyncio.client import connect

    luck, end = random.Random(seed), float("inf")
    while time.perf_counter() < end:
        begun = await asyncio.to_thread(_begin, url, seed)
        live = f"{url.replace('http', 'ws', 1)}api/play/{begun['id']}/live?key={begun['seats'][0]['key']}"
        async with connect(live, open_timeout=60) as socket:
            if end == float("inf"):
                await terms.ready.wait()  # all sit down before the first move
                end = time.perf_counter() + terms.seconds
            asked = None
            async for text in socket:
                now = json.loads(text)
                if now["type"] != "position" or not (now["yours"] or now["over"]):
                    continue
                if asked is not None:
                    waits.append(time.perf_counter() - asked)
                if now["over"] or time.perf_counter() > end:
                    finished += [now["result"]["text"]] if now["over"] else []
                    break
                await asyncio.sleep(luck.uniform(0, 2 * terms.pause))
                asked = time.perf_counter()
                await socket.send(json.dumps({"do": "move", "move": luck.choice(now["legal"])}))


def _begin(url: str, seed: int) -> Any:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    body = json.dumps({"game": GAME, "players": ["person", AGENT] if seed % 2 else [AGENT, "person"]}).encode()
    while True:
        try:
            with urlopen(Request(f"{url}api/play", body, {"Content-Type": "application/json"}), timeout=60) as answer:
                return json.load(answer)
        except HTTPError as refused:
            if refused.code != 429:  # all of these players are one visitor, who begins only so many games a minute
                raise
        time.sleep(1.0)


async def measure(url: str, games: int, seconds: float, pause: float) -> dict[str, Any]:
    """So many games at once, each player thinking for `pause` seconds on average."""
    waits: list[float] = []
    finished: list[str] = []
    terms = Terms(seconds, pause, asyncio.Barrier(games))
    await asyncio.gather(*(player(url, seed, terms, waits, finished) for seed in range(games)))
    p50, p99 = (1000 * float(np.percentile(waits, share)) for share in (50, 99))
    return {
        "games_at_once": games, "games_finished": len(finished), "answers": len(waits), "answers_a_second": round(len(waits) / seconds, 1),
        "pause_s": pause, "p50_ms": round(p50, 1), "p99_ms": round(p99, 1), "max_ms": round(1000 * max(waits), 1),
        "load": os.getloadavg()[0],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200, help="at once (default: 200)")
    parser.add_argument("--seconds", type=float, default=20, help="(default: 20)")
    parser.add_argument("--pause", type=float, default=1.0, help="for which players think, on average (default: 1; 0: not at all)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "nebel", "serve", "--port", "0", "--runs", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = server.stdout.readline().strip().removeprefix("Open the page: ")
            try:
                found = asyncio.run(measure(url, args.games, args.seconds, args.pause))
            finally:
                server.terminate()
    print(json.dumps(found, indent=1))  # noqa: T201


if __name__ == "__main__":
    main()
