"""Speed and quality claims, measured against other libraries in one run: `nebel bench`."""

from __future__ import annotations

from collections.abc import Callable

from nebel.bench.row import Claim, Row
from nebel.core.errors import BadSetting

__all__ = ["Row", "names_of", "run"]


def _claims() -> list[Claim]:
    from nebel.bench import flocks, judging, learning, own_game, playouts, quality, sampling, searching, sweeps

    rooms = (sweeps, sampling, judging, quality, own_game, playouts, flocks, searching, learning)
    return [claim for room in rooms for claim in room.claims()]


def names_of() -> list[str]:
    """All that can be measured."""
    return [claim.name for claim in _claims()]


def run(names: list[str] | None = None, seconds: float = 10.0, progress: Callable[[str], None] = lambda name: None) -> list[Row]:
    """Measure what is called by one of `names` or has it as a part of its name, or everything. `seconds` is the solving time where
    results after some time are compared; rates are measured over less than a third of it on each side."""
    there = _claims()
    known = [claim.name for claim in there]
    chosen: set[str] = set()
    for name in known if names is None else names:
        found = {name} if name in known else {other for other in known if name in other}
        if not found:
            raise BadSetting(f"nothing to measure is called {name!r}; there are: {', '.join(known)}")
        chosen |= found
    rows = []
    for claim in there:
        if claim.name not in chosen:
            continue
        progress(claim.name)
        rows.append(claim.measure(claim.share * seconds))
    return rows
