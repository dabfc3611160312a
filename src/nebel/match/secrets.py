"""What one player hides from the other, in words."""

from __future__ import annotations

import re

from nebel.core.game import Game
from nebel.core.state import State


def secret(state: State, me: int) -> str:
    """What the other player hides from `me` in this game: stones, a hand, dice; else what it did and saw, or sees."""
    cells = hidden_cells(state, me)
    if cells is not None:
        return " ".join(cells) or "nothing"
    if not isinstance(state.game, Game):
        return " / ".join(state.view(1 - me).splitlines())
    known = state.view(me).splitlines()
    lines = [line for line in state.view("truth").splitlines() if line not in known and line.startswith(f"player {1 - me}")]
    if not lines:
        return state.information(1 - me)
    held = re.sub(r"^player \d:? *", "", lines[-1])
    return re.split(r" {2,}| \(", held)[0] or "nothing"


def pieces(state: State, hand: str) -> list[str] | None:
    """Where players hold cards or dice: those of which a hand, as `secret` writes it, is made."""
    if state.game.name == "goofspiel":
        return hand.split()[1:]
    return re.findall("[A-Z0-9][a-z]?", hand) if state.game.name in ("kuhn", "leduc", "liars_dice", "cheat") else None


def hidden_cells(state: State, me: int) -> list[str] | None:
    """On a board whose stones are hidden: where the other has stones that `me` does not know of."""
    if state.game.name != "dark_hex":
        return None
    s = state.position[0]
    unknown = int(s.stones[1 - me]) & ~int(s.met[me])
    return [state.game.name_of_move(cell) for cell in range(unknown.bit_length()) if unknown >> cell & 1]
