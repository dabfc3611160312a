"""Replies of agents: all that happens from a person's move until a person is to move again, shown at a moment that tells nothing.

An agent may have to move several times in a turn, and what it does then may be hidden: in Dark Hex it tries another cell when it has met
a stone that it did not know of. How long that takes would tell how often it did. So a reply is computed as a whole on a copy of the game,
and is made and shown at its *beat*: so long after the agent has begun to think, however often it had to.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from nebel.core.game import CHANCE
from nebel.core.interrupt import Interrupted
from nebel.core.state import State
from nebel.match.agents import Agent, Generator
from nebel.web.workers import Workers

MARGIN = 0.05
"""Seconds between the end of a thought by the clock and the beat."""
FIRST = 5 / 8
"""Of the time that an agent has: its first thought. The later ones take half of what is left, each."""
BEAT_AT_ONCE = 0.01
"""The beat of agents that need not think."""
SHORTEST, STEP, SPARE, REMEMBERED = 0.1, math.sqrt(2), 2.5, 32
"""The shortest learned beat, the ratio of one to the next, how many first thoughts fit into one, and of how many the longest counts."""
MOST_NAMES = 1000
"""Agents and games whose beats are remembered."""
AWAKE = 0.0015
"""Seconds before a moment that the event loop spends awake."""
LONG = 2.0
"""Seconds from which on a thought is a long one."""

Chances = Callable[[State, int], Generator]
"""Random numbers of a position: those of chance (0) and of the agent (1)."""


class Clock:
    """The time, and waiting for it."""

    def now(self) -> float:
        return time.monotonic()

    async def until(self, moment: float) -> None:
        """Wait until then, to microseconds: a loop that sleeps wakes up whole milliseconds later, and so tells when it fell asleep."""
        await asyncio.sleep(max(0.0, moment - AWAKE - self.now()))
        while self.now() < moment:
            await asyncio.sleep(0)

    def hold(self, moment: float) -> None:
        """Keep this thread until then."""
        time.sleep(max(0.0, moment - self.now()))


class Reply(NamedTuple):
    """What came after a person's move: the game then, when the agent began to think, and for how long it thought about a first choice.

    failure  why the agent could not go on, if it could not
    """

    state: State
    began: float
    first: float | None
    failure: Exception | None = None


def play_on(agents: Sequence[Agent | None], state: State, chances: Chances, clock: Clock) -> Reply:
    """Let agents and chance move on the state until a person is to move."""
    began, first, thoughts = clock.now(), None, 0
    try:
        while (agent := agents[state.turn] if state.turn >= 0 else None) is not None:
            choice = len(state.options()) > 1
            move = agent.choose_within(state, chances(state, 1), _share(agent, thoughts, clock.now() - began))
            if choice and first is None:
                first = clock.now() - began
            thoughts += choice
            state.push(move)
            deal(state, chances)
    except Interrupted:
        raise
    except Exception as error:
        return Reply(state, began, first, error)
    return Reply(state, began, first)


def deal(state: State, chances: Chances) -> None:
    """Let chance move if it is to."""
    if state.turn == CHANCE:
        state.deal(chances(state, 0))


def _share(agent: Agent, thoughts: int, elapsed: float) -> float:
    """Of its budget, for the next thought in a turn: by the clock all of them take no longer than one is allowed to, by count than two."""
    if agent.seconds is None:
        return 0.5**thoughts
    return FIRST if thoughts == 0 else max(0.01, 0.5 * (1 - elapsed / agent.seconds))


class Pace:
    """Who thinks where, and the beats: of agents that think by the clock a little longer than that, of others as long as the longest of
    their last thoughts makes sure, in steps."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.short, self.long = Workers(4, "think", each=3), Workers(4, "ponder", each=2)
        self._learning = threading.Lock()
        self._learned: dict[tuple[str, str], deque[float]] = {}
        """By agent and game: how long its last first thoughts took. The very first does not count: much is compiled in it."""

    def threads(self, agent: Agent) -> Workers:
        """Long thoughts have threads of their own, so that short ones need not wait for them."""
        return self.long if (agent.seconds or 0.0) > LONG else self.short

    async def reply(self, agent: Agent, agents: Sequence[Agent | None], state: State, chances: Chances) -> tuple[Reply, float]:
        """Return the agent's reply and its beat. The thread is taken until the beat: a job that waits for it does not learn when the
        thought ended."""

        def think() -> tuple[Reply, float]:
            found = play_on(agents, state, chances, self.clock)
            return found, self._beat(agent, found)

        def wait(thought: tuple[Reply, float]) -> None:
            found, beat = thought
            self.clock.hold(next_beat(found.began, beat, self.clock.now()))

        return await self.threads(agent).run(think, then=wait)

    def _beat(self, agent: Agent, reply: Reply) -> float:
        if agent.seconds is not None:
            return agent.seconds + MARGIN
        name = agent.name, reply.state.game.string
        with self._learning:
            known = self._learned.pop(name, None)
            longest = max([*(known or ()), reply.first or 0.0])
            if known is not None and reply.first is not None:
                known.append(reply.first)
            self._learned[name] = deque(maxlen=REMEMBERED) if known is None else known
            if len(self._learned) > MOST_NAMES:
                del self._learned[next(iter(self._learned))]
        return rounded((STEP if known is None else SPARE) * longest)  # the very first is long, and those after it in a turn are not


def next_beat(began: float, beat: float, now: float) -> float:
    """Return the first moment from now on that is a whole number of beats after the beginning: a late reply comes at a beat, too."""
    return began + beat * max(1, math.ceil((now - began) / beat))


def rounded(seconds: float) -> float:
    """The shortest beat that is at least so long."""
    return SHORTEST * STEP ** max(0, math.ceil(math.log(max(seconds, SHORTEST) / SHORTEST, STEP)))
