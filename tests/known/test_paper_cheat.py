"""The report on the Cheat paper: its exact figures, what its agents carry from game to game, and its form."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from nebel.cli import main
from nebel.core.errors import BadFile
from nebel.core.registry import load
from nebel.core.tree import grow
from nebel.match.agents import PolicyAgent
from nebel.papers import cheat_cost, cheat_study, cheat_wins
from nebel.papers.cheat import PAPER
from nebel.papers.cheat_cost import TABLE, simplest
from nebel.papers.cheat_curriculum import CARRIED, PAPERS, SCRATCH, Ladder, _judged, at_cost
from nebel.papers.cheat_kept import kept
from nebel.papers.cheat_readings import information_sets
from nebel.papers.cheat_study import FULL, HEURISTIC, QUICK, RANDOM, Scale, Study, Wanted, half_interval
from nebel.papers.paper import Report, Terms, compute
from nebel.policy.adopt import adopt
from nebel.report.parts import Table
from nebel.solve.curriculum import solve_family
from nebel.solve.run import Budget, Job

pytestmark = pytest.mark.long
TINY = Scale(games=1000, seeds=1, table=(3,), health=("2", "3"), carried=50, tops=(2,), longest=20, limit=10, exact=2)
SECTIONS = ["table1", "challenges", "fig1", "fig2", "readings", "values", "exact"]


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
        (met,), (played,) = held["met"], held["played"]
        assert 0.97 * held["all"] <= met <= held["all"]
        assert played <= met
        if name != "Memoryless":
            assert played == pytest.approx(TABLE[3][name][1], rel=0.03)
    ours, theirs = sets["General"]["all"] / sets["History-Aware"]["all"], TABLE[3]["General"][1] / TABLE[3]["History-Aware"][1]
    assert ours == pytest.approx(theirs, abs=5e-4)


def test_values_are_fractions(report: Report) -> None:
    found = report.data()["sections"]["values"]
    assert [held["value"]["simplest"] for held in found.values() if isinstance(held, dict)] == ["1/45", "2/15", "0", "0"]


def test_agents_learn_to_beat_the_bots(report: Report) -> None:
    found = report.data()["sections"]["fig1"]
    for (curve,) in found["curves"].values():
        assert [point["iterations"] for point in curve] == list(range(5, 101, 5))
        for bot in ("random", "heuristic"):
            assert curve[-1][bot] > max(0.55, curve[0][bot])
    assert found["curves"]["Memoryless"][0][-1]["heuristic"] > 0.68


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
    memoryless, hp_aware = (found["wins"][name]["Random"][-1][0] for name in ("Memoryless", "HP-Aware"))
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
    game, policy = adopt(load("cheat:3"), study.taught(2, "hp-aware", 1).policy)
    begun = study.curves(3, "hp-aware", carried=True)[0][0]
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
    assert "it has: table1, challenges, fig1, fig2, fig3, readings, values, curriculum, exact, arena" in said


def test_at_full_size_agents_learn_as_in_the_paper_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one agent, few iterations and few games: one deal an iteration meets about half as many histories as two."""
    assert FULL.by_paper
    assert not QUICK.by_paper
    for room in (cheat_cost, cheat_wins):
        monkeypatch.setattr(room, "AGENTS", {"Memoryless": "memoryless"})
    monkeypatch.setattr(cheat_wins, "GENERAL", ("Memoryless",))
    monkeypatch.setattr(cheat_study, "ITERATIONS", 10)
    made = Study(Terms(quick=True), TINY._replace(games=100, health=("3",), carried=5, tops=(), exact=0, by_paper=True))
    costs = cheat_cost.table1(made)
    (one,), (two,) = costs.data["by_paper"]["Memoryless-3"]["histories_met"], costs.data["Memoryless-3"]["histories_met"]
    assert 0.4 * two < one < 0.6 * two
    curves, elsewhere, carried = cheat_wins.fig1(made), cheat_wins.fig2(made), cheat_wins.fig3(made)
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


@pytest.mark.parametrize(
    ("recall", "sets"),
    [
        ("memoryless", (84, 478, 483)),
        ("memoryless-pile", (84, 529, 534)),
        ("hp-aware", (84, 740, 2098)),
        ("hp-aware-pile", (84, 782, 2234)),
    ],
)
def test_information_sets_are_counted_over_states(recall: str, sets: tuple[int, ...]) -> None:
    assert tuple(information_sets(hp, recall) for hp in (1, 2, 3)) == sets
    listed = grow(load("cheat:2"), recall).sides
    assert [len(side.keys) for side in listed] == [sets[1], sets[1]]


def test_two_readings_stand_beside_the_paper(report: Report) -> None:
    found = report.data()["sections"]["readings"]
    for recall, paper, all_sets in (
        ("memoryless", 535, 483),
        ("memoryless-pile", 535, 534),
        ("hp-aware", 2013, 2098),
        ("hp-aware-pile", 2013, 2234),
    ):
        held = found[f"{recall}, Cheat-3"]
        assert (held["paper"], held["all"]) == (paper, all_sets)
        assert held["played"][0] <= held["met"][0] <= held["all"]


def test_challenges_of_random_play_are_counted(report: Report) -> None:
    """Beside a count through `State`."""
    found = report.data()["sections"]["challenges"]["Random, Random"]
    rng, counts = random.Random(5), []
    for seed in range(200):
        state = load("cheat(hp=none)").start().deal(seed)
        while not state.over:
            state.push(rng.choice(state.legal()))
        counts.append(state.moves_text().split().count("challenge"))
    mean, half = float(np.mean(counts)), 2.6 * float(np.std(counts)) / 200**0.5
    assert abs(found["mean"] - mean) < half + 2 * found["half_interval"]


def test_a_killed_report_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that was measured before is read from the folder, and nothing is learned."""
    terms, wanted = Terms(quick=True, runs=tmp_path / "runs"), [Wanted(1, "memoryless", 1, by_paper=True)]
    first = Study(terms, TINY).learn_all(wanted)
    monkeypatch.setattr(Study, "_learn", None)
    assert Study(terms, TINY).learn_all(wanted) == first
    (path,) = (tmp_path / "runs").iterdir()
    path.write_text(path.read_text().replace('"nebel": "', '"nebel": "0.0.'))
    with pytest.raises(BadFile, match=r"was computed by nebel 0\.0\..*; give another folder"):
        Study(terms, TINY).learn_all(wanted)
    path.write_text("{")
    with pytest.raises(BadFile, match="is damaged; remove it"):
        Study(terms, TINY).learn_all(wanted)


def test_results_are_kept_by_name(tmp_path: Path) -> None:
    assert kept(None, "a", lambda: 1) == 1
    assert [kept(tmp_path, "A b", lambda: 1), kept(tmp_path, "A b", lambda: 2), kept(tmp_path, "A c", lambda: 2)] == [1, 1, 2]


def test_intervals_are_of_the_mean_of_few_seeds() -> None:
    assert half_interval([0.5]) is None
    assert half_interval([0.1, 0.2, 0.3]) == pytest.approx(0.2484, abs=1e-4)
