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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
from scipy.stats import ks_2samp, mannwhitneyu, rankdata
from websockets.sync.client import connect

import nebel

if __package__:
    from .conftest import Serving
else:
    import sys

    sys.path.insert(0, str(Path(__file__).parent))
    from conftest import Serving


class Answer(NamedTuple):
    """How long it took, what the person knew then in figures, and how many stones the agent met that it did not know of."""

    seconds: float
    known: tuple[int, int]
    collisions: int


Move = Callable[[str | None], dict[str, Any]]
"""Makes a move (None: waits for the first turn) and returns the next position in which the person is to move or the game is over."""


@contextmanager
def by_socket(url: str, id: str, key: str) -> Iterator[Move]:
    with connect(f"{url.replace('http', 'ws', 1)}api/play/{id}/live?key={key}") as socket:

        def move(name: str | None) -> dict[str, Any]:
            if name is not None:
                socket.send(json.dumps({"do": "move", "move": name}))
            while True:
                now: dict[str, Any] = json.loads(socket.recv(timeout=120))
                if now["type"] == "position" and (now["yours"] or now["over"]):
                    return now

        yield move


@contextmanager
def by_http(url: str, id: str, key: str) -> Iterator[Move]:
    """By requests, one after the other without a pause."""
    game = f"{url}api/play/{id}"
    with httpx.Client(params={"key": key}, timeout=120) as client:

        def move(name: str | None) -> dict[str, Any]:
            now: dict[str, Any] = (client.get(game) if name is None else client.post(f"{game}/move", json={"move": name})).json()
            while not (now["yours"] or now["over"]):
                now = client.get(game).json()
            return now

        yield move


WAYS = {"socket": by_socket, "http": by_http}


def play(url: str, game: str, agent: str, seed: int, by: str = "socket") -> list[Answer]:
    """One game at random; the times of all answers."""
    luck, times = random.Random(seed), list[tuple[float, tuple[int, int]]]()
    players = ["person", agent] if seed % 2 else [agent, "person"]
    begun: dict[str, Any] = httpx.post(f"{url}api/play", json={"game": game, "players": players, "seed": seed}, timeout=120).json()
    key = begun["seats"][0]["key"]
    with WAYS[by](url, begun["id"], key) as move:
        now = move(None)
        while not now["over"]:
            time.sleep(luck.uniform(0.0, 0.02))
            sent = time.perf_counter()
            now = move(luck.choice(now["legal"]))
            times.append((time.perf_counter() - sent, (len(now["events"]), len(now["legal"]))))
    record = httpx.get(f"{url}api/play/{begun['id']}/record", params={"key": key}).text
    return answers(record, begun["seats"][0]["seat"], times)


def answers(record: str, person: int, times: list[tuple[float, tuple[int, int]]]) -> list[Answer]:
    """The times of those moves after which the agent was to move, with what happened then."""
    turns = [step.turn for step in nebel.read_record(record).steps]
    found, taken = list[Answer](), iter(times)
    for i, turn in enumerate(turns):
        if turn != person:
            continue
        seconds, known = next(taken)
        replies = next((j for j in range(i + 1, len(turns)) if turns[j] == person), len(turns)) - i - 1
        if replies:
            found.append(Answer(seconds, known, replies - 1))
    assert next(taken, None) is None
    return found


def compared(found: list[Answer]) -> dict[str, Any]:
    """Figures of both kinds of answers, in milliseconds, and p values of tests that they come from one distribution.

    Collisions are more frequent late in a game, when positions take another time to write and to read. The person knows how late it is,
    so the third test compares only answers after which the person knew the same.
    """
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
    tests["ranks where the person knows the same"] = among_alike(found)
    return {**rounded, "p": {name: float(f"{p:.3g}") for name, p in tests.items()}}


def among_alike(found: list[Answer], draws: int = 20_000) -> float:
    """Return the p value of a permutation test on the sum of the ranks of answers after a collision, each among those that are alike."""
    rng, seen, total = np.random.default_rng(1), 0.0, np.zeros(draws)
    for known in {answer.known for answer in found}:
        alike = [answer for answer in found if answer.known == known]
        ranks = rankdata([answer.seconds for answer in alike]) / (len(alike) + 1) - 0.5
        met = np.array([answer.collisions > 0 for answer in alike])
        seen += ranks[met].sum()
        total += rng.permuted(np.tile(ranks, (draws, 1)), axis=1)[:, : met.sum()].sum(axis=1)
    return float((1 + (np.abs(total) >= abs(seen)).sum()) / (1 + draws))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="dark_hex:3x3", help="(default: dark_hex:3x3)")
    parser.add_argument("--agent", default="oos:300ms", help="(default: oos:300ms)")
    parser.add_argument("--games", type=int, default=200, help="(default: 200)")
    parser.add_argument("--at-once", type=int, default=1, help="games played at the same time (default: 1)")
    parser.add_argument("--by", choices=WAYS, default="socket", help="how the person hears of the answers (default: socket)")
    parser.add_argument("--policies", metavar="FOLDER", help="a folder whose files can be agents (default: none)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Serving(Path(folder), *(["--policies", args.policies] if args.policies else []))
        try:
            play(server.url, args.game, args.agent, 0, args.by)  # compiles what the agent needs
            with ThreadPoolExecutor(args.at_once) as players:
                games = players.map(lambda seed: play(server.url, args.game, args.agent, seed, args.by), range(1, args.games + 1))
                found = [answer for game in games for answer in game]
        finally:
            server.stop()
    print(json.dumps(compared(found), indent=1))


if __name__ == "__main__":
    main()
