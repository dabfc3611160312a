"""Policies of smaller games in larger ones of the same family."""

from __future__ import annotations

from dataclasses import replace

from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import BaseGame, Game
from nebel.core.kin import borrow, same
from nebel.core.registry import load
from nebel.policy.table import TablePolicy


def adopt(game: BaseGame, policy: TablePolicy) -> tuple[BaseGame, TablePolicy]:
    """The policy as one of `game`, and the game with what the policy needs to find its way there; refuses what does not fit.

    A policy of a smaller game plays uniformly where it knows nothing.
    """
    family = policy.game.partition("(")[0]
    if policy.game == game.string or (policy.fingerprint == game.fingerprint and family != game.name):
        policy.check_game(game)
        return game, policy
    smaller = load(policy.game)
    policy.check_game(smaller)
    if same(game, smaller):
        return game, policy
    try:
        larger, recall = borrow(game, smaller, policy.recall)
        if isinstance(game, Game) and isinstance(smaller, Game) and game.actions != smaller.actions:
            raise BadSetting("their moves are not the same")
    except BadSetting as error:
        raise BadFile(f"this policy was made for {policy.game}, not for {game.string} ({error})") from error
    return larger, replace(policy, game=game.string, fingerprint=game.fingerprint, recall=recall, missing="uniform")
