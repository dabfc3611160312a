"""What learns by networks in the Dark Hex thesis: NFSP (section 4.3), and best responses that are learned."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from nebel.core.game import Game
from nebel.core.kin import variant
from nebel.dark_hex.merged import in_views
from nebel.judge.tabulate import merged_of, on_views, tabulated
from nebel.match.agents import PolicyAgent
from nebel.papers.dark_hex_study import Study, Wins
from nebel.policy.net import NetPolicy
from nebel.policy.table import Policy, TablePolicy
from nebel.solve.run import Budget, Job

NETWORK, PRUNED, PERFECT = "NFSP-IR", "NFSP-IR-p", "NFSP-PR"
RESPONDERS: dict[str, Any] = {"seeds": 3, "iterations": 150}


def learns(study: Study) -> bool:
    """Whether networks learn at this size, and here."""
    return study.scale.network > 0 and find_spec("torch") is not None


def networks(study: Study) -> dict[str, TablePolicy]:
    """NFSP as tables: as it learned, and with the winning move in all sure wins."""
    if not learns(study):
        return {}
    policy = _learned(study, NETWORK, study.game, "board")
    merged = merged_of(study.game)
    table = tabulated(study.game, merged.views, policy)
    sure, winning = in_views(study.game, merged)
    share = np.concatenate([shares.share for shares in table.shares])
    return {NETWORK: table, PRUNED: on_views(study.game, merged.views, np.where(sure, winning, share), table.facts)}


def remembering_network(study: Study) -> dict[str, NetPolicy]:
    """NFSP that is told the order of moves; too many information states for a table."""
    return {PERFECT: _learned(study, PERFECT, with_diaries(study), "perfect")} if learns(study) else {}


def with_diaries(study: Study) -> Game:
    """The same game, in which networks can be told the order of moves."""
    game = variant(study.game, "diary", "true")
    assert isinstance(game, Game)
    return game


def _learned(study: Study, name: str, game: Game, recall: str) -> NetPolicy:
    from nebel.learn.drive import learn

    seconds = study.scale.network
    with study.terms.timed(f"{name} learns for {seconds:g} s"):
        policy = learn(Job(game.string, "nfsp", recall, study.terms.seed), Budget(seconds=seconds)).policy
    assert isinstance(policy, NetPolicy)
    return policy


def against_learners(study: Study, name: str, policy: Policy) -> Wins:
    """How often a policy wins as Black and as White against the best responses that were learned: at most that, it may be less."""
    if not learns(study):
        return Wins(None, None)
    from nebel.learn.respond import ResponseSettings, respond

    game, recall = (with_diaries(study), "perfect") if policy.recall == "perfect" else (study.game, "board")
    with study.terms.timed(f"responders learn against {name}"):
        first, second = respond(game, PolicyAgent(name, policy), ResponseSettings(**RESPONDERS), study.terms.seed, recall)
    return Wins((1 - second.mean) / 2, (1 - first.mean) / 2)
