"""Charts in a real browser: curves of runs, the heat map and the ratings of a match, by plotly as the server hands it out."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from .conftest import Local, Serving, run_in

BUNDLE = "/plotly.js"


def test_plotly_comes_from_the_installed_package(local: Local) -> None:
    packed = local.http.get(BUNDLE, headers={"Accept-Encoding": "gzip"})
    plain = local.http.get(BUNDLE, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content  # httpx unpacks it
    assert int(packed.headers["content-length"]) < len(plain.content) / 3
    assert b"plotly.js v" in plain.content[:100]
    assert "max-age=604800" in packed.headers["cache-control"]
    again = local.http.get(BUNDLE, headers={"If-None-Match": packed.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_only_charts_ask_for_plotly(page: Any, server: Serving) -> None:
    run_in(server.runs / "asks", [{"iterations": 1, "exploitability": 1.0}])
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith(BUNDLE) else None)
    page.goto("/")
    for tab in ("Play", "Look inside", "Review", "Build", "Arena"):
        page.get_by_role("link", name=tab, exact=True).click()
        page.locator(f'#tabs a[aria-current]:text-is("{tab}")').wait_for()
        page.locator("main h1, main .empty, main .card").first.wait_for()
    assert asked == []
    page.get_by_role("link", name="Runs", exact=True).click()
    page.locator(".plot .scatterlayer").wait_for()
    assert len(asked) == 1


def chart(page: Any, what: str) -> Any:
    """What plotly knows of the first chart."""
    return page.locator(".plot").first.evaluate(f"chart => chart.{what}")


def until(page: Any, what: str, seconds: float = 10) -> None:
    """Wait for it; the page's policy does not let Playwright wait for it in the page."""
    end = time.monotonic() + seconds
    while not chart(page, what):
        assert time.monotonic() < end, what
        page.wait_for_timeout(50)


def test_curves_lie_over_each_other_and_grow(page: Any, server: Serving) -> None:
    folder = server.runs / "curve"
    run_in(folder, [{"iterations": n, "exploitability": 1 / n} for n in range(1, 20)])
    run_in(server.runs / "a<b>, & 100%", [{"iterations": n, "exploitability": 2 / n} for n in (1, 10)])
    page.goto("/#/runs/curve")
    page.get_by_text("curve: 19 points").wait_for()
    page.get_by_label("a<b>, & 100%").check()
    page.locator(".plot .scatterlayer .trace").nth(1).wait_for()
    assert set(page.locator(".plot .legendtext").all_text_contents()) == {"curve", "a<b>, & 100%"}
    assert chart(page, "layout.yaxis.type") == "log"
    box = page.locator(".plot .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.3 * box["height"])
    page.locator(".plot .hoverlayer .legendtext").first.wait_for()
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.9 * box["height"], steps=5)
    page.mouse.up()
    until(page, "layout.xaxis.autorange === false")
    zoomed = chart(page, "layout.xaxis.range")
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"iterations": 30, "exploitability": 0.01}\n')
    page.get_by_text("curve: 20 points").wait_for()
    until(page, "data.some(run => run.x.at(-1) === 30)")
    assert chart(page, "layout.xaxis.range") == zoomed
    page.get_by_role("button", name="Reset axes").focus()
    page.keyboard.press("Enter")
    until(page, "layout.xaxis.range[1] > 30")
    page.reload()
    page.locator(".plot .scatterlayer .trace").nth(1).wait_for()
    assert page.get_by_label("curve", exact=False).first.is_checked()


def test_axes_and_colours_are_switched(page: Any, server: Serving) -> None:
    run_in(server.runs / "loses", [{"iterations": n, "value": -0.1} for n in range(1, 4)])
    page.goto("/#/runs/loses/value")
    page.locator(".plot .scatterlayer .trace").wait_for()
    page.get_by_label("log up").check()
    page.get_by_text("value is never above 0").wait_for()
    assert page.locator(".plot").is_hidden()
    page.get_by_label("log up").uncheck()
    page.get_by_label("log across").check()
    until(page, "layout.xaxis.type === 'log'")
    light = chart(page, "layout.font.color")
    page.get_by_role("button", name="Switch to dark colours").click()
    until(page, f"layout.font.color !== '{light}'")
    with page.expect_download() as file:
        page.get_by_role("button", name="Download plot").click()
    assert Path(file.value.path()).read_text().startswith("<svg")


def test_a_chart_takes_six_runs(page: Any, server: Serving) -> None:
    names = [f"six{i}" for i in range(7)]
    for i, name in enumerate(names):
        run_in(server.runs / name, [{"iterations": n, "exploitability": (i + 1) / n} for n in (1, 2)])
    page.goto(f"/#/runs/{','.join(names)}/exploitability")  # one too many
    page.locator(".plot .scatterlayer .trace").nth(5).wait_for()
    boxes = page.locator('.agents input[value^="six"]')
    assert boxes.evaluate_all("boxes => boxes.filter(box => box.checked).length") == 6
    assert page.locator(".agents input:disabled:checked").count() == 0
    assert page.locator(".agents input:not(:checked):enabled").count() == 0
    page.locator('.agents input[value="six0"]').uncheck()
    page.locator('.agents input[value="six6"]').check()
    page.get_by_text("six6: 2 points").wait_for()
    assert page.locator(".agents input:not(:checked):enabled").count() == 0


def test_reports_are_shown_beside_runs(page: Any, server: Serving) -> None:
    run_in(server.runs / "reported", [{"iterations": 1, "exploitability": 1.0}])
    (server.runs / "paper.html").write_text("<title>t</title><h1>A report</h1>")
    page.goto("/#/runs")
    page.get_by_role("link", name="paper.html").click()
    page.frame_locator("iframe.report").get_by_role("heading", name="A report").wait_for()


def test_a_match_fills_its_heat_map(page: Any) -> None:
    page.goto("/#/arena")
    with page.expect_response("**/api/agents?game=kuhn"):
        page.get_by_label("Game", exact=True).fill("kuhn")
        page.get_by_label("Game", exact=True).dispatch_event("change")
    page.locator(".agents .check", has_text="belief:1k").wait_for()
    page.locator('.agents input[value="belief:1k"]').uncheck()
    for agent in ("oos:50", "ismcts:50"):
        page.get_by_label("Another agent").fill(agent)
        page.get_by_role("button", name="Add").click()
    page.get_by_label("Games a pair").fill("40")
    page.get_by_role("button", name="Start").click()
    page.locator(".plot .heatmap-label").first.wait_for(timeout=240_000)
    page.get_by_text("finished").wait_for(timeout=240_000)
    page.locator(".plot .heatmap-label").nth(5).wait_for()
    filled = [[score is not None for score in row] for row in chart(page, "data[0].z")]
    assert filled == [[i != j for j in range(3)] for i in range(3)]
    assert page.locator(".plot .heatmap-label", has_text="±").count() == 6
    assert page.locator(".plot .scatterlayer .errorbar").count() == 3
    page.locator(".plot .heatmap-label").first.hover(force=True)
    page.locator(".plot .hoverlayer", has_text="wins").wait_for()
    page.get_by_text("As a table").click()
    assert page.locator(".cross td.filled:visible").count() == 6
    assert page.locator(".elo tbody tr").count() == 3
    address = page.url
    page.goto("/#/arena")
    page.locator("button.card", has_text="oos:50").first.click()
    page.locator(".plot .heatmap-label").first.wait_for()
    assert page.url == address


def test_a_match_is_drawn_while_it_is_played(page: Any, server: Serving) -> None:
    asked = {"game": "kuhn", "agents": ["random", "uniform", "oos:3k"], "games": 100_000}
    id = httpx.post(f"{server.url}api/arena", json=asked, timeout=60).json()["id"]
    page.goto(f"/#/arena/{id}")
    page.locator(".plot .heatmap-label").nth(1).wait_for(timeout=120_000)
    page.get_by_text("random against oos:3k").wait_for()
    page.locator(".plot .annotation", has_text="…").nth(1).wait_for()
    assert page.locator(".plot .heatmap-label").count() == 2
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("stopped").wait_for()
    page.locator(".plot .annotation").first.wait_for(state="detached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_fit_a_phone(browser: Any, server: Serving, scheme: Any) -> None:
    name = f"deep/a-run-with-a-rather-long-name-{scheme}"
    run_in(server.runs / name, [{"iterations": n, "exploitability": 1 / n} for n in range(1, 200)])
    asked = {"game": "kuhn", "agents": ["random", "uniform", "oos:1", "oos:2", "ismcts:1", "ismcts:2"], "games": 4}
    id = httpx.post(f"{server.url}api/arena", json=asked, timeout=60).json()["id"]
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True, "color_scheme": scheme}
    context = browser.new_context(base_url=server.url, **phone)
    page = context.new_page()
    for address, drawn in ((f"/#/runs/{name.replace('/', '%2F')}", ".scatterlayer .trace"), (f"/#/arena/{id}", ".heatmap-label")):
        page.goto(address)
        page.locator(f".plot {drawn}").first.wait_for(timeout=120_000)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        written = page.locator(".plot .xtick text").first.evaluate("text => getComputedStyle(text).fill")
        assert written == page.evaluate("getComputedStyle(document.body).color")
    context.close()


RUNS = {
    "nested": ("[" * 100_000, "[" * 100_000 + "\n"),
    "surrogates": ('{"game": "\\ud800", "method": "\\u0007", "seed": 1}', '{"iterations": 1, "\\ud800": 1}\n'),
    "numbers": ('{"game": 7, "seed": %s}' % ("9" * 4000), '{"iterations": %s, "e": 1e999, "f": NaN}\n' % ("9" * 4000)),
    "long": ('{"game": "%s"}' % ("x" * 3_000_000), ""),
    "latin": ("\xff", "\xff\n"),
}  # fmt: skip


def test_one_bad_run_stops_nobody(local: Local, tmp_path: Path) -> None:
    run_in(tmp_path / "good", [{"iterations": 1, "exploitability": 1.0}])
    for name, (asked, metrics) in RUNS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(asked, encoding="latin-1")
        (tmp_path / name / "metrics.jsonl").write_text(metrics, encoding="latin-1")
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "metrics.jsonl").symlink_to("/nonexistent")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "metrics.jsonl")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "loop.nebel").symlink_to(tmp_path / "loop.nebel")
    listed = local.get("/api/runs")
    assert listed.status_code == 200
    assert {run["name"] for run in listed.json()["runs"]} == {"good", *RUNS}
    assert local.get("/api/runs/curves", run="good", y="exploitability").json()["points"] == {"good": 1}
    for name in (*RUNS, "gone", "pipe", "loop"):
        assert local.get("/api/runs/curves", run=name, y="exploitability").status_code in (400, 404)
    assert local.get("/api/look/roots", agent=f"{tmp_path.name}/loop.nebel", game="kuhn", player=0).status_code == 400
