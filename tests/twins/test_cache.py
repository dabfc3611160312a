"""Machine code is kept between processes, and never used after what it was made from has changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, sys
from numba.core import event

class Count(event.Listener):
    compiled = 0
    def on_start(self, happened): self.compiled += 1
    def on_end(self, happened): pass

count = Count()
event.register("numba:compile", count)
from nebel.solve import Budget, Job, solve
outcomes = []
for method in ("cfr", "outcome-sampling", "external-sampling"):
    result = solve(Job(sys.argv[1], method), Budget(iterations=50))
    outcomes.append(result.verdict.value)
print(json.dumps({"compiled": count.compiled, "outcomes": outcomes}))
"""

GAME = """
from helper import STAKE, gain
from nebel import CHANCE, END, Game, Rules, record, rule
from numpy import int64

def coin():
    @rule
    def start(s):
        s.turn = CHANCE
        s.up = 0
        s.guess = 0
    @rule
    def turn(s):
        return s.turn
    @rule
    def moves(s, out):
        out[0], out[1] = 0, 1
        return 2
    @rule
    def odds(s, out):
        out[0], out[1] = 0.25, 0.75
    @rule
    def play(s, move, seen):
        if s.turn == CHANCE:
            s.up = move
            s.turn = 0
        else:
            s.guess = move
            s.turn = END
    @rule
    def score(s):
        return gain(s.up == s.guess) * STAKE
    return Game(state=record(turn=int64, up=int64, guess=int64), rules=Rules(start, turn, moves, play, score, odds),
                actions=2, outcomes=2, depth=2)
"""
HELPER = """
from nebel import rule
STAKE = 1.0
@rule
def gain(right):
    return 1.0 if right else -1.0
"""


def run(game: str, folder: Path) -> dict[str, object]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, "-c", SCRIPT, game], env=environment, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_second_process_compiles_nothing_and_edits_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "coin.py").write_text(GAME)
    (tmp_path / "helper.py").write_text(HELPER)
    first = run("coin.py:coin", tmp_path)
    again = run("coin.py:coin", tmp_path)
    assert first["compiled"]
    assert again["compiled"] == 0
    assert again["outcomes"] == first["outcomes"]

    (tmp_path / "helper.py").write_text(HELPER.replace("-1.0", "-3.0"))
    changed = run("coin.py:coin", tmp_path)
    assert changed["compiled"]
    assert changed["outcomes"] != first["outcomes"]

    (tmp_path / "helper.py").write_text(HELPER.replace("STAKE = 1.0", "STAKE = 2.0"))
    doubled = run("coin.py:coin", tmp_path)
    assert doubled["compiled"]
    assert doubled["outcomes"][0] == 2 * first["outcomes"][0]  # type: ignore[index]

    (tmp_path / "helper.py").write_text(HELPER)
    assert run("coin.py:coin", tmp_path) == again


def test_a_full_disk_costs_only_the_time_to_compile_again(tmp_path: Path) -> None:
    script = """
import resource
import numpy as np
from nebel.core.rule import kernel, rule
@rule
def twice(x):
    return 2 * x
@kernel
def doubled(x):
    return twice(x[0])
resource.setrlimit(resource.RLIMIT_FSIZE, (16, resource.RLIM_INFINITY))
print(doubled(np.array([21])))
"""
    (tmp_path / "script.py").write_text(script)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, env=env, check=False)
    assert (run.stdout, run.stderr) == ("42\n", "")
    assert not [file for file in (tmp_path / "cache").rglob("*.nb*") if file.stat().st_size > 16]
