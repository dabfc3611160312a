"""Strategies built on the page: the figures of the thesis, the notation both ways, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nebel.core.tree import grow
from nebel.judge.best_response import Judge
from nebel.judge.unfinished import guarantee_so_far
from nebel.policy.builder import Builder
from nebel.policy.io import load_table

from .conftest import Local

PAPER = "rows: 2\ncols: 2\nplayer: black\n\nplay  = {a1 (a2 ~ (!)): 0.3, solid: 0.7}\nsolid = b1, {a2 | b2}\n"


def ask(local: Local, path: str, view: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    body = more if view is None else {"work": view["work"], "at": (view["state"] or {}).get("name", ""), **more}
    answer = local.post(f"/api/build/{path}", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(local: Local, path: str, **body: Any) -> str:
    answer = local.post(f"/api/build/{path}", body)
    assert 400 <= answer.status_code < 500, answer.text
    return str(answer.json()["error"])


def new(local: Local, **more: Any) -> dict[str, Any]:
    return ask(local, "new", **{"rows": 2, "cols": 2, **more})


def write(local: Local, view: dict[str, Any], text: str) -> dict[str, Any]:
    found = ask(local, "notation", view, text=text)
    assert found["error"] == ""
    return dict(found["view"])


def wins(local: Local, view: dict[str, Any]) -> float:
    return float(local.post("/api/build/guarantee", {"work": view["work"]}).json()["wins"])


def test_the_example_of_the_thesis_click_by_click(local: Local, tmp_path: Path) -> None:
    view = new(local)
    assert (view["answered"], view["open"], view["notation"].splitlines()[-1]) == (0, 1, "play = ?")
    assert 'data-cell="b2"' in view["state"]["svg"]
    view = ask(local, "answer", view, shares="a1:0.3 b1:0.7")
    assert view["notation"].splitlines()[-1] == "play = {(a1, ?): 0.3, (b1, ?): 0.7}"
    assert wins(local, view) == 0
    for shares in ("a2", "!", "a2 b2", "b2", "a2"):
        view = ask(local, "complete", view) if shares == "!" else ask(local, "answer", view, shares=shares)
    assert (view["state"], view["open"]) == (None, 0)
    assert view["notation"].splitlines()[-1] == "play = {(a1, a2 ~ (!)): 0.3, (b1, {a2 ~ (b2), b2 ~ (a2)}): 0.7}"
    assert wins(local, view) == pytest.approx(0.7, abs=1e-12)

    file = tmp_path / "built.nebel"
    file.write_bytes(local.post("/api/build/policy", {"work": view["work"]}).content)
    policy = load_table(file)
    tree = grow(Builder(policy.game, 0).states.game, policy.recall)
    assert (1 - Judge(tree).verdict(policy.on_tree(tree).strategies).best_response[1]) / 2 == pytest.approx(0.7, abs=1e-12)


def test_the_notation_is_kept_in_step_both_ways(local: Local) -> None:
    view = write(local, new(local), PAPER)
    assert (view["open"], wins(local, view)) == (0, pytest.approx(0.7, abs=1e-12))
    view = ask(local, "show", view, at="x./..")
    assert view["state"]["shares"] == {"a2": "1"}
    view = ask(local, "answer", view, shares="?")
    assert view["notation"].splitlines()[-1] == "play = {(a1, ?): 0.3, (b1, {a2 ~ (b2), b2 ~ (a2)}): 0.7}"
    assert view["state"]["name"] == "x./.."
    assert ask(local, "undo", view)["notation"] != view["notation"]
    shorter = write(local, view, view["notation"].replace("b2 ~ (a2)", "b2 ~ (?)"))
    assert {line["name"] for line in shorter["waiting"]} == {"x./..", ".x/.o"}
    assert ask(local, "undo", shorter)["notation"] == view["notation"]


def test_a_text_for_another_board_begins_another_strategy(local: Local) -> None:
    view = write(local, new(local), "rows: 3\ncols: 2\nplayer: white\nplay = a1 ~ (?), ?")
    assert (view["title"], view["player"], view["open"]) == ("dark_hex(rows=3,cols=2)", "white", 2)


def test_the_mirror_undo_search_and_completion(local: Local) -> None:
    view = new(local, rows=3, isomorphic=True)
    view = ask(local, "answer", view, shares="a1 b3")
    view = ask(local, "answer", view, shares="b1")
    found = local.post("/api/build/find", {"work": view["work"], "text": "a3"}).json()
    assert [line["name"] for line in found if line["text"].endswith(": a3")] == ["../../.x"]  # b1 after a1 is a3 after b3, turned
    assert ask(local, "undo", view)["answered"] == 1
    drawn = [ask(local, "complete", view, everything=True, seed=seed) for seed in (7, 7, 8)]
    assert drawn[0]["open"] == 0
    assert drawn[0]["notation"] == drawn[1]["notation"] != drawn[2]["notation"]
    assert "!" not in drawn[0]["notation"]
    assert "!" in ask(local, "complete", view, everything=True)["notation"]
    assert ask(local, "mirror", view, isomorphic=False)["work"]["isomorphic"] is False


def test_the_strategies_of_the_thesis_are_opened(local: Local) -> None:
    assert local.get("/api/build/shipped").json() == ["s1", "s2"]
    view = ask(local, "read", shipped="s2", recall="perfect")
    assert (view["open"], view["player"]) == (0, "white")
    assert wins(local, view) == pytest.approx(0.625, abs=1e-9)
    assert "the order of moves counts" in refused(local, "read", shipped="s2")
    assert "there are s1, s2" in refused(local, "read", shipped="../s2")


def test_what_cannot_be_is_refused_with_a_reason(local: Local) -> None:
    view = new(local)
    work = view["work"]
    wrong = ask(local, "notation", view, text="rows: 2\ncols: 2\nplayer: black\nplay = a1 ~ b2")
    assert (wrong["view"], wrong["line"], wrong["column"]) == (None, 4, 13)
    assert wrong["error"].startswith("line 4, column 13: '~' wants")
    assert "sum to 0.5, not to 1" in refused(local, "answer", work=work, shares="a1:1/2")
    assert "'c1' is not a cell" in refused(local, "answer", work=work, shares="c1")
    assert "is no share of a1" in refused(local, "answer", work=work, shares="a1:1e999999999")
    assert "too long for a number" in refused(local, "read", text="rows: " + "9" * 5000)
    assert "nested too deeply" in refused(local, "read", text="rows: 2 cols: 2 player: black play = " + "(" * 20_000)
    assert "at most 30" in refused(local, "new", rows=6, cols=6)
    assert "there is no answer to take back" in refused(local, "undo", work=work)
    assert "not answered yet" in refused(local, "policy", work=work)
    assert "damaged" in refused(local, "show", work={**work, "steps": [3]})
    assert "was not started with" in refused(local, "show", work={**work, "game": "/tmp/evil.py:game"})
    assert "not Dark Hex" in refused(local, "show", work={**work, "game": "kuhn"})
    assert "has no game" in refused(local, "show", work={})
    assert "extra" in refused(local, "show", work=work, more=1).lower()
    abrupt = new(local, abrupt=True)
    assert abrupt["notation"] is None
    assert "classic game alone" in abrupt["why"]


def test_a_strategy_from_an_initial_board(local: Local, tmp_path: Path) -> None:
    view = new(local, rows=3, board="x./../.. hidden 1")
    assert (view["board"], view["open"], view["state"]["name"], view["state"]["hidden"]) == ("x./../.. hidden 1", 1, "x./../..", [1, 1])
    assert "board: x./../.. hidden 1\n" in view["notation"]
    view = ask(local, "complete", ask(local, "answer", view, shares="a2"), everything=True, seed=1)
    assert view["open"] == 0
    assert wins(local, view) == guarantee_so_far(Builder.from_json(view["work"])).wins
    for before, missing in (("", "error"), ("uniform", "uniform")):
        file = tmp_path / "built.nebel"
        file.write_bytes(local.post("/api/build/policy", {"work": view["work"], "before": before}).content)
        assert (load_table(file).missing, load_table(file).facts["board"]) == (missing, "x./../.. hidden 1")
    other = write(local, view, "rows: 3\ncols: 2\nplayer: black\nboard: .x/../.. turn white\nplay = ?")
    assert (other["board"], other["open"]) == (".x/../.. hidden 0 turn white", 1)
    assert write(local, other, "rows: 3 cols: 2 player: black play = ?")["board"] == ""

    assert "is not a board of 2 rows of 2 cells" in refused(local, "new", rows=2, cols=2, board="x./../..")
    assert "Black has joined both edges" in refused(local, "new", rows=2, cols=2, board="x./x.")
    assert "hides 1 White stones, not 0" in refused(local, "new", rows=2, cols=2, board="x./.. hidden 0")
    assert "is not a board of 2 rows" in refused(local, "show", work={**view["work"], "game": "dark_hex:2x2"})
    assert "does not come after" in refused(local, "show", work={**view["work"], "board": ".x/../.."})
    empty = ask(local, "complete", new(local), everything=True)
    assert "is for a strategy from an initial board" in refused(local, "policy", work=empty["work"], before="uniform")


def test_an_initial_board_in_the_browser(page: Any) -> None:
    page.goto("/#/build")
    page.get_by_label("Rows").fill("2")
    board = page.get_by_label("Initial board")
    board.fill(".x/..")
    page.get_by_role("button", name="Begin").click()
    page.locator(".desk-head", has_text="from .x/.. hidden 1").wait_for()
    page.locator('.desk [data-cell="a2"]').click()
    page.locator("button.answer").click()
    page.locator(".counts", has_text="1 answered, 1 open").wait_for()
    page.locator('.desk [data-cell="b2"]').click()
    page.locator("button.answer").click()
    page.locator(".guarantee .figure", has_text="100 %").wait_for()
    assert "board: .x/.. hidden 1" in page.get_by_label("The strategy in notation").input_value()
    page.get_by_label("The policy plays any move where this board does not lead").check()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Policy (.nebel)").click()
    assert load_table(caught.value.path()).missing == "uniform"
    page.reload()
    page.locator(".desk-head", has_text="from .x/.. hidden 1").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_size_is_told_even_if_it_is_the_usual_one(page: Any) -> None:
    page.goto("/#/build")
    page.get_by_label("Columns").fill("3")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("heading", name="Dark Hex 3 × 3 · Black").wait_for()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Work (.build.json)").click()
    assert caught.value.suggested_filename == "black-3x3.build.json"


def test_a_strategy_in_the_browser(page: Any) -> None:
    page.goto("/#/build")
    page.get_by_label("Rows").fill("2")
    page.get_by_role("button", name="Begin").click()
    area = page.get_by_label("The strategy in notation")
    page.locator('.desk [data-cell="a1"]').click()
    page.locator('.desk [data-cell="b1"]').click()
    page.get_by_label("Share of a1").fill("0.3")
    page.get_by_label("Share of b1").fill("0.7")
    page.locator("button.answer").click()
    page.locator(".counts", has_text="1 answered, 2 open").wait_for()
    assert "play = {(a1, ?): 0.3, (b1, ?): 0.7}" in area.input_value()
    area.fill(PAPER.replace("a2 ~ (!)", "a2 ~ !"))
    page.locator(".notation .wrong", has_text="line 5, column 19").wait_for()
    area.fill(PAPER)
    page.locator(".guarantee .figure", has_text="70.00 %").wait_for()
    page.locator(".counts.complete").wait_for()
    page.locator(".states button").nth(5).wait_for()  # nothing is open: all that is answered is listed
    with page.expect_download() as caught:
        page.get_by_role("button", name="Policy (.nebel)").click()
    assert caught.value.suggested_filename == "black-2x2.nebel"
    page.get_by_role("button", name="Undo").click()
    page.locator(".counts", has_text="1 answered, 2 open").wait_for()
    page.reload()
    page.locator(".counts", has_text="1 answered, 2 open").wait_for()
    page.get_by_role("searchbox").fill("x./")
    page.locator(".states button").first.click()
    page.locator('.desk [data-cell="a2"]').click()
    page.locator("button.answer").click()
    page.locator(".counts", has_text="2 answered, 2 open").wait_for()
    page.get_by_role("button", name="New strategy").click()
    page.get_by_role("button", name="The one before").click()
    page.locator(".counts", has_text="2 answered, 2 open").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
