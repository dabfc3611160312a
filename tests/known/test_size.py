"""How large a job is: estimates beside counts, and what is refused before it begins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.core.errors import TooLarge
from nebel.core.tree import ROUGHLY, estimate
from nebel.policy.io import write_arrays
from nebel.solve.double_oracle import DoubleOracle
from nebel.solve.settings import DoubleOracleSettings
from nebel.solve.size import MOST_WALKED, size_up


@pytest.mark.parametrize(("string", "histories"), [("kuhn", 58), ("leduc", 9457), ("cheat:1", 7201), ("cheat:2", 174_643)])
def test_estimates_are_about_right(string: str, histories: int) -> None:
    game = nebel.game(string)
    assert sum(estimate(game, seed=seed) for seed in range(5)) / 5 == pytest.approx(histories, rel=0.15)


def test_chance_may_be_left_to_itself() -> None:
    """All deals of Cheat-1 are alike in size but for which ranks are dealt: 180, and the history before them."""
    game = nebel.game("cheat:1")
    assert sum(estimate(game, (0, 1), seed=seed) for seed in range(5)) / 5 == pytest.approx(1 + 7200 / 180, rel=0.15)


def test_games_that_may_go_on_and_on_are_seen_to_be_large() -> None:
    """Random play ends them soon, which must not deceive: one traversal would never end."""
    assert estimate(nebel.game("cheat(hp=none)"), (0, 1)) > ROUGHLY > MOST_WALKED
    with pytest.raises(TooLarge, match=r"one traversal of .* with chance-sampled meets about .* take --with outcome-sampling"):
        size_up(nebel.game("cheat(hp=none,limit=100000)"), "chance-sampled", "memoryless", 0.01)
    assert size_up(nebel.game("cheat(hp=none,limit=100000)"), "outcome-sampling", "memoryless", 0.01).walked == 1


def test_a_tree_is_refused_before_it_takes_more_memory_than_there_is() -> None:
    """While it grows, a tree takes more than when it is there."""
    game = nebel.game("goofspiel:6")
    with pytest.raises(TooLarge, match=r"needs the whole tree of goofspiel.* at its peak, and --memory is 0.15 GB; give --memory 0\.\d+"):
        size_up(game, "dcfr+", "perfect", 0.15)
    assert size_up(game, "outcome-sampling", "perfect", 0.15).tree is None  # it is sampled by the rules


def test_what_is_solved_keeps_to_its_memory() -> None:
    """Growing, solving, judging and the policy, measured in a process of its own, beside what a tiny game takes there."""
    script = """
import resource
import nebel
from nebel.judge.best_response import Judge
from nebel.solve.cfr import FullWidth
from nebel.policy.io import write_arrays
from nebel.solve.double_oracle import DoubleOracle
from nebel.solve.settings import DoubleOracleSettings
from nebel.solve.size import GIGABYTE, size_up
def peak(game, memory):
    sizing = size_up(nebel.game(game), "dcfr+", "perfect", memory)
    solver, judge = FullWidth(sizing.tree, "dcfr+"), Judge(sizing.tree)
    solver.run(1)
    judge.verdict(solver.strategies())
    solver.policy({})
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tiny = peak("goofspiel:3", 0.01)
assert peak("goofspiel:6", 0.2) - tiny <= 0.2 * GIGABYTE
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("method", ["dcfr+", "outcome-sampling", "double-oracle", "maximin"])
def test_too_little_memory_for_anything_is_refused(method: str) -> None:
    with pytest.raises(TooLarge, match=r"--memory 0\.001 is too little"):
        size_up(nebel.game("dark_hex:3x3"), method, "board" if method == "maximin" else "perfect", 0.001)


def test_a_file_is_held_once_when_it_is_read(tmp_path: Path) -> None:
    """So that a run takes no more memory when it is resumed; measured in a process of its own."""
    write_arrays(tmp_path / "x", {"zeros": np.zeros(10_000_000)}, {"kind": "checkpoint"})
    script = f"""
import resource
from pathlib import Path
from nebel.policy.io import read_arrays, write_arrays
def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
write_arrays(Path({str(tmp_path / "y")!r}), {{}}, {{"kind": "checkpoint"}})
read_arrays(Path({str(tmp_path / "y")!r}), "checkpoint")
before = peak()
read_arrays(Path({str(tmp_path / "x")!r}), "checkpoint")
assert peak() - before < 90_000_000, peak() - before
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_the_double_oracle_keeps_to_its_memory() -> None:
    game = nebel.game("dark_hex:2x2")
    with pytest.raises(TooLarge, match=r"takes the double oracle 0\.0625 GB at least, and --memory is 0\.05 GB; give --memory 0\.08"):
        size_up(game, "double-oracle", "perfect", 0.05)
    assert DoubleOracle(game, DoubleOracleSettings(), 1).full == ""
    assert "the memory is full: 10 + 10 strategies have found room" in DoubleOracle(game, DoubleOracleSettings(), 1, 1 << 20).full
