"""What a player that thinks at the board would play everywhere, as one strategy that can be judged exactly.

Lisy, Lanctot, Bowling. Online Monte Carlo Counterfactual Regret Minimization for Search in Imperfect Information Games. 2015

Full stitching lets it think afresh in every information state and keeps what it would play there: dear, and true. (In a game it
comes to later states with what it found before, so it plays a little better than this.) The aggregate method lets it play matches
against itself and adds up, by information state, what it would have played where it had to decide; where it never had to, the
averages that its searches hold, each match counting the same; and where no search has ever been it is taken to play uniformly.
That is cheap, and an approximation: off the paths that it takes, what is judged are thoughts about something else.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.rng import generator
from nebel.core.sequence import shares_of, uniform_strategy
from nebel.core.state import State
from nebel.core.tree import Side, Tree
from nebel.match.agents import Agent, Generator
from nebel.match.deals import Tick, play_game, side_by_side
from nebel.match.thinkers import Thinker
from nebel.policy.checked import check_probabilities

Reals = NDArray[np.float64]
Strategies = tuple[Reals, Reals]


class Stitched(NamedTuple):
    """What an agent would play on a tree, and in how many information states of each player that is a guess: uniformly."""

    strategies: Strategies
    unknown: tuple[int, int]


def stitch(tree: Tree, agent: Thinker, seed: int = 1, threads: int = 1, tick: Tick | None = None) -> Stitched:
    """Full stitching: what the agent would play in each information state of a tree with perfect recall."""
    strategies = uniform_strategy(tree.sides[0]), uniform_strategy(tree.sides[1])
    places = choices(tree)
    for (player, at), shares in zip(places, side_by_side(partial(_think, tree, agent, seed), places, threads), strict=True):
        row = tree.sides[player].row
        strategies[player][row[at] : row[at + 1]] = shares
        if tick:
            tick(1)
    return Stitched(strategies, (0, 0))


def choices(tree: Tree) -> list[tuple[int, int]]:
    """Information states with more than one legal move: the player, and the number."""
    return [(player, int(at)) for player, side in enumerate(tree.sides) for at in np.flatnonzero(np.diff(side.row) > 1)]


def _think(tree: Tree, agent: Thinker, seed: int, place: tuple[int, int]) -> list[float]:
    player, at = place
    side = tree.sides[player]
    state = tree.state_of(player, at)
    shares = agent.sit().think(state, generator(seed, 2 * at + player))
    check_probabilities(state, shares, agent.name)
    return [shares.get(int(move), 0.0) for move in side.move[side.row[at] : side.row[at + 1]]]


class Noting(Agent):
    """Plays as another agent does, and notes what it would have played where it had a choice."""

    def __init__(self, thinker: Thinker) -> None:
        self.name, self.thinker = thinker.name, thinker
        self.decisions: dict[int, dict[int, float]] = {}  # by information state

    def choose(self, state: State, rng: Generator) -> int:
        move = self.thinker.choose(state, rng)
        if len(state.options()) > 1:
            self.decisions[state.key(state.turn)] = self.thinker.shares(state) or {}
        return move


class Notes(NamedTuple):
    """Of one player, by place in a table: what was decided, and what searches thought."""

    decided: Reals
    thought: Reals


def aggregate(tree: Tree, agent: Thinker, matches: int, seed: int = 1, threads: int = 1, tick: Tick | None = None) -> Stitched:
    """The aggregate method over so many matches of the agent against itself."""
    total = [Notes(np.zeros(len(side.move)), np.zeros(len(side.move))) for side in tree.sides]
    for notes in side_by_side(partial(_notes_of_match, tree, agent, seed), range(matches), threads):
        for player in range(2):
            for sums, more in zip(total[player], notes[player], strict=True):
                sums += more
        if tick:
            tick(1)
    strategies, unknown = zip(*(_combine(side, notes) for side, notes in zip(tree.sides, total, strict=True)), strict=True)
    return Stitched((strategies[0], strategies[1]), (unknown[0], unknown[1]))


def _combine(side: Side, notes: Notes) -> tuple[Reals, int]:
    """The strategy, and the number of information states with a choice about which nothing is known."""
    width = np.diff(side.row)
    decided, thought = (np.repeat(np.add.reduceat(sums, side.row[:-1]) > 0, width) for sums in notes)
    strategy = shares_of(side.row, np.where(decided, notes.decided, notes.thought))
    return strategy, int(np.count_nonzero(~(decided | thought)[side.row[:-1]] & (width > 1)))


def _notes_of_match(tree: Tree, agent: Thinker, seed: int, number: int) -> tuple[Notes, Notes]:
    players = Noting(agent.sit()), Noting(agent.sit())
    play_game(tree.game, players, seed, number)
    return _notes(tree.sides[0], 0, players[0]), _notes(tree.sides[1], 1, players[1])


def _notes(side: Side, player: int, noting: Noting) -> Notes:
    notes = Notes(np.zeros(len(side.move)), np.zeros(len(side.move)))
    mind = noting.thinker.minds.get(player)
    if mind is not None:
        sums = mind.search.sums(side)
        total = np.repeat(np.add.reduceat(sums, side.row[:-1]), np.diff(side.row))
        np.divide(sums, total, out=notes.thought, where=total > 0)
    for key, shares in noting.decisions.items():
        at = int(np.argmax(side.keys == key))
        notes.decided[side.row[at] : side.row[at + 1]] = list(shares.values())
    return notes
