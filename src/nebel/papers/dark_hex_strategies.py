"""Sections on strategies of 4x3: written by hand, made simpler, and solved."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from nebel.core.game import Game
from nebel.judge.certificate import Certificate, verify, write_certificate
from nebel.judge.guarantee import guarantee
from nebel.judge.replies import best_replies
from nebel.judge.tree_of_play import tree_of_play
from nebel.papers.dark_hex_learned import against_learners
from nebel.papers.dark_hex_study import BOARD, PLAYERS, SIMPLIFIED, SWEPT, Study, Wins, done_text
from nebel.policy.simplify import Simplify
from nebel.policy.states import START, Seen, States
from nebel.policy.table import TablePolicy
from nebel.report.boards import share_text, with_shares
from nebel.report.charts import Axis, lines
from nebel.report.parts import Figure, Section, Table
from nebel.report.play_tree import picture_of_play
from nebel.solve.drive import Result


def wins_text(x: float | None) -> str:
    return "-" if x is None else f"{abs(x):.4f}"


class Published(NamedTuple):
    """What the thesis reports of a strategy's wins."""

    abstract: float | None = None  # against the abstract best response
    learned: float | None = None  # against a learned one
    true: float | None = None


HANDCRAFTED = (Published(abstract=0.1428), Published(abstract=0.75, true=0.625))
"""S1 for Black, S2 for White (section 3.4)."""

FIGURES = ("Figs. 3.10, 3.11", "Figs. 3.16 to 3.18")
NOTHING = (Published(), Published())
ROUNDED = "rounded to n/100"
SIMPLER: dict[str, tuple[Simplify | None, tuple[Published, Published]]] = {
    "not simplified": (None, NOTHING),
    "SIP, b = 8": (Simplify(actions=8, threshold=0.1), (Published(0.205, 0.153), Published(0.786, 0.757))),
    "SIP, b = 4": (Simplify(actions=4, threshold=0.1), NOTHING),
    "SIP, b = 2": (Simplify(actions=2, threshold=0.1), (Published(), Published(true=0.719))),
    "SIP+, b = 8": (Simplify(8, 0.1, denominator=20, eta=0.005), (Published(0.205, 0.202), Published(0.793, 0.757))),
    ROUNDED: (Simplify(12, 0, denominator=100, eta=0.005), NOTHING),
}
"""Sections 4.6 and 4.7, by Black and White."""

EARLIER = (
    ("2018, as the thesis quotes it", "0.112", "0.732", "bounds"),
    ("thesis, handcrafted", "0.1428", "0.75", "abstract; White's true figure is 0.625"),
    ("thesis, SIP", "0.153", "0.757", "learned; White's true figure is 0.719 (b = 2)"),
    ("thesis, SIP+", "0.202", "0.757", "learned"),
    ("thesis, SIP+", "0.205", "0.793", "abstract; 0.793 is more than White can have"),
    ("bounds of 2023", "0.1429", "0.75", "1/7 and 3/4"),
)


def handcrafted(study: Study) -> Section:
    """Definitions 1 and 2."""
    rows, data = [], {}
    pictures, trees = [], []
    for player, (strategy, paper) in enumerate(zip(study.strategies, HANDCRAFTED, strict=True)):
        name = f"S{player + 1}"
        exact = None
        if player or study.scale.whole:  # S1 moves at random a lot, which makes for many beliefs
            with study.terms.timed(f"the best response to {name}"):
                exact = guarantee(strategy).wins
        blended = strategy.policy(blend=True)
        loose, true = study.judge(f"{name}, blended", blended, (player,))
        figures = [paper.abstract, paper.true, exact, loose[player], true[player]]
        rows.append((f"{name}, {PLAYERS[player]}", *map(wins_text, figures)))
        data[name] = {"paper": paper._asdict(), "exact": exact, "blended": {"abstract": loose[player], "exact": true[player]}}
        pictures += _openings(blended, player, ("", "taken") if player else ("",))
        trees.append(against_response(study.game, f"{FIGURES[player]}: {name} against its best response", blended, player))
    head = ("strategy", "paper: abstract", "paper: true", "ours: exact", "ours, by board only: abstract", "ours, by board only: exact")
    note = (
        "S2 guarantees what the thesis says it does; S1, as printed and repaired, guarantees less than its abstract figure, and no true "
        "one is given. The last two columns are of policies that know only the board, in which the answers that depend on the order of "
        "moves are blended: the abstract best response is defined for those."
    )
    if not study.scale.whole:
        note += " The exact figure of S1 takes minutes; without --quick it is computed."
    parts: list[Table | Figure] = [Table("How often they win at least", head, rows, note), Figure("How they begin", pictures), *trees]
    lead = "The thesis's strategies written by hand, read from its notation; the repairs of misprints stand in the strategy files."
    return Section("S1 and S2, written by hand", lead, parts, data)


def simplified(study: Study) -> Section:
    """Sections 4.6 and 4.7."""
    bases = [SIMPLIFIED, *study.memoryless, SWEPT] if study.scale.whole else [*study.memoryless]
    answered = [*study.memoryless, *([SIMPLIFIED] if study.scale.preset else [])]  # by responders that learn
    lines_: list[list[tuple[str, ...]]] = [[], []]
    data: dict[str, Any] = {}
    for base in bases:
        done = done_text(study.player(base)) if base in study.jobs() else "-"
        data[base] = {"iterations": study.player(base).facts.get("iterations")}
        for name, (settings, paper) in SIMPLER.items():
            if name == ROUNDED and base not in study.memoryless:
                continue  # their tables are large and their play too weak for that
            policy = study.simpler(base, settings) if settings else study.player(base)
            loose, exact = study.judge(f"{base}, {name}", policy)
            met = against_learners(study, f"{base}, {name}", policy) if base in answered else Wins(None, None)
            found = {"abstract": loose, "learned": met, "exact": exact}
            data[base][name] = {kind: wins.as_json() for kind, wins in found.items()} | {"paper": [sold._asdict() for sold in paper]}
            for player, sold in enumerate(paper):
                ours = (loose[player], met[player], exact[player])
                pairs = zip(sold, ours, strict=True)
                lines_[player].append((base, done, name, *(wins_text(x) for pair in pairs for x in pair)))
    head = ("learned by", "iterations", "simplified", "abstract: paper", "ours", "learned: paper", "ours", "true: paper", "ours, exact")
    held = ", ".join(study.memoryless)
    note = (
        f"The thesis simplifies {SIMPLIFIED} after 10^9 iterations. {SWEPT} is full-width CFR+ over merged states. {held} comes with "
        "nebel, the best policy by board only that was found; most of its information states have one move. Abstract figures are "
        "optimistic and bound nothing; exact ones are guarantees against opponents that remember everything. The rows b = 4 and "
        f"{ROUNDED} are ours; in the latter no move is dropped, and probabilities become fractions with denominators up to 100. Learned "
        f"best responses see the board only, and are learned against {' and '.join(answered)} without --quick where torch is installed; a "
        "policy guarantees at most what it wins against them."
    )
    if not study.scale.whole:
        note += " Without --quick two learned policies are simplified as well."
    parts: list[Table | Figure] = [
        Table(f"{player}: how often the policy wins", head, rows, note if player == "White" else "")
        for player, rows in zip(PLAYERS, lines_, strict=True)
    ]
    note = "The likeliest move is followed; own stones and discovered ones are shown."
    for name in ("SIP, b = 8", "SIP+, b = 8"):
        plain = study.simpler(bases[0], SIMPLER[name][0] or Simplify())
        ways = ("", "placed"), ("", "placed", "taken")
        boards = [picture for player in range(2) for picture in _openings(plain, player, ways[player])]
        parts.append(Figure(f"How {name} of {bases[0]} begins", boards, note))
    plain = study.simpler(bases[0], SIMPLER["SIP, b = 8"][0] or Simplify())
    for player, figures in enumerate(("Figs. 4.6 to 4.8", "Figs. 4.9 to 4.11")):
        title = f"{figures}: SIP of {bases[0]} as {PLAYERS[player]} against its best response"
        parts.append(against_response(study.game, title, plain, player))
    lead = "Fewer moves with plainer probabilities. The thesis could judge such policies only by abstract and learned best responses."
    return Section("SIP and SIP+", lead, parts, data)


LEAST = 0.02
"""Branches of trees that are reached less often are left out, and counted."""
ENUMERATED = 100_000
"""Histories up to which a best response is found on a tree, and not by beliefs."""


def against_response(game: Game, title: str, policy: TablePolicy, player: int) -> Figure:
    """Draw the strategy of a player against its exact best response, board by board."""
    start = tree_of_play(game, policy, player, best_replies(game, policy, 1 - player, ENUMERATED), least=LEAST)
    note = "Orange: moves of the strategy. Blue: the best response. Faint is what the strategy's player does not see."
    return Figure(title, [("", picture_of_play(start, player))], note)


def solution(study: Study) -> Section:
    """What the thesis was after: 4x3 solved."""
    result, steps = study.solution
    certificate = result.certificate
    assert certificate is not None
    with study.terms.timed("the certificate is checked from its file"):
        seconds = _check(certificate)
    black, white = (float(promised) for promised in certificate.guarantees)
    memoryless = {name: study.judge(name, policy)[1] for name, policy in study.memoryless.items()}
    rows: list[tuple[str, ...]] = list(EARLIER)
    rows += [
        (f"ours, by board only ({name})", *map(_long, wins), "exact; the policy comes with nebel") for name, wins in memoryless.items()
    ]
    kind = "exact" if certificate.value is not None else "bounds that have not met"
    rows.append(("ours, remembering everything", _long(black), _long(white), kind))
    note = (
        "Guarantees are against any opponent. What both together leave of 1 is unknown; nothing is left here. So White cannot guarantee "
        f"more than {1 - black:.7f}, and the 0.793 of the thesis, an abstract figure, guarantees nothing."
    )
    bounds = [(step.iterations, *_bounds(step.verdict.best_response)) for step in steps if step.verdict and step.iterations]
    black_ways, white_ways = ("", "placed", "placed taken"), ("", "placed", "taken")
    boards = _openings(result.policy, 0, black_ways) + _openings(result.policy, 1, white_ways)
    parts: list[Table | Figure] = [
        Table("How often each side wins at least", ("source", "Black", "White", "kind"), rows, note),
        _proof(result, certificate, seconds),
        _bounds_figure(bounds),
        Figure("How the solved strategies begin", boards, "Probabilities on the cells; each board follows the likeliest moves."),
    ]
    data = {
        "value": str(certificate.value) if certificate.value is not None else None,
        "guarantees": {"black": black, "white": white},
        "iterations": result.iterations,
        "solve_seconds": result.seconds,
        "check_seconds": seconds,
        "memoryless": {name: wins.as_json() for name, wins in memoryless.items()},
        "bounds": bounds,
    }
    return Section("4x3 solved", "Both players' best strategies, with a certificate that a small independent program checks.", parts, data)


def _proof(result: Result, certificate: Certificate, seconds: float) -> Table:
    rows = [
        ("Black guarantees", str(certificate.guarantees[0])),
        ("White guarantees", str(certificate.guarantees[1])),
        ("pure strategies in Black's mixture", str(2 * len(certificate.mixtures[0]))),
        ("pure strategies in White's mixture", str(2 * len(certificate.mixtures[1]))),
        ("iterations of the double oracle", f"{result.iterations:,}"),
        ("seconds of solving", f"{result.seconds:.1f}"),
        ("seconds of checking", f"{seconds:.1f}"),
    ]
    note = "An independent checker in whole numbers read the certificate from its file and found these guarantees."
    return Table("The proof", ("certificate", "found"), rows, note)


def _bounds_figure(bounds: list[tuple[int, float, float]]) -> Figure:
    curves = {"at most for Black": [(t, high) for t, _, high in bounds], "at least for Black": [(t, low) for t, low, _ in bounds]}
    chart = lines("Bounds of the double oracle", curves, Axis("iterations"), Axis("Black's winning probability", low=0, high=1))
    note = "Each iteration has an exact best response to both mixtures, so the bounds hold at any time."
    return Figure("How the bounds met", [("", chart)], note)


def _check(certificate: Certificate) -> float:
    """Write the certificate, read it back, let the checker find its guarantees; returns the seconds that took."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        write_certificate(certificate, path)
        begin = time.perf_counter()
        verify(path)
        return time.perf_counter() - begin


def _bounds(best_response: tuple[float, float]) -> tuple[float, float]:
    """On Black's winning probability, from what best responses get."""
    return (1 - best_response[1]) / 2, (1 + best_response[0]) / 2


def _long(x: float | None) -> str:
    return "-" if x is None else f"{x:.7f}"


def _openings(policy: TablePolicy, player: int, ways: tuple[str, ...]) -> list[tuple[str, str]]:
    """Boards with the policy's probabilities, each after the likeliest moves went as told: "", "placed", "placed taken" ..."""
    states = States(BOARD, player, policy.recall)
    pictures = []
    for way in ways:
        state, story = START, []
        for event in way.split():
            cell = _likeliest(states, policy, state)
            story.append(f"{states.names[cell]} {event}")
            state = states.step(state, cell, event == "taken")
        shares = {states.names[cell]: share for cell, share in _shares(states, policy, state).items()}
        best = ", ".join(f"{name} {share_text(p)}" for name, p in sorted(shares.items(), key=lambda item: -item[1])[:3] if p >= 0.0005)
        pictures.append(
            (f"{PLAYERS[player]}, {'after ' + ', '.join(story) if story else 'to begin with'}: {best}", _drawn(states, state, shares))
        )
    return pictures


def _shares(states: States, policy: TablePolicy, state: Seen) -> dict[int, float]:
    free = states.free(state)
    return policy.lookup(states.player, states.keys(state)[0]) or dict.fromkeys(free, 1 / len(free))


def _likeliest(states: States, policy: TablePolicy, state: Seen) -> int:
    shares = _shares(states, policy, state)
    return max(shares, key=lambda cell: shares[cell])


def _drawn(states: States, state: Seen, shares: dict[str, float]) -> str:
    return with_shares(states.svg(state), shares)
