"""Monte Carlo CFR: iterations a second, where an iteration is one traversal for each player."""

from __future__ import annotations

from nebel.bench.clock import Contender, against, looped
from nebel.bench.peers import OPENSPIEL, openspiel_both_ways, openspiel_solver
from nebel.bench.row import Claim, Row
from nebel.core.registry import load
from nebel.core.tree import grow
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ExternalSampling, OutcomeSampling, Sampling
from nebel.solve.size import GIGABYTE

OUTCOME, EXTERNAL = "OutcomeSamplingMCCFRSolver", "ExternalSamplingMCCFRSolver"
WARM_UP = 20_000
"""Iterations a second of measuring that both sides make first where tables grow on the way."""


def sampler(string: str, settings: Sampling, recall: str = "perfect", by_rules: bool = False, seed: int = 1) -> Sampled:
    game = load(string)
    return Sampled(game, recall, None if by_rules else grow(game, recall), settings, seed, GIGABYTE)


def _on_leduc(kind: str) -> Claim:
    name = f"{kind}-sampling-leduc"
    settings, theirs = (OutcomeSampling(), OUTCOME) if kind == "outcome" else (ExternalSampling(), EXTERNAL)

    def measure(seconds: float) -> Row:
        ours = Contender("", sampler("leduc", settings).run)
        return against(
            name, ours, lambda: openspiel_both_ways("leduc_poker", theirs, seed=1), seconds, "iterations/s", OPENSPIEL,
            "one traversal for each player on both sides; we walk the tree, perfect recall", int(WARM_UP * seconds),
        )  # fmt: skip

    return Claim(name, measure)


def _large(seconds: float) -> Row:
    ours = Contender("", sampler("dark_hex:4x3", OutcomeSampling(), "board", by_rules=True).run)

    def field() -> list[Contender]:
        _, step = openspiel_solver("dark_hex_ir(num_rows=4,num_cols=3,gameversion=cdh)", OUTCOME, False, seed=1)
        return [Contender(f"{OPENSPIEL} {OUTCOME}", looped(step))]

    warm_up = int(WARM_UP * seconds)
    note = f"imperfect recall, by the rules, no tree; {warm_up:,} iterations on both sides before the clock starts"
    return against(LARGE, ours, field, seconds, "iterations/s", OPENSPIEL, note, warm_up)


LARGE = "outcome-sampling-dark_hex"


def claims() -> list[Claim]:
    return [Claim(LARGE, _large), _on_leduc("outcome"), _on_leduc("external")]
