"""What the conformance suite looks at, and how it says what it found."""

from __future__ import annotations

import traceback
from pathlib import Path

import numpy as np

from nebel.core.errors import Problem

RULES, RANGES, PURE, ENDS, MOVES, VIEWS, GLANCES, ENCODINGS, BOTS, NAMES, TEXTS, STATES, TWINS = (
    "rules run",
    "declarations",
    "purity",
    "endings",
    "legal moves",
    "views",
    "glances",
    "encodings",
    "bots",
    "names",
    "transcripts",
    "undo and records",
    "compiled",
)
CHECKS = (RULES, RANGES, PURE, ENDS, MOVES, VIEWS, GLANCES, ENCODINGS, BOTS, NAMES, TEXTS, STATES, TWINS)

CORE, NUMPY = str(Path(__file__).parent), str(Path(np.__file__).parent)
MOST = 3
"""Sentences of one kind: a mistake in the rules shows in thousands of states, and a few say it all."""


class Findings:
    """What is wrong, by check."""

    def __init__(self) -> None:
        self.sentences: dict[str, list[str]] = {name: [] for name in CHECKS}
        self.left_out: dict[str, int] = dict.fromkeys(CHECKS, 0)

    def add(self, check: str, sentence: str) -> None:
        told = self.sentences[check]
        if sentence in told:
            return
        if len(told) < MOST:
            told.append(sentence)
        else:
            self.left_out[check] += 1


def where(error: BaseException) -> str:
    """The innermost line of an error outside the library's core and NumPy; empty where there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((CORE, NUMPY))]
    return f"{Path(own[-1].filename).name}, line {own[-1].lineno}" if own else ""


def reason(error: BaseException) -> str:
    """An error in one line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, Problem) else f"{type(error).__name__}: {text}" if text else type(error).__name__
