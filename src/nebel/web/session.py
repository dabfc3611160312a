"""One game that is being played: its state, who sits where, and who is listening."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import Problem
from nebel.core.game import CHANCE, BaseGame
from nebel.core.rng import generator
from nebel.match.agents import Agent, PolicyAgent
from nebel.match.bots import BotAgent
from nebel.web import told
from nebel.web.refusal import Refusal
from nebel.web.store import PERSON, Row, Store
from nebel.web.workers import Workers

LOG = logging.getLogger("nebel.web")
Listener = Callable[[str], None]


AT_ONCE: WeakSet[Agent] = WeakSet()
"""Agents whose moves are not worth a thread: see `warm`."""


def warm(agent: Agent, game: BaseGame, seat: int) -> None:
    """Let an agent that does not think move once, wherever in the game, so that whatever it needs is there before somebody waits for it."""
    if agent in AT_ONCE or agent.thinks or agent.depth or not isinstance(agent, (PolicyAgent, BotAgent)):
        return
    state, rng = game.start().deal(1), generator(1)
    while not state.over and state.turn != seat:
        state.push(state.options()[0]).deal(1)
    with suppress(Problem):  # a policy need not know this position
        if not state.over:
            agent.choose(state, rng)
    AT_ONCE.add(agent)



class Access(NamedTuple):
    """What a key opens."""

    seat: int
    plays: bool


class Session:
    """All of it happens on the event loop; only agents think elsewhere, on a copy of the state."""

    def __init__(self, row: Row, game: BaseGame, agents: tuple[Agent | None, Agent | None], store: Store, thinkers: Workers) -> None:
        self.row, self.game, self.agents, self._store, self._thinkers = row, game, agents, store, thinkers
        self.state = game.start()
        for move in row.moves:
            self.state.push(move)
        self.broken = ""
        self._listeners: dict[Listener, tuple[Access, str]] = {}
        self._thought: asyncio.Task[None] | None = None
    @property
    def idle(self) -> bool:
        return not self._listeners and self._thought is None

    @property
    def ending(self) -> told.Ending:
        return told.Ending(self.row.resigned, self.broken)

    @property
    def terms(self) -> told.Terms:
        return told.Terms(self.row.practice, self.row.players == (PERSON, PERSON))

    @property
    def over(self) -> bool:
        return self.state.over or bool(self.ending)

    def access(self, key: str) -> Access:
        for seat, (play, watch) in enumerate(self.row.keys):
            if play and hmac.compare_digest(play.encode(), key.encode()):
                return Access(seat, True)
            if watch and hmac.compare_digest(watch.encode(), key.encode()):
                return Access(seat, False)
        raise Refusal("this address is not that of a player or a guest of this game", 403)

    def tell(self, access: Access) -> str:
        """The message of where the game is, byte for byte the same wherever the seat cannot tell the difference."""
        head = {"type": "position", "id": self.row.id, "game": self.game.string, "players": self.row.players}
        rest = {"watching": not access.plays, "practice": self.row.practice, "watch": self.row.keys[access.seat][1]}
        return json.dumps({**head, **rest, **told.position(self.state, access.seat, self.ending, self.terms)}, sort_keys=True)

    def listen(self, listener: Listener, access: Access) -> None:
        """Tell `listener` where the game is, and again whenever that changes."""
        message = self.tell(access)
        self._listeners[listener] = access, message
        listener(message)

    def leave(self, listener: Listener) -> None:
        self._listeners.pop(listener, None)

    def move(self, access: Access, move: str, at: int | None) -> None:
        """Play for a seat; `at` is how many events the player had seen, if it says so."""
        self._may_act(access)
        known = len(told.events(self.state, access.seat))
        if at is not None and at != known:
            raise Refusal(f"that was an answer to an earlier position: {at} events, and there are {known}", 409)
        if self.state.turn != access.seat:
            raise Refusal("it is not your turn: wait for the other's move", 409)
        self._push(told.number(self.state, access.seat, move))
        self.go_on()

    def undo(self, access: Access) -> None:
        self._may_act(access, after_the_end=True)
        may = told.undo(self.state, access.seat, self.over, self.terms)
        if not may["allowed"]:
            raise Refusal(may["why"], 409)
        while self.state.steps[-1].turn != access.seat:
            self.state.undo()
        self.state.undo()
        self.row.moves = [step.option for step in self.state.steps]
        self.row.takebacks += 1
        self.row.resigned = None
        self.go_on()

    def resign(self, access: Access) -> None:
        self._may_act(access)
        self.row.resigned = access.seat
        self.go_on()

    def _may_act(self, access: Access, after_the_end: bool = False) -> None:
        if not access.plays:
            raise Refusal("this address lets you watch, not play", 403)
        if self.broken:
            raise Refusal(self.broken, 409)
        if self.over and not after_the_end:
            raise Refusal("the game is over", 409)

    def go_on(self) -> None:
        """Let chance move, and agents that need not think; then keep and tell, and let those think who have to."""
        self._deal()
        while not self.over and (agent := self._agent()) in AT_ONCE:
            self._make(agent, None)
        self._keep()
        self._tell_all()
        if self._thought is None and not self.over and self._agent() is not None:
            self._thought = asyncio.create_task(self._think())

    def _agent(self) -> Agent | None:
        return self.agents[self.state.turn] if self.state.turn >= 0 else None

    async def _think(self) -> None:
        try:
            while not self.over and (agent := self._agent()) is not None:
                taken_back, state = self.row.takebacks, self.state.copy()
                choice: int | Exception
                try:
                    choice = await self._thinkers.run(agent.choose, state, self._chances(1))
                except Exception as error:
                    choice = error
                if self.over or taken_back != self.row.takebacks:
                    continue
                self._make(agent, choice)
                self._keep()
                self._tell_all()
        finally:
            self._thought = None

    def _make(self, agent: Agent | None, choice: int | Exception | None) -> None:
        """The agent's move: what it has chosen, or chooses now."""
        assert agent is not None
        try:
            if isinstance(choice, Exception):
                raise choice
            self._push(agent.choose(self.state, self._chances(1)) if choice is None else choice)
            self._deal()
        except Exception as error:
            where = f"{self.game.string} after {self.state.moves_text()}"
            LOG.error("%s cannot move in %s: %s", agent.name, where, error, exc_info=None if isinstance(error, Problem) else error)
            self.broken = f"{agent.name} could not go on: the game ends here."

    def _push(self, move: int) -> None:
        self.state.push(move)
        self.row.moves.append(move)

    def _deal(self) -> None:
        if self.state.turn == CHANCE and not self.over:
            before = len(self.state.steps)
            self.state.deal(self._chances(0))
            self.row.moves += [step.option for step in self.state.steps[before:]]

    def _chances(self, stream: int) -> NDArray[np.int64]:
        """Random numbers of this very position: the same after a restart."""
        return generator(self.row.seed, (self.row.takebacks << 32) + 2 * len(self.state.steps) + stream)

    def _keep(self) -> None:
        self._store.save(self.row)
        if self.over and not self.row.practice:
            self.agents = (None, None)  # what they remember of the game can be large

    def _tell_all(self) -> None:
        """Tell whoever sees a difference."""
        for listener, (access, before) in list(self._listeners.items()):
            message = self.tell(access)
            if message != before:
                self._listeners[listener] = access, message
                listener(message)

    def record(self) -> str:
        """The whole game as text: for whoever has finished it."""
        self._only_after_the_end("the record holds what is hidden")
        head = f'[Players "{self.row.players[0]}, {self.row.players[1]}"]\n'
        resigned = f'[Resigned "{self.row.resigned}"]\n' if self.row.resigned is not None else ""
        return head + resigned + self.state.record()

    def past(self, access: Access, count: int) -> dict[str, Any]:
        return told.past(self.state, access.seat, count)

    def reveal(self, at: int) -> dict[str, Any]:
        self._only_after_the_end("what is hidden is shown at the end")
        return {"game": self.game.string, **told.reveal(self.state, at)}

    def _only_after_the_end(self, why: str) -> None:
        if not self.over:
            raise Refusal(f"{why}: finish the game, or resign", 409)


