"""Speed and quality claims, measured against other libraries in one run: `nebel bench`."""

from __future__ import annotations

from collections.abc import Callable

from nebel.bench.row import Claim, Row
from nebel.core.errors import BadSetting

__all__ = ["Row", "names_of", "run"]


def _claims() -> list[Claim]:
    from nebel.bench import judging, own_game, playouts, quality, sampling, sweeps

    rooms = (sweeps, sampling, judging, quality, own_game, playouts)
    return [claim for room in rooms for claim in room.claims()]


def names_of() -> list[str]:
    """All that can be measured."""
    return [claim.name for claim in _claims()]


def run(names: list[str] | None = None, seconds: float = 10.0, progress: Callable[[str], None] = lambda name: None) -> list[Row]:
    """Measure what contains one of `names`, or everything; `seconds` is the solving time where a result after some time is
    compared, and rates are measured over less than a third of it on each side."""
    chosen = _claims()
    for name in names or ():
        if not any(name in claim.name for claim in chosen):
            raise BadSetting(f"nothing to measure is called {name!r}; there are: {', '.join(names_of())}")
    if names:
        chosen = [claim for claim in chosen if any(name in claim.name for name in names)]
    rows = []
    for claim in chosen:
        progress(claim.name)
        rows.append(claim.measure(claim.share * seconds))
    return rows
