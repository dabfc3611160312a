"""Networks as policies: some dense layers over a game's encoding of what a player knows. Playing needs NumPy alone."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile, BadPolicy, BadSetting
from nebel.core.game import BaseGame, Encoding, Game, Pieces
from nebel.core.rule import kernel
from nebel.core.state import State
from nebel.core.tree import Tree
from nebel.policy.pieces import by_move, check_pieces
from nebel.policy.table import MadePolicy, OnTree

Floats = NDArray[np.float32]
Reals = NDArray[np.float64]
ZERO = np.float32(0.0)
BENDS = ("relu", "tanh", "")
"""How the sums of a layer may be bent; "": not at all."""


@kernel
def _rise(made: Any, biases: Any) -> None:
    """Add biases, and let nothing be below 0: in one pass, which for many rows takes a tenth of NumPy's time."""
    for i in range(made.shape[0]):
        for j in range(made.shape[1]):
            made[i, j] = max(made[i, j] + biases[j], ZERO)


class Layer(NamedTuple):
    """Weights, by input and output, and biases; how sums are bent (relu, tanh or not at all), whether the inputs are added to them, and
    of how many neighbouring sums the largest stays."""

    weights: Floats
    biases: Floats
    bend: str
    skip: bool = False
    pool: int = 1

    @property
    def kind(self) -> tuple[str, bool, int]:
        """All but the numbers."""
        return self.bend, self.skip, self.pool

    def __call__(self, rows: Floats) -> Floats:
        made = rows @ self.weights
        if self.skip:
            made += rows
        if self.bend == "relu" and made.ndim == 2:
            _rise(made, self.biases)
        else:
            made += self.biases
            if self.bend == "relu":
                np.maximum(made, 0.0, out=made)
            elif self.bend == "tanh":
                np.tanh(made, out=made)
        return made if self.pool == 1 else made.reshape(*made.shape[:-1], made.shape[-1] // self.pool, self.pool).max(axis=-1)


@dataclass(frozen=True, eq=False)
class NetPolicy(MadePolicy):
    """Moves in proportion to exp(logit), of the legal ones, for both seats of one game. With `pieces` outputs are named by them."""

    game: str
    fingerprint: str
    recall: str
    layers: tuple[Layer, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    pieces: Pieces | None = None

    def check_game(self, game: BaseGame) -> None:
        super().check_game(game)
        check_layers(self.layers)
        check_encoding(self.game, self.recall, self.layers, game, self.pieces)

    def logits(self, rows: Floats) -> Floats:
        """Of all moves, for rows of encodings."""
        return by_move(self.pieces, feed(self.layers, rows), rows)

    def sharpened(self, power: float) -> NetPolicy:
        """With odds raised to this power."""
        *others, last = self.layers
        times = np.float32(power)
        return replace(self, layers=(*others, last._replace(weights=last.weights * times, biases=last.biases * times)))

    def probabilities(self, state: State) -> dict[int, float]:
        self.check_state(state)
        options = state.options()
        logits = self.logits(encode(state, self.recall)[None])[0, options].astype(float)
        odds = np.exp(logits - logits.max())
        return dict(zip(options, (odds / odds.sum()).tolist(), strict=True))

    def on_tree(self, tree: Tree) -> OnTree:
        self.check_game(tree.game)
        if not self.layers:
            raise BadPolicy("the network has no layers")
        first, second = (self._on_side(tree, p) for p in range(2))
        return OnTree((first, second), (0, 0))

    def _on_side(self, tree: Tree, player: int) -> Reals:
        side = tree.sides[player]
        logits = self.logits(encode_side(tree, player, self.recall)).astype(float)
        state = np.repeat(np.arange(side.states), np.diff(side.row))
        chosen = logits[state, side.move]
        odds = np.exp(chosen - np.maximum.reduceat(chosen, side.row[:-1])[state])
        return odds / np.add.reduceat(odds, side.row[:-1])[state]


def feed(layers: Iterable[Layer], rows: Floats) -> Floats:
    """Return what the last layer makes of rows of encodings; raises `BadPolicy` if that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        for layer in layers:
            rows = layer(rows)
    if not np.isfinite(rows).all():
        raise BadPolicy("the network's numbers for moves are not finite: its weights, or what the game tells it, are too large")
    return rows


def check_layers(layers: Sequence[Layer], count: int | None = None) -> None:
    """Raise `BadFile` unless these are layers of finite numbers, each of which takes what the one before it makes.

    `count`: there are so many networks in each array.
    """
    width: int | None = None
    more = () if count is None else (count,)
    for i, layer in enumerate(layers):
        for name, array, dimensions in (("weights", layer.weights, 2), ("biases", layer.biases, 1)):
            if array.dtype != np.float32 or array.ndim != dimensions + len(more) or not np.all(np.isfinite(array)):
                raise BadFile(f"the {name} of layer {i} are not finite numbers of 32 bits in {dimensions + len(more)} dimensions")
        inputs, outputs = layer.weights.shape[-2:]
        if layer.weights.shape[:-2] != more or layer.biases.shape != (*more, outputs) or not inputs or not outputs:
            raise BadFile(f"the weights and biases of layer {i} do not fit each other")
        if width not in (None, inputs):
            raise BadFile(f"layer {i} takes {inputs:,} numbers, and the layer before it makes {width:,}")
        if outputs % layer.pool or (layer.skip and inputs != outputs):
            raise BadFile(f"layer {i} cannot pool or skip by its size")
        width = outputs // layer.pool


def sizes(layers: Sequence[Layer]) -> tuple[int, int]:
    """Return how many numbers the first layer takes, and the last one makes."""
    return layers[0].weights.shape[-2], layers[-1].weights.shape[-1] // layers[-1].pool


def check_encoding(made_for: str, recall: str, layers: Sequence[Layer], game: BaseGame, pieces: Pieces | None = None) -> None:
    """Refuse a game whose encoding or moves are not those of a network; without layers, it is one that is still to be learned."""
    if not isinstance(game, Game):
        return
    if recall not in game.encodings:
        raise BadFile(f"this network goes by what {made_for} puts into numbers, and {game.string} does not; play {made_for}")
    if not layers:
        return
    taken, made = sizes(layers)
    if pieces is not None:
        check_pieces(pieces, taken, made)
        if pieces != game.pieces:
            raise BadFile(f"this network's outputs are named by the pieces of {made_for}, and those of {game.string} are others")
        made = pieces.actions
    if (taken, made) != (game.encodings[recall].size, game.actions):
        wants = f"{game.encodings[recall].size:,} numbers and {game.actions:,} moves"
        raise BadFile(f"this network takes {taken:,} numbers and rates {made:,} moves, and {game.string} has {wants}")


def encoding_of(game: BaseGame, recall: str) -> Encoding:
    """How a game puts what players know into numbers; a clear refusal where it does not."""
    known = game.encodings if isinstance(game, Game) else {}
    if recall not in known:
        has = f"it has some for {', '.join(known)}" if known else "it has none; give it Game.encodings, or nebel.keeping_diaries"
        if game.options.get("diary") is False:
            has += ", and with diary=true more"
        raise BadSetting(f"{game.string} has no encoding for networks of what players of {recall} recall know: {has}")
    return known[recall]


def encode(state: State, recall: str) -> Floats:
    """What the player to move knows, in numbers."""
    size, write, _ = encoding_of(state.game, recall)
    row = np.zeros(size, np.float32)
    with np.errstate(over="ignore"):
        write(state.position[0], state.turn, row)
    return row


@functools.lru_cache(maxsize=16)
def _encoder(game: Game, recall: str) -> Any:
    start, _, _, play, _, _ = game.rules
    encode = encoding_of(game, recall).write
    depth = game.depth

    @kernel
    def run(player: int, places: Any, parent: Any, option: Any, state: Any, out: Any) -> None:
        path, seen = np.zeros(depth + 1, np.int64), np.zeros(2, np.int64)
        for i in range(places.size):
            node, d = places[i], 0
            while node > 0:
                path[d] = option[node]
                node = parent[node]
                d += 1
            start(state[0])
            while d > 0:
                d -= 1
                seen[:] = 0
                play(state[0], path[d], seen)
            encode(state[0], player, out[i])

    return run


def encode_side(tree: Tree, player: int, recall: str) -> Floats:
    """What a player knows in each information state of a tree, in numbers."""
    game, side = tree.game, tree.sides[player]
    assert isinstance(game, Game)
    _, points = np.unique(side.state, return_index=True)
    out = np.zeros((side.states, encoding_of(game, recall).size), np.float32)
    with np.errstate(over="ignore"):
        _encoder(game, recall)(
            player, side.points.node[points].astype(np.int64), tree.nodes.parent, tree.nodes.option, game.blank(1), out
        )  # fmt: skip
    return out
