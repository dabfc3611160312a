"""A game in a user's file against the built-in one: it should be solved as fast."""

from __future__ import annotations

import os
import tempfile
from importlib.resources import files
from pathlib import Path

from nebel.bench.clock import Contender, race
from nebel.bench.row import Claim, Row
from nebel.bench.sampling import sampler
from nebel.bench.sweeps import sweeper
from nebel.core.output import write_text
from nebel.core.template import new_game
from nebel.solve.settings import OutcomeSampling


def _file(game: str) -> str:
    """The template stands for Kuhn poker; Leduc is a copy of our own file. The place is always the same, so that what has been
    compiled for it is found again."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nebel" / "bench"
    name = f"own_{game}"
    path = home / f"{name}.py"
    if game == "kuhn":
        with tempfile.TemporaryDirectory() as folder:
            text = new_game(name, Path(folder)).read_text(encoding="utf-8")
    else:
        text = (files("nebel.games") / f"{game}.py").read_text(encoding="utf-8")
    write_text(path, text)
    return f"{path}:{name if game == 'kuhn' else game}"


def _contender(string: str, how: str) -> Contender:
    if how == "sweeps":
        return sweeper(string)
    return Contender(string, sampler(string, OutcomeSampling(), by_rules=True).run)


def _claim(game: str, how: str) -> Claim:
    name = f"own-{game}-{how}"
    note = "cfr on the tree" if how == "sweeps" else "outcome sampling by the rules"
    what = "the template of nebel new-game" if game == "kuhn" else "a copy in a user's file"

    def measure(seconds: float) -> Row:
        end = race(_contender(_file(game), how), [_contender(game, how)], seconds)
        return Row(name, end.ours, end.peer, end.ratio, "iterations/s", f"built-in {game}", f"{what}; {note}")

    return Claim(name, measure)


def claims() -> list[Claim]:
    return [_claim(game, how) for game in ("kuhn", "leduc") for how in ("sweeps", "outcome")]
