"""Networks whose outputs are a ghost and a direction: which move each means, learning, files, and play in every place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nebel
from nebel.cli import main
from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import Game, Pieces
from nebel.core.tree import grow
from nebel.learn import drive
from nebel.learn.memory import Experience
from nebel.learn.nets import Dense, Values
from nebel.match.agents import PolicyAgent, read
from nebel.match.arena import play_pair
from nebel.policy.io import load_policy, read_header, save_policy, write_arrays
from nebel.policy.net import Layer, NetPolicy, encode
from nebel.policy.nets import NetsPolicy
from nebel.policy.pieces import outputs_by_move
from nebel.search.target import in_rules

SMALL = "geister:x2y3g2b0(limit=5)"
WAYS = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""North, east, south and west."""


def rules_of(string: str) -> Game:
    return in_rules(nebel.game(string))


def random_states(string: str, count: int, seed: int) -> Any:
    rng, state = np.random.default_rng(seed), nebel.game(string).start()
    while count:
        if state.over:
            state = state.game.start()
        state.push(int(rng.choice(state.options())))
        if state.turn in (0, 1):
            yield state
            count -= 1


def outputs_by_hand(state: nebel.State) -> dict[str, int]:
    """By legal move's name: 4 times the ghost plus the way. Blue ghosts come first, each colour from a1 on, row by row in the view."""
    game = state.game
    rows = state.view(state.turn).splitlines()[1 : game.options["height"] + 1]
    cells = [f"{chr(ord('a') + x)}{y}" for y in range(1, len(rows) + 1) for x in range(game.options["width"])]
    marks = dict(zip(cells, (mark for row in reversed(rows) for mark in row.split()[1:]), strict=True))
    ghosts, reds = game.options["ghosts"], game.options["reds"] or game.options["ghosts"] // 2
    number = {cell: k for k, cell in enumerate(cell for cell in cells if marks[cell] == "B")}
    number |= {cell: ghosts - reds + k for k, cell in enumerate(cell for cell in cells if marks[cell] == "R")}
    found = {}
    for name in state.legal():
        here, to = name.split("-")
        step = (0, 1) if to == "out" else (ord(to[0]) - ord(here[0]), int(to[1:]) - int(here[1:]))
        found[name] = 4 * number[here] + WAYS.index(step)
    return found


@pytest.mark.parametrize(("string", "outputs"), [("geister(history=2)", 32), ("geister:x3y3g3Rb0(limit=30)", 12)])
def test_an_output_is_a_ghost_and_a_direction(string: str, outputs: int) -> None:
    """By every encoding alike; legal moves have different outputs."""
    game, fewer = rules_of(string), 0
    assert game.pieces is not None
    assert (game.pieces.outputs, game.pieces.actions) == (outputs, game.actions)
    for state in random_states(string, 150, seed=2):
        wanted = outputs_by_hand(state)
        assert len(set(wanted.values())) == len(wanted)
        for recall in game.encodings:
            numbers = outputs_by_move(game.pieces, encode(state, recall)[None])[0]
            assert {state.name(move): int(numbers[move]) for move in state.options()} == wanted
        fewer += bool(state.position[0].taken.any())
    assert fewer > 10


def test_choosing_colours_has_outputs_of_its_own() -> None:
    game = rules_of("geister(width=3,height=3,ghosts=3,reds=1,buffer=0,limit=3,setup=chosen)")
    assert game.pieces == Pieces(9, 4, (2, 1), 3)
    state = game.start()
    numbers = outputs_by_move(game.pieces, encode(state, "clock")[None])[0]
    assert numbers[state.options()].tolist() == [12, 13, 14]
    state.push("A").push("A")
    numbers = outputs_by_move(game.pieces, encode(state, "clock")[None])[0]
    assert {state.name(move): int(numbers[move]) for move in state.options()} == outputs_by_hand(state)


def policy_of(string: str, seed: int = 4) -> tuple[NetPolicy, NetPolicy]:
    """A network of one layer whose outputs are of ghosts, and the same without a word about that."""
    game = rules_of(string)
    assert game.pieces is not None
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(game.encodings["clock"].size, game.pieces.outputs)).astype(np.float32)
    layer = Layer(weights, rng.normal(size=game.pieces.outputs).astype(np.float32), "")
    own = game.string, game.fingerprint, "clock", (layer,), {"seed": seed}
    return NetPolicy(*own, game.pieces), NetPolicy(*own)


def shares_by_hand(policy: NetPolicy | NetsPolicy, state: nebel.State, layer: Layer) -> dict[int, float]:
    made = (encode(state, policy.recall)[None] @ layer.weights + layer.biases)[0].astype(float)
    sums = {move: made[outputs_by_hand(state)[state.name(move)]] for move in state.options()}
    odds = {move: np.exp(number - max(sums.values())) for move, number in sums.items()}
    return {move: number / sum(odds.values()) for move, number in odds.items()}


def test_networks_play_by_pieces_everywhere(tmp_path: Path) -> None:
    """Asked about one state, on the tree, in matches by compiled code, and from a file; sharpened as well."""
    game, (policy, _) = nebel.game(SMALL), policy_of(SMALL)
    save_policy(policy, tmp_path / "net.nebel")
    again = load_policy(tmp_path / "net.nebel")
    assert isinstance(again, NetPolicy)
    assert again.pieces == policy.pieces
    assert read_header(tmp_path / "net.nebel")["pieces"] == [6, 4, 0, 1, 1]
    for state in random_states(SMALL, 60, seed=1):
        wanted = shares_by_hand(policy, state, policy.layers[0])
        assert again.probabilities(state) == pytest.approx(wanted, abs=1e-5)
        sharp = {move: share**2 for move, share in wanted.items()}
        total = sum(sharp.values())
        assert policy.sharpened(2.0).probabilities(state) == pytest.approx({move: x / total for move, x in sharp.items()}, abs=1e-5)
    tree = grow(game, "clock")
    laid, side = policy.on_tree(tree).strategies[0], tree.sides[0]
    assert np.add.reduceat(laid, side.row[:-1]) == pytest.approx(np.ones(side.states))
    result = play_pair(game, PolicyAgent("network", again), read("random"), 4000, 3)
    assert result.exact is not None
    assert result.interval[0] - 0.01 <= result.exact <= result.interval[1] + 0.01


def test_many_networks_play_by_pieces(tmp_path: Path) -> None:
    game = rules_of(SMALL)
    one, other = (policy_of(SMALL, seed)[0] for seed in (4, 5))
    stacked = (Layer(*(np.stack([getattr(net.layers[0], part) for net in (one, other)]) for part in ("weights", "biases")), ""),)
    weights = np.array([1.0, 3.0])
    save_policy(NetsPolicy(game.string, game.fingerprint, "clock", (stacked, stacked), (weights, weights), {}, game.pieces), tmp_path / "n")
    policy = load_policy(tmp_path / "n")
    assert isinstance(policy, NetsPolicy)
    assert policy.pieces == game.pieces
    policy.check_game(game)
    laid = policy.on_tree(grow(game, "clock"))
    assert min(share.min() for share in laid.strategies) >= 0.0
    for state in random_states(SMALL, 20, seed=6):
        for number, net in enumerate((one, other)):
            made = (encode(state, "clock")[None] @ net.layers[0].weights + net.layers[0].biases)[0]
            gains = {
                move: max(float(made[output]), 0.0) for move, output in zip(state.options(), outputs_by_hand(state).values(), strict=True)
            }
            if total := sum(gains.values()):
                wanted = {move: gain / total for move, gain in gains.items()}
                assert policy.of_one(number, state) == pytest.approx(wanted, abs=1e-5)
        if not [step for step in state.steps if step.turn == state.turn]:  # nothing has told the networks apart yet
            both = [policy.of_one(number, state) for number in range(2)]
            assert policy.probabilities(state) == pytest.approx({m: both[0][m] / 4 + 3 * both[1][m] / 4 for m in both[0]})


def test_networks_learn_by_pieces() -> None:
    """Numbers of a move are learned in every position in which the same ghost can go that way; the paper's loss is over 32 outputs."""
    game = rules_of("geister")
    values = Values.of(game, "six-channels", "conv:4/8", 0.01, 1, "pieces")
    assert values.net.stages[-1].rest.out_features == 32
    dense = Dense.of(game, "six-channels", "8", 0.02, 1, "pieces")
    state = next(random_states("geister", 1, seed=1))
    row, legal = encode(state, "six-channels")[None], np.zeros((1, game.actions), np.bool_)
    legal[0, state.options()] = True
    shares = np.zeros((1, game.actions), np.float32)
    shares[0, state.options()[:2]] = 0.25, 0.75
    before = dense.step(Experience(row, shares, legal), 0.0, np.ones(1, np.float32))
    assert before == pytest.approx((0.25 - 1 / 32) ** 2 + (0.75 - 1 / 32) ** 2 + 30 / 32**2, rel=1e-5)
    for _ in range(300):
        dense.step(Experience(row, shares, legal), 0.0, np.ones(1, np.float32))
    with torch.no_grad():
        found = torch.softmax(dense.net.outputs(torch.from_numpy(row)), 1)[0].numpy()
    assert found.max() == pytest.approx(0.75, abs=0.02)
    policy = dense.policy(game, "six-channels", {})
    assert list(policy.probabilities(state).values())[:2] == pytest.approx([0.25, 0.75], abs=0.03)
    assert dense(row)[0] == pytest.approx(policy.logits(row)[0], abs=1e-4)


LEARNING = [
    ("deep-cfr", ["--preset", "geister", "--room", "2000", "--average-steps", "2"]),
    ("dream", ["--preset", "geister", "--room", "2000", "--baseline-room", "2000", "--baseline-steps", "2"]),
    ("mmd-ppo", ["--recall", "clock", "--boards", "16", "--plies", "4", "--hidden", "8", "--critic", "8"]),
]


@pytest.mark.parametrize(("method", "more"), LEARNING, ids=[method for method, _ in LEARNING])
def test_learning_by_pieces(method: str, more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same bits when it is resumed; the file plays and is judged."""
    few = [] if method == "mmd-ppo" else ["--traversals", "20", "--steps", "2", "--batch", "64"]
    learn = ["learn", SMALL, "--with", method, "--outputs", "pieces", *few, *more]
    whole, part = tmp_path / "whole", tmp_path / "part"
    assert main([*learn, "--iterations", "2", "--run", str(whole), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["settings"]["outputs"] == "pieces"
    assert main([*learn, "--iterations", "1", "--run", str(part)]) == 0
    assert main(["learn", "--resume", str(part), "--iterations", "2"]) == 0
    file = whole / "policy.nebel"
    assert file.read_bytes() == (part / "policy.nebel").read_bytes()
    policy = load_policy(file)
    assert isinstance(policy, NetPolicy | NetsPolicy)
    assert policy.pieces == rules_of(SMALL).pieces
    capsys.readouterr()
    assert main(["judge", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exploitability"] == pytest.approx(told["exploitability"])


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "leduc", "--with", "deep-cfr", "--outputs", "pieces", "--iterations", "1"]) == 2
    assert "leduc does not number the pieces of a player, so networks have an output for each move" in capsys.readouterr().err
    with pytest.raises(BadSetting, match="--outputs"):
        drive.METHODS["deep-cfr"](outputs="ghosts")  # type: ignore[call-arg]
    policy, bare = policy_of(SMALL)
    with pytest.raises(BadFile, match="rates 8 moves, and geister"):
        bare.check_game(nebel.game(SMALL))
    other = NetPolicy(*(getattr(policy, name) for name in ("game", "fingerprint", "recall", "layers", "facts")), Pieces(6, 2, (2, 2)))
    with pytest.raises(BadFile, match="outputs are named by the pieces of"):
        other.check_game(nebel.game(SMALL))
    header = {"game": policy.game, "fingerprint": policy.fingerprint, "recall": "clock", "facts": {}, "kind": "network"}
    header["layers"] = [["", False, 1]]
    arrays = {"weights0": policy.layers[0].weights, "biases0": policy.layers[0].biases}
    wrong: dict[str, Any] = {
        "not whole numbers": "6 4 0 1 1", "the pieces of each kind": [6, 4, 0], "other moves": [6, 4, -1, 1, 1],
        "and 12 are needed for its pieces": [6, 4, 0, 2, 1], "planes of 600 cells are needed": [600, 4, 0, 1, 1],
    }  # fmt: skip
    for why, said in wrong.items():
        write_arrays(tmp_path / "odd.nebel", arrays, {**header, "pieces": said})
        with pytest.raises(BadFile, match=why):
            load_policy(tmp_path / "odd.nebel")
