"""The round robin of the Dark Hex thesis: Figs. 4.5, 4.12 and 4.13."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.match.agents import PolicyAgent
from nebel.match.arena import Z95, play_deals
from nebel.papers.dark_hex_learned import NETWORK, PERFECT, PRUNED, against_learners, networks, remembering_network, with_diaries
from nebel.papers.dark_hex_strategies import SIMPLER, wins_text
from nebel.papers.dark_hex_study import SWEPT, Study, Wins
from nebel.policy.simplify import Simplify
from nebel.policy.table import Policy, TablePolicy
from nebel.report.charts import Cell, heat
from nebel.report.parts import Figure, Section, Table

SOLVED = "solved"
UNKNOWN = Wins(None, None)
RANKED = {"MCCFR-IR-p": ("1", "-"), "MCCFR-IR": ("2", "-"), "HP": ("3", "1")}
"""What the text says of Fig. 4.5: ranks as Black and as White, before SIP and SIP+ joined."""


def players(study: Study) -> dict[str, tuple[TablePolicy, TablePolicy]]:
    """By name: who plays Black, who plays White."""
    names = ["MCCFR-IR-p", "MCCFR-IR", "MCCFR-PR", SWEPT]
    found: dict[str, tuple[TablePolicy, TablePolicy]] = {"HP": study.handcrafted}
    found |= {name: (policy, policy) for name, policy in zip(names, study.learn(names), strict=True)}
    for name, settings in (("SIP", SIMPLER["SIP, b = 8"][0]), ("SIP+", SIMPLER["SIP+, b = 8"][0])):
        policy = study.simpler(study.best, settings or Simplify())
        found[name] = (policy, policy)
    found |= {name: (policy, policy) for name, policy in study.memoryless.items()}
    best = study.solution[0].policy
    return {**found, SOLVED: (best, best)}


def round_robin(study: Study) -> Section:
    everybody: dict[str, tuple[Policy, Policy]] = {**players(study)}
    nets, remembering = networks(study), remembering_network(study)
    everybody |= {name: (policy, policy) for name, policy in {**nets, **remembering}.items()}
    names, deals = list(everybody), study.scale.games // 2
    wins = np.zeros((len(names), len(names)))
    with study.terms.timed(f"{len(names)} players meet, {study.scale.games:,} games a pair"):
        for i, black in enumerate(names):
            for j, white in enumerate(names):
                seats = PolicyAgent(black, everybody[black][0]), PolicyAgent(white, everybody[white][1])
                game = with_diaries(study) if {black, white} & remembering.keys() else study.game
                played = play_deals(game, seats, deals, study.terms.seed)
                wins[i, j] = np.count_nonzero(played.scores > 0) / deals
    others = ~np.eye(len(names), dtype=bool)
    as_black = np.array([2 * wins[i, others[i]].mean() - 1 for i in range(len(names))])
    as_white = np.array([1 - 2 * wins[others[:, i], i].mean() for i in range(len(names))])
    order = sorted(range(len(names)), key=lambda i: (names[i] != SOLVED, -(as_black[i] + as_white[i])))
    parts: list[Table | Figure] = [
        Figure("Black's wins, by row, against White's, by column", [("", _map(names, order, wins, deals))], _note(study, deals)),
        _ranking(names, order, as_black, as_white, deals * (len(names) - 1)),
    ]
    judged = guarantees(study, nets, remembering)
    if judged:
        parts.append(_guarantees(study, judged))
    data: dict[str, Any] = {
        "players": names,
        "deals": deals,
        "black_wins": wins.tolist(),
        "score_as_black": as_black.tolist(),
        "score_as_white": as_white.tolist(),
        "networks": {name: {kind: wins.as_json() for kind, wins in found.items()} for name, found in judged.items()},
    }
    lead = "Every player meets every other in both seats. The thesis shows the ranking of Black and of White players in three pictures."
    return Section("Figs. 4.5, 4.12, 4.13: round robin", lead, parts, data)


def _spread(share: float, games: int) -> float:
    """Half of the 95 % interval of a share of games won."""
    return Z95 * math.sqrt(share * (1 - share) / games)


def _map(names: list[str], order: list[int], wins: NDArray[np.float64], deals: int) -> str:
    cells = []
    for i in order:
        line = []
        for j in order:
            share, spread = float(wins[i, j]), _spread(float(wins[i, j]), deals)
            bounds = f"{share - spread:.4f} to {share + spread:.4f}"
            hint = f"{names[i]} as Black wins {share:.4f} of {deals:,} games against {names[j]} as White (95 %: {bounds})"
            line.append(Cell(share, f"±{spread:.3f}", hint))
        cells.append(line)
    shown = [names[i] for i in order]
    return heat("Round robin", shown, shown, cells, "Black", "White")


def _ranking(names: list[str], order: list[int], as_black: NDArray[np.float64], as_white: NDArray[np.float64], games: int) -> Table:
    black, white = (np.argsort(np.argsort(-scores)) + 1 for scores in (as_black, as_white))
    rows = []
    for i in order:
        paper = RANKED.get(names[i], ("-", "-"))
        seats = (as_black[i], black[i], paper[0]), (as_white[i], white[i], paper[1])
        rows.append((names[i], f"{(as_black[i] + as_white[i]) / 2:+.4f}", *(cell for seat in seats for cell in _line(*seat, games))))
    absent = [name for name in (PRUNED, NETWORK, PERFECT) if name not in names]
    rows += [(name, *"-" * 7) for name in absent]
    head = ("player", "both seats", "as Black", "rank", "paper", "as White", "rank", "paper")
    note = (
        "The mean score against all others, +1 a win and -1 a loss. The thesis shows pictures without numbers; its text gives these ranks "
        "of Fig. 4.5 and says that SIP+ is the strongest of all in Fig. 4.13. "
        f"{PRUNED} is {NETWORK} with the winning move in all sure wins; {PERFECT} is told the order of moves, too."
    )
    if absent:
        note += f" Not here: {', '.join(absent)}; networks learn without --quick where torch is installed."
    return Table("Ranking by mean score", head, rows, note)


def guarantees(study: Study, nets: Mapping[str, TablePolicy], remembering: Mapping[str, Policy]) -> dict[str, dict[str, Wins]]:
    """By player: how often it wins against abstract and learned best responses, and exactly."""
    found = {}
    for name, policy in {**nets, **remembering}.items():
        loose, exact = study.judge(name, nets[name]) if name in nets else (UNKNOWN, UNKNOWN)
        found[name] = {"abstract": loose, "learned": against_learners(study, name, policy), "exact": exact}
    return found


def _guarantees(study: Study, judged: Mapping[str, Mapping[str, Wins]]) -> Table:
    rows = [(name, *(wins_text(wins[player]) for player in range(2) for wins in found.values())) for name, found in judged.items()]
    head = ("player", "Black: abstract", "learned", "exact", "White: abstract", "learned", "exact")
    note = (
        f"Learned for {study.scale.network:g} s. Exact figures are guarantees against opponents that remember everything; against best "
        f"responses that are learned a player guarantees at most what it wins. {PERFECT} has too many information states for the others."
    )
    return Table("NFSP: how often it wins at least", head, rows, note)


def _line(score: float, rank: int, paper: str, games: int) -> tuple[str, str, str]:
    return f"{score:+.4f} ±{2 * _spread((score + 1) / 2, games):.4f}", str(rank), paper


def _note(study: Study, deals: int) -> str:
    jobs = study.jobs()
    learned = ", ".join(f"{name} {jobs[name][1]:,} iterations" for name in ("MCCFR-IR-p", "MCCFR-IR", "MCCFR-PR", SWEPT))
    return (
        f"{2 * deals:,} games a pair, half of them in each seat; below each number half of its 95 % interval. The thesis's MCCFR players "
        f"learned for 10^9 iterations, ours: {learned}. SIP and SIP+ are made from {study.best}; HP plays S1 and S2. {SOLVED} is the exact "
        "solution: nobody holds it below its value, but it does not go out of its way to punish the weak, so others may score more on them."
    )
