"""Games on a full disk: a game is what the store has of it, and nobody is told of more."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from typing import Any

import pytest

from nebel.match.agents import PolicyAgent
from nebel.policy.table import Uniform
from nebel.web import reply
from nebel.web.reply import Pace
from nebel.web.session import AT_ONCE, Access
from nebel.web.store import NotKept, Store

from .test_reply import ME, Bumping, Still, run, session, until


class Full(Store):
    """A store whose disk is full for as long as `full`."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.full = False
        self.real = self._db
        self._db = self  # type: ignore[assignment]

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> Any:
        if self.full and not statement.startswith("select"):
            raise sqlite3.OperationalError("database or disk is full")
        return self.real.execute(statement, values)


def test_a_move_that_cannot_be_kept_is_not_made() -> None:
    async def play() -> None:
        store = Full()
        at = session("kuhn", None, store, Pace())
        at.begin()
        heard: list[str] = []
        at.listen(heard.append, Access(1, True))
        before = [at.tell(Access(seat, True)) for seat in (0, 1)], list(at.row.moves), len(heard)
        store.full = True
        for act in (lambda: at.move(ME, "bet", None), lambda: at.resign(ME)):
            with pytest.raises(NotKept, match="database or disk is full") as refused:
                act()
            assert refused.value.status == 507
            assert "\n" not in str(refused.value)
            assert ([at.tell(Access(seat, True)) for seat in (0, 1)], at.row.moves, len(heard)) == before
        store.full = False
        at.move(ME, "bet", None)
        kept = store.find("id")
        assert kept is not None
        assert kept.moves == at.row.moves == [*before[1], 1]
        assert len(heard) == 2

    run(play)


def test_an_undo_that_cannot_be_kept_is_not_made_and_a_game_not_begun() -> None:
    async def play() -> None:
        store = Full()
        agent = PolicyAgent("random", Uniform())
        AT_ONCE.add(agent)
        at = session("kuhn", agent, store, Pace())
        at.row.practice = True
        at.begin()
        at.move(ME, "pass", None)
        await at.replied()
        before, store.full = (at.tell(ME), at.row.moves, at.row.takebacks), True
        with pytest.raises(NotKept):
            at.undo(ME)
        assert (at.tell(ME), at.row.moves, at.row.takebacks) == before
        other = session("kuhn", None, store, Pace())
        with pytest.raises(NotKept):
            other.begin()

    run(play)


def test_a_reply_that_cannot_be_kept_waits_until_it_can() -> None:
    async def play() -> None:
        store = Full()
        agent = PolicyAgent("random", Uniform())
        AT_ONCE.add(agent)
        at = session("kuhn", agent, store, Pace())
        at.begin()
        heard: list[dict[str, Any]] = []
        at.listen(lambda text: heard.append(json.loads(text)), ME)
        at.move(ME, "pass", None)
        store.full = True
        await until(lambda: heard[-1]["type"] == "refused")
        assert "random cannot move yet" in heard[-1]["error"]
        assert heard[-2]["events"][-1]["text"] == "pass"
        assert at.thinks
        assert store.find("id").moves == at.row.moves  # type: ignore[union-attr]
        at.go_on()
        await asyncio.sleep(0.01)
        assert [one["type"] for one in heard].count("refused") == 1
        store.full = False
        at.go_on()  # as any request does
        await until(lambda: not at.thinks)
        assert heard[-1]["type"] == "position"
        assert store.find("id").moves == at.row.moves  # type: ignore[union-attr]
        assert at.state.steps[-1].turn == 1

    run(play)


def test_that_a_reply_cannot_be_kept_is_said_at_its_beat() -> None:
    def said_at(first: str) -> float:
        async def play() -> float:
            clock, store, heard = Still(), Full(), list[float]()
            at = session("dark_hex:4x4", Bumping(clock, first, 1.0, 1.0), store, Pace(clock))
            at.begin()
            at.listen(lambda text: None, ME, lambda why: heard.append(clock.now()))
            at.move(ME, "b2", None)
            store.full = True
            await until(lambda: bool(heard))
            at.row.resigned = 0
            at._let_reply()
            return heard[0]

        found: float = run(play)
        return found

    assert said_at("") == said_at("b2") == pytest.approx(100.0 + 1.0 + reply.MARGIN)
