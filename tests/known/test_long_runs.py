"""Runs of a paper's own size: made once, continued, known by their records, and measured as the papers measure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nebel.cli import main
from nebel.core.errors import BadFile
from nebel.papers import geister_dream_replica as dream
from nebel.papers import long_runs
from nebel.papers.geister_deep_cfr_replica import Met
from nebel.papers.long_runs import Plan, Record, collect
from nebel.papers.paper import Terms
from nebel.policy.io import load_policy
from nebel.policy.nets import NetsPolicy
from nebel.solve.run import Folder, Job

SETTINGS = {"traversals": 8, "steps": 2, "baseline_steps": 2, "batch": 32, "hidden": "8", "average": "nets"}


def plan(iterations: int, name: str = "small") -> Plan:
    return Plan(name, Job("kuhn", "dream", "perfect", 1, settings=SETTINGS), iterations)


def networks(plan: Plan, run: Folder) -> dict[str, Any]:
    policy = load_policy(run.path / "policy.nebel")
    assert isinstance(policy, NetsPolicy)
    return {"networks": len(policy.weights[0])}


def test_a_run_is_made_once_and_then_known_by_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = Terms(runs=tmp_path)
    (made,) = collect(terms, "paper", [plan(3)], networks).values()
    assert (made.iterations, made.measured) == (3, {"networks": 3})
    assert made.job["settings"]["traversals"] == 8
    monkeypatch.setattr(long_runs, "_make", lambda *args: pytest.fail("a finished run was made again"))
    assert collect(terms, "paper", [plan(3)], networks) == {"small": made}
    assert collect(terms._replace(finished=True), "paper", [plan(3), plan(3, "other")], networks) == {"small": made}


def test_a_run_under_way_is_continued(tmp_path: Path) -> None:
    from nebel.learn.drive import learn
    from nebel.solve.run import Budget

    learn(plan(2).job, Budget(iterations=2), tmp_path / "paper" / "small")
    (made,) = collect(Terms(runs=tmp_path), "paper", [plan(4)], networks).values()
    assert made.measured == {"networks": 4}
    learn(plan(4).job, Budget(iterations=4), tmp_path / "whole")
    assert (tmp_path / "whole" / "policy.nebel").read_bytes() == (tmp_path / "paper" / "small" / "policy.nebel").read_bytes()


@pytest.mark.parametrize("other", [plan(5), plan(3)._replace(job=Job("kuhn", "dream", "perfect", 2, settings=SETTINGS))])
def test_a_record_of_other_settings_is_refused(tmp_path: Path, other: Plan) -> None:
    terms = Terms(runs=tmp_path)
    collect(terms, "paper", [plan(3)], networks)
    with pytest.raises(BadFile, match=r"small\.json is the record of a run with other settings; move it away"):
        collect(terms, "paper", [other], networks)


@pytest.mark.parametrize("text", ["", "[]", '{"name": "small"}', json.dumps(Record("small", {}, 3, 0.0, "", {})._asdict())])
def test_a_damaged_record_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "small.json").write_text(text)
    with pytest.raises(BadFile, match=r"small\.json"):
        collect(Terms(runs=tmp_path), "paper", [plan(3)], networks)


def test_networks_of_an_earlier_iteration_are_those_of_a_shorter_run(tmp_path: Path) -> None:
    terms = Terms(runs=tmp_path)
    collect(terms, "paper", [plan(2, "short"), plan(4, "long")], networks)
    short, long = (load_policy(tmp_path / "paper" / name / "policy.nebel") for name in ("short", "long"))
    assert isinstance(short, NetsPolicy)
    assert isinstance(long, NetsPolicy)
    cut = dream.first_networks(long, 2)
    for one, other in zip(cut.layers, short.layers, strict=True):
        for mine, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine.weights, theirs.weights)
    np.testing.assert_array_equal(cut.weights, short.weights)


def test_the_columns_of_table_iv_are_over_all_evaluations() -> None:
    seen = [(0.6, 0.5, 0.2), (0.7, 0.6, 0.4), (0.65, 0.4, 0.6)]
    rows = [{"iterations": k, "losses": {}, "won": [a, b], "won_by": [{}, {}], "blue_first": c} for k, (a, b, c) in enumerate(seen)]
    first, second, both, blue = dream.statistics_of(Record("", {}, 3, 0.0, "", {"evaluations": rows}))
    assert first[:2] == pytest.approx((65.0, 65.0))
    assert second[:2] == pytest.approx((50.0, 50.0))
    assert both == pytest.approx((110.0, 115.0, np.std([110, 130, 105])))
    assert blue == pytest.approx((0.4, 0.4, np.std([0.2, 0.4, 0.6])))


def test_wins_are_not_points() -> None:
    met = Met(games=100, won=40, drawn=30, escaped=10)
    assert (met.wins, met.points, met.escapes) == (0.4, 0.55, 0.25)


def test_a_report_is_made_of_what_is_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs, out = str(tmp_path / "none"), str(tmp_path / "report.html")
    command = ["paper", "geister_dream", "--full", "--only", "replica", "--runs", runs, "--finished", "--out", out]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sections"]["replica"]["runs"] == []
    assert main(["paper", "geister_dream", "--finished"]) == 2
    assert "--finished needs the folder of the runs: add --runs FOLDER" in capsys.readouterr().err
