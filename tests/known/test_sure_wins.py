"""Sure wins: recorded counts, a slow definition by force, and what the tree says."""

from __future__ import annotations

import functools
import itertools

import pytest

import nebel
from nebel.cli import main
from nebel.core.reach import explore
from nebel.dark_hex.sure_wins import SureWins, sure_wins


def test_recorded_counts() -> None:
    wins = SureWins(4, 3)
    assert wins.by_hidden(0) == [29863, 19336, 13217, 5874, 1340, 122]
    assert wins.by_hidden(1) == [46086, 34382, 24934, 17827, 9666, 3135, 446]


@pytest.mark.parametrize(
    ("board", "winner"),
    [((2, 2), 0), ((2, 3), 0), ((3, 3), 0), ((3, 4), 0), ((3, 2), 1), ((4, 2), 1), ((6, 2), 1), ((4, 3), None)],
)
def test_who_wins_for_sure(board: tuple[int, int], winner: int | None) -> None:
    assert SureWins(*board).winner() == winner


@pytest.mark.parametrize("string", ["dark_hex:2x2", "dark_hex:3x2", "dark_hex:3x3"])
def test_possible_pairs_are_the_information_states(string: str) -> None:
    game = nebel.game(string)
    reach = explore(game, "board")  # type: ignore[arg-type]
    assert reach is not None
    assert [int(c[0].sum()) for c in sure_wins(game).counts] == reach.information_states


@pytest.mark.parametrize("string", ["dark_hex:2x2", "dark_hex:3x2", "dark_hex:2x3"])
def test_against_the_definition(string: str) -> None:
    """By force: keep the set of all states that fit what was seen; a cell wins for sure if all of them are won or lead to such
    sets again, whatever the opponent does."""
    game = nebel.game(string)
    wins = sure_wins(game)

    def others(position: object) -> list[object]:
        """All positions at the player's next turn or at the end, over all that the opponent may do."""
        turn = game.turn_at(position)
        if turn in (player, -4):
            return [position]
        return list(itertools.chain.from_iterable(others(game.after(position, a)[0]) for a in game.options_at(position)))

    @functools.cache
    def sure(positions: frozenset[bytes]) -> bool:
        real = [make(data) for data in positions]
        for cell in game.options_at(real[0]):
            groups: dict[int, set[bytes]] = {}
            for position in real:
                for follower in others(game.after(position, cell)[0]):
                    if game.turn_at(follower) == -4:
                        won = game.score_at(follower) == (1 if player == 0 else -1)
                        groups.setdefault(-1 if won else -2, set()).add(b"")
                    else:
                        groups.setdefault(game.glance_at("board", follower, player), set()).add(follower.tobytes())
            if -2 not in groups and all(sure(frozenset(members)) for key, members in groups.items() if key >= 0):
                return True
        return False

    def make(data: bytes) -> object:
        position = game.begin()
        position.view("u1").reshape(-1)[:] = list(data)
        return position

    for player in range(2):
        beliefs: dict[int, set[bytes]] = {}
        seen, open_positions = set(), [game.begin()]
        while open_positions:
            position = open_positions.pop()
            if game.turn_at(position) == -4 or position.tobytes() in seen:
                continue
            seen.add(position.tobytes())
            if game.turn_at(position) == player:
                beliefs.setdefault(game.glance_at("board", position, player), set()).add(position.tobytes())
            open_positions += [game.after(position, a)[0] for a in game.options_at(position)]
        cells = game.actions  # type: ignore[attr-defined]
        for key, members in beliefs.items():
            known = sure(frozenset(members))
            assert (wins.move(player, key >> cells, key & ((1 << cells) - 1)) is not None) == known


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sure-wins", "dark_hex:4x3"]) == 0
    assert "nobody wins for sure" in capsys.readouterr().out
    assert main(["sure-wins", "dark_hex:3x3", ".../.../..."]) == 0
    assert "Black wins for sure with" in capsys.readouterr().out
    for words, said in [
        (["sure-wins", "leduc"], "classic Dark Hex"),
        (["sure-wins", "dark_hex(abrupt=true)"], "classic Dark Hex"),
        (["sure-wins", "dark_hex:5x5"], "up to 16 cells"),
        (["sure-wins", "dark_hex:3x3", "xx/.."], "not a board of 3 rows"),
    ]:
        assert main(words) == 2
        assert said in capsys.readouterr().err
