"""What one visitor may take: threads, connections, games, time; and what happens to whoever takes more."""

from __future__ import annotations

import json
import logging
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from nebel.match.agents import PolicyAgent
from nebel.policy.table import Uniform
from nebel.web import hall
from nebel.web.house import House
from nebel.web.refusal import STATUSES
from nebel.web.setup import Limits, Setup
from nebel.web.store import FORMAT, Store

from .conftest import Local
from .test_play import hear, say
from .test_reply import run, until


@contextmanager
def serving(folder: Path, **limits: float) -> Iterator[Local]:
    local = Local(Setup(runs=folder, limits=Limits(**limits)))  # type: ignore[arg-type]
    try:
        yield local
    finally:
        local.stop()


def house_of(local: Local) -> House:
    return local._server.config.app.app.app.state.house  # type: ignore[no-any-return, union-attr]


def raw(local: Local, text: str = "") -> socket.socket:
    """A connection on which only this has been sent."""
    opened = socket.create_connection(("127.0.0.1", local.port), timeout=20)
    opened.sendall(text.encode())
    return opened


def ended(opened: socket.socket) -> bytes:
    """All that is sent until the server closes the connection."""
    found = b""
    try:
        while part := opened.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    opened.close()
    return found


def test_a_proxy_says_who_visits(tmp_path: Path) -> None:
    for proxy, who in (("", "127.0.0.1"), ("127.0.0.1", "192.0.2.7")):
        local = Local(Setup(runs=tmp_path, proxy=proxy))
        try:
            begun = local.http.post("/api/play", json={"game": "kuhn"}, headers={"X-Forwarded-For": "192.0.2.7"}).json()
            row = house_of(local).store.find(begun["id"])
            assert row is not None
            assert row.visitor == who
        finally:
            local.stop()


DOUBLING = (
    "rows: 3\ncols: 4\nplayer: black\n\nplay = x0\n"
    + "".join(f"x{i} = {{x{i + 1}: 1/2, T(x{i + 1}): 1/2}}\n" for i in range(22))
    + "x22 = a1\n"
)


def test_a_text_that_doubles_stops_nobody(tmp_path: Path) -> None:
    with serving(tmp_path, request_seconds=0.5) as local:
        body = json.dumps({"text": DOUBLING})
        gone = raw(local, f"POST /api/build/read HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}")
        gone.close()
        assert local.post("/api/build/read", {"text": DOUBLING}).status_code in (400, 503)
        assert local.post("/api/build/new", {"rows": 2, "cols": 2}).status_code == 200
        builders = house_of(local).builders

        async def stopped() -> None:
            await until(lambda: not builders._running and not builders._queues)

        run(stopped)


def test_what_never_arrives_is_not_waited_for(tmp_path: Path) -> None:
    with serving(tmp_path, head_seconds=0.2, body_seconds=0.2) as local:
        assert ended(raw(local)) == b""
        assert ended(raw(local, "GET / HTTP/1.1\r\nHost: local")) == b""
        cut = ended(raw(local, "POST /api/play HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"))
        assert cut.startswith(b"HTTP/1.1 408 ")
        second = raw(local, "GET /api/build/shipped HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT")
        assert ended(second).startswith(b"HTTP/1.1 200 ")
        assert local.get("/api/games").status_code == 200


def test_silent_connections_make_room(tmp_path: Path) -> None:
    with serving(tmp_path, connections=5) as local, ExitStack() as open_:
        silent = [open_.enter_context(raw(local, "GET / HTTP/1.1\r\n")) for _ in range(12)]
        assert local.get("/api/games").status_code == 200
        assert ended(silent[0]) == b""


def test_sockets_that_are_in_use_do_not(tmp_path: Path) -> None:
    with serving(tmp_path, connections=4, sockets=3) as local, ExitStack() as open_:
        begun = local.begin("kuhn", "person", "random")
        key = begun["seats"][0]["key"]
        for _ in range(3):
            assert hear(open_.enter_context(local.live(begun["id"], key)))["yours"]
        with local.live(begun["id"], key) as fourth:  # in the place of the idle HTTP connection
            assert "3 open games at a time" in hear(fourth, "refused")["error"]
            with pytest.raises(ConnectionClosed) as closed:
                fourth.recv(timeout=20)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4429
    with serving(tmp_path, connections=2) as local, ExitStack() as open_:
        begun = local.begin("kuhn", "person", "random")
        for _ in range(2):
            hear(open_.enter_context(local.live(begun["id"], begun["seats"][0]["key"])))
        answer = ended(raw(local, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert "too many connections" in json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


def test_a_refused_socket_is_no_error_of_the_server(local: Local, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), pytest.raises(InvalidStatus), local.live("x", "y", origin="http://evil.example"):
        pass
    local.get("/api/games")
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_the_page_can_be_asked_about(local: Local) -> None:
    assert [local.http.head(path).status_code for path in ("/", "/api")] == [200, 200]


def test_a_visitor_keeps_so_many_games(tmp_path: Path) -> None:
    with serving(tmp_path, games=3) as local:
        games = [local.begin("kuhn", "person", "random", seed=1) for _ in range(3)]
        keys = [game["seats"][0]["key"] for game in games]
        local.post(f"/api/play/{games[0]['id']}/move", {"move": "pass"}, key=keys[0])
        with local.live(games[1]["id"], keys[1]) as watched:
            hear(watched, yours=True)
            local.begin("kuhn", "person", "random")
            kept = [local.get(f"/api/play/{game['id']}", key=key).status_code for game, key in zip(games, keys, strict=True)]
            assert kept == [200, 200, 404]  # the first was moved in later, the second is being played


def test_games_that_nobody_played_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path) as local:
        games = [local.begin("kuhn", "person", "random", seed=1) for _ in range(2)]
        keys = [game["seats"][0]["key"] for game in games]
        local.post(f"/api/play/{games[0]['id']}/move", {"move": "pass"}, key=keys[0])
        monkeypatch.setattr(hall, "UNPLAYED", -60)  # as if they were older
        monkeypatch.setattr(hall, "TIDY", 0.0)
        local.begin("kuhn", "person", "random")
        assert [local.get(f"/api/play/{game['id']}", key=key).status_code for game, key in zip(games, keys, strict=True)] == [200, 404]


class Rich(PolicyAgent):
    """Remembers much."""

    held = 1000

    @property
    def nbytes(self) -> int:
        return self.held

    def forget(self) -> None:
        self.held = 0


def test_what_agents_remember_is_bounded(local: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    here, agents = house_of(local).hall, [Rich("rich", Uniform()) for _ in range(3)]
    monkeypatch.setattr(hall, "TIDY", 0.0)
    monkeypatch.setattr(hall, "MEMORY", 2000)
    for agent in agents:
        here._awake[local.begin("kuhn", "person", "random")["id"]].agents = (None, agent)
    assert [agent.held for agent in agents] == [1000] * 3
    local.begin("kuhn", "person", "random")
    assert [agent.held for agent in agents] == [0, 1000, 1000]


def test_matches_of_one_visitor(tmp_path: Path) -> None:
    with serving(tmp_path, matches=1) as local:
        match = {"game": "kuhn", "agents": ["random", "oos:1k"], "games": 100_000}
        begun = local.post("/api/arena", match).json()
        refused = local.post("/api/arena", match)
        assert refused.status_code == 429
        assert "1 of your matches" in refused.json()["error"]
        local.post(f"/api/arena/{begun['id']}/drop", {})


def test_a_full_disk_over_http(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with serving(tmp_path) as local:
        begun = local.begin("kuhn", "person", "person")
        keys, path = [seat["key"] for seat in begun["seats"]], f"/api/play/{begun['id']}"
        store = house_of(local).store
        db, before = store._db, local.get(path, key=keys[0]).json()

        class Full:
            def execute(self, statement: str, values: tuple[Any, ...] = ()) -> Any:
                if statement.startswith("select"):
                    return db.execute(statement, values)
                raise sqlite3.OperationalError("database or disk is full")

            close = db.close

        with local.live(begun["id"], keys[1]) as other:
            hear(other)
            store._db = Full()  # type: ignore[assignment]
            for answer in (
                local.post(f"{path}/move", {"move": "bet"}, key=keys[0]),
                local.post(f"{path}/resign", {}, key=keys[0]),
                local.post("/api/play", {"game": "kuhn"}),
                local.post("/api/arena", {"game": "kuhn", "agents": ["random", "uniform"], "games": 2}),
            ):
                assert answer.status_code == 507
                assert "database or disk is full" in answer.json()["error"]
                assert "\n" not in answer.json()["error"]
            assert local.get(path, key=keys[0]).json() == before
            assert local.get("/api/arena").json() == []
            with local.live(begun["id"], keys[0]) as mine:
                say(mine, do="move", move="bet", ref=1)
                assert "database or disk is full" in hear(mine, "refused", ref=1)["error"]
            store._db = db
            assert local.post(f"{path}/move", {"move": "bet"}, key=keys[0]).status_code == 200
            assert hear(other, yours=True)
        assert not any(record.exc_info for record in caplog.records)


OLD_TABLE = """create table games (
    id text primary key, game text not null, players text not null, keys text not null, seed integer not null, practice integer not null,
    moves text not null, takebacks integer not null, resigned integer, begun real not null, touched real not null
) without rowid"""


def test_games_of_the_format_before_are_read(tmp_path: Path) -> None:
    file = tmp_path / "games.sqlite"
    db = sqlite3.connect(file, isolation_level=None)
    db.execute(OLD_TABLE)
    db.execute("pragma user_version = 1")
    db.execute(
        'insert into games values (\'a\', \'kuhn\', \'["person", "random"]\', \'[["k", "w"], ["", ""]]\', 1, 0, \'[5]\', 0, null, 1.0, 2.0)'
    )
    db.close()
    for _ in range(2):
        store = Store(str(file))
        row = store.find("a")
        assert row is not None
        assert (row.moves, row.visitor, row.played, store.count()) == ([5], "", True, 1)
        store.close()
    assert FORMAT == 2


def test_every_status_is_documented(local: Local) -> None:
    paths = local.get("/api/openapi.json").json()["paths"]
    begun = local.begin("kuhn", "person", "person")
    id, key = begun["id"], begun["seats"][0]["key"]
    asked = [
        ("get", "/api/play/{id}", "/api/play/none?key=x", 404),
        ("get", "/api/play/{id}", f"/api/play/{id}?key=x", 403),
        ("post", "/api/play/{id}/move", f"/api/play/{id}/move?key={key}", 422),
        ("get", "/api/play/{id}/record", f"/api/play/{id}/record?key={key}", 409),
        ("get", "/api/review/{id}", f"/api/review/{id}?key={key}", 409),
        ("post", "/api/play", "/api/play", 422),
        ("get", "/api/look/state", "/api/look/state?agent=nobody&game=kuhn", 400),
        ("get", "/api/arena/{id}", "/api/arena/none", 404),
        ("get", "/api/runs/report", "/api/runs/report?name=x.html", 404),
    ]
    for method, path, called, status in asked:
        answer = local.http.request(method, called)
        found = paths[path][method]["responses"][str(status)]
        assert answer.status_code == status
        assert answer.headers["content-type"] == next(iter(found["content"])) == "application/json"
        assert set(answer.json()) == {"error"}
    for status in (413, 429, 503, 507, 410):
        assert str(status) in paths["/api/play/{id}/move"]["post"]["responses"]
        assert status in STATUSES
    contents = {path: list(paths[path][method]["responses"]["200"]["content"]) for path, method in CONTENTS}
    assert list(contents.values()) == [["text/plain"], ["text/html"], ["application/octet-stream"]]


CONTENTS = [("/api/play/{id}/record", "get"), ("/api/runs/report", "get"), ("/api/build/policy", "post")]
