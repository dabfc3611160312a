"""The report on the Cheat paper: its exact figures, what its agents carry from game to game, and its form."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from fractions import Fraction

import pytest

from nebel.cli import main
from nebel.core.registry import load
from nebel.match.agents import PolicyAgent
from nebel.papers import cheat_cost, cheat_curriculum, cheat_study, cheat_wins
from nebel.papers.cheat import PAPER
from nebel.papers.cheat_cost import TABLE, simplest
from nebel.papers.cheat_curriculum import CARRIED, PAPERS, SCRATCH, Ladder, _judged, at_cost
from nebel.papers.cheat_study import FULL, HEURISTIC, QUICK, RANDOM, Scale, Study
from nebel.papers.paper import Report, Terms, compute
from nebel.policy.adopt import adopt
from nebel.report.parts import Table
from nebel.solve.curriculum import solve_family
from nebel.solve.run import Budget, Job

pytestmark = pytest.mark.long
TINY = Scale(games=1000, seeds=1, table=(3,), health=("2", "3"), carried=50, tops=(2,), longest=20, limit=10, exact=2)
SECTIONS = ["table1", "values", "fig1", "fig2", "exact"]


@pytest.fixture(scope="module")
def report() -> Report:
    return compute(PAPER._replace(study=lambda terms: Study(terms, TINY)), SECTIONS, Terms(quick=True))


@pytest.fixture
def study() -> Iterator[Study]:
    made = Study(Terms(quick=True), TINY)
    yield made
    made.close()


def test_information_sets_stand_beside_the_papers(report: Report) -> None:
    found = report.data()["sections"]["table1"]
    sets = {name: found[f"{name}-3"]["information_sets"] for name in TABLE[3]}
    assert [held["all"] for held in sets.values()] == [483, 2098, 15933, 16063]
    for name, held in sets.items():
        assert 0.97 * held["all"] <= held["met"] <= held["all"]
        assert held["played"] <= held["met"]
        if name != "Memoryless":
            assert held["played"] == pytest.approx(TABLE[3][name][1], rel=0.03)
    ours, theirs = sets["General"]["all"] / sets["History-Aware"]["all"], TABLE[3]["General"][1] / TABLE[3]["History-Aware"][1]
    assert ours == pytest.approx(theirs, abs=5e-4)


def test_values_are_fractions(report: Report) -> None:
    found = report.data()["sections"]["values"]
    assert [held["value"]["simplest"] for held in found.values() if isinstance(held, dict)] == ["1/45", "2/15", "0", "0"]


def test_agents_learn_to_beat_the_bots(report: Report) -> None:
    found = report.data()["sections"]["fig1"]
    for curve in found["curves"].values():
        assert [point["iterations"] for point in curve] == list(range(5, 101, 5))
        for bot in ("random", "heuristic"):
            assert curve[-1][bot] > max(0.55, curve[0][bot])
    assert found["curves"]["Memoryless"][-1]["heuristic"] > 0.68


def test_everybody_meets_everybody(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one agent: each pair of recalls is compiled by itself."""
    monkeypatch.setattr(cheat_wins, "AGENTS", {"Memoryless": "memoryless"})
    met = cheat_wins.arena(study).data
    assert met["players"] == ["Memoryless-3", RANDOM, HEURISTIC]
    assert all(met["won"][i][j] + met["won"][j][i] == pytest.approx(1) for i in range(3) for j in range(3))
    assert met["won"][0][1] > met["won"][0][2] > 0.6


def test_health_is_what_does_not_generalise(report: Report) -> None:
    found = report.data()["sections"]["fig2"]["exploitability"]
    hurt = {name: found[f"{name} in Cheat-2"] for name in ("Memoryless", "HP-Aware")}
    assert hurt["HP-Aware"]["learned in Cheat-3"] > 1.5 * hurt["HP-Aware"]["learned there"]
    assert hurt["Memoryless"]["learned in Cheat-3"] < 1.2 * hurt["Memoryless"]["learned there"]


def test_memory_of_health_is_a_burden_in_the_large_game(report: Report) -> None:
    found = report.data()["sections"]["fig2"]
    assert list(found["games"].items())[-1] == ("large", load("cheat:large").string)
    memoryless, hp_aware = (found["wins"][name]["Random"][-1] for name in ("Memoryless", "HP-Aware"))
    assert 0.75 < hp_aware < memoryless - 0.05
    assert memoryless > 0.95
    (table,) = (part for part in report.sections["fig2"].parts if part.title == "Games won")
    assert table.head == ("player", "against", "hp 2", "hp 3", "large")
    assert {len(row) for row in table.rows} == {5}


def test_more_memory_and_more_iterations_end_lower(report: Report) -> None:
    found = report.data()["sections"]["exact"]
    judged = {name: held for name, held in found.items() if isinstance(held, dict)}
    assert set(judged) == {f"{name}-{hp}" for name in (*TABLE[3], "Perfect recall") for hp in (1, 2)}
    assert all(0 < held["cfr+"] < held["chance_sampled"] for held in judged.values())


def test_the_page_is_well_formed(report: Report) -> None:
    root = ET.fromstring(report.html().removeprefix("<!doctype html>\n"))
    assert [section.attrib["id"] for section in root.iter("section")] == SECTIONS


def test_what_is_brought_along_plays_like_the_smaller_games_policy(study: Study) -> None:
    game, policy = adopt(load("cheat:3"), study.learn(2, "hp-aware").policy)
    begun = study.learn(3, "hp-aware", carried=True).curve[0]
    assert begun.iterations == 0
    expected = [study.wins(game, PolicyAgent("adopted", policy), bot) for bot in (RANDOM, HEURISTIC)]
    assert [begun.random, begun.heuristic] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("recall", ["hp-aware", "history-aware", "perfect"])
def test_the_ladder_is_the_curriculum(study: Study, recall: str) -> None:
    job = Job("cheat:2", "chance-sampled", recall, curriculum={"curriculum": "hp=1..2", "carry_average": 1})
    verdict = solve_family(job, Budget(iterations=100)).verdict
    assert verdict is not None
    climbed = Ladder(study, recall).climb(2, CARRIED, 1, [100])
    assert climbed[-1][1] == pytest.approx(verdict.exploitability)
    fresh = Ladder(study, recall).climb(2, SCRATCH, 1, [100])
    assert fresh[-1][0] < climbed[-1][0] < 1.1 * fresh[-1][0]  # the smaller game is cheap, and is counted


def test_curriculum_leads_at_first(study: Study) -> None:
    parts, found = _judged(study, 2)
    assert len(parts) == 5 + 2
    assert all(carried < fresh for name in TABLE[3] for _, fresh, carried, _ in found[name]["at_equal_cost"][:2])
    assert set(found["ways"]["from nothing"]) == {*TABLE[3], "Perfect recall"}


def test_costs_between_points_and_simplest_fractions() -> None:
    assert at_cost([(10, 1.0), (1000, 0.01)], 100) == pytest.approx(0.1)
    assert at_cost([(10, 1.0), (1000, 0.01)], 9) is None
    assert simplest(0.33, 0.34) == Fraction(1, 3)
    assert simplest(-1e-7, 1e-7) == 0


def test_command_line_knows_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "cheat", "--only", "fig4"]) == 2
    said = capsys.readouterr().err
    assert "cheat has no section 'fig4' (did you mean fig3, fig2 or fig1?)" in said
    assert "it has: table1, values, fig1, fig2, fig3, exact, arena" in said


def test_at_full_size_agents_learn_as_in_the_paper_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one agent, few iterations and few games: one deal an iteration meets about half as many histories as two."""
    assert FULL.by_paper
    assert not QUICK.by_paper
    for room in (cheat_cost, cheat_curriculum, cheat_wins):
        monkeypatch.setattr(room, "AGENTS", {"Memoryless": "memoryless"})
    monkeypatch.setattr(cheat_wins, "GENERAL", ("Memoryless",))
    monkeypatch.setattr(cheat_study, "ITERATIONS", 10)
    monkeypatch.setattr(cheat_cost, "MOST_ENUMERATED", 0)
    made = Study(Terms(quick=True), TINY._replace(games=100, health=("3",), carried=5, tops=(), exact=0, by_paper=True))
    costs = cheat_cost.table1(made)
    one, two = costs.data["by_paper"]["Memoryless-3"]["histories_met"], costs.data["Memoryless-3"]["histories_met"]
    assert 0.4 * two < one < 0.6 * two
    curves, elsewhere, carried = cheat_wins.fig1(made), cheat_wins.fig2(made), cheat_curriculum.fig3(made)
    assert curves.data["by_paper"]["Memoryless"] != curves.data["curves"]["Memoryless"]
    assert elsewhere.data["wins"].keys() == {"Memoryless, as in the paper", "Memoryless"}
    assert carried.data["by_paper"]["Memoryless"].keys() == carried.data["wins"]["Memoryless"].keys()
    for section in (costs, curves, elsewhere, carried):
        tables = [part.title for part in section.parts if isinstance(part, Table)]
        assert tables[0].endswith("as in the paper") or section is elsewhere
    made.close()


def test_the_papers_way_up_the_ladder(study: Study) -> None:
    """Plain weights, single deals, and the carried average first: what `nebel solve` does with these options."""
    settings = {"weights": "plain", "deals": 1}
    job = Job("cheat:2", "chance-sampled", "hp-aware", settings=settings, curriculum={"curriculum": "hp=1..2", "first_strategy": "average"})
    verdict = solve_family(job, Budget(iterations=100)).verdict
    assert verdict is not None
    assert Ladder(study, "hp-aware").climb(2, PAPERS[1], 1, [100])[-1][1] == pytest.approx(verdict.exploitability)
