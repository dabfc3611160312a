"""Every built-in game behaves the same compiled, in plain Python, and compiled with bounds checked."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import nebel
from nebel.core.checksum import playout_checksum

SEED, PLAYOUTS = 7, 100
GAMES = (*nebel.GAMES, "dark_hex(leak=noisy,diary=true)", "cheat(diary=true)")
SCRIPT = f"""
import sys, nebel
from nebel.core.checksum import playout_checksum
for string in sys.argv[1:]:
    print(playout_checksum(nebel.game(string), {SEED}, {PLAYOUTS}))
"""


@pytest.fixture(scope="module")
def compiled() -> list[int]:
    return [playout_checksum(nebel.game(string), SEED, PLAYOUTS) for string in GAMES]  # type: ignore[arg-type]


def elsewhere(**environment: str) -> list[int]:
    """The checksums of all games in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *GAMES], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


def test_plain_rules_do_the_same(compiled: list[int]) -> None:
    assert dict(zip(GAMES, elsewhere(NUMBA_DISABLE_JIT="1"), strict=True)) == dict(zip(GAMES, compiled, strict=True))


def test_no_rule_reads_outside_its_arrays(compiled: list[int]) -> None:
    assert dict(zip(GAMES, elsewhere(NUMBA_BOUNDSCHECK="1"), strict=True)) == dict(zip(GAMES, compiled, strict=True))


def test_another_seed_is_another_number(compiled: list[int]) -> None:
    game = nebel.game("kuhn")
    assert playout_checksum(game, SEED + 1, PLAYOUTS) != compiled[0]  # type: ignore[arg-type]
