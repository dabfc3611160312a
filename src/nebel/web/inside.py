"""What a strategy plays where, what it is worth there, and what its opponent may hide: for looking inside and for reviews."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from nebel.core.errors import BadSetting, TooLarge, UnknownInformationState
from nebel.core.game import CHANCE, END, BaseGame, Game, all_essential
from nebel.core.interrupt import check
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.judge.values import Values
from nebel.match.agents import Agent, PolicyAgent
from nebel.match.beliefs import ERROR, Tendency, by_counting, by_merging, few, odds_of
from nebel.match.thinkers import Thinker
from nebel.policy.table import Policy, TablePolicy
from nebel.search.hidden import Hidden
from nebel.web.once import Once
from nebel.web.solved import solve

TREE, PLAIN_TREE = 2_000_000, 50_000
"""Histories of a game whose values are computed exactly: of one in rules, and of one that is not and so takes longer to go through."""
MOST_PASTS, MOST_MERGED, MOST_DRAWN = 6000, 12_000, 1000
"""Histories that are gone through one by one, states in which they meet, and histories that are drawn where there are too many."""
MOST_SEARCHED = 1500
"""Histories that are gone through one by one with a search, which takes longer to say how the other moves."""
MOST_WALKED = 20_000
"""Positions that are gone through of a game that is not in rules."""
MOST_OPEN, MOST_NEXT = 800, 300
"""Histories that are followed at a time from one decision to the next, and decisions that are listed."""
KEPT = 3
"""Strategies whose values are kept, and solutions."""

POLICY, SEARCH, CHANCE_ALONE = "policy", "search", "chance"


class Subject:
    """Whoever is looked into, at one game. Policies say what they play everywhere; those who think have to think first."""

    def __init__(self, agent: Agent, game: BaseGame) -> None:
        self.agent, self.game = agent, game
        self.policy: Policy | None = agent.policy if isinstance(agent, PolicyAgent) else None
        self.known_pasts: tuple[list[str], Pasts] | None = None  # of the last state that was asked about

    def knows(self, state: State) -> bool:
        """Whether it has an answer here; without one it plays at random."""
        return len(state.options()) == 1 or self.agent.knows(state)

    def shares(self, state: State) -> dict[int, float]:
        """How often it plays each legal move here."""
        options = state.options()
        if len(options) == 1:
            return {options[0]: 1.0}
        if isinstance(self.agent, Thinker) and state.turn not in self.agent.minds:
            self.agent.think(state, generator(1))
        found = self.agent.shares(state)
        if found is None:
            raise BadSetting(f"{self.agent.name} does not say how often it would play what; look into a policy or a search")
        return found

    def tendency(self, state: State) -> tuple[Tendency, str, float] | None:
        """How the other of the player to move is taken to play, who says so, and how often it errs."""
        if self.policy is not None:
            return self.policy.probabilities, POLICY, 0.0
        mind = self.agent.minds.get(state.turn) if isinstance(self.agent, Thinker) else None
        return (mind.tendency, SEARCH, ERROR) if mind else None

    def reach(self, state: State) -> float | None:
        """How often the player to move, by its own moves alone, comes here; None: it has not thought about them."""
        if self.policy is None:
            return None
        share, again = 1.0, self.game.start()
        for step in state.steps:
            if step.turn == state.turn:
                share *= self.policy.probabilities(again).get(step.option, 0.0)
            again.push(step.option)
        return share


class Pasts(NamedTuple):
    """Games that the player to move cannot tell apart, with odds that sum to 1.

    by     by whose moves they are weighted: POLICY, SEARCH or CHANCE_ALONE
    exact  whether they are all there
    why    where they are not weighted by the other's moves: the reason
    """

    games: list[tuple[State, float]]
    by: str
    exact: bool
    why: str = ""


Ways = Callable[[Tendency, float], Iterable[tuple[State, float]]]
"""All histories with their weights: by how the other moves, and how often it errs."""


def pasts(subject: Subject, state: State) -> Pasts:
    """What may have happened, as the player to move sees it."""
    moves, known = state.moves(), subject.known_pasts
    if known is None or known[0] != moves:
        known = subject.known_pasts = moves, _pasts(subject, state)
    return known[1]


def _pasts(subject: Subject, state: State) -> Pasts:
    if not isinstance(state.game, Game):
        return _weighed(subject, state, lambda tendency, error: by_walking(state, tendency, error))
    me, key = state.turn, state.key(state.turn)
    hidden, most = Hidden(state.game, state, me), MOST_SEARCHED if subject.policy is None else MOST_PASTS
    if few(hidden, most):
        return _weighed(subject, state, lambda tendency, error: by_counting(hidden, tendency, me, key, error))
    if not _mergeable(subject, hidden):
        why = f"there are more than {most:,} histories"
        games = hidden.beliefs(MOST_PASTS) if hidden.exact else []
        if sum(share for share, _ in games) > 1 - 1e-9:
            return Pasts([(game, share) for share, game in games], CHANCE_ALONE, True, why)
        rng = generator(1)
        return Pasts([(hidden.sample(rng), 1 / MOST_DRAWN) for _ in range(MOST_DRAWN)], CHANCE_ALONE, False, why)
    return _weighed(subject, state, lambda tendency, error: by_merging(hidden, tendency, me, key))


def _weighed(subject: Subject, state: State, ways: Ways) -> Pasts:
    """All of them, by the other's moves where the subject tells how it moves."""
    tending, why = subject.tendency(state), "the strategy has nothing to say of the other player"
    if tending is not None:
        tendency, by, error = tending
        try:
            weighed = [(game.copy(), odds) for game, odds in ways(tendency, error)]
            if sum(odds for _, odds in weighed) > 0.0:
                return Pasts(_normal(weighed), by, True)
            why = "the strategy never leads here in the other seat"
        except UnknownInformationState:
            why = "the strategy does not know all states on the way"
    return Pasts(_normal([(game.copy(), odds) for game, odds in ways(_anyhow, 0.0)]), CHANCE_ALONE, True, why)


def by_walking(like: State, tendency: Tendency, error: float) -> Iterator[tuple[State, float]]:
    """Every history in which the player to move has done and seen the same, with its weight, of a game that is not in rules."""
    me, looked, state = like.turn, 0, like.game.start()
    aim = like.transcript(me)

    def walk(weight: float) -> Iterator[tuple[State, float]]:
        nonlocal looked
        looked += 1
        if looked > MOST_WALKED:
            raise TooLarge(f"{like.game.string} is not written in rules, and has too many histories to go through")
        known = state.transcript(me)
        if state.turn == me and known == aim:
            yield state, weight
        elif not state.over and known == aim[: len(known)]:
            odds = odds_of(state, tendency, me, error)
            for move in state.options():
                state.push(move)
                yield from walk(weight * odds[move])
                state.undo()

    return walk(1.0)


def _mergeable(subject: Subject, hidden: Hidden) -> bool:
    """Whether histories that meet can be weighted together: the policy goes by a glance, which no clue of the game clears."""
    by_state = subject.policy is not None and subject.policy.recall in subject.game.glances and hidden.game.clues.essence is all_essential
    return by_state and hidden.exact and len(hidden.ways.first) <= MOST_MERGED


def _anyhow(state: State) -> dict[int, float]:
    return dict.fromkeys(state.options(), 1.0)


def _normal(games: list[tuple[State, float]]) -> list[tuple[State, float]]:
    total = sum(weight for _, weight in games)
    return [(game, weight / total) for game, weight in games]


class Next(NamedTuple):
    """A decision that may come next: what was seen until then, a game that leads there, and how likely it is, if that is known."""

    text: str
    state: State
    share: float | None


def onward(subject: Subject, player: int, begin: Pasts, move: int | None) -> tuple[list[Next], bool]:
    """Where `player` may have to decide next, after a move or from the start; False: that may not be all."""
    begun = len(begin.games[0][0].transcript(player))
    going = [(game.copy().push(move) if move is not None else game, odds) for game, odds in begin.games]
    found, complete, weighed = dict[str, list[tuple[State, float]]](), begin.exact, begin.by == POLICY

    def tendency(state: State) -> dict[int, float]:
        nonlocal weighed
        try:
            if weighed and subject.policy is not None:
                return subject.policy.probabilities(state)
        except UnknownInformationState:
            weighed = False
        return _anyhow(state)

    while going:
        after: dict[str, list[tuple[State, float]]] = {}
        for game, odds in going:
            check()
            if game.turn == player:
                found.setdefault(" ".join(game.transcript(player)[begun:]), []).append((game, odds))
            elif game.turn != END:
                shares = odds_of(game, tendency, player, 0.0)
                for option in game.options():
                    child = game.copy().push(option)
                    after.setdefault(" ".join(child.transcript(player)), []).append((child, odds * shares[option]))
        room = max(1, MOST_OPEN // max(1, len(after)))
        complete = complete and all(len(games) <= room for games in after.values())
        going = [pair for games in after.values() for pair in games[:room]]
    total = sum(odds for games in found.values() for _, odds in games)
    counted = complete and total > 0.0 and (weighed or _chance_only(begin, found))
    listed = [Next(text, games[0][0], sum(odds for _, odds in games) / total if counted else None) for text, games in found.items()]
    return listed[:MOST_NEXT], complete and len(listed) <= MOST_NEXT


def _chance_only(begin: Pasts, found: dict[str, list[tuple[State, float]]]) -> bool:
    """Whether nobody but chance decided which of these came."""
    length = len(begin.games[0][0].steps)
    return all(step.turn == CHANCE for games in found.values() for game, _ in games for step in game.steps[length + 1 :])


class Study:
    """Values of strategies and solutions of small games, each computed once; it can be used from several threads."""

    def __init__(self) -> None:
        self._values = Once[Values](KEPT)
        self._solutions = Once[PolicyAgent](KEPT)

    def solution(self, game: BaseGame) -> Subject:
        """Return an approximate equilibrium of a small game, or raise `TooLarge`."""
        return Subject(self._solutions.get(game.string, lambda: solve(game)), game)

    def values(self, subject: Subject) -> Values:
        """Exact ones, or the reason why there are none."""
        game, policy = subject.game, subject.policy
        if policy is None:
            raise BadSetting(f"{subject.agent.name} is no policy: what its moves are worth is not known")
        return self._values.get((subject.agent.name, game.string, subject.agent.digest), lambda: _values(game, policy))


def _values(game: BaseGame, policy: Policy) -> Values:
    from nebel.core.tree import grow, measure

    most = TREE if isinstance(game, Game) else PLAIN_TREE
    if not measure(game, most).complete:
        raise TooLarge(f"{game.string} has more than {most:,} histories")
    tree = grow(game, policy.recall, most)
    first, second = (np.isin(tree.sides[p].keys, policy.shares[p].keys) if isinstance(policy, TablePolicy) else None for p in range(2))
    return Values(tree, policy.on_tree(tree).strategies, (first, second))
