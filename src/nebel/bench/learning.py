"""Traversals for networks: decisions a second, with what players see, the network, sampling, and the memory that samples go into."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from nebel.bench.clock import Contender, against, alone, looped
from nebel.bench.peers import OPENSPIEL, openspiel_game
from nebel.bench.row import Claim, Row
from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.registry import load
from nebel.core.rng import generator

LAYERS = (128, 128)
TRAVERSALS = 1000
PAPER = "geister-dream"


def _ours() -> Any:
    from nebel.learn.deep_cfr import DeepCfr, DeepCfrSettings
    from nebel.learn.workers import hire

    game = load("leduc")
    assert isinstance(game, Game)
    settings = DeepCfrSettings(traversals=TRAVERSALS, hidden="-".join(map(str, LAYERS)), steps=1, average_steps=1)
    learner = DeepCfr(game, PERFECT, settings, 1, hire("1"))
    learner.iterate()  # from now on networks are asked
    return learner


class _Peer:
    """OpenSpiel's Deep CFR in torch: traversals, and how many decisions they came to."""

    def __init__(self) -> None:
        from open_spiel.python.pytorch.deep_cfr import DeepCFRSolver

        class Counting(DeepCFRSolver):  # type: ignore[misc]
            decisions = 0

            def _sample_action_from_advantage(self, state: Any, player: int) -> Any:
                self.decisions += 1
                return super()._sample_action_from_advantage(state, player)

        self._game = openspiel_game("leduc_poker")
        self.solver = Counting(self._game, advantage_network_layers=LAYERS, memory_capacity=200_000)
        self.traversals = 0

    def step(self) -> None:
        self.solver._traverse_game_tree(self._game.new_initial_state(), self.traversals % 2)
        self.traversals += 1


def _leduc(seconds: float) -> Row:
    learner, held = _ours(), list[_Peer]()
    rng, done = np.random.default_rng(1), [0]

    def work(count: int) -> None:
        for _ in range(count):
            learner.gather(done[0] % 2, done[0], rng)
            done[0] += 1

    def field() -> list[Contender]:
        held.append(_Peer())
        return [Contender(f"{OPENSPIEL} Deep CFR, torch", looped(held[0].step))]

    learner.nodes = 0
    note = f"external sampling, layers of {'-'.join(map(str, LAYERS))}, memory included; {TRAVERSALS:,} traversals in step, one of the peer"
    row = against("traversals-leduc", Contender("", work), field, seconds, "decisions/s", OPENSPIEL, note)
    ours = learner.nodes / done[0]
    if not held:
        return row._replace(ours=row.ours * ours)
    theirs = held[0].solver.decisions / held[0].traversals
    return row._replace(ours=row.ours * ours, peer=row.peer and row.peer * theirs, ratio=row.ratio and row.ratio * ours / theirs)


def _geister(seconds: float) -> Row:
    from nebel.learn.nets import Values
    from nebel.learn.traverse import Traverser
    from nebel.policy.nets import match_regrets

    game = load("geister")
    assert isinstance(game, Game)
    nets = [Values.of(game, "clock", PAPER, 1e-3, p) for p in range(2)]
    spent, luck, traverser = [0.0], generator(1), Traverser(game, "clock")

    def strategy(player: int, rows: Any, legal: Any) -> Any:
        begun = time.process_time()
        found = nets[player](rows)
        spent[0] += time.process_time() - begun
        return match_regrets(found, legal)

    def work(count: int) -> None:
        traverser.segment(count, strategy, luck)

    work(64)  # room for as many decisions as come
    begun, spent[0] = time.process_time(), 0.0
    rate = alone(Contender("", work), seconds)
    share = spent[0] / (time.process_time() - begun)
    note = f"the network of the paper on small Geister ({PAPER}) on the full board, which alone takes {share:.0%} of the time"
    return Row("traversals-geister", rate * traverser.boards, None, None, "decisions/s", "-", note)


def claims() -> list[Claim]:
    return [Claim("traversals-leduc", _leduc), Claim("traversals-geister", _geister)]
