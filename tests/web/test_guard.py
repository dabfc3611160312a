"""Who may speak to the server: hosts, origins, tokens, sizes."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from nebel.cli import main
from nebel.web.serving import listen
from nebel.web.setup import Setup

from .conftest import Local, Serving


@pytest.fixture
def tokened(tmp_path: Path) -> Iterator[Local]:
    serving = Local(Setup(runs=tmp_path, token="open-sesame"))
    yield serving
    serving.stop()


STRANGE = ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "a@127.0.0.1", "192.168.0.7", "[", "[::1", "127.0.0.1:x"]


@pytest.mark.parametrize("host", STRANGE)
def test_other_hosts_are_refused(local: Local, host: str) -> None:
    answer = local.http.get("/api/games", headers={"Host": host})
    assert answer.status_code == 421
    assert "this server answers to" in answer.json()["error"]


def test_local_names_are_taken(local: Local) -> None:
    for host in ("127.0.0.1", "localhost:9999", "[::1]:80", "LOCALHOST"):
        assert local.http.get("/api/games", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost", "http://[", "x"])
def test_other_origins_are_refused(local: Local, origin: str) -> None:
    answer = local.http.post("/api/play", json={"game": "kuhn"}, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "open the page of this server itself" in answer.json()["error"]
    begun = local.begin("kuhn", "person", "random")
    with pytest.raises(InvalidStatus) as refused:
        local.live(begun["id"], begun["seats"][0]["key"], origin=origin)
    assert refused.value.response.status_code == 403
    assert b"are not taken" in refused.value.response.body


def test_the_own_origin_is_taken(local: Local) -> None:
    own = f"http://127.0.0.1:{local.port}"
    assert local.http.post("/api/play", json={"game": "kuhn"}, headers={"Origin": own}).status_code == 200
    begun = local.begin("kuhn", "person", "random")
    with local.live(begun["id"], begun["seats"][0]["key"], origin=own) as opened:
        assert "position" in opened.recv(timeout=5)


def test_the_token_opens(tokened: Local) -> None:
    refused = tokened.get("/api/games")
    assert (refused.status_code, "wants its token" in refused.json()["error"]) == (401, True)
    assert tokened.get("/", token="wrong").status_code == 401
    page = tokened.http.get("/", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert "wants its token" in page.text
    with pytest.raises(InvalidStatus):
        tokened.live("any", "key")
    bearer = {"Authorization": "Bearer open-sesame"}
    assert tokened.http.get("/api/games", headers=bearer).status_code == 200
    assert tokened.http.get("/api/games", headers={**bearer, "Host": "box.example:8765"}).status_code == 200
    opened = tokened.get("/", token="open-sesame")
    assert (opened.status_code, opened.headers["location"]) == (303, "/")
    assert "HttpOnly" in opened.headers["set-cookie"]
    assert "SameSite=lax" in opened.headers["set-cookie"]  # strict ones are not sent after a click on another site
    assert tokened.get("/").status_code == 200  # by the cookie
    begun = tokened.begin("kuhn", "person", "random")
    with tokened.live(begun["id"], begun["seats"][0]["key"], additional_headers=bearer) as socket_:
        assert "position" in socket_.recv(timeout=5)


def test_bodies_have_an_end(local: Local) -> None:
    large = b"x" * 300_000
    assert local.http.post("/api/play", content=large).status_code == 413
    chunked = local.http.post("/api/play", content=iter([large[:150_000], large]))
    assert (chunked.status_code, "at most" in chunked.json()["error"]) == (413, True)
    malformed = local.http.post("/api/play", content=b"{", headers={"Content-Type": "application/json"})
    assert malformed.status_code == 422
    assert local.get("/api/games").status_code == 200


def test_answers_are_sent_at_once() -> None:
    """asyncio turns Nagle's algorithm off, which costs 40 ms, only for sockets that say that they are TCP's."""
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_broken_http_harms_nobody(local: Local) -> None:
    negative = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n"
    for junk in (b"\x00\x01\x02\r\n\r\n", negative, b"GET /api/play/x/live HTTP/1.1\r\n"):
        with socket.create_connection(("127.0.0.1", local.port)) as raw:
            raw.sendall(junk)
    assert local.get("/api/games").status_code == 200


def test_headers_are_strict(local: Local) -> None:
    for path in ("/", "/static/main.js", "/api/games", "/nothing"):
        headers = local.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert local.get("/static/../app.py").status_code == 404
    assert local.get("/static/%2e%2e/app.py").status_code == 404


def test_everything_is_documented_offline(local: Local) -> None:
    found = local.get("/api/openapi.json").json()
    assert {"/api/games", "/api/agents", "/api/play", "/api/play/{id}/move"} <= set(found["paths"])
    page = local.get("/api").text
    assert "https://" not in page
    assert "cdn" not in page


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--port", "99999"], "is no port"),
        (["--policies", "/no/such/folder"], "no such folder"),
        (["--host", "256.1.1.1"], "cannot listen"),
        (["--game", "nothing.py:x"], "no file"),
    ],
)
def test_flags_that_make_no_sense(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *words]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("version", [0, 2])
def test_a_database_of_something_else_is_left_alone(version: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "photos.sqlite"
    with sqlite3.connect(db) as other:
        other.execute("create table photos (name)")
        other.execute(f"pragma user_version = {version}")
    other.close()
    before = db.read_bytes()
    assert main(["serve", "--port", "0", "--db", str(db)]) == 2
    assert "photos.sqlite is a database of something else" in capsys.readouterr().err
    assert db.read_bytes() == before


def test_one_server_a_file(local: Local, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "games.sqlite"
    first = Local(Setup(runs=tmp_path, db=str(db)))
    try:
        first.begin("kuhn", "person", "random")
        assert main(["serve", "--port", "0", "--db", str(db)]) == 2
        assert "another server is using it" in capsys.readouterr().err
    finally:
        first.stop()


def test_others_need_the_token_that_is_printed(tmp_path: Path) -> None:
    serving = Serving(tmp_path, "--host", "0.0.0.0")
    try:
        assert "?token=" in serving.said
        port, token = serving.url.split("/?token=")[0].rsplit(":", 1)[1], serving.url.split("token=")[1]
        assert len(token) >= 20
        assert httpx.get(f"http://127.0.0.1:{port}/").status_code == 401
        with httpx.Client() as browser:
            assert browser.get(f"http://127.0.0.1:{port}/?token={token}", follow_redirects=True).status_code == 200
    finally:
        serving.stop()


def test_the_token_leaves_the_address(tokened: Local) -> None:
    """Of whoever has the cookie already, or one of an earlier server, too; and never to another host."""
    name = f"nebel-{tokened.port}"
    for cookie in ("open-sesame", "of-yesterday", ""):
        answer = tokened.http.get("/?token=open-sesame&x=1", headers={"Cookie": f"{name}={cookie}"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/?x=1")
        assert "open-sesame" in answer.headers["set-cookie"]
    old = tokened.http.get("/?token=of-yesterday", headers={"Cookie": f"{name}=open-sesame"})
    assert (old.status_code, old.headers["location"], "set-cookie" in old.headers) == (303, "/", False)
    assert tokened.http.get(f"http://127.0.0.1:{tokened.port}//evil.example/?token=open-sesame").headers["location"] == "/evil.example/"
    both = {"Cookie": f"{name}=of-yesterday", "Authorization": "Bearer open-sesame"}
    assert tokened.http.get("/api/games", headers=both).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_do_nothing_with_the_cookie(tokened: Local, site: str) -> None:
    """Even where a browser names no origin; a link that is followed to the page is the one exception."""
    cookie = {"Cookie": f"nebel-{tokened.port}=open-sesame"}
    begin = {"game": "kuhn"}
    for mode in ("no-cors", "cors", "navigate"):
        said = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
        assert tokened.http.post("/api/play", json=begin, headers={**cookie, **said}).status_code == 403
        linked = tokened.http.get("/", headers={**cookie, **said}).status_code
        assert linked == (200 if mode == "navigate" else 403)
    own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert tokened.http.post("/api/play", json=begin, headers={**cookie, **own}).status_code == 200
    with pytest.raises(InvalidStatus):
        tokened.live("any", "key", additional_headers={**cookie, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "websocket"})
