"""One game of each kind, written out move by move with all that either player sees, so that a leak or a changed rule shows in review.

After a change that is meant, write the files anew with `NEBEL_GOLDEN=write pytest tests/golden` and read the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import nebel

CLASSIC, ABRUPT = "b2 b2 a1 a1 b1 c2 b3", "b2 b2 b1 a1 a1 c2 b3"
LINES = {
    "kuhn": "K J pass bet bet",
    "leduc": "Ks Jh call raise call Kh raise raise call",
    "leduc(suits=false)": "Ks Jh raise call Js call raise fold",
    "liars_dice": "2 6 1-2 1-6 2-2 liar",
    "liars_dice(dice=2,faces=3)": "13 22 1-1 3-2 liar",
    "goofspiel": "2 1 0 0 3 2 1 3",
    "goofspiel(cards=3,order=random,first_prize=1,forced_last=false)": "prize2 1 3 prize3 3 2",
    "dark_hex": CLASSIC,
    "dark_hex(leak=noisy)": CLASSIC,
    "dark_hex(leak=flash)": CLASSIC,
    "dark_hex(abrupt=true)": ABRUPT,
    "dark_hex(abrupt=true,leak=noisy)": ABRUPT,
    "dark_hex(abrupt=true,leak=flash)": ABRUPT,
    "geister(width=3,height=3,ghosts=3,reds=2,buffer=0)": "AB AB a1-a2 c1-c2 b1-b2 c2-b2",
    "geister(width=4,height=2,ghosts=2,buffer=1,setup=chosen)": "A B c1-d1 c1-d1 d1-d2 d1-c1 d2-out",
    "cheat(hp=2,starter=0)": "As2s-2h3s-0 As believe 3s challenge 2s challenge As challenge",
    "cheat(hp=none,limit=3,alike=true)": "A2-23-1 3 believe 2 challenge 23 believe",
    "cheat(ranks=7,hand=2,hp=1)": "start-1 4s 7h As Ah AsAh believe",
}
WHO = {nebel.CHANCE: "chance", 0: "player 0", 1: "player 1"}


def playthrough(string: str, line: str) -> str:
    game = nebel.game(string)
    state = game.start()
    parts = [f"game: {game.string}", *situation(state)]
    for number, move in enumerate(line.split(), 1):
        who = WHO[state.turn]
        seen = state.push(move).steps[-1].seen
        parts += ["", f"{number}. {who}: {move}"]
        parts += [f"player {p} sees: {game.name_of_sight(token) if token else '-'}" for p, token in enumerate(seen)]
        parts += situation(state)
    return "\n".join(parts) + "\n"


def situation(state: nebel.State) -> list[str]:
    """What both players know, the truth, and what can happen next."""
    parts = []
    for seat in (0, 1, "truth"):
        title = "truth" if seat == "truth" else f"player {seat} knows: {state.information(int(seat))}"
        parts += [title, *(f"    {row}" for row in state.view(seat).splitlines())]
    if state.over:
        return [*parts, f"over: player 0 gets {state.score():+g}"]
    if state.turn == nebel.CHANCE:
        return [*parts, "chance: " + ", ".join(f"{name} {p:.4f}" for name, p in zip(state.legal(), state.odds(), strict=True))]
    return [*parts, f"{WHO[state.turn]} can play: {' '.join(state.legal())}"]


@pytest.mark.parametrize("string", LINES)
def test_playthrough(string: str) -> None:
    path = Path(__file__).with_name("-".join(re.findall(r"\w+", string)) + ".txt")
    text = playthrough(string, LINES[string])
    if os.environ.get("NEBEL_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_every_game_is_played_to_its_end() -> None:
    assert {nebel.game(string).string.partition("(")[0] for string in LINES} == set(nebel.GAMES)
    assert all("\nover: " in playthrough(string, line) for string, line in LINES.items())
