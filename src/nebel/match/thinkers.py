"""Agents that think at the board: OOS, by itself or guided by a policy, ISMCTS, and playouts from what may be hidden."""

from __future__ import annotations

import copy
import dataclasses
import json
from typing import NamedTuple

import numpy as np

from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import BaseGame
from nebel.core.rng import uniform
from nebel.core.settings import read_settings
from nebel.core.state import State
from nebel.match.agents import Agent, Generator, PolicyAgent, pick_share
from nebel.policy.net import NetPolicy
from nebel.policy.table import MadePolicy, Policy
from nebel.search.advised import Advised, AdvisedSettings
from nebel.search.budget import Budget, read_budget
from nebel.search.ismcts import Ismcts, IsmctsSettings
from nebel.search.online import Searches
from nebel.search.oos import OosSettings
from nebel.search.rollouts import Rollouts, RolloutSettings
from nebel.search.target import Events, events_of, in_rules, public_events_of

AnySettings = OosSettings | IsmctsSettings | RolloutSettings | AdvisedSettings
Search = Searches | Ismcts | Rollouts | Advised
KINDS: dict[str, type[AnySettings]] = {"oos": OosSettings, "ismcts": IsmctsSettings, "belief": RolloutSettings}


class Mind(NamedTuple):
    """A search in one seat, what the player knew when it last thought, and how many simulations that took."""

    search: Search
    events: Events
    simulations: int

    @property
    def nodes(self) -> int:
        """Information states remembered."""
        return self.search.nodes() if isinstance(self.search, Searches) else self.search.nodes

    def tendency(self, state: State) -> dict[int, float]:
        """How the search has the player to move play on average, be it the searcher or the other."""
        return self.search.shares(state) if isinstance(self.search, Searches) else self.search.tendency(state)

    def led_to(self, events: Events) -> bool:
        """Whether the game went on to this, as far as the player can tell."""
        known = len(self.events)
        return len(events) > known and np.array_equal(events[:known], self.events)


class Thinker(Agent):
    """Searches anew before every move that is a choice, and keeps what it found for the rest of the game.

    A game that does not go on from where the player last thought is a new one; then the search starts afresh, with a seed from the
    generator that `choose` is given. `policy` moves in the playouts of OOS.
    """

    thinks = True

    def __init__(self, name: str, budget: Budget, settings: AnySettings, policy: Policy | None = None, digest: str = "") -> None:
        self.name, self.budget, self.settings, self.guide = name, budget, settings, policy
        self.digest = json.dumps([type(settings).__name__, *budget, dataclasses.asdict(settings), digest])
        self.game = policy.game if isinstance(policy, MadePolicy) else None
        self.seconds = budget.seconds
        self.minds: dict[int, Mind] = {}  # by seat

    @property
    def nbytes(self) -> int:
        return sum(_nbytes(value) for mind in self.minds.values() for value in vars(mind.search).values())

    def forget(self) -> None:
        self.minds = {}

    def choose(self, state: State, rng: Generator) -> int:
        return self.choose_within(state, rng, 1.0)

    def choose_within(self, state: State, rng: Generator, share: float) -> int:
        options = state.options()
        if len(options) == 1:
            return options[0]
        shares = self.think(state, rng, share)
        with np.errstate(over="ignore"):
            return list(shares)[pick_share(list(shares.values()), 0, len(shares), uniform(rng))]

    def think(self, state: State, rng: Generator, share: float = 1.0) -> dict[int, float]:
        """Spend this share of the budget on this state; returns how often each move should be played."""
        me, events = state.turn, events_of(state, state.turn)
        mind = self.minds.get(me)
        if mind is None or mind.search.game is not state.game or not mind.led_to(events):
            with np.errstate(over="ignore"):
                seed = int(uniform(rng) * 2**53)
            search = self._search(state.game, seed)
        else:
            search = mind.search
        self.minds[me] = Mind(search, events, search.think(state, *self.budget.part(share)))
        return search.shares(state)

    def shares(self, state: State) -> dict[int, float] | None:
        mind = self.minds.get(state.turn)
        return mind.search.shares(state) if mind else None

    def sit(self) -> Thinker:
        twin = copy.copy(self)
        twin.minds = {}
        return twin

    def within(self, budget: Budget) -> Thinker:
        """Return a player of the same kind with another budget."""
        twin = self.sit()
        twin.budget = budget
        return twin

    def join(self, game: BaseGame) -> BaseGame:
        try:
            in_rules(game)
            if isinstance(self.guide, MadePolicy):
                self.guide.check_game(game)
            if isinstance(self.settings, OosSettings) and self.settings.target == "public":
                public_events_of(game.start())  # refuses games that do not say what is public
        except (BadFile, BadSetting) as error:
            raise type(error)(f"{self.name}: {error}") from error
        return game

    def _search(self, game: BaseGame, seed: int) -> Search:
        if isinstance(self.settings, OosSettings):
            return Searches(game, self.settings, seed, self.guide)
        if isinstance(self.settings, IsmctsSettings):
            return Ismcts(game, self.settings, seed)
        if isinstance(self.settings, AdvisedSettings):
            assert isinstance(self.guide, NetPolicy)
            return Advised(game, self.guide, self.settings, seed)
        return Rollouts(game, self.settings, seed)


def _nbytes(value: object) -> int:
    """The bytes of an array, or of all arrays in a tuple."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(map(_nbytes, value)) if isinstance(value, tuple) else 0


def read_thinker(name: str, text: str, guide: Agent | None) -> Thinker:
    """The agent of a string such as `oos:10k,epsilon=0.6`; `guide` is what stood before a plus."""
    kind, _, rest = text.partition(":")
    budget, *options = rest.split(",")
    try:
        spend = read_budget(budget)
        asked: type[AnySettings] = AdvisedSettings if kind == "belief" and guide else KINDS[kind]
        settings = read_settings(asked, options)
    except BadSetting as error:
        raise BadSetting(f"{name}: {error}") from error
    if guide is None:
        return Thinker(name, spend, settings)
    if kind not in ("oos", "belief"):
        raise BadSetting(f"{name}: no policy moves in the playouts of {kind}; write POLICY+oos:BUDGET or NETWORK+belief:BUDGET")
    if not isinstance(guide, PolicyAgent):
        raise BadSetting(f"{name}: {guide.name} is no policy; write POLICY+oos:BUDGET or NETWORK+belief:BUDGET")
    if kind == "belief" and not isinstance(guide.policy, NetPolicy):
        raise BadSetting(f"{name}: {guide.name} is no network; write NETWORK+belief:BUDGET, or POLICY+oos:BUDGET")
    return Thinker(name, spend, settings, guide.policy, guide.digest)
