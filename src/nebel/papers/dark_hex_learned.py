"""What learns by networks in the Dark Hex thesis: NFSP (section 4.3), and best responses that are learned."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from nebel.core.game import Game
from nebel.core.kin import variant
from nebel.dark_hex.merged import in_views
from nebel.judge.tabulate import merged_of, on_views, tabulated
from nebel.learn.presets import preset_of
from nebel.match.agents import PolicyAgent
from nebel.papers.dark_hex_study import Study, Wins
from nebel.policy.net import NetPolicy
from nebel.policy.table import Policy, TablePolicy
from nebel.solve.run import Job

NETWORK, PRUNED, PERFECT = "NFSP-IR", "NFSP-IR-p", "NFSP-PR"
LINEAR = "128"
"""The thesis's network without convolutions is that of OpenSpiel 1.1.1, whose NFSP examples have one layer of 128 (assumed)."""
RESPONDERS: dict[str, Any] = {"seeds": 3, "iterations": 150}


def learns(study: Study) -> bool:
    """Whether networks learn at this size, and here."""
    return study.scale.network is not None and find_spec("torch") is not None


def networks(study: Study) -> dict[str, TablePolicy]:
    """Return NFSP as tables: of the whole game, and of the pruned game, completed by the winning move in every sure win."""
    if not learns(study):
        return {}
    merged = merged_of(study.game)
    whole, cut = (tabulated(study.game, merged.views, _learned(study, name, study.game, "board")) for name in (NETWORK, PRUNED))
    sure, winning = in_views(study.game, merged)
    share = np.concatenate([shares.share for shares in cut.shares])
    return {NETWORK: whole, PRUNED: on_views(study.game, merged.views, np.where(sure, winning, share), cut.facts)}


def remembering_network(study: Study) -> dict[str, NetPolicy]:
    """NFSP that is told the order of moves; too many information states for a table."""
    return {PERFECT: _learned(study, PERFECT, with_diaries(study), "perfect")} if learns(study) else {}


def with_diaries(study: Study) -> Game:
    """The same game, in which networks can be told the order of moves."""
    game = variant(study.game, "diary", "true")
    assert isinstance(game, Game)
    return game


def _settings(study: Study, name: str) -> dict[str, Any]:
    settings = preset_of("nfsp", study.scale.preset) if study.scale.preset else {}
    if name == PERFECT and study.scale.preset:
        settings["hidden"] = LINEAR
    return {**settings, "pone": name == PRUNED}


def _learned(study: Study, name: str, game: Game, recall: str) -> NetPolicy:
    from nebel.learn.drive import learn

    job = Job(game.string, "nfsp", recall, study.terms.seed, settings=_settings(study, name))
    with study.terms.timed(f"{name} learns"):
        policy = learn(job, study.scale.network, *study.place(name, job)).policy
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
