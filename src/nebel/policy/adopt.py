"""Policies of one game in another of the same family, usually of a smaller game in a larger one."""

from __future__ import annotations

from dataclasses import replace

from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import BaseGame, Game
from nebel.core.kin import borrow, differ_in_limit, providing, resemble, same
from nebel.core.registry import is_file_name, load_named
from nebel.policy.net import NetPolicy
from nebel.policy.nets import NetsPolicy
from nebel.policy.table import TablePolicy

Network = NetPolicy | NetsPolicy


def adopt(game: BaseGame, policy: TablePolicy, by_likeness: bool = False) -> tuple[BaseGame, TablePolicy]:
    """The policy as one of `game`, and the game with what the policy needs to find its way there; refuses what does not fit.

    A policy of another game plays uniformly where it knows nothing. By likeness it also plays where states or moves are others, but
    cannot be laid on a tree and judged.
    """
    family, game = policy.game.partition("(")[0], providing(game, policy.recall)
    if policy.game == game.string or (policy.fingerprint == game.fingerprint and family != game.name):
        policy.check_game(game)
        return game, policy
    if is_file_name(family) and family != game.name:  # neither these rules nor a family that they belong to
        raise BadFile(f"this policy was made for {policy.game}, not for {game.string}")
    other = load_named(policy.game, "this policy")
    policy.check_game(other)
    if same(game, other):
        return game, policy
    try:
        larger, recall = seen_as(game, other, policy.recall, by_likeness)
    except BadSetting as error:
        raise BadFile(f"this policy was made for {policy.game}, not for {game.string} ({error})") from error
    return larger, replace(policy, game=game.string, fingerprint=game.fingerprint, recall=recall, missing="uniform")


def adopt_network(game: BaseGame, policy: Network) -> tuple[BaseGame, Network]:
    """Return the network as one of `game`, and the game with as much of the past in its states as the network is told.

    The game may differ from the network's own only in this, and in the number of moves after which a game is drawn.
    """
    game = providing(game, policy.recall)
    if policy.game != game.string and policy.game.partition("(")[0] == game.name:
        other = load_named(policy.game, "this network")
        if differ_in_limit(game, other):
            policy.check_game(other)
            policy = replace(policy, game=game.string, fingerprint=game.fingerprint)
    policy.check_game(game)
    return game, policy


def seen_as(game: BaseGame, other: BaseGame, recall: str, by_likeness: bool) -> tuple[BaseGame, str]:
    """The game as the other's players see it, and the name of how they do; refused where they would not find their way."""
    likens = by_likeness and isinstance(game, Game) and game.liken and game.name == other.name
    try:
        larger, recall = borrow(game, other, recall)
        if isinstance(game, Game) and isinstance(other, Game) and game.actions != other.actions:
            raise BadSetting("their moves are not the same")
    except BadSetting:
        if not likens:
            raise
        return resemble(game, other, recall)
    return larger, recall
