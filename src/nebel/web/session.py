"""One game that is being played: its state, who sits where, and who is listening."""

from __future__ import annotations

import asyncio
import dataclasses
import hmac
import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple
from weakref import WeakSet

from nebel.core.errors import Problem
from nebel.core.game import BaseGame
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.match.agents import Agent, Generator, PolicyAgent
from nebel.match.bots import BotAgent
from nebel.web import reply, told
from nebel.web.outbox import refused
from nebel.web.refusal import Refusal
from nebel.web.reply import Pace, Reply
from nebel.web.store import PERSON, NotKept, Row, Store

LOG = logging.getLogger("nebel.web")
Listener = Callable[[str], None]
"""Takes a message; one that raises anything is not told any more."""

RETRY = 10.0
"""Seconds after which a reply that could not be kept is tried again, if nobody asks before."""

AT_ONCE: WeakSet[Agent] = WeakSet()
"""Agents whose moves are not worth a thread: see `warm`."""
QUICK, TRIES = 0.001, 3
"""Seconds that such a move may take, at best, and how often that is tried."""


def warm(agent: Agent, game: BaseGame, seat: int) -> None:
    """Let an agent that does not think move, wherever in the game, so that whatever it needs is there before somebody waits for it, and
    see whether that is quick: a large network is not."""
    if agent in AT_ONCE or agent.thinks or agent.depth or not isinstance(agent, (PolicyAgent, BotAgent)):
        return
    state, rng, spent = game.start().deal(1), generator(1), [0.0]
    while not state.over and state.turn != seat:
        state.push(state.options()[0]).deal(1)
    with suppress(Problem):  # a policy need not know this position
        if not state.over:
            agent.choose(state, rng)
            spent = [_timed(lambda: agent.choose(state, rng)) for _ in range(TRIES)]
    if min(spent) < QUICK:
        AT_ONCE.add(agent)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class Access(NamedTuple):
    """What a key opens."""

    seat: int
    plays: bool


class Session:
    """All of it happens on the event loop; only agents think elsewhere, on a copy of the state.

    Whatever happens to the game is done to copies of its state and its row first, and is so for everybody once the row is in the store.
    """

    def __init__(self, row: Row, game: BaseGame, agents: tuple[Agent | None, Agent | None], store: Store, pace: Pace) -> None:
        self.row, self.game, self.agents, self._store, self._pace = row, game, agents, store, pace
        self.state = game.start()
        for move in row.moves:
            self.state.push(move)
        self.broken = ""
        self._listeners: dict[Listener, tuple[Access, str, Listener]] = {}
        self._reply: asyncio.Task[None] | None = None
        self._asked = asyncio.Event()

    @property
    def thinks(self) -> bool:
        return self._reply is not None

    @property
    def idle(self) -> bool:
        return not self._listeners and not self.thinks

    @property
    def nbytes(self) -> int:
        """What the agents remember."""
        return sum(agent.nbytes for agent in self.agents if agent is not None)

    def forget_thoughts(self) -> None:
        """Let agents think from the start again: what they remember takes too much memory."""
        for agent in self.agents:
            if agent is not None:
                agent.forget()

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

    def listen(self, listener: Listener, access: Access, aside: Listener | None = None) -> None:
        """Tell `listener` where the game is, and again whenever that changes; and `aside` why it stands still (default: `listener`)."""
        message = self.tell(access)
        self._listeners[listener] = access, message, aside or listener
        listener(message)

    def leave(self, listener: Listener) -> None:
        self._listeners.pop(listener, None)

    def begin(self) -> None:
        """Keep a game for the first time, dealt if chance begins; one that cannot be kept is not begun."""
        self._become(self.state.copy(), self.row)

    def go_on(self) -> None:
        """Let the agent move if it is to: in a game that was woken up, or one whose reply could not be kept before."""
        self._asked.set()
        self._let_reply()

    def move(self, access: Access, move: str, at: int | None) -> None:
        """Play for a seat; `at` is how many events the player had seen, if it says so."""
        self._may_act(access)
        known = len(told.events(self.state, access.seat))
        if at is not None and at != known:
            raise Refusal(f"that was an answer to an earlier position: {at} events, and there are {known}", 409)
        if self.state.turn != access.seat:
            raise Refusal("it is not your turn: wait for the other's move", 409)
        self._become(self.state.copy().push(told.number(self.state, access.seat, move)), dataclasses.replace(self.row, played=True))

    def undo(self, access: Access) -> None:
        self._may_act(access, after_the_end=True)
        may = told.undo(self.state, access.seat, self.over, self.terms)
        if not may["allowed"]:
            raise Refusal(may["why"], 409)
        state = self.state.copy()
        while state.steps[-1].turn != access.seat:
            state.undo()
        self._become(state.undo(), dataclasses.replace(self.row, takebacks=self.row.takebacks + 1, resigned=None))

    def resign(self, access: Access) -> None:
        self._may_act(access)
        self._become(self.state.copy(), dataclasses.replace(self.row, resigned=access.seat))

    def _may_act(self, access: Access, after_the_end: bool = False) -> None:
        if not access.plays:
            raise Refusal("this address lets you watch, not play", 403)
        if self.broken:
            raise Refusal(self.broken, 409)
        if self.over and not after_the_end:
            raise Refusal("the game is over", 409)

    def _become(self, state: State, row: Row) -> None:
        """Let chance move, keep the game as it is now, and then tell it; if it cannot be kept, nothing has happened."""
        if row.resigned is None:
            reply.deal(state, self._chances(row))
        self._show(state, self._kept(state, row), {})

    def _kept(self, state: State, row: Row) -> Row:
        row = dataclasses.replace(row, moves=[step.option for step in state.steps])
        self._store.save(row)
        return row

    def _show(self, state: State, row: Row, messages: dict[Access, str]) -> None:
        """This is the game from now on; `messages` are those that have been written already."""
        self.state, self.row = state, row
        if self.over and not row.practice:
            self.agents = (None, None)  # what they remember of the game can be large
        if self.over or self._agent() not in AT_ONCE:  # else there is more to tell in a moment
            self._tell_all(messages)
        self._let_reply()

    def _agent(self) -> Agent | None:
        return self.agents[self.state.turn] if self.state.turn >= 0 else None

    def _let_reply(self) -> None:
        if self.over or self._agent() is None:
            if self._reply is not None and self._reply is not asyncio.current_task():
                self._reply.cancel()
            self._reply = None
        elif self._reply is None:
            self._reply = asyncio.create_task(self._answer())

    async def replied(self) -> None:
        """Wait for the reply of an agent that need not think."""
        if self._reply is not None and self._agent() in AT_ONCE:
            await asyncio.wait({self._reply}, timeout=1.0)

    async def _answer(self) -> None:
        """The agent's reply, at its beat: all that can be done before is done before, so that the moment tells nothing."""
        agent, clock = self._agent(), self._pace.clock
        assert agent is not None
        try:
            given = self.agents, self.state.copy(), self._chances(self.row)
            asked = clock.now()
            if agent in AT_ONCE:
                await clock.until(asked + reply.BEAT_AT_ONCE / 2)  # what the person is told of the own move is on its way before
                found, beat = reply.play_on(*given, clock)._replace(began=asked), reply.BEAT_AT_ONCE
            else:
                found, beat = await self._pace.reply(agent, *given)
            if found.failure is not None:
                self._log(agent, found.failure, found.state)
            row = await self._kept_at_last(found, beat, agent)
            broken = f"{agent.name} could not go on: the game ends here." if found.failure is not None else ""
            messages = self._messages(found.state, row, broken)
            await clock.until(reply.next_beat(found.began, beat, clock.now()))
            self.broken = broken
            self._show(found.state, row, messages)
        finally:
            if self._reply is asyncio.current_task():
                self._reply = None

    async def _kept_at_last(self, found: Reply, beat: float, agent: Agent) -> Row:
        """The row of a game in the store. While it cannot be kept it is tried again and again, and whoever listens is told once why."""
        said = False
        while True:
            try:
                return self._kept(found.state, self.row)
            except NotKept as refusal:
                why = f"{agent.name} cannot move yet: {refusal}. The game goes on as soon as that is possible"
            await self._pace.clock.until(reply.next_beat(found.began, beat, self._pace.clock.now()))
            self._tell_all({})
            for listener, (_, _, aside) in [] if said else list(self._listeners.items()):
                self._send(listener, aside, refused(why, None))
            said = True
            self._asked.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), RETRY)

    def _messages(self, state: State, row: Row, broken: str) -> dict[Access, str]:
        """What listeners will be told if the game comes to this."""
        now = self.state, self.row, self.broken
        self.state, self.row, self.broken = state, row, broken
        try:
            return {access: self.tell(access) for access in {access for access, _, _ in self._listeners.values()}}
        finally:
            self.state, self.row, self.broken = now

    def _log(self, agent: Agent, error: Exception, state: State) -> None:
        where = f"{self.game.string} after {state.moves_text()}"
        LOG.error("%s cannot move in %s: %s", agent.name, where, error, exc_info=None if isinstance(error, Problem) else error)

    def _chances(self, row: Row) -> reply.Chances:
        """Random numbers of each position: the same after a restart."""

        def chances(state: State, stream: int) -> Generator:
            return generator(row.seed, (row.takebacks << 32) + 2 * len(state.steps) + stream)

        return chances

    def _tell_all(self, messages: dict[Access, str]) -> None:
        """Tell whoever sees a difference."""
        for listener, (access, before, aside) in list(self._listeners.items()):
            message = messages.get(access) or self.tell(access)
            if message != before:
                self._listeners[listener] = access, message, aside
                self._send(listener, listener, message)

    def _send(self, listener: Listener, way: Listener, message: str) -> None:
        """A listener that takes no more harms nobody but itself."""
        try:
            way(message)
        except Exception:
            self.leave(listener)

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
