"""Threads that visitors share, requests that nobody waits for, and counting by visitor: in process, without a server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from nebel.core.interrupt import Interrupted, check
from nebel.web import workers
from nebel.web.attend import Attend
from nebel.web.once import Once
from nebel.web.outbox import MOST_UNREAD, Outbox, Unread
from nebel.web.refusal import Refusal
from nebel.web.setup import Limits
from nebel.web.visitor import VISITOR, Rate, visitor_of
from nebel.web.workers import Workers

from .test_reply import run, until


async def asked_by(visitor: str, pool: Workers, function: Callable[..., Any], *args: Any) -> Any:
    VISITOR.set(visitor)
    return await pool.run(function, *args)


def test_visitors_take_turns() -> None:
    async def play() -> list[str]:
        pool, gate, done = Workers(1, "test"), threading.Event(), list[str]()
        jobs = [asyncio.create_task(asked_by("greedy", pool, gate.wait))]
        await until(lambda: pool._running["greedy"] == 1)
        for name, visitor in (("g1", "greedy"), ("g2", "greedy"), ("g3", "greedy"), ("o1", "other"), ("p1", "third"), ("o2", "other")):
            jobs.append(asyncio.create_task(asked_by(visitor, pool, done.append, name)))
            await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*jobs)
        return done

    assert run(play) == ["g1", "o1", "p1", "g2", "o2", "g3"]


def test_one_visitor_does_not_take_all_threads() -> None:
    async def play() -> None:
        pool, gate = Workers(3, "test", each=2, waiting=2), threading.Event()
        greedy = [asyncio.create_task(asked_by("greedy", pool, gate.wait)) for _ in range(2)]
        await until(lambda: pool._running["greedy"] == 2)
        greedy += [asyncio.create_task(asked_by("greedy", pool, gate.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        assert await asyncio.create_task(asked_by("other", pool, lambda: "served")) == "served"
        with pytest.raises(Refusal, match="waiting for their turn") as refused:
            await asyncio.create_task(asked_by("greedy", pool, gate.wait))
        assert refused.value.status == 429
        gate.set()
        await asyncio.gather(*greedy)

    run(play)


def test_work_that_nobody_waits_for_is_dropped_or_stopped() -> None:
    async def play() -> None:
        pool, begun, stopped, ran = Workers(1, "test"), threading.Event(), threading.Event(), list[int]()

        def long() -> None:
            begun.set()
            try:
                while True:
                    check()
            except Interrupted:
                stopped.set()
                raise

        running = asyncio.create_task(asked_by("one", pool, long))
        await until(begun.is_set)
        waiting = asyncio.create_task(asked_by("two", pool, ran.append, 1))
        await asyncio.sleep(0)
        waiting.cancel()
        running.cancel()
        await asyncio.gather(waiting, running, return_exceptions=True)
        assert await asked_by("two", pool, lambda: 7) == 7
        assert stopped.is_set()
        assert ran == []

    run(play)


def test_a_thread_is_kept_after_its_work_only_if_somebody_waited() -> None:
    async def play() -> list[str]:
        pool, begun, gate, said = Workers(1, "test"), threading.Event(), threading.Event(), list[str]()

        def work() -> str:
            begun.set()
            gate.wait()
            return "kept"

        job = asyncio.create_task(pool.run(work, then=said.append))
        await until(begun.is_set)
        job.cancel()
        await asyncio.wait({job})
        gate.set()
        assert await pool.run(lambda: "result", then=lambda result: said.append(f"after the {result}")) == "result"
        await pool.run(said.append, "next")
        return said

    assert run(play) == ["after the result", "next"]


def test_a_thread_that_does_not_stop_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GRACE", 0.0)

    async def play() -> None:
        pool, begun, gate = Workers(1, "test"), threading.Event(), threading.Event()

        def deaf() -> None:
            begun.set()
            gate.wait()

        running = asyncio.create_task(asked_by("deaf", pool, deaf))
        await until(begun.is_set)
        running.cancel()
        assert await asked_by("other", pool, lambda: 7) == 7
        assert pool._lost == 1
        gate.set()
        await until(lambda: pool._lost == 0)
        assert await asked_by("deaf", pool, lambda: 8) == 8

    run(play)


@contextmanager
def asgi(app: Callable[[Scope, Receive, Send], Awaitable[None]], **limits: float) -> Iterator[Any]:
    """call(messages) answers a request of which these messages arrive, and then nothing."""

    def call(*messages: Message) -> list[Message]:
        async def play() -> list[Message]:
            sent, coming = list[Message](), list(messages)

            async def receive() -> Message:
                return coming.pop(0) if coming else await asyncio.Event().wait()  # type: ignore[return-value]

            async def send(message: Message) -> None:
                sent.append(message)

            await Attend(app, Limits(**limits))({"type": "http", "client": ("10.1.2.3", 5)}, receive, send)  # type: ignore[arg-type]
            return sent

        return run(play)  # type: ignore[no-any-return]

    yield call


def test_a_request_has_so_long() -> None:
    ended_by: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["body"] == b"{}"
        ended_by.append(VISITOR.get())
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended_by.append("cancelled")
            raise

    whole = {"type": "http.request", "body": b"{}", "more_body": False}
    with asgi(app, request_seconds=0.05, body_seconds=0.05) as call:
        start, body = call(whole)
        assert start["status"] == 503
        assert "longer than 0.05 s" in json.loads(body["body"])["error"]
        assert ended_by == ["10.1.2.3", "cancelled"]
        assert call({"type": "http.request", "body": b"{", "more_body": True})[0]["status"] == 408
        assert call(*[{"type": "http.request", "body": b"x" * 70_000, "more_body": True}] * 4)[0]["status"] == 413
    with asgi(app) as call:
        assert call(whole, {"type": "http.disconnect"}) == []
        assert call({"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}) == []
    assert ended_by == ["10.1.2.3", "cancelled"] * 2


def test_what_several_threads_ask_for_is_computed_once() -> None:
    once, begun, gate, made = Once[int](2), threading.Event(), threading.Event(), list[str]()

    def compute(name: str) -> int:
        made.append(name)
        begun.set()
        gate.wait()
        return len(made)

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(once.get("a", lambda: compute("a")))) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait()
    gate.set()
    for thread in threads:
        thread.join()
    assert (found, made) == ([1, 1, 1], ["a"])
    with pytest.raises(ZeroDivisionError):
        once.get("b", lambda: 1 // 0)
    assert [once.get(name, lambda name=name: compute(name)) for name in "bcba"] == [2, 3, 2, 4]  # two are kept


def test_visitors_are_addresses() -> None:
    assert visitor_of({"client": ("192.0.2.7", 1)}) == visitor_of({"client": ("::ffff:192.0.2.7", 1)}) == "192.0.2.7"
    assert visitor_of({"client": ("2001:db8::1", 1)}) == visitor_of({"client": ("2001:db8::ffff:2", 9)})
    assert visitor_of({"client": ("2001:db8:0:1::1", 1)}) != visitor_of({"client": ("2001:db8::1", 1)})
    assert visitor_of({"client": None}) == ""


def test_positions_that_are_not_read_are_replaced() -> None:
    async def play() -> list[str]:
        outbox, read = Outbox(), list[str]()
        for i in range(500):
            outbox.show(f"position {i}")
        outbox.answer("answer")

        async def send(message: str) -> None:
            read.append(message)

        delivery = asyncio.create_task(outbox.deliver(send))
        await until(lambda: len(read) == 2)
        delivery.cancel()
        for _ in range(MOST_UNREAD):
            outbox.answer("answer")
        with pytest.raises(Unread):
            outbox.answer("one more")
        return read

    assert run(play) == ["position 499", "answer"]


def test_games_begun_a_minute() -> None:
    now = [0.0]
    rate = Rate(3, "games begun", lambda: now[0])
    for _ in range(3):
        rate.take()
    with pytest.raises(Refusal, match="3 games begun a minute") as refused:
        rate.take()
    assert refused.value.status == 429
    VISITOR.set("another")
    rate.take()
    VISITOR.set("")
    now[0] = 20.0
    rate.take()
    with pytest.raises(Refusal):
        rate.take()
    now[0] = 200.0
    rate.take()
    assert len(rate._left) == 1
