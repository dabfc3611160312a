"""The number of challenges in a game of Mini-Cheat without restriction, which the Cheat paper gives as about 3.5."""

from __future__ import annotations

import math

import numpy as np

from nebel.core.game import Game, Record
from nebel.core.registry import load
from nebel.core.rule import rule
from nebel.match.agents import PolicyAgent
from nebel.match.arena import Z95, play_deals
from nebel.papers.cheat_study import AGENTS, BY_PAPER, HEURISTIC, RANDOM, Study, player
from nebel.policy.adopt import adopt
from nebel.report.parts import Section, Table

ABOUT = 3.5
"""The paper's figure."""

ENOUGH = 1000
"""Health points that do not run out within the turns of a game that is drawn after as many."""


def counting(game: Game) -> Game:
    """The game with the number of challenges as its score: health points count them, for each challenge costs one player a point."""

    @rule
    def challenges(s: Record) -> float:
        return 2.0 * ENOUGH - s.hp[0] - s.hp[1]

    return game.rescored(game.state, game.rules._replace(score=challenges))


def challenges(study: Study) -> Section:
    """Challenges a game, by who plays."""
    game = load(f"cheat(hp={ENOUGH},limit={ENOUGH})")
    larger, policy = adopt(game, study.taught(3, AGENTS["Memoryless"], study.terms.seed, True).policy)
    assert isinstance(game, Game)
    assert isinstance(larger, Game)
    plain, learned = counting(game), counting(larger)
    random, heuristic, memoryless = player(RANDOM), player(HEURISTIC), PolicyAgent("Memoryless", policy)
    pairs = {
        f"{RANDOM}, {RANDOM}": (plain, random, random),
        f"{HEURISTIC}, {RANDOM}": (plain, heuristic, random),
        f"{HEURISTIC}, {HEURISTIC}": (plain, heuristic, heuristic),
        "Memoryless-3, Memoryless-3": (learned, memoryless, memoryless),
    }
    rows, data = [], {}
    deals = study.scale.games // 2
    for name, (here, one, other) in pairs.items():
        with study.terms.timed(name):
            orders = [(one, other), (other, one)]
            found = np.concatenate([play_deals(here, seats, deals, study.terms.seed).scores for seats in orders])
        mean, half = float(found.mean()), Z95 * float(found.std(ddof=1)) / math.sqrt(len(found))
        rows.append((name, f"{mean:.3f}", f"±{half:.3f}", f"{np.median(found):.0f}", f"{found.max():.0f}"))
        data[name] = {"mean": mean, "half_interval": half, "games": len(found), "most": float(found.max())}
    note = (
        f"{2 * deals:,} games a pair, half of them in each seat; ± is half of a 95 % interval. A game is drawn after {ENOUGH:,} turns. "
        f"Memoryless-3 learned {BY_PAPER}, seed {study.terms.seed}."
    )
    lead = (
        f"The paper starts with 3 health points because a game without restriction has about {ABOUT} challenges on average. It does not "
        "say between which players."
    )
    head = ("players", "challenges", "±", "median", "most")
    return Section("Challenges a game", lead, [Table("Challenges a game without restriction", head, rows, note)], {"paper": ABOUT, **data})
