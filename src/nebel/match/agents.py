"""Agents: whoever can sit down at a game, named by strings."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import BaseGame, Game
from nebel.core.registry import GAMES, load, load_named
from nebel.core.rng import uniform
from nebel.core.rule import rule
from nebel.core.state import State
from nebel.core.suggest import did_you_mean
from nebel.policy.adopt import Network, adopt, adopt_network
from nebel.policy.checked import check_probabilities
from nebel.policy.io import load_policy, policy_path
from nebel.policy.nets import NetsPolicy
from nebel.policy.table import MadePolicy, Policy, TablePolicy, Uniform

Generator = NDArray[np.int64]

THINKING = re.compile(r"(?:(.+)\+)?((?:oos|ismcts|belief|proof):.*)")
"""How agents that think are called: perhaps a policy, and the search."""


BUDGETS = {**dict.fromkeys(("oos", "ismcts", "belief"), ("a budget", "1k", "1s")), "proof": ("a number of plies", "7")}
"""What agents that think need behind their kind and a colon, and examples of it."""


@rule
def pick_even(n: int, u: float) -> int:
    """One of n, given a uniform number u."""
    return min(int(u * n), n - 1)


@rule
def pick_share(share: Any, first: int, n: int, u: float) -> int:
    """One of n in proportion to share[first:first+n], which sum to 1; never one whose share is 0."""
    chosen = 0
    for i in range(n):
        if share[first + i] > 0.0:
            chosen = i
            u -= share[first + i]
            if u < 0.0:
                break
    return chosen


class Agent(ABC):
    """Somebody who plays. `choose` is given the whole state, and must look only at what the player to move knows.

    policy  set when the agent is nothing but this policy: then exact values and compiled matches are possible
    bot     set when the agent is the game's bot of this name
    depth   how many plies that bot looks ahead, if it does
    game    the game it was made for; None: any
    digest  what else decides how it plays, besides its name
    thinks  whether a move takes so long that games are worth playing side by side
    seconds how long it thinks about a move, if that is what it goes by
    nbytes  how much memory it takes to remember what it found at earlier moves
    """

    name: str
    policy: Policy | None = None
    bot: str = ""
    depth: int = 0
    game: str | None = None
    digest: str = ""
    thinks: bool = False
    seconds: float | None = None

    @property
    def nbytes(self) -> int:
        return 0

    @abstractmethod
    def choose(self, state: State, rng: Generator) -> int:
        """A legal move of the player to move; chances are taken from `rng` alone."""

    def choose_within(self, state: State, rng: Generator, share: float) -> int:
        """Choose as `choose` does, and spend only this share of what the agent may spend on a move."""
        return self.choose(state, rng)

    def shares(self, state: State) -> dict[int, float] | None:
        """How often it would play each legal move, as far as it has thought about that; None: it does not say."""
        return None

    def forget(self) -> None:  # noqa: B027 (most remember nothing)
        """Drop what is remembered from earlier moves: the next one is thought about from the start."""

    def sit(self) -> Agent:
        """Whoever takes one seat in one game: a player of its own if it remembers anything from move to move."""
        return self

    def knows(self, state: State) -> bool:
        """False where it will play uniformly because its policy says nothing."""
        return True

    def join(self, game: BaseGame) -> BaseGame:
        """Sit down at a game, or refuse one that this agent cannot play; returns the game with what the agent needs to see there."""
        if self.game not in (None, game.string):
            raise BadFile(f"{self.name} was made for {self.game}, not for {game.string}")
        return game


class PolicyAgent(Agent):
    """Plays by a policy, one random number a move."""

    def __init__(self, name: str, policy: Policy, digest: str = "") -> None:
        self.name, self.policy, self.digest = name, policy, digest
        self._policy = policy
        self._table = policy if isinstance(policy, TablePolicy) else None
        self.game = policy.game if isinstance(policy, MadePolicy) else None

    def choose(self, state: State, rng: Generator) -> int:
        if isinstance(self._policy, MadePolicy):
            self._policy.check_state(state)
        with np.errstate(over="ignore"):
            u = uniform(rng)
        if isinstance(self._policy, Uniform) or not (self._table is None or self._table.missing == "error" or self.knows(state)):
            options = state.options()
            return options[pick_even(len(options), u)]
        found = self._table.at(state) if self._table else None
        shares = found or self.shares(state)
        move = list(shares)[pick_share(list(shares.values()), 0, len(shares), u)]
        return state.game.meant_at(self._policy.recall, state.position, move) if found else move

    def shares(self, state: State) -> dict[int, float]:
        shares = self._policy.probabilities(state)
        if not isinstance(self._policy, (MadePolicy, Uniform)):  # a user's own
            check_probabilities(state, shares, self.name)
        return shares

    def sit(self) -> Agent:
        return DrawnNetwork(self.name, self._policy) if isinstance(self._policy, NetsPolicy) else self

    def knows(self, state: State) -> bool:
        if self._table is None:
            return True
        return self._table.shares[state.turn].find(state.key(state.turn, self._table.recall)) >= 0

    def join(self, game: BaseGame) -> BaseGame:
        try:
            if self._table is not None:
                game, self._table = adopt(game, self._table, by_likeness=True)
                self.policy = self._policy = self._table
            elif isinstance(self._policy, Network):
                game, self._policy = adopt_network(game, self._policy)
                self.policy = self._policy
            else:
                if isinstance(self._policy, MadePolicy):
                    self._policy.check_game(game)
                return game
        except BadFile as error:
            raise BadFile(f"{self.name}: {error}") from error
        self.game = game.string
        return game


class DrawnNetwork(PolicyAgent):
    """One seat of an ensemble of networks in one game: the first random number draws one of them, which then plays the whole game.

    Asking all of them at every decision plays alike, and takes hundreds of times as long.
    """

    def __init__(self, name: str, policy: NetsPolicy) -> None:
        super().__init__(name, policy)
        self._nets, self._number = policy, -1

    def choose(self, state: State, rng: Generator) -> int:
        if self._number < 0:
            self._nets.check_state(state)
            weights = self._nets.weights[state.turn]
            with np.errstate(over="ignore"):
                self._number = pick_share(weights / weights.sum(), 0, len(weights), uniform(rng))
        shares = self._nets.of_one(self._number, state)
        with np.errstate(over="ignore"):
            return list(shares)[pick_share(list(shares.values()), 0, len(shares), uniform(rng))]


def read(text: str) -> Agent:
    """The agent that people call by this string: `uniform` (or `random`), FILE or `policy:FILE`, a built-in game's bot, `bot:NAME`,
    or one that thinks: `oos:10k`, `ismcts:1s`, `belief:1k`, `FILE+oos:2k`, or that looks for certain wins first: `purple:4+proof:7`."""
    if thinking := THINKING.fullmatch(text):
        before = read(thinking[1]) if thinking[1] else None
        if thinking[2].startswith("proof:"):
            from nebel.match.proof import read_prover

            return read_prover(text, thinking[2], before)
        from nebel.match.thinkers import read_thinker

        return read_thinker(text, thinking[2], before)
    if text in ("uniform", "random"):
        return PolicyAgent(text, Uniform())
    if called := re.fullmatch(r"(bot:)?([^:]+)(?::([^:]+))?", text):
        named, name, how = called.groups()
        if named or name in bots():
            from nebel.match.bots import read_bot

            return read_bot(text, name, how)
    path = policy_path(text)
    if not text.startswith("policy:") and not path.is_file():
        if needed := BUDGETS.get(text.rpartition("+")[2]):
            whole = f"AGENT+{text}" if text == "proof" else text
            raise BadSetting(f"{text} needs {needed[0]}: {' or '.join(f'{whole}:{example}' for example in needed[1:])}")
        hint = did_you_mean(text.partition(":")[0], ["uniform", "random", *bots(), *BUDGETS])
        raise BadSetting(f"no agent {text!r}{hint}, and no file of that name; agents are: {', '.join(forms())}")
    policy = load_policy(path)
    with path.open("rb") as file:
        return PolicyAgent(text, policy, hashlib.file_digest(file, "sha256").hexdigest()[:16])


def forms() -> list[str]:
    """How agents can be called."""
    thinkers = ["oos:10k", "oos:1s", "ismcts:10k", "belief:1k", "FILE+oos:2k", "NETWORK+belief:200ms", "AGENT+proof:7"]
    return ["uniform", "random", *bots(), "purple:4", "purple:50ms", "bot:NAME", "policy:FILE", "FILE", "shipped:NAME", *thinkers]


def bots() -> list[str]:
    """The bots of the built-in games."""
    games = [load(name) for name in GAMES]
    return sorted({name for game in games if isinstance(game, Game) for name in game.bots})


def read_all(texts: list[str]) -> list[Agent]:
    """At least two agents; one that is named twice plays as two."""
    if len(texts) < 2:
        raise BadSetting("a match takes at least two agents")
    agents = [read(text) for text in texts]
    for i, agent in enumerate(agents):
        if before := texts[:i].count(texts[i]):
            agent.name = f"{texts[i]} ({before + 1})"
    return agents


def load_game(named: str | None, agents: list[Agent]) -> BaseGame:
    """Return the game that the user names, else the one game that the agents were made for."""
    if named:
        return load(named)
    game = _game_of(agents)
    return load_named(game, next(agent.name for agent in agents if agent.game == game))


def _game_of(agents: list[Agent]) -> str:
    made_for = {agent.game: agent.name for agent in agents if agent.game is not None}
    if not made_for:
        names = sorted({agent.name for agent in agents})
        raise BadSetting(f"{' and '.join(names)} fit{'s' * (len(names) == 1)} any game; say which with --game")
    if len(made_for) > 1:
        raise BadSetting("agents of different games: " + ", ".join(f"{name} plays {game}" for game, name in made_for.items()))
    return next(iter(made_for))
