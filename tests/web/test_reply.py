"""Replies of agents: the moment at which they are shown tells nothing of what happened in them."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import nebel
from nebel.core.errors import Problem
from nebel.core.interrupt import check
from nebel.core.state import State
from nebel.match.agents import Agent, Generator, PolicyAgent
from nebel.policy.table import Uniform
from nebel.web import reply
from nebel.web.reply import Clock, Pace
from nebel.web.session import AT_ONCE, Access, Session, warm
from nebel.web.store import PERSON, Row, Store
from nebel.web.visitor import VISITOR

ME = Access(0, True)
KEYS = (("play", "watch"), ("", ""))


class Still(Clock):
    """A clock that goes on only when somebody thinks or waits."""

    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time

    async def until(self, moment: float) -> None:
        self.time = max(self.time, moment)
        await asyncio.sleep(0)

    def hold(self, moment: float) -> None:
        while self.time < moment:
            time.sleep(0.001)


class Bumping(Agent):
    """Bumps into the stones that are named in `first` before it takes the last free cell; each thought takes its share of `full`."""

    def __init__(self, clock: Still, first: str, seconds: float | None, full: float) -> None:
        self.name, self.clock, self.first, self.seconds, self.full = "bumping", clock, first.split(), seconds, full
        self.tried = 0

    def choose(self, state: State, rng: Generator) -> int:
        return self.choose_within(state, rng, 1.0)

    def choose_within(self, state: State, rng: Generator, share: float) -> int:
        self.clock.time += share * self.full
        self.tried += 1
        legal, stones = state.legal(), state.moves()
        return state.options()[next((legal.index(cell) for cell in self.first if cell in legal and cell in stones), -1)]


def session(game: str, agent: Agent | None, store: Store, pace: Pace) -> Session:
    row = Row("id", game, (PERSON, "agent" if agent else PERSON), KEYS if agent else (KEYS[0], ("other", "")), 1)
    return Session(row, nebel.game(game), (None, agent), store, pace)


def run(play: Callable[[], Awaitable[Any]]) -> Any:
    """A loop of its own, in a thread of its own: a browser's loop may be running in this one."""
    found: list[Any] = []

    def work() -> None:
        found.append(asyncio.run(asyncio.wait_for(play(), 60)))  # type: ignore[arg-type]

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.001)


def shown_after(first: str, seconds: float | None, full: float) -> tuple[int, list[float]]:
    """How often the agent tried, and the moments at which the person heard of its replies."""

    async def play() -> tuple[int, list[float]]:
        clock = Still()
        agent, heard = Bumping(clock, first, seconds, full), list[float]()
        at = session("dark_hex:4x4", agent, Store(":memory:"), Pace(clock))
        at.begin()
        for move in ["b2", "c3", "b3", "c2"]:
            at.move(ME, move, None)
            asked = clock.now()

            def listener(text: str, asked: float = asked) -> None:
                now = json.loads(text)
                if now["yours"] or now["over"]:
                    heard.append(clock.now() - asked)

            at.listen(listener, ME)
            await until(lambda: not at.thinks)
            at.leave(listener)
        return agent.tried, heard

    tried, heard = run(play)
    return tried, heard


@pytest.mark.parametrize(("seconds", "full"), [(0.3, 0.3), (20.0, 20.0), (None, 0.3), (None, 7.0)])
def test_replies_come_at_the_same_moment_whatever_the_agent_has_met(seconds: float | None, full: float) -> None:
    calm, often = shown_after("", seconds, full), shown_after("b2 c3 b3 c2", seconds, full)
    assert (calm[0], often[0]) == (4, 8)
    assert calm[1] == pytest.approx(often[1])
    assert len(calm[1]) == 4
    if seconds is not None:
        assert calm[1] == pytest.approx([seconds + reply.MARGIN] * 4)


def test_a_game_that_waits_for_a_thread_does_not_tell_when_a_thought_in_another_ended() -> None:
    def shown_at(first: str) -> float:
        async def play() -> float:
            clock = Still()
            pace, agents = Pace(clock), [Endless(1.0), Endless(1.0), Bumping(clock, first, 1.0, 1.0), Bumping(clock, "", 1.0, 1.0)]
            games = [session("dark_hex:4x4", agent, Store(":memory:"), pace) for agent in agents]
            for at in games:
                at.begin()
                at.move(ME, "b2", None)
                await asyncio.sleep(0)
            await until(lambda: not games[-1].thinks)
            for at in games[:2]:
                at.resign(ME)
            return clock.now()

        found: float = run(play)
        return found

    assert shown_at("") == shown_at("b2") == pytest.approx(100.0 + 2 * (1.0 + reply.MARGIN))


def test_all_thoughts_of_a_turn_fit_into_the_time_of_one() -> None:
    clock = Still()
    agent = Bumping(clock, "a1 b1 c1 d1 a2 b2 c2 d2", 1.0, 1.0)
    state = nebel.game("dark_hex(rows=4,cols=4)").start()
    for move in ["a1", "a3", "b1", "b3", "c1", "c3", "d2", "d4"]:
        state.push(move)
    state.push("a2")
    made = reply.play_on((None, agent), state, lambda state, stream: nebel.core.rng.generator(1), clock)
    assert agent.tried == 6
    assert clock.now() - made.began < 1.0


def test_a_reply_in_which_much_is_compiled_comes_soon() -> None:
    async def play() -> list[float]:
        clock, heard = Still(), list[float]()
        agent = Bumping(clock, "", None, 20.0)
        at = session("dark_hex:4x4", agent, Store(":memory:"), Pace(clock))
        at.begin()
        for move in ("b2", "c3"):
            before = clock.now()
            at.move(ME, move, None)
            await until(lambda: not at.thinks)
            heard.append(clock.now() - before)
            agent.full = 0.1
        return heard

    first, second = run(play)
    assert 20.0 < first < 40.1
    assert second < 0.4


def test_a_late_reply_comes_a_whole_number_of_beats_later() -> None:
    assert reply.next_beat(5.0, 0.5, 5.1) == 5.5
    assert reply.next_beat(5.0, 0.5, 6.2) == 6.5
    assert [reply.rounded(seconds) for seconds in (0.0, 0.1, 0.11, 0.3)] == pytest.approx([0.1, 0.1, 0.1 * 2**0.5, 0.1 * 2**2])


def test_nothing_of_a_reply_is_seen_before_its_beat() -> None:
    async def play() -> None:
        gate = asyncio.Event()

        class Gated(Still):
            async def until(self, moment: float) -> None:
                await gate.wait()

        agent = PolicyAgent("random", Uniform())
        AT_ONCE.add(agent)
        at = session("kuhn", agent, Store(":memory:"), Pace(Gated()))
        at.begin()
        at.move(ME, "pass", None)
        before = at.tell(ME)
        await asyncio.sleep(0.01)
        assert at.tell(ME) == before
        assert json.loads(before)["events"][-1] == {"kind": "did", "text": "pass"}
        gate.set()
        await at.replied()
        assert at.state.steps[-1].turn == 1

    run(play)


def test_a_listener_that_takes_nothing_harms_itself_alone() -> None:
    async def play() -> None:
        at = session("kuhn", None, Store(":memory:"), Pace())
        at.begin()
        full: asyncio.Queue[str] = asyncio.Queue(1)
        heard: list[str] = []
        at.listen(full.put_nowait, Access(1, True))
        at.listen(heard.append, Access(1, True))
        at.move(ME, "bet", None)
        assert (len(heard), json.loads(heard[-1])["yours"]) == (2, True)
        full.get_nowait()
        at.resign(ME)
        assert full.empty()

    run(play)


class Endless(Agent):
    """Thinks until it is stopped."""

    thinks = True

    def __init__(self, seconds: float | None) -> None:
        self.name, self.seconds = "endless", seconds
        self.begun, self.stopped = threading.Event(), threading.Event()

    def choose(self, state: State, rng: Generator) -> int:
        self.begun.set()
        try:
            while True:
                check()
        finally:
            self.stopped.set()


def test_a_thought_ends_with_its_game() -> None:
    async def play() -> None:
        agent = Endless(None)
        at = session("kuhn", agent, Store(":memory:"), Pace())
        at.begin()
        at.move(ME, "bet", None)
        await until(agent.begun.is_set)
        at.resign(ME)
        await until(agent.stopped.is_set)
        assert not at.thinks

    run(play)


def test_long_thoughts_of_one_leave_threads_to_others() -> None:
    async def play() -> None:
        pace, games = Pace(Still()), list[tuple[Session, Endless]]()

        async def sit(visitor: str, agent: Agent) -> Session:
            VISITOR.set(visitor)
            at = session("kuhn", agent, Store(":memory:"), pace)
            at.begin()
            at.move(ME, "bet", None)
            await asyncio.sleep(0)
            return at

        for seconds in (20.0,) * 6 + (1.0,) * 6:
            agent = Endless(seconds)
            games.append((await asyncio.create_task(sit("greedy", agent)), agent))
        await until(lambda: [agent.begun.is_set() for _, agent in games].count(True) == 5)
        for seconds in (20.0, 1.0):
            other = Endless(seconds)
            games.append((await asyncio.create_task(sit("another", other)), other))
            await until(other.begun.is_set)
        for at, _ in games:
            at.resign(ME)

    run(play)


def test_agents_whose_moves_take_long_have_threads() -> None:
    class Large(PolicyAgent):
        def choose(self, state: State, rng: Generator) -> int:
            time.sleep(0.005)
            return super().choose(state, rng)

    quick, large = PolicyAgent("random", Uniform()), Large("large", Uniform())
    for agent in (quick, large):
        warm(agent, nebel.game("kuhn"), 1)
    assert [agent in AT_ONCE for agent in (quick, large)] == [True, False]


def test_who_cannot_go_on_ends_the_game() -> None:
    class Broken(Endless):
        def choose(self, state: State, rng: Generator) -> int:
            raise Problem("no idea")

    async def play() -> None:
        at = session("kuhn", Broken(None), Store(":memory:"), Pace(Still()))
        at.begin()
        at.move(ME, "bet", None)
        await until(lambda: not at.thinks)
        assert json.loads(at.tell(ME))["result"]["text"] == "endless could not go on: the game ends here."

    run(play)
