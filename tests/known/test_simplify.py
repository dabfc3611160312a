"""Simplified policies: fewer moves, simple fractions, whole probabilities, and an exact account of the cost."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nebel
from nebel.cli import main
from nebel.core.errors import BadFile, BadSetting
from nebel.policy.simplify import Simplify, nearest_fractions, simplify
from nebel.policy.table import Shares, TablePolicy


def policy_of(*rows: list[float]) -> TablePolicy:
    """Player 0 has these rows; player 1 has one information state with one move."""
    first = np.cumsum([0, *(len(row) for row in rows)])
    move = np.concatenate([np.arange(len(row)) for row in rows])
    own = Shares(np.arange(len(rows)), first, move, np.array([p for row in rows for p in row]))
    other = Shares(np.array([7]), np.array([0, 1]), np.array([0]), np.array([1.0]))
    return TablePolicy("kuhn", "0", "perfect", (own, other), facts={"method": "cfr+"})


def simple(row: list[float], **choices: object) -> list[float]:
    new = simplify(policy_of(row), Simplify(**choices))  # type: ignore[arg-type]
    return new.shares[0].share.tolist()


@pytest.mark.parametrize(
    ("row", "actions", "threshold", "expected"),
    [
        ([0.5, 0.25, 0.25], 2, 0.0, [2 / 3, 1 / 3, 0]),  # of equals the earlier stays
        ([0.25, 0.25, 0.25, 0.25], 3, 0.1, [1 / 3, 1 / 3, 1 / 3, 0]),
        ([0.25, 0.5, 0.25], 1, 0.0, [0, 1, 0]),
        ([0.01, 0.99], 8, 0.1, [0, 1]),
        ([0.125, 0.875], 8, 0.125, [0, 1]),  # above the threshold, not at it
        ([0.3, 0.4, 0.3], 8, 0.5, [0, 1, 0]),  # nothing passes: the best stays
        ([0.5, 0.5], 8, 0.9, [1, 0]),
        ([1.0], 1, 0.9, [1]),
        ([0.5, 0.0, 0.5], 3, 0.0, [0.5, 0, 0.5]),
    ],
)
def test_moves_are_kept_by_hand(row: list[float], actions: int, threshold: float, expected: list[float]) -> None:
    assert simple(row, actions=actions, threshold=threshold) == expected


def test_softmax_is_what_the_text_says() -> None:
    a, b = math.exp(0.5), math.exp(0.3)
    assert simple([0.5, 0.2, 0.3], actions=2, rescale="softmax") == pytest.approx([a / (a + b), 0, b / (a + b)], abs=1e-15)


@pytest.mark.parametrize(
    ("row", "largest", "expected", "error"),
    [
        ((0.501, 0.499), 20, "1/2 1/2", 0.001),
        ((0.334, 0.333, 0.333), 20, "1/3 1/3 1/3", 1 / 1500),
        ((1 / 3, 2 / 3), 20, "1/3 2/3", 0),  # 2/6 is as near; the smallest n is taken
        ((0.5, 0.5), 1, "1 0", 0.5),  # equal remainders: the earlier goes up
        ((0.4, 0.35, 0.25), 20, "8/20 7/20 5/20", 0),
        ((0.4, 0.35, 0.25), 4, "1/3 1/3 1/3", 1 / 12),  # 2/4 1/4 1/4 is off by 1/10
        ((0.99, 0.01), 20, "1 0", 0.01),
    ],
)
def test_fractions_by_hand(row: tuple[float, ...], largest: int, expected: str, error: float) -> None:
    fractions, distance = nearest_fractions(row, largest)
    assert [*fractions] == [Fraction(word) for word in expected.split()]
    assert sum(fractions) == 1
    assert float(distance) == pytest.approx(error, abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(1e-3, 1), min_size=2, max_size=3), st.integers(1, 9))
def test_no_fractions_are_nearer(row: list[float], largest: int) -> None:
    shares = [w / math.fsum(row) for w in row]
    fractions, distance = nearest_fractions(tuple(shares), largest)
    assert sum(fractions) == 1
    for n in range(1, largest + 1):
        for tops in itertools.product(range(n + 1), repeat=len(row)):
            if sum(tops) == n:
                assert max(abs(k / n - p) for k, p in zip(tops, shares, strict=True)) >= float(distance) - 1e-15


def test_snapping_is_counted_and_recorded() -> None:
    rows = [[0.503, 0.497], [0.515, 0.485], [1.0, 0.0], [0.5, 0.5], [0.95, 0.05]]
    old = policy_of(*rows)
    new = simplify(old, Simplify(actions=2, threshold=0.1, denominator=9))
    assert new.shares[0].share.tolist() == [0.5, 0.5, 0.515, 0.485, 1, 0, 0.5, 0.5, 1, 0]
    assert new.facts == {
        "method": "cfr+",
        "simplified": {
            "actions": 2, "threshold": 0.1, "denominator": 9, "eta": 0.005, "rescale": "sum", "changed": 2, "snapped": 2, "left": 1,
        },
    }  # fmt: skip
    assert old.facts == {"method": "cfr+"}
    assert old.shares[0].share.tolist() == [p for row in rows for p in row]
    again = simplify(new, Simplify(actions=1)).facts
    assert again["simplified"]["earlier"] == new.facts["simplified"]


def test_rows_that_are_no_probabilities_are_refused() -> None:
    for row in ([0.0, 0.0], [1.5, -0.5], [math.nan, 1.0]):
        with pytest.raises(BadFile, match="all zero"):
            simple(row)


weights = st.lists(st.one_of(st.just(0.0), st.floats(1e-9, 1)), min_size=1, max_size=12).filter(any)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(weights, min_size=1, max_size=4), st.integers(1, 12), st.floats(0, 0.99), st.sampled_from([None, 1, 7, 20]), st.floats(0, 0.5),
    st.sampled_from(["sum", "softmax"]),
)  # fmt: skip
def test_any_policy(rows: list[list[float]], b: int, threshold: float, largest: int | None, eta: float, rescale: str) -> None:
    policy = policy_of(*([w / math.fsum(row) for w in row] for row in rows))
    choices = Simplify(b, threshold, largest, None if largest is None else eta, rescale)
    new = simplify(policy, choices)
    old, table = policy.shares[0], new.shares[0]
    plain = simplify(policy, Simplify(b, threshold, rescale=rescale)).shares[0].share
    snapped = 0
    for i in range(len(rows)):
        here = slice(table.first[i], table.first[i + 1])
        row = table.share[here]
        assert abs(math.fsum(row) - 1) <= 1e-15
        assert 1 <= np.count_nonzero(row) <= b
        assert not np.any(row[old.share[here] == 0])
        assert np.all((old.share[here] > threshold) | (old.share[here] == old.share[here].max()) | (row == 0))
        if largest is not None and np.count_nonzero(plain[here]) > 1:
            fractions = [Fraction(float(p)).limit_denominator(largest) for p in row]
            on_fractions = [float(f) for f in fractions] == row.tolist() and sum(fractions) == 1
            assert on_fractions or np.array_equal(row, plain[here])
            assert np.max(np.abs(row - plain[here])) <= eta + 1e-15
            snapped += on_fractions
    counts = new.facts["simplified"]
    assert counts["snapped"] <= snapped
    assert counts["changed"] <= len(rows)
    again = simplify(new, choices) if rescale == "sum" and largest is None else None
    assert again is None or np.allclose(again.shares[0].share, table.share, atol=1e-15)


@pytest.fixture(scope="module")
def leduc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("simplify") / "leduc.nebel"
    assert main(["solve", "leduc", "--with", "dcfr+", "--iterations", "300", "--out", str(file)]) == 0
    return file


@pytest.mark.parametrize("extra", [[], ["--denominator", "20", "--eta", "0.005"]])
def test_the_change_is_what_judge_says(leduc: Path, extra: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    out = leduc.with_name("simple.nebel")
    assert main(["simplify", str(leduc), "--actions", "2", "--threshold", "0.01", *extra, "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["game"], told["actions"], told["threshold"], told["policy"]) == ("leduc", 2, 0.01, str(out))
    assert (told["denominator"], told["eta"]) == ((20, 0.005) if extra else (None, None))
    assert bool(told["snapped"]) == bool(extra)
    for file, figures in ((leduc, told["before"]), (out, told["after"])):
        assert main(["judge", str(file), "--json"]) == 0
        judged = json.loads(capsys.readouterr().out)
        assert figures == {name: judged[name] for name in ("exploitability", "nash_conv", "best_response", "value", "wins")}
    assert told["before"]["exploitability"] < told["after"]["exploitability"] < 0.2
    facts = nebel.load_policy(out).facts
    assert facts["method"] == "dcfr+"
    assert facts["simplified"]["changed"] == told["changed"] > 100
    assert main(["simplify", str(leduc), *extra, "--out", str(out)]) == 0
    assert "exploitability" in capsys.readouterr().out


def test_too_large_to_judge_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "kuhn.nebel")
    assert main(["solve", "kuhn", "--iterations", "10", "--out", file]) == 0
    capsys.readouterr()

    def refuse(game: nebel.Game, policy: nebel.TablePolicy) -> None:
        raise nebel.core.errors.TooLarge("too many steps")

    monkeypatch.setattr("nebel.judge.exact.judge", refuse)
    assert main(["simplify", file, "--out", file, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["before"] is told["after"] is None
    assert main(["simplify", file, "--out", file]) == 0
    assert "too large to judge exactly" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--actions", "0", "--out", "x"], "--actions 0 is out of range"),
        (["--threshold", "1", "--out", "x"], "at least 0 and below 1"),
        (["--threshold", "-0.1", "--out", "x"], "at least 0 and below 1"),
        (["--threshold", "nan", "--out", "x"], "--threshold nan is out of range: it must be finite"),
        (["--eta", "0.01", "--out", "x"], "give --denominator too"),
        (["--denominator", "0", "--out", "x"], "--denominator 0 is out of range"),
        (["--denominator", "5", "--eta", "2", "--out", "x"], "--eta 2 is out of range"),
        (["--rescale", "max", "--out", "x"], "is not one of: sum, softmax"),
        ([], "--out"),
        (["--out", "."], "is a folder"),
        (["--out", "x"], "no file missing.nebel"),
    ],
)
def test_bad_input_gets_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simplify", "missing.nebel", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_settings_are_checked_from_python_too() -> None:
    with pytest.raises(BadSetting, match="--actions"):
        Simplify(actions=0)
    assert Simplify(denominator=20).eta == 0.005
