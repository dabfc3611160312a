"""The exploitability of the uniform policy on Leduc: judgements a second."""

from __future__ import annotations

from collections.abc import Callable

from nebel.bench.clock import Contender, against, looped
from nebel.bench.peers import OPENSPIEL, openspiel_game
from nebel.bench.row import Claim, Row
from nebel.core.registry import load
from nebel.core.sequence import uniform_strategy
from nebel.core.tree import Tree, grow
from nebel.judge.best_response import Judge


def _uniform_on(tree: Tree) -> Callable[[], float]:
    judge = Judge(tree)
    strategies = uniform_strategy(tree.sides[0]), uniform_strategy(tree.sides[1])
    return lambda: judge.verdict(strategies).exploitability


def _theirs(cached: bool) -> list[Contender]:
    """Every way that OpenSpiel's C++ library has; the first ones grow their tree of histories each time."""
    import pyspiel

    game = openspiel_game("leduc_poker", cached)
    uniform = pyspiel.UniformRandomPolicy(game)
    ways: dict[str, Callable[[], object]] = {
        "exploitability": lambda: pyspiel.exploitability(game, uniform),
        "nash_conv": lambda: pyspiel.nash_conv(game, uniform),
        "TabularBestResponseMDP": lambda: pyspiel.TabularBestResponseMDP(game, uniform).nash_conv(),
    }
    if cached:
        responders = [pyspiel.TabularBestResponse(game, player, uniform) for player in range(2)]

        def respond() -> None:
            for responder in responders:
                responder.set_policy(uniform)
                responder.value_from_state(game.new_initial_state())

        ways["TabularBestResponse, kept"] = respond
    end = ", cached tree" if cached else ""
    return [Contender(f"{OPENSPIEL} {name}{end}", looped(way)) for name, way in ways.items()]


def _kept(seconds: float) -> Row:
    ours = Contender("", looped(_uniform_on(grow(load("leduc")))))
    note = "with the tree kept on both sides: a judgement while solving"
    return against(KEPT, ours, lambda: _theirs(True), seconds, "judgements/s", OPENSPIEL, note)


def _from_nothing(seconds: float) -> Row:
    ours = Contender("", looped(lambda: _uniform_on(grow(load("leduc")))()))
    note = "from the rules on both sides, growing the tree included: one question about a policy"
    return against(NEW, ours, lambda: _theirs(False), seconds, "judgements/s", OPENSPIEL, note)


KEPT, NEW = "exploitability-leduc-kept", "exploitability-leduc-new"


def claims() -> list[Claim]:
    return [Claim(KEPT, _kept), Claim(NEW, _from_nothing)]
