"""Whether the times of an agent's answers tell what is hidden: play silent Dark Hex on a server of its own, and compare the times of
answers in which the agent met a stone that it did not know of with those in which it did not.

    python tests/web/answer_times.py --agent oos:300ms --games 200
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
from scipy.stats import ks_2samp, mannwhitneyu
from websockets.sync.client import connect

import nebel

if __package__:
    from .conftest import Serving
else:
    import sys

    sys.path.insert(0, str(Path(__file__).parent))
    from conftest import Serving


class Answer(NamedTuple):
    """How long it took, and how many stones the agent met that it did not know of."""

    seconds: float
    collisions: int


def play(url: str, game: str, agent: str, seed: int) -> list[Answer]:
    """One game at random; the times of all answers."""
    luck, times = random.Random(seed), list[float]()
    players = ["person", agent] if seed % 2 else [agent, "person"]
    begun: dict[str, Any] = httpx.post(f"{url}api/play", json={"game": game, "players": players, "seed": seed}, timeout=120).json()
    key = begun["seats"][0]["key"]
    with connect(f"{url.replace('http', 'ws', 1)}api/play/{begun['id']}/live?key={key}") as socket:
        sent = None
        while True:
            text, heard = socket.recv(timeout=120), time.perf_counter()
            now = json.loads(text)
            if now["type"] != "position" or not (now["yours"] or now["over"]):
                continue
            if sent is not None:
                times.append(heard - sent)
            if now["over"]:
                break
            time.sleep(luck.uniform(0.0, 0.02))
            sent = time.perf_counter()
            socket.send(json.dumps({"do": "move", "move": luck.choice(now["legal"])}))
    record = httpx.get(f"{url}api/play/{begun['id']}/record", params={"key": key}).text
    return answers(record, begun["seats"][0]["seat"], times)


def answers(record: str, person: int, times: list[float]) -> list[Answer]:
    """The times of those moves after which the agent was to move, with what happened then."""
    turns = [step.turn for step in nebel.read_record(record).steps]
    found, taken = list[Answer](), iter(times)
    for i, turn in enumerate(turns):
        if turn != person:
            continue
        seconds = next(taken)
        replies = next((j for j in range(i + 1, len(turns)) if turns[j] == person), len(turns)) - i - 1
        if replies:
            found.append(Answer(seconds, replies - 1))
    assert next(taken, None) is None
    return found


def compared(found: list[Answer]) -> dict[str, Any]:
    """Figures of both kinds of answers, in milliseconds, and the p values of two tests that they come from one distribution."""
    after = np.array([1000 * answer.seconds for answer in found if answer.collisions])
    without = np.array([1000 * answer.seconds for answer in found if not answer.collisions])
    figures = {
        name: {
            "answers": len(times),
            "median": np.median(times),
            "mean": times.mean(),
            "p5": np.percentile(times, 5),
            "p95": np.percentile(times, 95),
        }
        for name, times in (("after a collision", after), ("without", without))
    }
    rounded = {name: {key: round(float(value), 2) for key, value in row.items()} for name, row in figures.items()}
    tests = {"Mann-Whitney": float(mannwhitneyu(after, without).pvalue), "Kolmogorov-Smirnov": float(ks_2samp(after, without).pvalue)}
    return {**rounded, "p": {name: float(f"{p:.3g}") for name, p in tests.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="dark_hex:3x3", help="(default: dark_hex:3x3)")
    parser.add_argument("--agent", default="oos:300ms", help="(default: oos:300ms)")
    parser.add_argument("--games", type=int, default=200, help="(default: 200)")
    parser.add_argument("--at-once", type=int, default=1, help="games played at the same time (default: 1)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Serving(Path(folder))
        try:
            play(server.url, args.game, args.agent, 0)  # compiles what the agent needs
            with ThreadPoolExecutor(args.at_once) as players:
                games = players.map(lambda seed: play(server.url, args.game, args.agent, seed), range(1, args.games + 1))
                found = [answer for game in games for answer in game]
        finally:
            server.stop()
    print(json.dumps(compared(found), indent=1))


if __name__ == "__main__":
    main()
