"""Leduc after some seconds of solving on one core: how exploitable the average strategy still is."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from nebel.bench.clock import Contender, looped
from nebel.bench.peers import LITEEFG, OPENSPIEL, liteefg_solver, openspiel_game, openspiel_solver
from nebel.bench.row import Claim, Row
from nebel.bench.sampling import EXTERNAL, OUTCOME, sampler
from nebel.core.registry import load
from nebel.core.tree import grow
from nebel.judge.best_response import Judge
from nebel.solve.cfr import FullWidth
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ExternalSampling, OutcomeSampling, Sampling

SLICES = 10
SEEDS = (1, 2, 3)
BEST = "pdcfr+"
"""The full-width method that is ahead after 10 seconds."""
UNIT = "exploitability"
ROUNDING = 1e-14
"""Less than this is not measured: it is the rounding of the sums."""


class Runner(NamedTuple):
    """A solver to be given time, and the exploitability of what it has by then."""

    contender: Contender
    exploitability: Callable[[], float]


def _ours(name: str, solver: FullWidth | Sampled) -> Runner:
    assert solver.tree is not None
    judge = Judge(solver.tree)
    solver.run(1)  # compiles
    return Runner(Contender(name, solver.run), lambda: judge.verdict(solver.strategies()).exploitability)


def _full_width(method: str) -> Runner:
    return _ours(method, FullWidth(grow(load("leduc")), method))


def _openspiel(kind: str, **settings: int) -> Runner:
    import pyspiel

    solver, step = openspiel_solver("leduc_poker", kind, True, **settings)
    game = openspiel_game("leduc_poker")
    step()

    def exploitability() -> float:
        # the last argument: a policy that has not met every information state answers for states only
        return float(pyspiel.nash_conv(game, solver.average_policy(), True) / 2)

    return Runner(Contender(f"{OPENSPIEL} {kind}, cached tree", looped(step)), exploitability)


def _liteefg(method: str, average: str) -> Runner:
    env, graph, step = liteefg_solver("leduc_poker", method)
    step()

    def exploitability() -> float:
        if average == "own average":  # which DCFR keeps by itself, with its weights
            return float(sum(env.exploitability(graph.current_strategy("average-iterate"), "default")) / 2)
        return float(sum(env.exploitability(graph.current_strategy(), average)) / 2)

    return Runner(Contender(f"{LITEEFG} {method}, {average}", looped(step)), exploitability)


def _duel(seconds: float, runners: list[Runner]) -> list[float]:
    """What each has after `seconds`, spent in turn."""
    for _ in range(SLICES):
        for runner in runners:
            runner.contender.spend(seconds / SLICES)
    return [runner.exploitability() for runner in runners]


def _row(
    name: str, seconds: float, ours: Callable[[int], Runner], peers: Callable[[int], list[Runner]], package: str, seeds: tuple[int, ...]
) -> Row:
    results: list[list[float]] = []
    label, best, note = "", package, ""
    for seed in seeds:
        mine = ours(seed)
        label = mine.contender.name
        try:
            field = peers(seed)
        except ImportError as missing:
            field, note = [], f"not compared: {missing.name or package} is not installed; "
        results.append(_duel(seconds, [mine, *field]))
        if field:
            best = field[min(range(len(field)), key=results[-1][1:].__getitem__)].contender.name
    note += f"ours: {label}; after {seconds:g} s of solving{f', median of {len(seeds)} seeds' if len(seeds) > 1 else ''}; less is better"
    own = [max(result[0], ROUNDING) for result in results]
    if not all(len(result) > 1 for result in results):
        return Row(name, median(own), None, None, UNIT, package, note)
    theirs = [max(min(result[1:]), ROUNDING) for result in results]
    return Row(name, median(own), median(theirs), median(b / a for a, b in zip(own, theirs, strict=True)), UNIT, best, note)


def _full_width_claim(package: str, peers: Callable[[], list[Runner]]) -> Claim:
    name = f"quality-leduc-{package.lower()}"

    def measure(seconds: float) -> Row:
        return _row(name, seconds, lambda seed: _full_width(BEST), lambda seed: peers(), package, SEEDS[:1])

    return Claim(name, measure, share=1.0)


def _sampling_claim(kind: str, label: str, settings: Sampling, theirs: str) -> Claim:
    name = f"quality-leduc-{kind}"

    def measure(seconds: float) -> Row:
        def ours(seed: int) -> Runner:
            return _ours(label, sampler("leduc", settings, seed=seed))

        return _row(name, seconds, ours, lambda seed: [_openspiel(theirs, seed=seed)], OPENSPIEL, SEEDS)

    return Claim(name, measure, share=1.0)


def claims() -> list[Claim]:
    graphs = (("CFRplus", "linear-avg-iterate"), ("PCFR", "linear-avg-iterate"), ("DCFR", "own average"))
    tuned = OutcomeSampling(weights="linear", baseline=True)
    return [
        _full_width_claim(OPENSPIEL, lambda: [_openspiel("CFRPlusSolver"), _openspiel("CFRSolver")]),
        _full_width_claim(LITEEFG, lambda: [_liteefg(*method) for method in graphs]),
        _sampling_claim("external", "external sampling", ExternalSampling(), EXTERNAL),
        _sampling_claim("outcome", "outcome sampling", OutcomeSampling(), OUTCOME),
        _sampling_claim("outcome-tuned", "outcome sampling, linear weights, baselines", tuned, OUTCOME),
    ]
