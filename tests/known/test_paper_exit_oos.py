"""The paper on ExIt-OOS: its sections at the smallest size."""

from __future__ import annotations

import pytest

from nebel.learn.presets import preset_of
from nebel.papers.exit_oos import PAPER, PUBLISHED
from nebel.papers.exit_oos_replica import LARGE, PAPER_SIZE, PRESETS, SMALL, plans
from nebel.papers.exit_oos_study import KEPT, SETTINGS, Plan, Scale, Study
from nebel.papers.paper import Terms, compute
from nebel.report.parts import Table

TINY = {"simulations": 5, "games": 2, "steps": 2, "hidden": "8"}
SCALE = Scale((5, 10), 0.0, dict.fromkeys(KEPT, Plan(TINY, 0.0, ())), 10, 4, 2, "20", "10", "1")


def test_the_report() -> None:
    paper = PAPER._replace(study=lambda terms: Study(terms, SCALE))
    report = compute(paper, [], Terms(quick=True))
    assert list(report.sections) == ["replica", "fig1", "table1", "table2", "table3"]
    runs = {run["name"]: run for run in report.sections["replica"].data["runs"]}
    assert list(runs) == ["leduc-5-1", "leduc-10-1", "goofspiel-6-1", "goofspiel-13-1"]
    assert [at for at, _ in runs["leduc-5-1"]["measured"]["curve"]][-1] == 2
    assert [row["iterations"] for row in runs["goofspiel-6-1"]["measured"]["ages"]] == [1, 2]
    leduc, _, small, large, rated = report.sections["replica"].parts
    for part in (leduc, small, large, rated):
        assert isinstance(part, Table)
        assert all(len(row) == len(part.head) for row in part.rows)
    curves = report.sections["fig1"].data["curves"]
    assert curves.keys() == {"5 simulations", "10 simulations"}
    assert all(0.0 < points[-1][1] < 5.0 for points in curves.values())
    for name, game in (("table1", SMALL), ("table2", LARGE)):
        (table,) = report.sections[name].parts
        assert isinstance(table, Table)
        assert len(table.rows) == 1 + len(PUBLISHED[game])
        assert all(len(row) == len(table.head) for row in table.rows)
    rated = {rating["agent"] for rating in report.sections["table3"].data["ratings"]}
    assert rated == {"network after 1", "network + oos:10", "random", "oos:10", "oos:20", "ismcts:20", "ismcts:20,selection=rm"}
    html = report.html()
    assert "ISMCTS" in html or "ismcts" in html
    assert "<svg" in html


def test_the_papers_settings_get_its_iterations_and_its_presets() -> None:
    by_game = {plan.job.game: plan for plan in plans(PAPER_SIZE, 1)}
    for game, preset in PRESETS.items():
        plan = by_game[game]
        assert plan.job.settings == {**preset_of("exit-oos", preset), "simulations": plan.job.settings["simulations"]}
    assert [(by_game[game].iterations, by_game[game].job.settings["simulations"]) for game in KEPT] == [(2500, 10_000), (500, 10_000)]
    assert [plan.job.settings["simulations"] for plan in plans(PAPER_SIZE, 1)[:3]] == [5_000, 10_000, 100_000]


def test_networks_are_kept_at_their_ages() -> None:
    study = Study(Terms(), SCALE._replace(plans={SMALL: Plan(TINY, 5.0, (1, 2))}))
    ages = study.trained(SMALL)
    assert [aged.iterations for aged in ages[:2]] == [1, 2]
    assert ages[-1].iterations > 2
    assert study.trained(SMALL) is ages
    result = study.match(SMALL, study.network(ages[0]), study.network(ages[0]), 50)
    assert result.points == 0.5
    study.close()


@pytest.mark.parametrize("game", KEPT)
def test_the_papers_iterations_are_kept(game: str) -> None:
    assert tuple(PUBLISHED[game]) == KEPT[game]
    assert SETTINGS[game]["hidden"] in ("128-64", "128-128-64")
