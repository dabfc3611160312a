"""What a game declares, what the compiler says of its rules, and the factory of a file: mistakes are told in words."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy import int64

import nebel
from nebel import Problem, game, record, rule
from nebel.core.conform import _compile_fault
from nebel.core.errors import BadRules
from nebel.core.game import Pieces
from nebel.core.template import new_game

kuhn = game("kuhn")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "a state needs at least one field"),
        ({"board": (int64, (10**5, 10**5))}, r"a state takes 80,000,000,000 bytes, 80,000,000,000 of them for its field 'board'; at most"),
        ({"name": "hello"}, r"the field name='hello' of a state is not an array of numbers: write name=int64 or name=\(int64, 3\)"),
        ({"name": object}, "the field name=.* is not an array of numbers"),
        ({"hand": (int64, -2)}, "the field hand=.* is not an array of numbers"),
    ],
)
def test_a_state_that_cannot_be_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRules, match=said):
        record(**fields)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"state": np.dtype([("board", np.int64, 10**6)])}, "a state takes 8,000,000 bytes"),
        ({"state": {"board": int64}}, "is not the layout of a state"),
        ({"actions": 0}, "actions=0 is out of range: it must be a whole number of at least 1"),
        ({"depth": "5"}, "depth='5' is out of range"),
        ({"actions": 10**10, "width": 0}, "depth=5 takes .* bytes for one game"),
        ({"rules": (1, 2)}, "rules is a tuple; write rules=Rules"),
        ({"rules": kuhn.rules._replace(score=None)}, "score=None is not a rule"),
        ({"pieces": Pieces(cells=2, ways=2, counts=(1,))}, "number 4 moves, and actions=2"),
        ({"pieces": Pieces(cells=1, ways=2, counts=(1,) * 99)}, "the encoding 'perfect' is shorter than the planes of pieces="),
    ],
)
def test_declarations_that_cannot_be_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRules, match=said):
        dataclasses.replace(kuhn, **change)  # type: ignore[type-var]


def test_what_the_compiler_says_is_told_in_words() -> None:
    made = [1]

    @rule
    def appends(s: Any) -> int:
        made.append(s.turn)
        return 0

    @rule
    def imports(s: Any) -> int:
        import math

        return math.floor(s.turn)

    @rule
    def misspells(s: Any) -> int:
        return int(s.trun)

    @rule
    def fills(s: Any) -> None:
        s.card = [1, 2]

    for function, said in (
        (appends, "it uses a Python list from outside the rule; keep what changes in a field of the state"),
        (imports, "a rule cannot import; import at the top of the file"),
        (misspells, "the state has no field 'trun'"),
        (fills, "it sets a field of 2 numbers to a list"),
    ):
        fault = _compile_fault(function.__name__, function, (kuhn.records(1)[0],)) or ""
        assert re.search(rf"^{function.__name__} cannot be compiled: test_declared.py, line \d+: {said}", fault), fault


def test_the_factory_of_a_file_is_asked_for(tmp_path: Path) -> None:
    path = new_game("mine", tmp_path)
    path.write_text(path.read_text() + "\n\n@rule\ndef helper(s):\n    return 0\n")
    with pytest.raises(Problem, match=r"say which factory of .*mine.py: .*mine.py:NAME, with NAME one of: mine$"):
        nebel.game(str(path))
    with pytest.raises(Problem, match=r"mine.py has no 'yours'; write .*mine.py:NAME with one of: mine$"):
        nebel.game(f"{path}:yours")
    with pytest.raises(Problem, match="which game"):
        nebel.game(" ")
