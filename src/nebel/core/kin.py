"""Games of one family, such as Cheat with fewer and with more health points.

A player of the smaller game can sit down at the larger one. If states and moves are the same, the smaller game's glance looks at
the larger game's states, and sees there what it would see in its own (more health points than it knows are, to it, the most that it
knows). If they are not, as with another deck, a game may know how to liken its states to the other's: then the player looks at
the state of its own game that comes closest, and what it would do there is done as nearly as can be.
"""

from __future__ import annotations

import dataclasses

from nebel.core.errors import BadSetting
from nebel.core.game import BaseGame, Game, Glance, Record
from nebel.core.recall import PERFECT
from nebel.core.registry import load, text_of
from nebel.core.rule import rule
from nebel.core.suggest import did_you_mean


def variant(game: BaseGame, option: str, value: str) -> BaseGame:
    """The same game with one option changed."""
    if option not in game.options:
        hint, known = did_you_mean(option, game.options), ", ".join(game.options) or "none"
        raise BadSetting(f"{game.string} has no option {option!r} that could be varied{hint}; its options: {known}")
    changed = {**{name: text_of(held) for name, held in game.options.items()}, option: value}
    return load(f"{game.name}({','.join(f'{name}={text}' for name, text in changed.items())})")


def same(game: BaseGame, other: BaseGame) -> bool:
    """Whether two games are one. Fingerprints see only what random play meets, which 7 health points instead of 6 are not."""
    return game.fingerprint == other.fingerprint and getattr(game, "depth", None) == getattr(other, "depth", None)


def providing(game: BaseGame, recall: str) -> BaseGame:
    """Return the game, or, if it has a recall only with more of the past in its states, the same game with that."""
    if not isinstance(game, Game) or recall in game.glances or recall not in game.more_recalls.least:
        return game
    return variant(game, game.more_recalls.option, str(game.more_recalls.least[recall]))


def differ_in_limit(game: BaseGame, other: BaseGame) -> bool:
    """Whether two games of one family differ only in the number of moves after which a game is drawn, and in how much of the past their
    states hold."""
    if not isinstance(game, Game) or not game.limited_by or game.name != other.name:
        return False
    free = {game.limited_by: 0, game.more_recalls.option: 0}
    return {**game.options, **free} == {**other.options, **free}


def borrow(game: BaseGame, smaller: BaseGame, recall: str) -> tuple[BaseGame, str]:
    """The game with one more glance, by which a player sees it as the smaller game's players see that; and the glance's name.

    Perfect recall needs none: what was seen has the same name in all games of a family.
    """
    if same(game, smaller):
        return game, recall
    if game.name != smaller.name or not game.name:
        raise BadSetting(f"{smaller.string} and {game.string} are not games of one family")
    if not _moves_agree(game, smaller):
        raise BadSetting(f"{game.string} cannot be seen as {smaller.string}: moves of the same number are not called the same")
    if recall == PERFECT:
        return game, recall
    if not isinstance(game, Game) or not isinstance(smaller, Game) or game.state != smaller.state or game.actions != smaller.actions:
        raise BadSetting(f"by {recall} recall {game.string} cannot be seen as {smaller.string}: their states or moves are not the same")
    if recall not in smaller.glances:
        raise BadSetting(f"{smaller.string} has no recall {recall!r}")
    name = f"{recall} of {smaller.string}"
    return dataclasses.replace(game, glances={**game.glances, name: smaller.glances[recall]}), name


def resemble(game: BaseGame, other: BaseGame, recall: str) -> tuple[BaseGame, str]:
    """The game with one more glance, by which a player of a game with other states or moves sees it; and the glance's name."""
    if not isinstance(game, Game) or not isinstance(other, Game) or game.name != other.name or not game.liken:
        raise BadSetting(f"{game.string} does not say what in it is like {other.string}")
    liken, mean_there, glances = game.liken(other)
    if recall not in glances:
        raise BadSetting(f"players of {other.string} can find their way in {game.string} by {' or '.join(glances)} recall, not by {recall}")
    turn, blank = game.rules.turn, other.blank(1)
    look_there, text, note, _ = other.glances[recall]

    @rule
    def look(s: Record, player: int) -> int:
        t = blank.copy()
        liken(s, player, t[0])
        return look_there(t[0], player)

    @rule
    def mean(s: Record, move: int) -> int:
        t = blank.copy()
        liken(s, turn(s), t[0])
        return mean_there(s, t[0], move)

    name = f"{recall} of {other.string}"
    return dataclasses.replace(game, glances={**game.glances, name: Glance(look, text, note, mean)}), name


def _moves_agree(game: BaseGame, smaller: BaseGame) -> bool:
    if not isinstance(game, Game) or not isinstance(smaller, Game):
        return True
    common = range(min(game.actions, smaller.actions))
    return all(game.move_name(move) == smaller.move_name(move) for move in common)
