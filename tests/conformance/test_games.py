"""Every built-in game, in several variants, passes the conformance suite."""

from __future__ import annotations

import pytest

import nebel
from nebel.core.conform import conform

VARIANTS = {
    "kuhn": [""],
    "leduc": ["", "(suits=false)"],
    "liars_dice": ["(faces=3)", "(dice=2,faces=2)"],
    "goofspiel": ["(cards=3)", "(cards=3,order=random)", "(cards=3,order=descending,first_prize=1)"],
    "dark_hex": [
        f"(rows={rows},cols=2,abrupt={abrupt},leak={leak})"
        for rows in (2, 3)
        for abrupt in ("false", "true")
        for leak in ("silent", "noisy", "flash")
    ]
    + ["(rows=6,cols=6)", "(rows=3,cols=2,diary=true)", "(rows=2,cols=2,abrupt=true,leak=flash,diary=true)"],
    "geister": [
        "(width=2,height=3,ghosts=2,buffer=0,limit=5)",
        "(width=3,height=3,ghosts=3,reds=1,buffer=0,limit=3,setup=chosen,assist=true)",
    ],
    "cheat": [
        "(hp=1)",
        "(hp=2,alike=true,starter=0)",
        "(hp=none,limit=6)",
        "(ranks=4,suits=3,hand=4,max_discard=2)",
        "(hp=1,put=counts)",
        "(hp=1,diary=true)",
    ],
}
GAMES = [f"{name}{options}" for name in nebel.GAMES for options in VARIANTS.get(name, [""])]


@pytest.mark.parametrize("string", GAMES)
def test_the_game_conforms(string: str) -> None:
    report = conform(nebel.game(string), steps=1000)
    assert report.findings == []
    assert [check.name for check in report.checks if not check.passed] == []
