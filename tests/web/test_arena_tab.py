"""Matches and runs, as the server tells them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from nebel.core.registry import load
from nebel.match.agents import read_all
from nebel.match.arena import play_pair
from nebel.web.setup import Setup

from .conftest import Local, run_in


def finished(local: Local, id: str, seconds: float = 300) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while (told := local.get(f"/api/arena/{id}").json())["stage"] in ("waiting", "playing"):
        assert time.monotonic() < end
        time.sleep(0.05)
    return dict(told)


def begun(local: Local, game: str, *agents: str, games: int = 100, seed: int = 1) -> dict[str, Any]:
    answer = local.post("/api/arena", {"game": game, "agents": agents, "games": games, "seed": seed})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def refused(local: Local, *agents: str, game: str = "kuhn", games: int = 100) -> str:
    answer = local.post("/api/arena", {"game": game, "agents": agents, "games": games})
    assert 400 <= answer.status_code < 500, answer.text
    return str(answer.json()["error"])


def test_a_match_is_the_one_that_the_command_line_plays(local: Local) -> None:
    told = finished(local, begun(local, "kuhn", "random", "oos:20", "uniform", games=20, seed=5)["id"])
    assert (told["stage"], told["share"], len(told["pairs"])) == ("done", 1.0, 3)
    a, b = read_all(["random", "uniform"])
    expected = play_pair(load("kuhn"), a, b, 20, 5)
    assert [pair["score"] for pair in told["pairs"] if pair["a"] == "random" and pair["b"] == "uniform"] == [expected.score]
    assert [pair["exact"] for pair in told["pairs"]] == [None, 0.0, None]
    assert {rating["agent"] for rating in told["ratings"]} == {"random", "oos:20", "uniform"}
    assert all(low < rating["elo"] < high for rating in told["ratings"] for low, high in [rating["interval"]])
    assert [match["id"] for match in local.get("/api/arena").json()] == [told["id"]]


def test_a_match_is_stopped_and_the_next_one_has_its_turn(local: Local) -> None:
    long = begun(local, "leduc", "oos:2k", "random", games=100_000)
    waiting = begun(local, "kuhn", "random", "uniform")
    gone = begun(local, "kuhn", "random", "uniform", seed=2)
    assert gone["stage"] == "waiting"
    local.post(f"/api/arena/{gone['id']}/drop", {})
    while local.get(f"/api/arena/{long['id']}").json()["played"] < 2:
        time.sleep(0.05)
    local.post(f"/api/arena/{long['id']}/stop", {})
    assert finished(local, long["id"])["stage"] == "stopped"
    assert finished(local, waiting["id"])["stage"] == "done"
    assert local.get(f"/api/arena/{gone['id']}").status_code == 404


def test_a_match_outlives_the_server(tmp_path: Path) -> None:
    agents = ("random", "uniform", "oos:100")
    setup = Setup(runs=tmp_path, db=str(tmp_path / "games.sqlite"))
    first = Local(setup)
    kept, waiting = (begun(first, "kuhn", *agents, games=30, seed=seed)["id"] for seed in (3, 4))
    while not first.get(f"/api/arena/{kept}").json()["pairs"]:
        time.sleep(0.01)
    first.stop()
    again = Local(setup)
    try:
        told = finished(again, kept)
        assert (told["stage"], len(told["pairs"]), len(told["ratings"])) == ("done", 3, 3)
        whole = finished(again, begun(again, "kuhn", *agents, games=30, seed=3)["id"])
        assert [pair["score"] for pair in told["pairs"]] == [pair["score"] for pair in whole["pairs"]]
        assert finished(again, waiting)["stage"] == "done"
        again.post(f"/api/arena/{kept}/drop", {})
    finally:
        again.stop()
    third = Local(setup)
    assert third.get(f"/api/arena/{kept}").status_code == 404
    assert len(third.get("/api/arena").json()) == 2
    third.stop()


def test_policies_of_the_shelf_meet(local: Local) -> None:
    told = finished(local, begun(local, "dark_hex:4x3", "shipped/board-4x3.nebel", "random", games=40)["id"])
    assert (told["stage"], told["reason"]) == ("done", "")
    assert told["pairs"][0]["wins"] > 20


def test_matches_that_cannot_be_are_refused_with_a_reason(local: Local) -> None:
    assert "at least two agents" in refused(local, "random")
    assert "named twice" in refused(local, "random", "random")
    assert "at most 20 agents" in refused(local, *(f"oos:{n}" for n in range(1, 22)))
    assert "at most 1,000,000" in refused(local, "random", "uniform", "oos:1", games=400_000)
    assert "less than or equal to 1000000" in refused(local, "random", "uniform", games=2_000_000)
    assert "no agent and no policy" in refused(local, "random", "/etc/passwd")
    assert "thinks too long" in refused(local, "random", "oos:1000s")
    assert "was not started with" in refused(local, "random", "uniform", game="/tmp/evil.py:game")
    assert local.get("/api/arena/none").status_code == 404
    assert local.get("/api/arena").json() == []


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    run_in(tmp_path / "one", [{"iterations": n, "seconds": n / 10, "exploitability": 1 / n} for n in range(1, 2001)])
    run_in(tmp_path / "deep" / "two", [{"iterations": n, "exploitability": 2 / n} for n in (1, 2, 4)], method="mccfr", seed=3)
    (tmp_path / "cheat.html").write_text("<h1>A report</h1><script>alert(1)</script>")
    return tmp_path


def test_runs_are_listed_and_told(runs: Path, local: Local) -> None:
    listed = local.get("/api/runs").json()
    assert {(run["name"], run["method"], run["seed"]) for run in listed["runs"]} == {("one", "cfr+", 1), ("deep/two", "mccfr", 3)}
    assert listed["reports"] == ["cheat.html"]
    both = local.get("/api/runs/curves", run=["one", "deep/two"], y="exploitability").json()
    assert both["points"] == {"one": 2000, "deep/two": 3}
    assert both["latest"]["deep/two"] == {"iterations": 4, "exploitability": 0.5}
    assert both["curves"]["deep/two"] == {"x": [1, 2, 4], "y": [2, 1, 0.5]}
    thinned = both["curves"]["one"]
    assert (len(thinned["x"]), thinned["x"][-1], thinned["y"][-1]) == (1000, 2000, 0.0005)
    again = local.get("/api/runs/curves", run=["one", "deep/two"], y="exploitability", since=both["stamp"]).json()
    assert again["curves"] is None
    with (runs / "one" / "metrics.jsonl").open("a") as file:
        file.write('{"iterations": 2001, "exploitability": 0.0001}\n{"iterations": 2002, "expl')
    later = local.get("/api/runs/curves", run=["one"], y="exploitability", since=both["stamp"]).json()
    assert later["points"] == {"one": 2001}


def test_nothing_outside_the_folder_of_runs_is_read(runs: Path, local: Local) -> None:
    (runs.parent / "secret.html").write_text("secret")
    (runs / "link.html").symlink_to(runs.parent / "secret.html")
    for name in ("../secret.html", "link.html", "one/run.json", str(runs.parent / "secret.html"), "a\0.html"):
        answer = local.get("/api/runs/report", name=name)
        assert answer.status_code == 404
        assert "secret" not in answer.text.replace("secret.html", "")
    assert local.get("/api/runs/curves", run=[".."], y="x").status_code == 404
    assert "tells both" in local.get("/api/runs/curves", run=["one"], y="loss").json()["error"]
    assert "1 to 6 runs" in local.get("/api/runs/curves", run=["one"] * 7, y="loss").json()["error"]
    report = local.get("/api/runs/report", name="cheat.html")
    assert report.headers["content-security-policy"].startswith("sandbox; default-src 'none'")


def test_the_latest_figures_are_of_one_row(tmp_path: Path, local: Local) -> None:
    rows = [
        {"iterations": 26, "exploitability": 0.007, "value": -0.05},
        {"iterations": 28, "loss": 0.2},
        {"iterations": 29, "exploitability": 0.009},
        {"iterations": 30, "loss": 0.1},
    ]
    run_in(tmp_path / "dream", rows)
    for metric, row in (("exploitability", 2), ("loss", 3), ("value", 0)):
        latest = local.get("/api/runs/curves", run="dream", y=metric).json()["latest"]
        assert latest == {"dream": rows[row]}
