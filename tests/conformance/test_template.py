"""`nebel new-game` writes a game that works as it stands, and refuses names that cannot work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.core.conform import conform
from nebel.core.errors import BadFile, BadSetting
from nebel.core.template import new_game
from nebel.core.tree import grow
from nebel.policy.net import encode_side


def test_the_template_is_kuhn_poker(tmp_path: Path) -> None:
    path = new_game("pebbles", tmp_path)
    assert path == tmp_path / "pebbles.py"
    assert "nebel check pebbles.py:pebbles" in path.read_text()
    game = nebel.game(f"{path}:pebbles")
    assert conform(game).findings == []
    tree = grow(game)
    assert (tree.histories, tree.terminals, tree.information_states()) == (58, 30, [6, 6])


def test_networks_learn_the_template(tmp_path: Path) -> None:
    tree = grow(nebel.game(f"{new_game('pebbles', tmp_path)}:pebbles(cards=4)"))
    for player, side in enumerate(tree.sides):
        assert len(np.unique(encode_side(tree, player, "perfect"), axis=0)) == side.states


def test_the_template_takes_more_cards(tmp_path: Path) -> None:
    report = conform(nebel.game(f"{new_game('pebbles', tmp_path)}:pebbles(cards=5)"))
    assert report.findings == []
    assert report.coverage == "the whole tree: 186 histories"


@pytest.mark.parametrize("name", ["2x", "class", "two words", "../up", "", "rule", "PASS", "random", "nebel"])
def test_a_name_that_cannot_work_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadSetting, match="cannot name a game"):
        new_game(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "pebbles.py").write_text("mine")
    with pytest.raises(BadFile, match="exists already"):
        new_game("pebbles", tmp_path)
    assert (tmp_path / "pebbles.py").read_text() == "mine"


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no folder"):
        new_game("pebbles", tmp_path / "nowhere")
