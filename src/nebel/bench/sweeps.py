"""Full-width CFR: iterations a second, where an iteration updates both players once."""

from __future__ import annotations

from nebel.bench.clock import Contender, against
from nebel.bench.peers import LITEEFG, OPENSPIEL, liteefg_contenders, openspiel_both_ways
from nebel.bench.row import Claim, Row
from nebel.core.registry import load
from nebel.core.tree import grow
from nebel.solve.cfr import FullWidth

PAIRS = {
    "leduc": ("leduc", "leduc_poker", "936 information states on both sides"),
    "goofspiel": (
        "goofspiel(cards=5,order=descending,first_prize=1,forced_last=false)",
        "goofspiel(imp_info=True,num_cards=5,points_order=descending)",
        "2,124 information states on both sides",
    ),
    "dark_hex": (
        "dark_hex(rows=3,cols=2,leak=noisy)",
        "dark_hex(num_rows=3,num_cols=2,gameversion=cdh)",
        "196,357 histories on both sides; 19,842 information states here, 12,182 there, where it is forgotten when a collision was heard",
    ),
}


def sweeper(string: str, method: str = "cfr") -> Contender:
    return Contender(f"{method} on {string}", FullWidth(grow(load(string)), method).run)


def _claim(game: str, package: str) -> Claim:
    ours, theirs, sizes = PAIRS[game]
    name = f"sweeps-{game}-{package.lower()}"

    def measure(seconds: float) -> Row:
        def field() -> list[Contender]:
            return openspiel_both_ways(theirs, "CFRSolver") if package == OPENSPIEL else liteefg_contenders(theirs, "CFR")

        updates = "alternating updates" if package == OPENSPIEL else "alternating updates here, simultaneous there"
        return against(name, sweeper(ours), field, seconds, "iterations/s", package, f"{updates}; {sizes}")

    return Claim(name, measure)


def claims() -> list[Claim]:
    return [_claim(game, package) for package in (OPENSPIEL, LITEEFG) for game in PAIRS]
