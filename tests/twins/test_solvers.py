"""The same source three ways: compiled, in plain Python, and compiled with bounds checks, to the same last bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
SCRIPT = Path(__file__).with_name("solver_checksums.py")


def checksums(**environment: str) -> dict[str, str]:
    run = subprocess.run([sys.executable, str(SCRIPT)], env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def compiled() -> dict[str, str]:
    return checksums()


def test_compiled_equals_plain(compiled: dict[str, str]) -> None:
    assert checksums(NUMBA_DISABLE_JIT="1") == compiled


def test_a_bounds_checked_run_is_clean_and_equal(compiled: dict[str, str]) -> None:
    assert checksums(NUMBA_BOUNDSCHECK="1") == compiled


def test_walking_the_tree_and_stepping_the_rules_give_the_same(compiled: dict[str, str]) -> None:
    stepped = {name.removesuffix(" rules"): value for name, value in compiled.items() if name.endswith(" rules")}
    assert len(stepped) == 12
    for name, value in stepped.items():
        assert compiled[f"{name} tree"] == value, name
