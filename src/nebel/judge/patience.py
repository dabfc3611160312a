"""How long judging may take, and news of how far it is."""

from __future__ import annotations

from collections.abc import Callable

PATIENCE = 10_000_000_000
"""Steps that judging may take unless the caller says otherwise."""

News = Callable[[str, int, int], None]
"""Told the stage of the work, the steps taken in all, and the most that may be taken."""


def quiet(stage: str, steps: int, most: int) -> None:
    """Tell nobody."""


class Patience:
    """Steps (states looked at) that judging may take in all its stages; tells how far it is."""

    def __init__(self, most: int = PATIENCE, news: News = quiet) -> None:
        self.most, self.used = most, 0
        self._news, self._stage = news, ""

    @property
    def left(self) -> int:
        return max(0, self.most - self.used)

    def begin(self, stage: str) -> None:
        """Say what is done next."""
        self._stage = stage
        self._news(stage, self.used, self.most)

    def spend(self, steps: int) -> bool:
        """Count steps; False if there were more than allowed."""
        self.used += steps
        self._news(self._stage, min(self.used, self.most), self.most)
        return self.used <= self.most
