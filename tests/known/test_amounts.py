"""Counts, times and budgets as people write them."""

from __future__ import annotations

import pytest

from nebel.core.amounts import read_count, read_seconds
from nebel.core.errors import BadSetting
from nebel.core.settings import read_settings
from nebel.search.budget import Budget, read_budget
from nebel.search.ismcts import IsmctsSettings


@pytest.mark.parametrize(
    ("text", "count"),
    [("2000", 2000), ("10k", 10_000), ("1.5M", 1_500_000), ("1e6", 1_000_000), ("2.5e3", 2500), ("-5", -5), ("1G", 10**9),
     ("18446744073709551617", 2**64 + 1)],
)  # fmt: skip
def test_counts(text: str, count: int) -> None:
    assert read_count(text) == count


@pytest.mark.parametrize("text", ["", "ten", "1.5", "0.0001k", "10m", "1s", "inf", "nan", "1e999999999", "k", "1 k", "0x10"])
def test_no_counts(text: str) -> None:
    with pytest.raises(BadSetting, match="write it as 2000, 10k"):
        read_count(text)


def test_times() -> None:
    assert [read_seconds(text) for text in ("1s", "500ms", "2m", "0.25s")] == [1.0, 0.5, 120.0, 0.25]
    for text in ("1", "1h", "s", "1.s", "fast"):
        with pytest.raises(BadSetting, match="write it as 1s"):
            read_seconds(text)


def test_budgets() -> None:
    assert read_budget("10k") == Budget(simulations=10_000)
    assert read_budget("2m") == Budget(seconds=120.0)
    assert read_budget("2M") == Budget(simulations=2_000_000)
    for text in ("", "0", "-1", "0s", "much", "1.5", "ms"):
        with pytest.raises(BadSetting, match="budget"):
            read_budget(text)


def test_settings_from_words() -> None:
    assert read_settings(IsmctsSettings, ["constant=0.6", "room=10k"]) == IsmctsSettings(constant=0.6, room=10_000)
    wrong = {
        "constant": "'constant' is not NAME=VALUE with a name among: selection, constant",
        "speed=3": "'speed=3' is not NAME=VALUE",
        "constant=big": "constant: 'big' is not a number",
        "exploration=2": "^exploration 2.0 is out of range",
        "selection=all": "^selection all is not one of: uct, rm",
    }
    for word, said in wrong.items():
        with pytest.raises(BadSetting, match=said):
            read_settings(IsmctsSettings, [word])
