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
from nebel.papers.dark_hex_study import SIMPLIFIED, SWEPT, Study, Wins, done_text
from nebel.policy.simplify import Simplify
from nebel.policy.table import MadePolicy, Policy, TablePolicy
from nebel.report.charts import Cell, heat
from nebel.report.parts import Figure, Section, Table

SOLVED = "solved"
LEARNED = ["MCCFR-IR-p", "MCCFR-IR", "MCCFR-PR", SWEPT]
UNKNOWN = Wins(None, None)
RANKED = {"MCCFR-IR-p": ("1", "-"), "MCCFR-IR": ("2", "-"), "HP": ("3", "1")}
"""What the text says of Fig. 4.5: ranks as Black and as White."""
NO_RANKS = ("-", "-")
FIRST, WITH_SIP, WITH_BOTH = "Fig. 4.5: ranking", "Fig. 4.12: with SIP", "Fig. 4.13: with SIP+"
ALL = "Better than the thesis: ranking with our players"
THESIS = ("HP", "MCCFR-IR-p", "MCCFR-IR", "MCCFR-PR", PRUNED, NETWORK, PERFECT)
FIELDS = {FIRST: THESIS, WITH_SIP: (*THESIS, "SIP"), WITH_BOTH: (*THESIS, "SIP", "SIP+")}
"""Who plays in the thesis's figures."""
NOTES = {
    FIRST: (
        "The mean score against all others of this table, +1 a win and -1 a loss. The thesis shows pictures without numbers; its text "
        f"gives these ranks. {PRUNED} learned in the game that ends in sure wins, and plays their winning moves; {PERFECT} is told the "
        "order of moves. Players without figures are networks, which learn without --quick where torch is installed."
    ),
    WITH_BOTH: "The thesis says that SIP+ is the strongest of all.",
}


def players(study: Study) -> dict[str, tuple[TablePolicy, TablePolicy]]:
    """By name: who plays Black, who plays White."""
    found: dict[str, TablePolicy] = dict(zip(LEARNED, study.learn(LEARNED), strict=True))
    for base in (SIMPLIFIED, *study.memoryless):
        of_base = "" if base == SIMPLIFIED else f" of {base}"
        for name in ("SIP", "SIP+"):
            found[name + of_base] = study.simpler(base, SIMPLER[f"{name}, b = 8"][0] or Simplify())
    found |= {**study.memoryless, SOLVED: study.solution[0].policy}
    return {"HP": study.handcrafted, **{name: (policy, policy) for name, policy in found.items()}}


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
    as_black, as_white = scores(wins)
    order = sorted(range(len(names)), key=lambda i: (names[i] != SOLVED, -(as_black[i] + as_white[i])))
    parts: list[Table | Figure] = [
        Figure("Black's wins, by row, against White's, by column", [("", _map(names, order, wins, deals))], _note(study, deals, everybody)),
        *(_ranking(figure, [name for name in among if name in names], names, wins, deals) for figure, among in FIELDS.items()),
        _ranking(ALL, names, names, wins, deals),
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


def scores(wins: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each player's mean score as Black and as White against all others, +1 a win and -1 a loss; `wins`: of Black, by row."""
    others = ~np.eye(len(wins), dtype=bool)
    as_black = [2 * wins[i, others[i]].mean() - 1 for i in range(len(wins))]
    as_white = [1 - 2 * wins[others[:, i], i].mean() for i in range(len(wins))]
    return np.array(as_black), np.array(as_white)


def _ranking(title: str, among: list[str], names: list[str], wins: NDArray[np.float64], deals: int) -> Table:
    """Rank the players `among` by their games against each other."""
    at, games = [names.index(name) for name in among], deals * (len(among) - 1)
    both = scores(wins[np.ix_(at, at)])
    ranks = [np.argsort(np.argsort(-each)) + 1 for each in both]
    rows = []
    for i in sorted(range(len(among)), key=lambda i: -(both[0][i] + both[1][i])):
        paper = RANKED.get(among[i], NO_RANKS) if title == FIRST else NO_RANKS
        cells = [cell for seat in range(2) for cell in _line(both[seat][i], ranks[seat][i], paper[seat], games)]
        rows.append((among[i], f"{(both[0][i] + both[1][i]) / 2:+.4f}", *cells))
    rows += [(name, *"-" * 7) for name in FIELDS.get(title, ()) if name not in among]
    head = ("player", "both seats", "as Black", "rank", "paper", "as White", "rank", "paper")
    return Table(title, head, rows, NOTES.get(title, ""))


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
        "Exact figures are guarantees against opponents that remember everything; against best "
        f"responses that are learned a player guarantees at most what it wins. {PERFECT} has too many information states for the others."
    )
    return Table("NFSP: how often it wins at least", head, rows, note)


def _line(score: float, rank: int, paper: str, games: int) -> tuple[str, str, str]:
    return f"{score:+.4f} ±{2 * _spread((score + 1) / 2, games):.4f}", str(rank), paper


def _note(study: Study, deals: int, everybody: Mapping[str, tuple[Policy, Policy]]) -> str:
    learners = {name: everybody[name][0] for name in (*LEARNED, NETWORK, PRUNED, PERFECT) if name in everybody}
    learned = ", ".join(f"{name} {done_text(policy)}" for name, policy in learners.items() if isinstance(policy, MadePolicy))
    kind = f"the preset {study.scale.preset}" if study.scale.preset else "our settings"
    return (
        f"{2 * deals:,} games a pair, half of them in each seat; below each number half of its 95 % interval. Iterations: {learned}; the "
        f"thesis's MCCFR players have 10^9 (NFSP by {kind}; the thesis does not say for how long). SIP and SIP+ are made from "
        f"{SIMPLIFIED}, as in the thesis; HP plays S1 and S2. {SOLVED} is the exact solution: no opponent holds it below its value, but "
        "it is not made to punish weak play, so others may score more on them."
    )
