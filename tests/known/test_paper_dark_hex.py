"""The report on the Dark Hex thesis: its exact figures, its form, and what the command line makes of it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.state import State
from nebel.core.tree import grow
from nebel.learn.presets import preset_of
from nebel.papers import dark_hex_learned
from nebel.papers.dark_hex import PAPER
from nebel.papers.dark_hex_arena import guarantees, round_robin, scores
from nebel.papers.dark_hex_examples import EXAMPLES, Example, winning_cells
from nebel.papers.dark_hex_game import missed, remembered
from nebel.papers.dark_hex_learned import _settings, remembering_network
from nebel.papers.dark_hex_strategies import _openings, against_response, simplified
from nebel.papers.dark_hex_study import SWEPT, Scale, Study, Wins, done_text
from nebel.papers.paper import Report, Terms, compute
from nebel.policy.strategy import read_strategy
from nebel.policy.table import Uniform
from nebel.report.boards import with_shares
from nebel.report.charts import Axis, Cell, bars, heat, lines
from nebel.report.charts import Scale as Ruler
from nebel.report.page import page
from nebel.report.parts import Figure, Section, Table
from nebel.solve.run import Budget

CHEAP = ["sizes", "recall", "sure-wins", "pruning"]


@pytest.fixture(scope="module")
def cheap() -> Report:
    return compute(PAPER, CHEAP, Terms(quick=True))


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_charts_are_well_formed_and_show_their_numbers() -> None:
    drawn = lines("a < b", {"x & y": [(1, 0.5), (10, 0.0), (100, 1e-3)]}, Axis("t", log=True), Axis("v", log=True))
    assert {"x & y", "1", "10", "100", "0.01"} <= set(texts(drawn))
    drawn = bars("bars", ["<one>", "two"], {"ours": [1500, None], "theirs": [20.5, 3]}, Axis("n"))
    assert {"<one>", "1,500", "20.5", "3"} <= set(texts(drawn))
    assert drawn.count("<rect") == 2 + 3  # two in the legend, three bars
    drawn = heat("heat", ["a"], ["b", "c"], [[Cell(0.25, "±0.01", "a & b"), Cell(None)]])
    assert "0.250" in texts(drawn)
    assert "±0.01" in texts(drawn)


def test_a_long_legend_takes_more_lines_and_stays_inside() -> None:
    names = [f"a series with a long name {i}" for i in range(5)]
    root = ET.fromstring(lines("many", {name: [(0, 0), (1, 1)] for name in names}, Axis("x"), Axis("y")))
    _, top, width, _ = map(float, root.attrib["viewBox"].split())
    shown = [element for element in root if element.text in names]
    assert len(shown) == len(names)
    assert len({element.attrib["y"] for element in shown}) > 1
    assert all(float(element.attrib["y"]) >= top and float(element.attrib["x"]) < width for element in shown)


@pytest.mark.parametrize(
    ("axis", "values"), [(Axis("", log=True), [1e-5, 30]), (Axis(""), [-1, 1]), (Axis(""), [7, 7]), (Axis("", log=True), [0, 0])]
)
def test_ticks_stand_within_their_axis_and_in_order(axis: Axis, values: list[float]) -> None:
    scale = Ruler(axis, values, 0, 100)
    places = [scale(tick) for tick in scale.ticks]
    assert len(places) >= 2
    assert places == sorted(places)
    assert places[0] >= 0
    assert places[-1] <= 100


def test_boards_carry_probabilities_on_their_cells() -> None:
    state = nebel.game("dark_hex:4x3").start().push("b2")
    drawn = with_shares(state.svg(0), {"b1": 0.625, "c1": 0.375, "a4": 0.0001})
    assert {".625", ".375"} <= set(texts(drawn))
    assert ".000" not in texts(drawn)
    assert len(texts(drawn)) == 12 + 2


def test_pages_escape_what_they_are_told_and_need_nothing_else() -> None:
    parts = [
        Table("t < u", ("a", "b"), [("x & y", "1,000")], "note <b>"),
        Figure("f", [("caption >", heat("h", ["r"], ["c"], [[Cell(0.5)]]))]),
    ]
    text = page("title & all", "cite", "intro", {"one": Section("First", "lead", parts)}, "made")
    root = ET.fromstring(text.removeprefix("<!doctype html>\n"))
    assert root.find(".//section[@id='one']") is not None
    assert [cell.attrib.get("class") for cell in root.iter("td")] == [None, "n"]
    assert not re.search(r"(src|href)=\"(?!#)|<script|@import|url\(", text)
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("board", [(2, 2), (3, 2)])
def test_information_states_of_perfect_recall_are_those_of_the_tree(board: tuple[int, int]) -> None:
    tree = grow(nebel.game(f"dark_hex:{board[0]}x{board[1]}"))
    assert [remembered(*board, player) for player in range(2)] == tree.information_states()


def test_exact_figures(cheap: Report) -> None:
    sections = cheap.data()["sections"]
    boards = {row["board"]: row for row in sections["sizes"]["boards"]}
    assert boards["3x3"]["histories"] == 19_119_486_979
    assert boards["3x3"]["information_states"] == {"perfect": [3_720_850, 2_352_067], "board": [6_293, 6_263]}
    assert boards["4x3"]["information_states"] == {"perfect": [7_564_694_557, 36_825_994_597], "board": [170_664, 197_255]}
    assert sections["sure-wins"]["boards"]["4x3"]["Black"] == [29863, 19336, 13217, 5874, 1340, 122]
    assert sections["pruning"]["information_states"]["pruned"] == [100_912, 60_779]


def test_forgetting_costs_little_on_3x2(cheap: Report) -> None:
    found = cheap.data()["sections"]["recall"]["best_response"]
    assert found["perfect"][0] == pytest.approx(found["board"][0])  # both uniform
    for name in ("perfect", "board"):
        gaps = [first + second for first, second in found[name]]
        assert gaps[-1] < 0.01 < gaps[0]
        assert min(gaps) >= -1e-12
    assert abs(found["perfect"][-1][0] - found["board"][-1][0]) < 0.01


def test_the_report_contains_every_section(cheap: Report) -> None:
    html = cheap.html()
    ET.fromstring(html.removeprefix("<!doctype html>\n"))
    for name in CHEAP:
        assert f'<section id="{name}">' in html
        assert f'href="#{name}"' in html
    assert "19,119,486,979" in html


def replies(state: State, plan: list[str]) -> Iterator[State]:
    """Each board once after Black has tried these cells in order until one is free, and White has moved in any way."""
    for cell in plan:
        state = state.copy().push(cell)
        if state.turn != 0 or state.over:
            break
    waiting, met = [state], set[bytes]()
    while waiting:
        state = waiting.pop()
        if (board := state.position.tobytes()) in met:
            continue
        met.add(board)
        if state.over or state.turn == 0:
            yield state
        else:
            waiting += [state.copy().push(move) for move in state.options()]


@pytest.mark.parametrize(
    ("game", "moves", "score"),
    [
        ("dark_hex:3x3", "a3 b2 b2 a2 a2 b1 a1", 1.0),  # Fig. 2.4
        ("dark_hex:3x3", "a3 b2 b2 a2 a2 c2 a1", 1.0),  # Fig. 3.1
        ("dark_hex(rows=3,cols=3,abrupt=true)", "a3 b2 b2 a2 a2 c2", -1.0),  # Fig. 3.2
    ],
)
def test_games_of_the_thesis_end_as_it_says(game: str, moves: str, score: float) -> None:
    state = nebel.game(game).start()
    for move in moves.split():
        assert not state.over
        state.push(move)
    assert state.over
    assert state.score() == score


@pytest.mark.parametrize(("first", "second"), [("a1", "c1"), ("c1", "a2")])
def test_the_plan_of_figure_4_3_wins_by_the_rules(first: str, second: str) -> None:
    """Black follows the text of the thesis against every play of White, by the rules alone."""
    state = nebel.game("dark_hex:4x3").start()
    for move in ("b2", first, first, "c2", second, second):  # Black finds both stones of White
        state.push(move)
    assert state.turn == 0
    for after_b1 in replies(state, ["b1"]):
        here = after_b1.copy().push("c3")
        if here.turn == 0:  # taken
            ends = [end for mid in replies(here, ["b3"]) for end in replies(mid, ["a4", "b4"])]
        else:
            ends = []
            for mid in replies(after_b1, ["c3"]):
                for last in replies(mid, ["b4", "c4", "a4"]):
                    ends += [last] if last.over else list(replies(last, ["a3", "b3"]))
        assert ends
        assert all(end.over and end.score() == 1.0 for end in ends)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.figure}, {example.story}")
def test_moves_of_figures_4_2_and_4_3_win_for_sure(example: Example) -> None:
    assert set(example.cells) <= set(winning_cells(example.board))


def test_only_two_boards_fit_figure_4_3() -> None:
    """Of all boards without hidden stones: White threatens b1, and each move of the text wins."""
    used = {"a3", "a4", "b1", "b3", "b4", "c3", "c4"}
    names = [f"{c}{r}" for r in range(1, 5) for c in "abc"]
    free, fitting = [name for name in names if name not in used], []

    def board(own: set[str], met: set[str]) -> str:
        marks = "".join("x" if name in own else "o" if name in met else "." for name in names)
        return "/".join(marks[r : r + 3] for r in range(0, 12, 3))

    def wins(own: set[str], met: set[str], *cells: str) -> bool:
        return set(cells) <= set(winning_cells(board(own, met)))

    for count in range(1, 3):
        for own, met in product(map(set, combinations(free, count)), map(set, combinations(free, count))):
            threat = {"b1"} | met >= {"a1", "b1", "c1"} or {"b1"} | met >= {"a2", "b1", "c1"}
            if own & met or not threat or not wins(own, met, "b1"):
                continue
            own = own | {"b1"}
            if not (wins(own, met, "c3") and wins(own, met | {"c3"}, "b3") and wins(own | {"c3"}, met, "b4", "c4")):
                continue
            last = own | {"c3", "a4"}, met | {"b4", "c4"}
            if wins(own | {"c3"}, last[1], "a4") and wins(*last, "a3", "b3"):
                fitting.append(board(own - {"b1"}, met))
    assert sorted(fitting) == ["..o/oxx/.../...", "o.o/.xx/.../..."]


def test_full_size_is_that_of_the_thesis() -> None:
    with closing(Study(Terms(full=True))) as study:
        jobs = study.jobs()
        assert jobs["MCCFR-IR-p"][1] == jobs["MCCFR-IR"][1] == jobs["MCCFR-PR"][1] == 10**9
        assert study.scale.games == 100_000
        assert _settings(study, "NFSP-IR") == {**preset_of("nfsp", "dark-hex"), "pone": False}
        assert _settings(study, "NFSP-IR-p")["pone"]
        assert _settings(study, "NFSP-PR")["hidden"] == "128"


def test_runs_are_kept_and_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nebel.papers.dark_hex_study.BOARD", "dark_hex:3x2")
    terms = Terms(quick=True, runs=tmp_path)
    small = Scale(board=300, perfect=1, sweeps=1, curve=1, games=400, whole=False)
    shares = []
    for scale in (small._replace(board=100), small, small):
        with closing(Study(terms, scale)) as study:
            shares.append(study.learn(["MCCFR-IR-p"])[0])
    folder = tmp_path / "dark_hex" / "quick-seed-1" / "MCCFR-IR-p"
    assert [done_text(policy) for policy in shares] == ["100", "300", "300"]
    with closing(Study(Terms(quick=True), small)) as study:
        fresh = study.learn(["MCCFR-IR-p"])[0]
    assert all(np.array_equal(a, b) for p in range(2) for a, b in zip(fresh.shares[p], shares[1].shares[p], strict=True))
    held = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**held, "pone": False}))
    with closing(Study(terms, small)) as study, pytest.raises(nebel.Problem, match="holds a run of another job than MCCFR-IR-p"):
        study.learn(["MCCFR-IR-p"])


def test_simplified_policies_of_the_thesis_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """With stand-ins for what takes long: the policy that learned, its judgement and its tree."""
    study = Study(Terms(quick=True), Scale(board=500, perfect=1, sweeps=1, curve=1, games=400, whole=True))
    held = next(iter(study.memoryless.values()))
    for name, iterations in (("MCCFR-IR-p", 300), ("CFR+-IR-p", 7)):
        study._learning[name] = Future()
        study._learning[name].set_result(replace(held, facts={"iterations": iterations}))
    monkeypatch.setattr(study, "judge", lambda name, policy: (Wins(0.25, 0.5), Wins(0.125, 0.75)))
    monkeypatch.setattr("nebel.papers.dark_hex_strategies.against_response", lambda game, title, policy, player: Figure(title, []))
    found = simplified(study)
    study.close()
    black = found.parts[0]
    assert isinstance(black, Table)
    assert black.rows[1] == ("MCCFR-IR-p", "300", "SIP, b = 8", "0.2050", "0.2500", "0.1530", "-", "-", "0.1250")
    assert list(found.data) == ["MCCFR-IR-p", "board-4x3", "CFR+-IR-p"]
    assert "SIP of MCCFR-IR-p as White" in found.parts[-1].title


@pytest.mark.parametrize("player", [0, 1])
def test_a_strategy_is_drawn_against_its_best_response(player: int) -> None:
    figure = against_response(nebel.game("dark_hex:2x2"), "a < b", Uniform(), player)
    (_, drawn), = figure.pictures
    assert figure.title == "a < b"
    assert any(text.startswith("nothing is left out") for text in texts(drawn))
    assert any(text.startswith("loses" if player else "wins") for text in texts(drawn))


def test_scores_are_means_over_both_seats() -> None:
    as_black, as_white = scores(np.array([[0.9, 1.0, 0.5], [0.25, 0.9, 0.5], [0.0, 0.0, 0.9]]))
    assert as_black.tolist() == [0.5, -0.25, -1.0]
    assert as_white.tolist() == [0.75, 0.0, 0.0]


def test_players_learn_are_counted_and_meet() -> None:
    """The expensive sections on a tiny budget, with stand-ins for what takes long."""
    study = Study(Terms(quick=True), Scale(board=2_000, perfect=2_000, sweeps=1, curve=1, games=400, whole=False, early=1_000))
    try:
        counted = missed(study)
        learned = study.learn(["MCCFR-IR-p"])[0]
        study.__dict__["handcrafted"] = (learned, read_strategy("s2").policy(blend=True))
        study.__dict__["solution"] = (type("Result", (), {"policy": learned}), [])
        study.simpler = lambda base, settings: learned  # type: ignore[method-assign]
        study._learning[SWEPT] = study._learning["MCCFR-IR-p"]
        met = round_robin(study)
    finally:
        study.close()
    assert counted.data["MCCFR-IR-p"]["missed"] == 0 < counted.data["MCCFR-IR"]["missed"]
    names, wins = met.data["players"], met.data["black_wins"]
    assert {"HP", "SIP", "SIP+", "MCCFR-PR", "solved"} <= set(names)
    same = [names.index(name) for name in ("MCCFR-IR-p", "SIP", "solved")]  # one policy under three names has one result
    assert len({wins[i][j] for i in same for j in same}) == 1
    rankings = [part for part in met.parts if isinstance(part, Table)]
    assert [part.title for part in rankings[:3]] == ["Fig. 4.5: ranking", "Fig. 4.12: with SIP", "Fig. 4.13: with SIP+"]
    fields = [{row[0] for row in part.rows} for part in rankings[:3]]
    assert "NFSP-PR" in fields[0]
    assert "solved" not in fields[0]
    assert (fields[1] - fields[0], fields[2] - fields[1]) == ({"SIP"}, {"SIP+"})


def test_a_network_learns_with_the_order_of_moves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a smaller board; its run is kept, and continued to the same network."""
    monkeypatch.setattr("nebel.papers.dark_hex_study.BOARD", "dark_hex:3x2")
    monkeypatch.setattr(dark_hex_learned, "RESPONDERS", {"seeds": 1, "iterations": 20, "ages": 1, "games": 2000, "boards": 64})
    terms = Terms(quick=True, runs=tmp_path)
    study = Study(terms, Scale(board=1, perfect=1, sweeps=1, curve=1, games=400, whole=False, network=Budget(iterations=60)))
    first, remembering = remembering_network(study)["NFSP-PR"], remembering_network(study)
    assert all(np.array_equal(a.weights, b.weights) for a, b in zip(first.layers, remembering["NFSP-PR"].layers, strict=True))
    assert (tmp_path / "dark_hex" / "quick-seed-1" / "NFSP-PR" / "policy.nebel").exists()
    judged = guarantees(study, {}, remembering)["NFSP-PR"]
    study.close()
    assert remembering["NFSP-PR"].recall == "perfect"
    assert judged["exact"] == (None, None)
    met = judged["learned"]
    assert met.black is not None
    assert met.white is not None
    assert 0 <= met.black < 0.2 < 0.6 < met.white <= 1  # White could win always, and wins 0.2 by even play


def test_openings_follow_the_likeliest_move() -> None:
    pictures = _openings(read_strategy("s2").policy(blend=True), 1, ("", "taken"))
    assert pictures[0][0] == "White, to begin with: c1 .500, a4 .500"
    assert pictures[1][0] == "White, after c1 taken: a4 1"
    assert ".500" in texts(pictures[0][1])


def test_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "deep" / "report.html"
    assert main(["paper", "dark_hex", "--quick", "--only", "sure-wins", "--out", str(out), "--json"]) == 0
    told = capsys.readouterr()
    data = json.loads(told.out)
    assert data["report"] == str(out)
    assert list(data["sections"]) == ["sure-wins"]
    assert data["sections"]["sure-wins"]["boards"]["2x2"] == {"Black": [11, 2], "White": [8, 10, 4]}
    assert "sure-wins: " in told.err
    assert "46,086" in out.read_text()
    assert main(["paper", "dark_hex", "--only", "sure-wins", "--out", str(out)]) == 0
    assert "136,476" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["dark_hex", "--only", "sizes,wins"], "no section 'wins' (did you mean sure-wins or missed-wins?); it has: solution, sizes"),
        (["geister"], "no paper 'geister' (did you mean geister_dream or geister_deep_cfr?); papers: dark_hex"),
        (["dark_hex", "--only", "sure-wins", "--out", "."], "--out: '.' is a folder"),
    ],
)
def test_bad_input_gets_one_line(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", *words]) == 2
    told = capsys.readouterr().err
    assert complaint in told
    assert told.count("\n") == 1
