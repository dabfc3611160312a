"""Geister variants, as in the paper that learned them with DREAM: what it could not know, their exact values.

`nebel paper geister_dream` solves every variant with perfect recall up to the largest limit of plies that can be enumerated, and the
smaller ones up to the paper's limit of 100 on merged positions. The larger ones are played by Purple there, which somebody is judged
against who knows it. All but the full board are learned by networks, too. docs/papers/geister_dream.md says what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from nebel.core.errors import TooLarge
from nebel.core.registry import load
from nebel.core.tree import grow
from nebel.geister.belief import board_of
from nebel.geister.endings import Endings, watch
from nebel.geister.outwit import LOOKER, Outwitter
from nebel.geister.positions import Positions, histories
from nebel.geister.variants import judged, layers_of, policy_of
from nebel.judge.best_response import Judge, Verdict
from nebel.match.agents import PolicyAgent
from nebel.match.bots import BotAgent
from nebel.papers.geister_dream_learned import against_random, learned
from nebel.papers.geister_dream_replica import NAME, PAPER_SIZE, replica
from nebel.papers.geister_dream_replica import QUICK as QUICK_REPLICA
from nebel.papers.geister_dream_replica import USUAL as USUAL_REPLICA
from nebel.papers.paper import Paper, Terms
from nebel.report.parts import Section, Table
from nebel.solve.cfr import FullWidth

PUBLISHED = {
    "x2y3g2b0": (61.35, 52.27, 0.33), "x3y3g2b0": (62.03, 57.80, 0.39), "x3y3g3Rb0": (68.57, 64.79, 0.09),
    "x3y3g3Bb0": (65.90, 64.00, 0.60), "x2y4g2b0": (62.49, 58.98, 0.36), "x4y2g2b1": (63.00, 53.41, 0.63),
    "x4y3g2b1": (65.85, 62.89, 0.41), "x4y3g4b0": (76.69, 75.76, 0.34), "x4y4g2b1": (65.19, 64.51, 0.44),
    "x4y4g4b0": (72.67, 70.34, 0.49), "x4y4g4b1": (64.82, 61.99, 0.55), "x6y6g8b1": None,
}  # fmt: skip
"""By variant: games of 100 won against Random as first and as second player, and the share of first moves by a blue ghost."""


class Scale(NamedTuple):
    """How much is computed."""

    variants: Sequence[str]
    histories: int  # of the trees that are solved
    iterations: int  # of CFR on trees, at most
    goal: float  # exploitability that is enough there
    merged: int  # iterations on merged positions
    positions: int  # the most for that
    sampled: int  # games that endings of tree strategies are counted over
    games: int  # against Random, in each seat
    colourings: int  # own ones that are tried by somebody who knows Purple


FULL = Scale(tuple(PUBLISHED), 6_000_000, 2000, 1e-4, 200, 100_000, 2000, 100_000, 70)
QUICK = Scale(("x2y3g2b0", "x3y3g3Rb0", "x4y3g4b0"), 30_000, 300, 1e-3, 10, 2_000, 200, 2_000, 2)

DEPTH = {"x6y6g8b1": 2}
"""Of Purple, by variant; else 4. On the full board plans against deeper ones take hours to find."""


class Solved(NamedTuple):
    """A variant with the largest limit at which all histories can be enumerated, and a strategy for it."""

    limit: int
    histories: int
    states: Sequence[int]  # of information, by player
    iterations: int
    verdict: Verdict
    seen: Endings  # of games of the strategy with itself

    @property
    def surely(self) -> tuple[float, float]:
        """Between what the strategies guarantee lies the value to the first player."""
        return -self.verdict.best_response[1], self.verdict.best_response[0]


class Study:
    def __init__(self, terms: Terms) -> None:
        self.terms, self.scale = terms, terms.choose(QUICK, FULL)
        self.solve = lru_cache(maxsize=None)(self._solve)

    def close(self) -> None:
        self.solve.cache_clear()

    def _solve(self, variant: str) -> Solved | None:
        """None where not even one ply can be enumerated."""
        scale, board = self.scale, board_of(load(f"geister:{variant}"))
        limit = sum(count <= scale.histories for count in histories(board, scale.histories))
        if not limit:
            return None
        game = load(f"geister:{variant}(limit={limit})")
        with self.terms.timed(f"{variant} in {limit} plies"):
            tree = grow(game, limit=scale.histories)
            solver, judge = FullWidth(tree, "pdcfr+"), Judge(tree)
            while True:
                solver.run(50)
                verdict = judge.verdict(solver.strategies())
                if verdict.exploitability < scale.goal or solver.iterations >= scale.iterations:
                    break
            ours = PolicyAgent("ours", solver.policy({}))
            seen = watch(game, (ours, ours), scale.sampled, self.terms.seed)
        return Solved(limit, tree.histories, tree.information_states(), solver.iterations, verdict, seen)


def solved(study: Study) -> Section:
    rows, data = [], []
    for variant in study.scale.variants:
        if not (found := study.solve(variant)):
            continue
        verdict, how, blue, known = found.verdict, found.seen.ways(), found.seen.blue_first(), PUBLISHED[variant]
        low, high = found.surely
        rows.append((
            variant, str(found.limit), f"{found.histories:,}", f"{found.states[0]:,} + {found.states[1]:,}", f"{verdict.value:+.5f}",
            f"{low:+.5f} to {high:+.5f}", f"{verdict.exploitability:.1e}", f"{known[2]:.2f}" if known else "-", f"{blue:.2f}",
            *(f"{100 * how[name]:.0f} %" for name in how),
        ))  # fmt: skip
        data.append({
            "variant": variant, "limit": found.limit, "histories": found.histories, "information_states": found.states,
            "value": verdict.value, "surely": [low, high], "exploitability": verdict.exploitability, "blue_first": blue, "endings": how,
            "iterations": found.iterations,
        })  # fmt: skip
    head = (
        "variant", "plies", "histories", "information states", "value", "surely", "exploitability", "blue first: paper", "ours", "escape",
        "blues taken", "reds taken", "drawn",
    )  # fmt: skip
    note = (
        f"The largest limit with at most {study.scale.histories:,} histories; PDCFR+ with perfect recall. The value to the first player is "
        f"surely between what the two strategies guarantee. Endings and first moves of {study.scale.sampled:,} games; the paper's share is "
        "that of a strategy learned with 100 plies."
    )
    lead = "Every variant with perfect recall, as many plies as can be enumerated; then the game is a draw."
    return Section("Variants solved", lead, [Table("Exact values", head, rows, note)], {"variants": data})


def merged(study: Study) -> Section:
    rows, data, left_out = [], [], []
    for variant in study.scale.variants:
        known = PUBLISHED[variant]
        game = load(f"geister:{variant}(limit=100)")
        try:
            layers = layers_of(game, study.scale.positions)
        except TooLarge:
            left_out.append(variant)
            continue
        with study.terms.timed(variant):
            for _ in range(study.scale.merged):
                layers.iterate()
            found = judged(layers)
            ours = PolicyAgent("ours", policy_of(game, layers, found.share, {}))
            won = against_random(game, ours, study.scale.games, study.terms.seed).won_of_100
        low, high = found.exploitability
        blue = float(found.endings["blue first"][0])
        ways = {name: float(shares.sum()) for name, shares in found.endings.items() if name != "blue first"}
        paper = [f"{100 * known[2]:.0f} %", f"{known[0]:.1f}", f"{known[1]:.1f}"] if known else ["-"] * 3
        rows.append((
            variant, f"{len(layers.positions.positions):,}", f"{low:.4f} to {high:.4f}", paper[0], f"{100 * blue:.0f} %", paper[1],
            f"{won[0]:.1f}", paper[2], f"{won[1]:.1f}", *(f"{100 * share:.0f} %" for share in ways.values()),
        ))  # fmt: skip
        data.append({"variant": variant, "positions": len(layers.positions.positions), "exploitability": [low, high], "value": found.value,
                     "blue_first": blue, "endings": ways, "won_of_100": won})  # fmt: skip
    head = (
        "variant", "positions", "exploitability", "blue first: paper", "ours", "first against Random: paper", "ours", "second: paper",
        "ours", "escape", "blues taken", "reds taken", "drawn",
    )  # fmt: skip
    note = (
        f"{study.scale.merged:,} iterations of CFR+; strategies go by the board, what was captured and the ply. Exploitability is what "
        "somebody wins who remembers everything: at least and at most. "
        f"Games won of 100 against Random, {study.scale.games:,} in each seat. "
        f"Left out, for more than {study.scale.positions:,} positions: {', '.join(left_out) or 'none'}."
    )
    lead = "The paper's limit of 100 plies, where every position is one, however it came about."
    return Section("Merged positions, 100 plies", lead, [Table("Strategies", head, rows, note)], {"variants": data, "left_out": left_out})


def looking_ahead(study: Study) -> Section:
    rows, data, scale = [], [], study.scale
    for variant in scale.variants:
        game = load(f"geister:{variant}(limit=100)")
        try:
            Positions(board_of(game), scale.positions)
        except TooLarge:
            known, depth = PUBLISHED[variant], DEPTH.get(variant, 4)
        else:
            continue
        with study.terms.timed(variant):
            knowing = Outwitter(game, depth, 300_000, 1)
            lost = [knowing.gains(seat, scale.colourings) for seat in (0, 1)]
            ours = BotAgent("ours", LOOKER, depth)
            won = against_random(game, ours, scale.games // 10, study.terms.seed).won_of_100
            seen = watch(game, (ours, ours), scale.sampled, study.terms.seed)
            how, blue = seen.ways(), seen.blue_first()
        paper = [f"{100 * known[2]:.0f} %", f"{known[0]:.1f}", f"{known[1]:.1f}"] if known else ["-"] * 3
        tried = min(scale.colourings, knowing.ways)
        rows.append((
            variant, f"{LOOKER}:{depth}", f"{sum(lost) / 2:.4f} to 1", f"{tried} of {knowing.ways}", paper[0], f"{100 * blue:.0f} %",
            paper[1], f"{won[0]:.1f}", paper[2], f"{won[1]:.1f}", *(f"{100 * share:.0f} %" for share in how.values()),
        ))  # fmt: skip
        data.append({"variant": variant, "depth": depth, "exploitability": [sum(lost) / 2, 1.0], "colourings": tried,
                     "blue_first": blue, "endings": how, "won_of_100": won})  # fmt: skip
    head = (
        "variant", "strategy", "exploitability", "own colourings", "blue first: paper", "ours", "first against Random: paper", "ours",
        "second: paper", "ours", "escape", "blues taken", "reds taken", "drawn",
    )  # fmt: skip
    note = (
        "Exploitability is at least what somebody wins who knows Purple and plans ahead, over all colourings of Purple's ghosts and so "
        f"many of its own; nobody wins more than every game. Games won of 100 against Random, {scale.games // 10:,} in each seat; endings "
        f"and first moves of {scale.sampled:,} games of Purple with itself."
    )
    lead = f"Variants of more than {scale.positions:,} positions at 100 plies: Purple looks ahead, and leaves nothing to chance."
    return Section("Larger variants, 100 plies", lead, [Table("Purple", head, rows, note)], {"variants": data})


def as_in_the_paper(study: Study) -> Section:
    return replica(study.terms, study.terms.choose(QUICK_REPLICA, USUAL_REPLICA, PAPER_SIZE))


PAPER = Paper(
    name=NAME,
    title="Geister variants: exact values",
    cite="Lucien Troillet, Kiminori Matsuzaki. Analyzing simplified Geister using DREAM.",
    intro=(
        "The small variants of Geister of the paper, by name: columns, rows, ghosts a side (R or B: most of an odd number are red or "
        "blue), and empty columns at each side. The paper learned strategies and let them play against Random; here the games are solved."
    ),
    study=Study,
    sections={
        "replica": as_in_the_paper, "solved": solved, "merged": merged, "larger": looking_ahead,
        "learned": lambda study: learned(study, PUBLISHED),
    },
)
