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
    one: Any  # by simulation: all else about it
    spare: Any  # one state to try options in


def flights(game: Game, searches: int, each: int) -> Flights:
    """Room for `each` simulations at a time in so many searches. Compiled code counts who refers to an array, and not who to a record:
    so a simulation is one."""
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
        options=whole,  # how many there are
        legal=(whole, width), odds=(real, width), kept=(real, width), then=(whole, width), seen=(whole, 2),
        noted=whole,  # how many decisions are noted here:
        who=(whole, depth), place=(whole, depth), count=(whole, depth), chosen=(whole, depth),
        own_before=(real, depth), mixed_before=(real, depth), mixed_after=(real, depth),  # mixed: delta * ratio + 1 - delta
        chance_of=(real, depth),  # of what was chosen
        scale=(real, depth), gains=(real, (depth, width)),  # scale times gains: the strategy
    )  # fmt: skip
    one = np.zeros(searches * each, kind).view(np.recarray)
    one["search"], one["row"] = np.repeat(np.arange(searches), each), NOWHERE
    return Flights(game.blank(searches * each), one, game.blank(1))


class Goals(NamedTuple):
    """The targets of several searches."""

    aims: Any
    room: Room | None


def goals(game: Game, count: int, common: bool) -> Goals:
    return Goals(no_targets(game, count), room_for(game, count) if searches(game, common) else None)
