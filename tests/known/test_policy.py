"""Policies as files: what was written is read, and nothing else passes for it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.core.errors import BadFile, BadPolicy, UnknownInformationState
from nebel.core.tree import grow
from nebel.policy.checked import check_shares
from nebel.policy.find import find
from nebel.policy.table import Shares, TablePolicy, from_tree
from nebel.solve.cfr import FullWidth


@pytest.fixture(scope="module")
def policy() -> TablePolicy:
    tree = grow(nebel.game("kuhn"))
    solver = FullWidth(tree, "cfr+")
    solver.run(100)
    return solver.policy({"method": "cfr+"})


def test_round_trip(policy: TablePolicy, tmp_path: Path) -> None:
    nebel.save_policy(policy, tmp_path / "kuhn.nebel")
    read = nebel.load_policy(tmp_path / "kuhn.nebel")
    assert (read.game, read.recall, read.fingerprint, read.facts) == (policy.game, policy.recall, policy.fingerprint, policy.facts)
    for p in range(2):
        assert all(np.array_equal(a, b) for a, b in zip(read.shares[p], policy.shares[p], strict=True))
    state = nebel.game("kuhn").start().play("K J")
    assert sum(read.probabilities(state).values()) == pytest.approx(1)


def test_no_pickle_inside(policy: TablePolicy, tmp_path: Path) -> None:
    nebel.save_policy(policy, tmp_path / "kuhn.nebel")
    data = (tmp_path / "kuhn.nebel").read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert json.loads(header["__metadata__"]["nebel"])["game"] == "kuhn"


@pytest.mark.parametrize("keep", [0, 5, 200, -1])
def test_truncated_files_are_refused(policy: TablePolicy, tmp_path: Path, keep: int) -> None:
    file = tmp_path / "kuhn.nebel"
    nebel.save_policy(policy, file)
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(BadFile, match="damaged"):
        nebel.load_policy(file)


def test_tampering_is_noticed(policy: TablePolicy, tmp_path: Path) -> None:
    file = tmp_path / "kuhn.nebel"
    nebel.save_policy(policy, file)
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    with pytest.raises(BadFile, match="checksum"):
        nebel.load_policy(file)
    file.write_bytes(bytes(data[:-3]) + bytes([data[-3] ^ 1]) + bytes(data[-2:]))
    assert nebel.load_policy(file).game == "kuhn"
    file.write_bytes(file.read_bytes().replace(b"kuhn", b"kuhm"))
    with pytest.raises(BadFile, match="checksum"):
        nebel.load_policy(file)


def test_a_wrong_or_changed_game_is_refused(policy: TablePolicy) -> None:
    with pytest.raises(BadFile, match="made for kuhn, not for leduc"):
        policy.check_game(nebel.game("leduc"))
    stale = TablePolicy(policy.game, "0123456789abcdef", policy.recall, policy.shares)
    with pytest.raises(BadFile, match="have changed"):
        stale.check_game(nebel.game("kuhn"))


def test_unknown_information_states_are_counted_or_refused(policy: TablePolicy) -> None:
    full = policy.shares[1]
    cut = full._replace(keys=full.keys[1:], first=full.first[1:])
    tree = grow(nebel.game("kuhn"))
    with pytest.raises(UnknownInformationState, match="lacks 1 information state"):
        TablePolicy(policy.game, policy.fingerprint, "perfect", (policy.shares[0], cut)).on_tree(tree)
    lenient = TablePolicy(policy.game, policy.fingerprint, "perfect", (policy.shares[0], cut), missing="uniform")
    assert lenient.on_tree(tree).unknown == (0, 1)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"keys": [3, 3], "first": [0, 2, 4], "move": [0, 1, 0, 1], "share": [0.5] * 4}, "occurs twice, or keys do not ascend"),
        ({"keys": [4, 3], "first": [0, 2, 4], "move": [0, 1, 0, 1], "share": [0.5] * 4}, "occurs twice, or keys do not ascend"),
        ({"keys": [3, 4], "first": [0, 2], "move": [0, 1], "share": [0.5] * 2}, "damaged"),
        ({"keys": [3, 4], "first": [0, 2, 9], "move": [0, 1, 0, 1], "share": [0.5] * 4}, "damaged"),
        ({"keys": [3, 4], "first": [0, 0, 2], "move": [0, 1], "share": [0.5] * 2}, "damaged"),
        ({"keys": [3], "first": [0, 2], "move": [0, 1], "share": [0.5]}, "damaged"),
        ({"keys": [3], "first": [0, 2], "move": [1, 1], "share": [0.5] * 2}, "occurs twice or is negative"),
        ({"keys": [3], "first": [0, 2], "move": [-1, 1], "share": [0.5] * 2}, "occurs twice or is negative"),
        ({"keys": [3], "first": [0, 4], "move": [2, 1, 0, 2], "share": [0.25] * 4}, "occurs twice or is negative"),
        ({"keys": [3], "first": [0, 100], "move": [*range(99, 0, -1), 50], "share": [0.01] * 100}, "occurs twice or is negative"),
        ({"keys": [3], "first": [0, 2], "move": [2, 1], "share": [0.5, 0.5 + 2e-9]}, "'#3' sum to 1.000000002"),
        ({"keys": [3], "first": [0, 2], "move": [0, 1], "share": [1.5, -0.5]}, "hold -0.5 and sum to 1"),
        ({"keys": [[3]], "first": [0, 2], "move": [0, 1], "share": [0.5] * 2}, "keys has to be a row of int64"),
        ({"keys": [3], "first": [0, 2], "move": [0.0, 1.0], "share": [0.5] * 2}, "move has to be a row of int64"),
    ],
)
def test_tables_that_are_not_whole(changed: dict[str, list[float]], said: str, tmp_path: Path) -> None:
    bad = Shares(**{name: np.array(column) for name, column in changed.items()})
    with pytest.raises(BadPolicy, match=f"player 1.*{said}"):
        check_shares(bad, 1)
    good = Shares(np.array([3, 9]), np.array([1, 3, 4]), np.array([7, 2, 1, 0]), np.array([2.0, 0.25, 0.75, 1.0]))
    check_shares(good, 0)
    with pytest.raises(BadPolicy, match=said):
        nebel.save_policy(TablePolicy("kuhn", "0", "perfect", (good, bad)), tmp_path / "bad.nebel")
    assert not list(tmp_path.iterdir())


def test_a_policy_moves_between_recalls_only_by_name() -> None:
    tree = grow(nebel.game("dark_hex:2x2"), "board")
    solver = FullWidth(tree, "dcfr")
    solver.run(50)
    made = from_tree(tree, solver.strategies())
    state = nebel.game("dark_hex:2x2").start().play("a1 a1")
    assert set(made.probabilities(state)) == {1, 2, 3}


@pytest.mark.parametrize(
    ("string", "player", "words"),
    [
        ("kuhn", 0, "K pass (bet)"),
        ("leduc", 1, "Ks (call) call Qh (raise)"),
        ("dark_hex:3x3", 1, "b2 taken c3"),
        ("goofspiel:4", 0, "3 won 2 lost"),
    ],
)
def test_information_states_are_found_by_their_text(string: str, player: int, words: str) -> None:
    state = find(nebel.game(string), player, words.split())
    assert state is not None
    assert state.turn == player
    assert state.information(player) == words


def test_moves_may_stand_in_any_order() -> None:
    for count in (4, 100):
        row = Shares(np.array([3]), np.array([0, count]), np.arange(count)[::-1].copy(), np.full(count, 1 / count))
        check_shares(row, 0)
