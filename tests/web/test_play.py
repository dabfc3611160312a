"""Games over HTTP and sockets, as any front end would play them."""

from __future__ import annotations

import asyncio
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

import nebel
from nebel.core.registry import GAMES
from nebel.solve.cfr import FullWidth
from nebel.web import hall
from nebel.web.setup import Setup
from nebel.web.workers import Workers

from .conftest import Local


def hear(socket: ClientConnection, kind: str = "position", **wanted: Any) -> dict[str, Any]:
    """The next message of this kind in which all that is wanted holds."""
    while True:
        message = json.loads(socket.recv(timeout=60))
        if message["type"] == kind and all(message[name] == value for name, value in wanted.items()):
            return message


def say(socket: ClientConnection, **message: Any) -> None:
    socket.send(json.dumps(message))


def play_on(socket: ClientConnection, luck: random.Random) -> dict[str, Any]:
    """Random moves to the end; the last position."""
    while True:
        now = json.loads(socket.recv(timeout=60))
        if now["type"] == "position" and now["over"]:
            return now
        if now["type"] == "position" and now["yours"]:
            say(socket, do="move", move=luck.choice(now["legal"]), at=len(now["events"]))


@pytest.mark.parametrize(
    ("game", "agent"),
    [
        ("kuhn", "random"),
        ("leduc", "uniform"),
        ("liars_dice", "random"),
        ("goofspiel", "random"),
        ("cheat", "heuristic"),
        ("dark_hex:4x3", "shipped/board-4x3.nebel"),
        ("dark_hex(rows=3,cols=3,abrupt=true,leak=flash)", "random"),
        ("geister(setup=chosen,limit=40)", "rush"),
        ("geister", "shipped:geister"),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_whole_games(local: Local, game: str, agent: str, seat: int) -> None:
    begun = local.begin(game, *(("person", agent) if seat == 0 else (agent, "person")), seed=5)
    assert [one["seat"] for one in begun["seats"]] == [seat]
    key = begun["seats"][0]["key"]
    with local.live(begun["id"], key) as socket:
        last = play_on(socket, random.Random(game))
    assert last["result"]["by"] == "rules"
    record = local.get(f"/api/play/{begun['id']}/record", key=key).text
    state = nebel.read_record(record)
    assert state.over
    assert state.score() == (last["result"]["score"] if seat == 0 else -last["result"]["score"])
    assert last["svg"] == state.svg(seat)
    shown = local.get(f"/api/play/{begun['id']}/reveal", key=key, at=10**6).json()
    assert [move["text"] for move in shown["moves"]] == state.moves()
    assert shown["truth"]["view"] == state.view("truth")
    assert shown["seats"][1 - seat]["events"] == [{"kind": one["kind"], "text": one["text"]} for one in shown["seats"][1 - seat]["events"]]


def test_every_game_is_offered_with_its_options(local: Local) -> None:
    offered = {game["name"]: game for game in local.get("/api/games").json()}
    assert set(offered) == set(GAMES)
    leak = next(option for option in offered["dark_hex"]["options"] if option["name"] == "leak")
    assert leak == {"name": "leak", "kind": "text", "default": "silent", "choices": ["silent", "noisy", "flash"]}
    agents = [agent["text"] for agent in local.get("/api/agents", game="dark_hex:4x3").json()]
    assert agents[0] == "shipped/board-4x3.nebel"
    ghosts = [agent["text"] for agent in local.get("/api/agents", game="geister").json()]
    assert {"purple", "shipped/geister.nebel"} <= set(ghosts)
    assert "shipped/geister.nebel" not in [agent["text"] for agent in local.get("/api/agents", game="geister(setup=chosen)").json()]


def test_moves_that_are_refused(local: Local) -> None:
    begun = local.begin("dark_hex:3x3", "person", "person")
    id, (black, white) = begun["id"], [seat["key"] for seat in begun["seats"]]
    move = f"/api/play/{id}/move"
    assert local.post(move, {"move": "b2"}, key=white).json() == {"error": "it is not your turn: wait for the other's move"}
    assert local.post(move, {"move": "b2", "at": 0}, key=black).status_code == 200
    late = local.post(move, {"move": "b2", "at": 0}, key=black)
    assert (late.status_code, late.json()["error"]) == (409, "that was an answer to an earlier position: 0 events, and there are 1")
    assert local.post(move, {"move": "b2"}, key=white).json()["events"] == [{"kind": "did", "text": "b2"}, {"kind": "saw", "text": "taken"}]
    refused = local.post(move, {"move": "b2"}, key=white)
    assert refused.status_code == 400
    assert refused.json()["error"] == "b2 is not legal after b2 taken; legal: a1 b1 c1 a2 c2 a3 b3 c3"
    assert local.get(f"/api/play/{id}", key=black).json()["events"] == [{"kind": "did", "text": "b2"}]
    assert local.get(f"/api/play/{id}", key="nobody").status_code == 403
    assert local.get("/api/play/none", key=black).status_code == 404
    assert local.get(f"/api/play/{id}/record", key=black).status_code == 409
    assert local.get(f"/api/play/{id}/reveal", key=black).status_code == 409


def test_guests_see_and_do_not_touch(local: Local) -> None:
    begun = local.begin("dark_hex:3x3", "person", "person")
    watch = begun["seats"][0]["watch"]
    seen = local.get(f"/api/play/{begun['id']}", key=watch).json()
    played = local.get(f"/api/play/{begun['id']}", key=begun["seats"][0]["key"]).json()
    assert seen == {**played, "watching": True}
    assert local.post(f"/api/play/{begun['id']}/move", {"move": "b2"}, key=watch).json()["error"] == "this address lets you watch, not play"
    assert local.post(f"/api/play/{begun['id']}/resign", {}, key=watch).status_code == 403


def test_undo_where_nothing_was_learnt(local: Local) -> None:
    begun = local.begin("geister(setup=chosen)", "person", "random", seed=3)
    with local.live(begun["id"], begun["seats"][0]["key"]) as socket:
        assert hear(socket, yours=True)["undo"] == {"allowed": False, "why": "You have not moved yet."}
        say(socket, do="move", move="ABCD")
        assert hear(socket, yours=True, events=[{"kind": "did", "text": "ABCD"}])["undo"] == {"allowed": True, "why": ""}
        say(socket, do="undo")
        assert hear(socket, yours=True, events=[])["placing"]["reds"] == 4
        say(socket, do="move", move="EFGH")
        assert hear(socket, yours=True)["view"].count("R") == 4


def test_a_move_that_went_through_has_told_something(local: Local) -> None:
    begun = local.begin("dark_hex:3x3", "person", "random", seed=3)
    with local.live(begun["id"], begun["seats"][0]["key"]) as socket:
        hear(socket, yours=True)
        say(socket, do="move", move="b2")
        now = hear(socket, yours=True, events=[{"kind": "did", "text": "b2"}])
        assert now["undo"] == {"allowed": False, "why": "You have learnt that your move went through. A practice game would allow it."}


def test_no_undo_of_what_was_learnt(local: Local) -> None:
    record = nebel.game("dark_hex:3x3").start().play("a1 b2 b2").record()
    begun = local.post("/api/play/record", {"record": record, "players": ["person", "random"]}).json()
    with local.live(begun["id"], begun["seats"][0]["key"]) as socket:
        why = hear(socket, yours=True)["undo"]["why"]
        assert why == "You have learnt something since: taken. A practice game would allow it."
        say(socket, do="undo")
        assert hear(socket, "refused")["error"] == why


def test_practice_takes_back_anything(local: Local) -> None:
    begun = local.begin("kuhn", "person", "random", practice=True, seed=2)
    with local.live(begun["id"], begun["seats"][0]["key"]) as socket:
        card = hear(socket, yours=True)["events"]
        say(socket, do="move", move="bet")
        assert hear(socket, over=True)["undo"]["allowed"]
        say(socket, do="undo")
        assert hear(socket, yours=True)["events"] == card


def test_resign_ends_and_reveals(local: Local) -> None:
    begun = local.begin("geister", "person", "person")
    id, keys = begun["id"], [seat["key"] for seat in begun["seats"]]
    mine = local.post(f"/api/play/{id}/resign", {}, key=keys[0]).json()
    assert mine["result"] == {"by": "resigned", "score": None, "text": "You resigned.", "who": 0}
    assert local.get(f"/api/play/{id}", key=keys[1]).json()["result"]["text"] == "The other player resigned: you win."
    assert local.post(f"/api/play/{id}/move", {"move": "b2-b3"}, key=keys[0]).json()["error"] == "the game is over"
    assert '[Resigned "0"]' in local.get(f"/api/play/{id}/record", key=keys[1]).text


def test_records_go_on(local: Local) -> None:
    state = nebel.game("dark_hex:3x3").start().play("b2 a1 b1 b2")
    answer = local.post("/api/play/record", {"record": state.record(), "players": ["person", "random"]})
    begun = answer.json()
    with local.live(begun["id"], begun["seats"][0]["key"]) as socket:
        assert [event["text"] for event in hear(socket, yours=True)["events"]] == ["b2", "b1"]
    given_up = '[Resigned "0"]\n' + state.record()
    begun = local.post("/api/play/record", {"record": given_up, "players": ["random", "person"]}).json()
    now = local.get(f"/api/play/{begun['id']}", key=begun["seats"][0]["key"]).json()
    assert (now["seat"], now["result"]["text"]) == (1, "The other player resigned: you win.")
    for text, reason in {
        "b2": "not a record",
        '[Game "dark_hex:3x3"]\n\nb2 z9': "z9 is not legal",
        '[Game "/etc/passwd.py:x"]\n\n': "the server was not started with",
    }.items():
        refused = local.post("/api/play/record", {"record": text})
        assert refused.status_code == 400
        assert reason in refused.json()["error"]


def test_old_games_make_room(local: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hall, "KEPT", 2)
    first, second = (local.begin("kuhn", "person", "random", seed=1) for _ in range(2))
    with local.live(first["id"], first["seats"][0]["key"]) as socket:
        hear(socket, yours=True)
        third = local.begin("kuhn", "person", "random", seed=1)
        kept = [local.get(f"/api/play/{game['id']}", key=game["seats"][0]["key"]).status_code for game in (first, second, third)]
        assert kept == [200, 404, 200]  # the first is being played
        with local.live(third["id"], third["seats"][0]["key"]) as other:
            hear(other, yours=True)
            refused = local.post("/api/play", {"game": "kuhn"})
            assert (refused.status_code, "all of them being played" in refused.json()["error"]) == (503, True)
            monkeypatch.setattr(hall, "OLD", -60)  # as if they were older
            local.begin("kuhn", "person", "random")


def test_moves_of_any_letters(local: Local) -> None:
    begun = local.begin("kuhn", "person", "random", seed=1)
    path, key = f"/api/play/{begun['id']}/move", begun["seats"][0]["key"]
    for text in ('{"move": "\\ud800"}', '{"move": "\\u0000"}', '{"move": "<b>\u2603"}', "[" * 100_000, '{"move": null}'):
        answer = local.http.post(path, content=text.encode(), params={"key": key}, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422)
        assert answer.json()["error"]


def test_two_listeners_and_a_dropped_one(local: Local) -> None:
    begun = local.begin("dark_hex:3x3", "person", "person")
    id, (black, white) = begun["id"], [seat["key"] for seat in begun["seats"]]
    with local.live(id, white) as waiting:
        assert not hear(waiting)["yours"]
        with local.live(id, black) as socket:
            hear(socket, yours=True)
            socket.socket.close()  # as if the cable were pulled
        with local.live(id, black) as socket:
            hear(socket, yours=True)
            say(socket, do="move", move="b2", ref=17)
            assert hear(socket, "done") == {"type": "done", "ref": 17}
        assert hear(waiting, yours=True)["events"] == []


def test_hidden_moves_are_not_heard(local: Local) -> None:
    begun = local.begin("dark_hex:3x3", "person", "person")
    id, (black, white) = begun["id"], [seat["key"] for seat in begun["seats"]]
    with local.live(id, black) as first:
        hear(first, yours=True)
        say(first, do="move", move="b2")
        hear(first, yours=False)
        assert local.post(f"/api/play/{id}/move", {"move": "b2"}, key=white).json()["yours"]  # it bumps, and moves again
        assert hear(first, "done")
        with pytest.raises(TimeoutError):
            first.recv(timeout=0.5)
        local.post(f"/api/play/{id}/move", {"move": "a1"}, key=white)
        assert hear(first, yours=True)["events"] == [{"kind": "did", "text": "b2"}]


def test_thinkers_leave_the_server_free(local: Local) -> None:
    begun = local.begin("leduc", "oos:2s", "person")
    slow = begun["seats"][0]["key"]
    time.sleep(0.3)
    asked = time.perf_counter()
    assert not local.get(f"/api/play/{begun['id']}", key=slow).json()["yours"]
    other = local.begin("kuhn", "person", "random")
    assert local.get(f"/api/play/{other['id']}", key=other["seats"][0]["key"]).json()["yours"]
    assert time.perf_counter() - asked < 1.5
    assert local.post(f"/api/play/{begun['id']}/resign", {}, key=slow).json()["over"]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"game": "nothing"}, "no game 'nothing'"),
        ({"game": "dark_hex(rows=99)"}, "is not possible"),
        ({"game": "geister(ghosts=99999999)"}, "need"),
        ({"game": "kuhn", "players": ["random", "random"]}, "needs a person"),
        ({"game": "kuhn", "players": ["person", "nobody"]}, "no agent and no policy 'nobody'"),
        ({"game": "kuhn", "players": ["person", "purple"]}, "has no bot 'purple'"),
        ({"game": "kuhn", "players": ["person", "oos:1h"]}, "is no budget"),
        ({"game": "kuhn", "players": ["person", "oos:10m"]}, "thinks too long"),
        ({"game": "geister", "players": ["person", "purple:20"]}, "plies"),
        ({"game": "kuhn", "players": ["person", "shipped/board-4x3.nebel"]}, "was made for dark_hex(rows=4,cols=3), not for kuhn"),
        ({"game": "kuhn", "players": ["person"]}, "players"),
        ({"game": "kuhn", "seed": -1}, "seed"),
        ({"game": "kuhn", "players": ["person", "person"], "seed": 1}, "whoever gives the seed"),
        ({"game": "kuhn", "more": 1}, "more"),
        ({}, "game"),
    ],
)
def test_games_that_cannot_begin(local: Local, asked: dict[str, Any], reason: str) -> None:
    answer = local.post("/api/play", asked)
    assert answer.status_code in (400, 422)
    assert reason in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


ELSEWHERE = ["/etc/passwd", "policy:/etc/passwd", "../secret.nebel", "shipped/../../../secret.nebel", "secret.nebel+oos:10"]
NO_NAMES = ["shipped/\0", "shipped/" + "a" * 280 + ".nebel"]


@pytest.mark.parametrize("name", [*ELSEWHERE, *NO_NAMES, "runs/link.nebel"])
def test_no_other_files(tmp_path: Path, name: str) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    policy = Path(nebel.__file__).parent / "strategies" / "board-4x3.nebel"
    (tmp_path / "secret.nebel").write_bytes(policy.read_bytes())
    (runs / "mine.nebel").write_bytes(policy.read_bytes())
    (runs / "link.nebel").symlink_to(tmp_path / "secret.nebel")
    serving = Local(Setup(runs=runs))
    try:
        refused = serving.post("/api/play", {"game": "dark_hex:4x3", "players": ["person", name]})
        assert refused.status_code == 400
        assert "no agent and no policy" in refused.json()["error"]
        assert serving.begin("dark_hex:4x3", "person", "runs/mine.nebel")["id"]
    finally:
        serving.stop()


def test_policies_are_offered_where_they_fit(local: Local) -> None:
    def policies(game: str) -> set[str]:
        return {agent["text"] for agent in local.get("/api/agents", game=game).json() if agent["game"]}

    table = nebel.load_policy(Path(nebel.__file__).parent / "strategies" / "board-4x3.nebel")
    assert policies(table.game) == policies("dark_hex:4x3") == {"shipped/board-4x3.nebel"}
    assert policies("dark_hex:5x5") == policies("kuhn") == set()
    small = FullWidth(nebel.grow(nebel.game("cheat:2")), "cfr+")
    small.run(1)
    local.setup.runs.mkdir(exist_ok=True)
    nebel.save_policy(small.policy({}), local.setup.runs / "small.nebel")
    assert local.get("/api/agents", game="cheat:3").json()[-1]["about"] == f"a table of moves of {small.policy({}).game}"


def test_runs_that_begin_later_bring_their_policies(tmp_path: Path) -> None:
    serving = Local(Setup(runs=tmp_path / "runs"))
    try:
        (tmp_path / "runs").mkdir()
        (tmp_path / "runs" / "new.nebel").write_bytes((Path(nebel.__file__).parent / "strategies" / "board-4x3.nebel").read_bytes())
        assert "runs/new.nebel" in {agent["text"] for agent in serving.get("/api/agents", game="dark_hex:4x3").json()}
    finally:
        serving.stop()


def test_own_games_only_if_named(tmp_path: Path, local: Local) -> None:
    file = tmp_path / "coin.py"
    file.write_text("from nebel.games.kuhn import kuhn as _kuhn\n\n\ndef coin():\n    return _kuhn()\n")
    string = f"{file}:coin"
    assert "start it with: nebel serve --game" in local.post("/api/play", {"game": string}).json()["error"]
    assert "start it with" in local.post("/api/play", {"game": "openspiel:efg_game(filename=/etc/passwd)"}).json()["error"]
    serving = Local(Setup(runs=tmp_path, games=(string,)))
    try:
        begun = serving.begin(string, "person", "random")
        with serving.live(begun["id"], begun["seats"][0]["key"]) as socket:
            assert play_on(socket, random.Random(1))["over"]
    finally:
        serving.stop()


def test_messages_that_make_no_sense(local: Local) -> None:
    begun = local.begin("kuhn", "person", "random", seed=1)
    calm = local.begin("kuhn", "person", "random", seed=1)
    with local.live(begun["id"], begun["seats"][0]["key"]) as socket:
        hear(socket, yours=True)
        long = '{"do":"move","move":"' + "y" * 400 + '"}'
        for text in ("", "{", "[]", "null", '{"do": "fly"}', '{"do": "move", "move": 7}', '{"do": "undo", "more": 1}', "x" * 5000, long):
            socket.send(text)
            assert hear(socket, "refused")["error"]
        say(socket, do="move", move="pass", at=3)
        assert "earlier position" in hear(socket, "refused")["error"]
        socket.send("z" * 100_000)
        with pytest.raises(ConnectionClosed) as closed:
            hear(socket, "never")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
    with local.live(begun["id"], begun["seats"][0]["key"]) as socket:
        socket.send(b"\x00\xff")
        assert "text" in hear(socket, "refused")["error"]
        assert local.get(f"/api/play/{begun['id']}", key=begun["seats"][0]["key"]).json()["yours"]
    assert local.get(f"/api/play/{calm['id']}", key=calm["seats"][0]["key"]).json()["yours"]


def test_nobody_waits_for_ever() -> None:
    """Futures do not take StopIteration."""

    async def ask() -> None:
        await asyncio.wait_for(Workers(1, "test").run(next, iter(())), 10)

    with ThreadPoolExecutor(1) as apart, pytest.raises(RuntimeError, match="stopped an iteration"):
        apart.submit(lambda: asyncio.run(ask())).result()
