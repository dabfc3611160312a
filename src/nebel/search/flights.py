"""Simulations under way, and what they are led to: arrays of compiled searches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import Game, record
from nebel.search.memory import NOWHERE
from nebel.search.target import Room, no_targets, room_for, searches


class Flights(NamedTuple):
    """Simulations under way."""

    state: Any  # by simulation: the game's
    one: Any  # by simulation: all else about it, but for
    notes: Any  # by simulation and number: decisions in information states that are remembered
    spare: Any  # one state to try options in


def flights(game: Game, searches: int, each: int) -> Flights:
    """Room for `each` simulations at a time in so many searches. Compiled code counts who refers to an array, and not who to a record:
    so a simulation is one. What is noted stands apart, for the cache: while a network moves nobody looks at it."""
    whole, real, depth, width = np.int64, np.float64, game.depth + 1, game.width
    kind = record(
        search=whole, learner=whole, led=whole, flying=whole,
        keys=(whole, 2),  # what each player remembers
        at=whole,  # events of the target that have come about, or OFF or FREE
        ratio=real, own=real,
        grown=whole,  # has an information state been added?
        playout=whole,  # nothing more is looked up
        asked=whole,  # the network's opinion has come
        row=whole,  # where it is asked for, or NOWHERE
        first=whole, noted=whole,  # where its notes begin, and how many there are
        options=whole,  # how many there are
        legal=(whole, width), odds=(real, width), seen=(whole, 2), kept=(real, width), then=(whole, width),
    )  # fmt: skip
    noted = record(
        who=whole, place=whole, count=whole, chosen=whole,
        own_before=real, mixed_before=real, mixed_after=real,  # mixed: delta * ratio + 1 - delta
        chance_of=real,  # of what was chosen
        scale=real, gains=(real, width),  # scale times gains: the strategy
    )  # fmt: skip
    count = searches * each
    one, notes = np.zeros(count, kind).view(np.recarray), np.zeros(count * depth, noted).view(np.recarray)
    one["search"], one["row"], one["first"] = np.repeat(np.arange(searches), each), NOWHERE, depth * np.arange(count)
    return Flights(game.blank(count), one, notes, game.blank(1))


class Goals(NamedTuple):
    """The targets of several searches."""

    aims: Any
    room: Room | None


def goals(game: Game, count: int, common: bool) -> Goals:
    return Goals(no_targets(game, count), room_for(game, count) if searches(game, common) else None)
