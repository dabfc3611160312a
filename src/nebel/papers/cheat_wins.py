"""Figs. 1 to 3 of the Cheat paper: games won against its two bots, where an agent learned, elsewhere, and from a smaller game; and a round
robin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np

from nebel.core.game import BaseGame
from nebel.core.registry import load
from nebel.match.agents import PolicyAgent
from nebel.match.arena import Z95, play_deals
from nebel.papers.cheat_study import AGENTS, HEURISTIC, RANDOM, Point, Study, manners, mean_of, over, percent, player, with_interval
from nebel.policy.adopt import adopt
from nebel.policy.table import TablePolicy
from nebel.report.charts import Axis, Cell, bars, heat, lines
from nebel.report.parts import Figure, Section, Table

BOTS = (RANDOM, HEURISTIC)
READ = {
    "Memoryless": ("almost 90 %", "75 %"),
    "HP-Aware": ("most above 80 %", "over 60 %"),
    "History-Aware": ("most above 80 %", "over 60 %"),
    "General": ("most above 80 %", "over 60 %"),
    "Heuristic": ("about 80 %", "-"),
}
"""What the paper's text says of Fig. 1, whose picture has no numbers."""

GENERAL = ("Memoryless", "HP-Aware")
"""Whose generalisation Fig. 2 shows."""

LARGE = "cheat:large"
"""The largest game there."""


def fig1(study: Study) -> Section:
    baseline = study.baseline(load("cheat:3"))
    parts: list[Table | Figure] = []
    data: dict[str, Any] = {"baseline": baseline}
    for by_paper, how in manners(study).items():
        curves = {name: study.curves(3, recall, by_paper=by_paper) for name, recall in AGENTS.items()}
        parts += _while_learning(study, curves, baseline, how)
        data["by_paper" if by_paper else "curves"] = in_json(curves)
    lead = "Shares of games that the agents win against the paper's two bots while they learn, every 5 iterations."
    return Section("Fig. 1: games won in Cheat-3", lead, parts, data)


def in_json(curves: Mapping[str, list[list[Point]]]) -> dict[str, Any]:
    """The curves of agents, a list for each seed."""
    return {name: [[point._asdict() for point in curve] for curve in runs] for name, runs in curves.items()}


def _while_learning(study: Study, curves: dict[str, list[list[Point]]], baseline: float, how: str) -> list[Table | Figure]:
    parts: list[Table | Figure] = []
    means = {name: mean_of(runs) for name, runs in curves.items()}
    for place, bot in enumerate(BOTS, 2):
        series = {name: [(point.iterations, point[place]) for point in curve] for name, curve in means.items()}
        series["Heuristic against Random"] = [(point.iterations, baseline) for point in next(iter(means.values()))]
        drawn = lines(f"Against {bot}", series, Axis("iterations", low=0), Axis("games won", low=0.2, high=1.0))
        parts.append(Figure(f"Against {bot}, in Cheat-3{how}", [("", drawn)]))
    ends = {name: [curve[-1] for curve in runs] for name, runs in curves.items()}
    rows = [
        (f"{name}-3", READ[name][0], with_interval([point.random for point in last]),
         READ[name][1], with_interval([point.heuristic for point in last]))
        for name, last in ends.items()
    ]  # fmt: skip
    rows.append((HEURISTIC, READ[HEURISTIC][0], percent(baseline), "-", "-"))
    head = ("player", "against Random: paper", "ours", "against Heuristic: paper", "ours")
    note = (
        f"{study.scale.games:,} games a point and seed, half of them in each seat. {over(study)}, ± half of a 95 % interval over seeds. "
        "The paper says of Random only that most agents exceed its baseline. Its heuristic bot is told in words that leave much open; "
        "ours was chosen among variants that fit them, as one of about the paper's strength."
    )
    parts.append(Table(f"After 100 iterations{how}", head, rows, note))
    return parts


def fig2(study: Study) -> Section:
    games = {f"hp {hp}": load(f"cheat(hp={hp})") for hp in study.scale.health} | {"large": load(LARGE)}
    with study.terms.timed("Heuristic against Random everywhere"):
        baseline = [study.baseline(game) for game in games.values()]
    parts: list[Table | Figure] = []
    rows = []
    data: dict[str, Any] = {"games": {name: game.string for name, game in games.items()}, "baseline": baseline, "wins": {}}
    for name, by_paper, how in [(name, by_paper, how) for by_paper, how in manners(study).items() for name in GENERAL]:
        with study.terms.timed(f"{name}-3{how} plays everywhere"):
            seeds = [_everywhere(study, games, study.taught(3, AGENTS[name], seed, by_paper).policy) for seed in study.seeds]
        won = {bot: [[run[bot][i] for run in seeds] for i in range(len(games))] for bot in BOTS}
        shown = {f"against {bot}": [round(fmean(shares), 2) for shares in won[bot]] for bot in BOTS}
        shown["Heuristic against Random"] = [round(x, 2) for x in baseline]
        drawn = bars(f"{name}-3{how}", list(games), shown, Axis("games won", high=1.0), "health points, and the large game")
        parts.append(Figure(f"{name}-3 in other games{how}", [("", drawn)]))
        rows += [(f"{name}-3{how}", bot, *map(with_interval, won[bot])) for bot in BOTS]
        data["wins"][f"{name}{how}"] = won
    rows.append(("Heuristic", RANDOM, *map(percent, baseline)))
    note = (
        f"{over(study)}, ± half of a 95 % interval over seeds; by two decimals in the bars. With no health points a game is drawn after "
        "1,000 turns, and a draw is not a win. large: 7 ranks in 4 suits, 12 cards each, 3 health points, where players say how many "
        "cards of the rank and how many others they put down. The paper does not tell how its agents read hands of another deck. Ours see "
        "the hand of Mini-Cheat that comes closest, by how many cards are of the rank that is on and how soon the others will be asked "
        "for, and do as nearly as can be what they would do there. The bot, which counts cards, is out of their reach there."
    )
    parts.append(Table("Games won", ("player", "against", *games), rows, note))
    parts.append(_elsewhere(study, data))
    lead = (
        "Agents that learned in Cheat-3 play with fewer and more health points, of which more than 3 look like 3 to them, and with a "
        "larger deck. The paper finds that Memoryless generalises and HP-Aware does not. The reason: in Cheat-3 nobody with 3 health "
        "points has taken a pile, so HP-Aware-3 knows nothing of large hands with 3, which with more points are most of the game."
    )
    return Section("Fig. 2: generalisation", lead, parts, data)


def _everywhere(study: Study, games: Mapping[str, BaseGame], policy: TablePolicy) -> dict[str, list[float]]:
    """Shares of games that a policy wins against each bot, by game."""
    won: dict[str, list[float]] = {bot: [] for bot in BOTS}
    for game in games.values():
        larger, adopted = adopt(game, policy, by_likeness=True)
        for bot in BOTS:
            won[bot].append(study.wins(larger, PolicyAgent(policy.recall, adopted), bot))
    return won


def _elsewhere(study: Study, data: dict[str, Any]) -> Table:
    """Exact exploitability of what was learned in Cheat-3, and in the game itself."""
    rows = []
    found = data["exploitability"] = {}
    for hp in range(1, study.scale.exact + 1):
        for name in GENERAL:
            with study.terms.timed(f"{name} in Cheat-{hp} is judged"):
                policies = [study.taught(learned, AGENTS[name], study.terms.seed).policy for learned in (3, hp)]
                there, here = (study.exploitability(hp, policy) for policy in policies)
            rows.append((f"Cheat-{hp}", name, f"{there:.4f}", f"{here:.4f}"))
            found[f"{name} in Cheat-{hp}"] = {"learned in Cheat-3": there, "learned there": here}
    note = "After 100 iterations, one seed. Both figures of Cheat-3 are of the same agent."
    return Table("Exact exploitability", ("game", "agent", "learned in Cheat-3", "learned in the game itself"), rows, note)


def fig3(study: Study) -> Section:
    parts: list[Table | Figure] = []
    data: dict[str, Any] = {}
    for by_paper, how in manners(study).items():
        more, data["by_paper" if by_paper else "wins"] = _carried(study, by_paper, how)
        parts += more
    lead = (
        "Agents of Cheat-4 that begin with what they learned in Cheat-3, and others that begin with nothing, by games won while they "
        "learn. The paper: curves from Cheat-3 start higher and stay higher for Memoryless, History-Aware and General, and are about the "
        "same for HP-Aware."
    )
    return Section("Fig. 3: curriculum", lead, parts, data)


def _carried(study: Study, by_paper: bool, how: str) -> tuple[list[Table | Figure], dict[str, Any]]:
    parts: list[Table | Figure] = []
    rows, data = [], {}
    for name, recall in AGENTS.items():
        fresh, carried = (study.curves(4, recall, carried, by_paper) for carried in (False, True))
        fresh = [curve[: len(carried[0]) - 1] for curve in fresh]
        series = {}
        for place, bot in enumerate(BOTS, 2):
            for came, curves in (("from nothing", fresh), ("from Cheat-3", carried)):
                series[f"{bot}, {came}"] = [(point.iterations, point[place]) for point in mean_of(curves)]
            points = list(zip(mean_of(carried)[1:], mean_of(fresh), strict=True))
            higher = sum(c[place] > f[place] for c, f in points)
            leads = [fmean(c[place] - f[place] for c, f in zip(old[1:], new, strict=True)) for old, new in zip(carried, fresh, strict=True)]
            at = [
                [curve[i][place] for curve in curves] for curves, i in ((fresh, 0), (carried, 0), (carried, 1), (fresh, -1), (carried, -1))
            ]
            rows.append((f"{name}-4", bot, *map(with_interval, at), f"{higher} of {len(points)}", with_interval(leads)))
        drawn = lines(f"{name}-4", series, Axis("iterations", low=0), Axis("games won", low=0.2, high=1.0))
        parts.append(Figure(f"{name}-4 while it learns{how}", [("", drawn)]))
        data[name] = in_json({"from_nothing": fresh, "from_cheat_3": carried})
    end = study.scale.carried
    head = (
        "agent", "against", "nothing, 5 iterations", "Cheat-3, 0", "Cheat-3, 5", f"nothing, {end}", f"Cheat-3, {end}", "Cheat-3 higher",
        "mean lead",
    )  # fmt: skip
    note = (
        f"{study.scale.games:,} games a point and seed. {over(study)}, ± half of a 95 % interval over seeds. "
        f"After 0 iterations it is the agent of Cheat-3 itself, which also answers where Cheat-4 has taught nothing yet (in the "
        f"information sets that {2 * end} deals meet). Higher: at how many points the mean of the agent from Cheat-3 is above that from "
        "nothing. Mean lead: by how much, on average over these points."
    )
    parts.append(Table(f"Games won in Cheat-4{how}", head, rows, note))
    return parts, data


def arena(study: Study) -> Section:
    game, deals = load("cheat:3"), study.scale.games // 2
    players = {f"{name}-3": PolicyAgent(name, study.taught(3, recall, study.terms.seed).policy) for name, recall in AGENTS.items()}
    everybody = {**players, **{bot: player(bot) for bot in BOTS}}
    names = list(everybody)
    won = np.full((len(names), len(names)), 0.5)
    spread = np.zeros_like(won)
    with study.terms.timed(f"{len(names)} players meet, {2 * deals:,} games a pair"):
        for i, a in enumerate(names):
            for j in range(i):
                pair = everybody[a], everybody[names[j]]
                there = play_deals(game, pair, deals, study.terms.seed).scores
                back = play_deals(game, pair[::-1], deals, study.terms.seed).scores
                shares = 0.5 + (there - back) / 4  # of a deal's two games
                won[i, j], won[j, i] = shares.mean(), 1 - shares.mean()
                spread[i, j] = spread[j, i] = Z95 * shares.std(ddof=1) / math.sqrt(deals)
    others = len(names) - 1
    mean = (won.sum(axis=1) - 0.5) / others
    reach = np.sqrt((spread**2).sum(axis=1)) / others
    order = [int(i) for i in np.argsort(-mean)]
    cells = [[Cell(float(won[i, j]), f"±{spread[i, j]:.3f}") if i != j else Cell(None) for j in order] for i in order]
    shown = [names[i] for i in order]
    rows = [(names[i], percent(mean[i]), f"±{100 * reach[i]:.1f}", percent(min(won[i, j] for j in order if j != i))) for i in order]
    note = f"{2 * deals:,} games a pair, half of them in each seat; ± is half of a 95 % interval over deals."
    parts: list[Table | Figure] = [
        Figure("Games won, by row, against the column", [("", heat("Round robin", shown, shown, cells))], note),
        Table("Ranking", ("player", "games won", "±", "at the least"), rows),
    ]
    data = {"players": names, "games": 2 * deals, "won": won.tolist(), "half_interval": spread.tolist()}
    lead = "Every agent, after 100 iterations in Cheat-3, meets every other and both bots there. The paper lets its agents meet only bots."
    return Section("Round robin", lead, parts, data)
