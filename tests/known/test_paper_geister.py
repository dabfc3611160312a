"""The report on Geister's variants: exact values, bounds, and its form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nebel.cli import main
from nebel.learn.presets import preset_of
from nebel.papers import geister_deep_cfr
from nebel.papers.geister_dream import PAPER, Scale, Study
from nebel.papers.paper import Terms, compute
from nebel.policy.io import load_policy, policy_path
from nebel.policy.net import NetPolicy

pytestmark = pytest.mark.long
TINY = Scale(("x2y3g2b0", "x4y3g4b0"), 3_000, 200, 1e-3, 40, 1_000, 100, 2_000, 1)


class Small(Study):
    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self.scale = TINY


def test_variants_are_solved_and_merged() -> None:
    sections = [name for name in PAPER.sections if name != "replica"]  # the commands of the paper's page run that
    report = compute(PAPER._replace(study=Small), sections, Terms(quick=True))
    solved, merged, larger = (report.data()["sections"][name] for name in ("solved", "merged", "larger"))
    small, wide = solved["variants"]
    assert (small["variant"], small["limit"], small["histories"]) == ("x2y3g2b0", 8, 1703)
    assert wide["limit"] == 2
    for variant in solved["variants"]:
        assert variant["exploitability"] < 2e-3
        assert abs(sum(variant["endings"].values()) - 1.0) < 1e-9
    (row,) = merged["variants"]
    low, high = row["exploitability"]
    assert 0.0 < low <= high < 0.4
    assert row["won_of_100"][0] + row["won_of_100"][1] > 113.63  # of 200: the paper's
    assert merged["left_out"] == ["x4y3g4b0"]
    (purple,) = larger["variants"]
    assert (purple["variant"], purple["exploitability"]) == ("x4y3g4b0", [1.0, 1.0])
    assert sum(purple["won_of_100"]) > 152.44
    learned = report.data()["sections"]["learned"]
    assert [each["limit"] for each in learned["judged"]] == [8, 2] * 3
    lost = {(each["method"], each["variant"]): [mark["exploitability"] for mark in each["curve"]] for each in learned["judged"]}
    assert all(0.0 < mark < 1.0 for method in ("dream", "mmd-ppo", "vr-deep-dcfr+") for mark in lost[method, "x2y3g2b0"])
    assert lost["dream", "x4y3g4b0"] == [0.0, 0.0]  # after two plies nobody has won
    for run in learned["played"]:
        for mark in run["curve"]:
            seen = mark["seen"]
            for won, won_by in zip(seen["won"], seen["won_by"], strict=True):
                assert 0.2 < won == pytest.approx(sum(won_by.values()))
            assert 0.0 <= seen["blue_first"] <= 1.0
            assert all(loss > 0.0 for loss in mark["losses"].values())
    assert [sorted(run["curve"][0]["losses"]) for run in learned["played"][::2]] == [
        ["baseline_loss_0", "baseline_loss_1"],
        ["critic_loss"],
    ]
    page = report.html()
    assert all(f"Fig. {k}:" in page for k in (5, 6, 7, 9, 10, 11, 12))


def test_networks_with_and_without_history() -> None:
    tiny = geister_deep_cfr.QUICK._replace(opponents=("random-escape",), far=())
    sections = [name for name in geister_deep_cfr.PAPER.sections if name != "replica"]
    report = compute(geister_deep_cfr.PAPER._replace(study=lambda terms: geister_deep_cfr.Study(terms, tiny)), sections, Terms(quick=True))
    runs = report.data()["sections"]["history"]["runs"]
    assert [(run["method"], run["kind"], run["seed"]) for run in runs] == [
        (method, kind, seed) for method in ("deep-cfr", "mmd-ppo") for kind in geister_deep_cfr.KINDS for seed in (1, 2)
    ]
    assert set(report.data()["sections"]["history"]["gaps"]) == {"deep-cfr", "mmd-ppo"}
    (row,) = report.data()["sections"]["opponents"]["pairs"]
    assert row["shipped:geister"] > 0.85
    players = {each["player"]: each for each in report.data()["sections"]["escapes"]["players"]}
    assert players["random"]["won"] < 0.5 < players["shipped:geister"]["won"]
    assert players["shipped:geister"]["escaped"] > 0.5 * players["shipped:geister"]["won"]
    for run in runs:
        for mark in run["curve"]:
            assert 0.0 < mark["purple"]["won"] + mark["purple"]["drawn"] < 1.0
            assert mark["purple"]["escaped"] <= mark["purple"]["won"]
    again = report.data()["sections"]["shipped"]
    assert (again["iterations"], again["pairs"][0]["shipped:geister"]) == (2, row["shipped:geister"])
    page = report.html()
    assert all(f"Fig. {k}" in page for k in (3, 4, 5, 6))


def test_the_recipe_of_the_shipped_network_is_a_command(tmp_path: Path) -> None:
    out = tmp_path / "ghosts.nebel"
    command = geister_deep_cfr.RECIPE.format(1).replace("ghosts.nebel", str(out)).split()
    assert main(command[1:]) == 0
    by_command, by_report = load_policy(out), geister_deep_cfr.learned_again(1)
    assert isinstance(by_command, NetPolicy)
    assert isinstance(by_report, NetPolicy)
    for one, other in zip(by_command.layers, by_report.layers, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
    came = load_policy(policy_path("shipped:geister"))
    assert {**preset_of("mmd-ppo", "geister"), **came.facts["settings"]} == came.facts["settings"]
    assert (came.facts["seed"], came.facts["iterations"], came.recall) == (1, geister_deep_cfr.USUAL.again, "clock")


def test_an_unknown_section_is_refused() -> None:
    assert main(["paper", "geister_dream", "--only", "fig9"]) == 2
