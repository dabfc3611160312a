"""Networks in torch: their shapes, their optimiser, how they are kept, and what they become when they play.

A network is a row of stages, each an affine map and what bends it. Stages over a board are convolutions; numbers that come after the
planes have small dense layers of their own until all is flattened. For play every stage becomes one dense layer (`Net.layers`), so that a
policy is a stack of these, whatever it was in training.
"""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np

from nebel.core.errors import BadSetting
from nebel.core.game import Game, Pieces
from nebel.learn.memory import Arrays, Experience, Lessons
from nebel.learn.planes import add_planes
from nebel.learn.shapes import Shape as Shape
from nebel.learn.shapes import read_shape as read_shape
from nebel.policy.net import Floats, Layer, NetPolicy, encoding_of
from nebel.policy.pieces import outputs_by_move, pieces_of

try:
    import torch as torch  # for modules beside this one, so that all say alike what is missing
    from torch import nn as nn
except ImportError:  # the rest of the library does without, and so do the settings of learners

    class _Missing:
        """Takes the place of torch, and says what is missing as soon as anything of it is used."""

        Module = object

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__"):
                raise AttributeError(name)
            raise BadSetting("learning takes torch; install it with: pip install 'torch>=2.13,<2.14'")

    torch = nn = _Missing()  # type: ignore[assignment]

MOST_ROWS = 1024
"""That a step of a fit learns from; of more, as many are drawn."""

BLOCK = 512
"""Rows that convolutions are asked about at once: what they make of more does not fit into the processor's cache."""

KEPT = 0.99
"""Of the mean of a network's weights, in every step; the rest is the network's."""

MOMENTS = ("exp_avg", "exp_avg_sq", "step")
"""What Adam remembers of a parameter."""
STEP = (1,)
"""The shape in which the number of steps is saved."""


class Stage(nn.Module):
    """An affine map from planes and other numbers to the same, or from all of it to one row of numbers; then the bend, and pooling."""

    def __init__(self, planes: nn.Module | None, rest: nn.Module, bend: str, skip: bool = False, pool: int = 1) -> None:
        super().__init__()
        self.planes, self.rest, self.bend, self.skip, self.pool = planes, rest, bend, skip, pool

    def affine(self, planes: Any, rest: Any) -> tuple[Any, Any]:
        if self.planes is None:
            flat = rest if planes is None else torch.cat([planes.permute(0, 2, 3, 1).flatten(1), rest], 1)
            return None, self.rest(flat)
        return self.planes(planes), self.rest(rest)

    def forward(self, planes: Any, rest: Any) -> tuple[Any, Any]:
        before = rest
        planes, rest = self.affine(planes, rest)
        return self.bent(planes, rest + before if self.skip else rest)

    def bent(self, planes: Any, rest: Any) -> tuple[Any, Any]:
        """What sums become. Planes are bent where they lie: room for as many more takes as long as a convolution."""
        if self.bend:
            planes, rest = planes if planes is None else getattr(torch, f"{self.bend}_")(planes), getattr(torch, self.bend)(rest)
        return planes if self.pool == 1 else nn.functional.max_pool2d(planes, self.pool), rest

    def dense(self, planes: Any, rest: Any) -> tuple[Any, Any]:
        """What the affine map makes as one row, in which what is pooled stands side by side; and how planes go on."""
        planes, rest = self.affine(planes, rest)
        if planes is None:
            return rest, None
        if self.pool == 1:
            return torch.cat([planes.flatten(1), rest], 1), planes
        squares = planes.unfold(2, self.pool, self.pool).unfold(3, self.pool, self.pool).flatten(4)
        same = rest[:, :, None].expand(-1, -1, self.pool**2)
        return torch.cat([squares.flatten(1), same.flatten(1)], 1), squares.amax(4)


def board_stages(inputs: int, board: tuple[int, int] | None, shape: Shape) -> tuple[list[nn.Module], int]:
    """Return the stages over planes, none if the shape has none, and how many numbers they make once all is flattened."""
    stages: list[nn.Module] = []
    if not shape.planes:
        return stages, inputs
    if not board or inputs < board[0] * board[1]:
        raise BadSetting("convolutions take planes of a board, and the encoding of this game has none; write layers such as 128-64")
    height, width = board
    channels, rest = divmod(inputs, height * width)
    for i, ((made, kernel, padding), size) in enumerate(zip(shape.planes, shape.rest, strict=True)):
        others = nn.Linear(rest, size) if rest and size else nn.Identity()
        pool = shape.pool if i == len(shape.planes) - 1 else 1
        stages.append(Stage(nn.Conv2d(channels, made, kernel, padding=padding), others, shape.bend, pool=pool))
        height, width = (height + 2 * padding - kernel + 1) // pool, (width + 2 * padding - kernel + 1) // pool
        channels, rest = made, (size or rest) if rest else 0
        if not height * width:
            raise BadSetting("the board is too small for this network; write layers such as 128-64")
    return stages, channels * height * width + rest


def begin_weights(net: nn.Module, last: Any, luck: Any) -> None:
    """Draw the weights that a network begins with; those of its last layer are 0."""
    with torch.no_grad():
        for part in net.modules():
            if isinstance(part, (nn.Linear, nn.Conv2d)):
                assert part.bias is not None
                nn.init.kaiming_uniform_(part.weight, nonlinearity="relu", generator=luck)
                part.bias.zero_()
        last.weight.zero_()


class Tower(nn.Module):
    """Stages one after another over rows that begin with the planes of a board, if there is one. With `pieces` the last one makes numbers
    for their directions, and moves take theirs from these."""

    pieces: Pieces | None = None

    def __init__(self, inputs: int, board: tuple[int, int] | None, shape: Shape, outputs: int, luck: Any) -> None:
        super().__init__()
        self.board, self.inputs, self.norm = board if shape.planes else None, inputs, shape.norm
        stages, size = board_stages(inputs, board, shape)
        self.channels = inputs // (self.board[0] * self.board[1]) if self.board else 0
        for i, made in enumerate(shape.dense):
            stages.append(Stage(None, nn.Linear(size, made), "relu", shape.skip and i > 0 and made == size))
            size = made
        last = nn.Linear(size, outputs)
        stages.append(Stage(None, nn.Sequential(nn.BatchNorm1d(size), last) if shape.norm else last, ""))
        self.stages = nn.ModuleList(stages)
        begin_weights(self, last, luck)

    def split(self, rows: Any) -> tuple[Any, Any]:
        if not self.board:
            return None, rows
        size = self.channels * self.board[0] * self.board[1]
        return rows[:, :size].reshape(len(rows), self.channels, *self.board), rows[:, size:]

    def forward(self, rows: Any) -> Any:
        return self.by_move(self.outputs(rows), rows)

    def outputs(self, rows: Any) -> Any:
        """Return what the last stage makes."""
        planes, rest = self.split(rows)
        planes = planes if planes is None else planes.contiguous(memory_format=torch.channels_last)
        for stage in self.stages:
            planes, rest = stage(planes, rest)
        return rest

    def by_move(self, made: Any, rows: Any) -> Any:
        """Return numbers by move, from those that the last stage makes of rows."""
        return made if self.pieces is None else made.gather(1, torch.from_numpy(outputs_by_move(self.pieces, rows.numpy())))

    def by_output(self, shares: Any, rows: Any) -> Any:
        """Return shares of moves, 0 of those that are not legal, as the last stage should make them."""
        if self.pieces is None:
            return shares
        none = torch.zeros(len(shares), self.pieces.outputs)
        return none.scatter_add(1, torch.from_numpy(outputs_by_move(self.pieces, rows.numpy())), shares)

    def answer(self, rows: Floats) -> Any:
        """The same without gradients; the first sums are made from those cells alone that hold something."""
        if not self.board:
            return self(torch.from_numpy(rows))
        first, *others = self.stages
        assert isinstance(first, Stage)
        made, found = _convolved(rows, self.board, first.planes), []
        for at in range(0, len(rows), BLOCK):
            _, rest = self.split(torch.from_numpy(rows[at : at + BLOCK]))
            planes, rest = first.bent(made[at : at + BLOCK], first.rest(rest))
            for stage in others:
                planes, rest = stage(planes, rest)
            found.append(rest)
        return self.by_move(torch.cat(found), torch.from_numpy(rows))

    def layers(self) -> tuple[Layer, ...]:
        """Every stage as weights by input and output, biases, and its bend. An affine map is known by what it makes of zeros and ones."""
        found = []
        self.eval()
        planes, rest = self.split(torch.zeros(1, self.inputs))
        with torch.inference_mode():
            for stage in self.stages:
                assert isinstance(stage, Stage)
                shape = None if planes is None else planes.shape[1:]
                size = 0 if shape is None else int(np.prod(shape))
                ones = torch.eye(size + rest.shape[1])
                rows = torch.cat([torch.zeros(1, len(ones)), ones])
                out, ahead = stage.dense(None if shape is None else rows[:, :size].reshape(len(rows), *shape), rows[:, size:])
                found.append(Layer(_array(out[1:] - out[:1]), _array(out[0]), stage.bend, stage.skip, stage.pool**2))
                kept = out.shape[1] // stage.pool**2 - (0 if ahead is None else int(np.prod(ahead.shape[1:])))
                planes, rest = None if ahead is None else ahead[:1], torch.zeros(1, kept)
        self.train()
        return tuple(found)


class Net:
    """A network with its optimiser. The last layer begins with zeros: nothing is preferred."""

    form: Any = Tower

    def __init__(
        self, inputs: int, shape: Shape, outputs: int, rate: float, seed: int, board: tuple[int, int] | None = None,
        pieces: Pieces | None = None,
    ) -> None:  # fmt: skip
        torch.set_num_threads(1)
        self.net = self.form(inputs, board, shape, outputs, torch.Generator().manual_seed(seed))
        if pieces:
            self.net.pieces = pieces
        self._adam = torch.optim.Adam(self.net.parameters(), lr=rate, fused=True)

    @classmethod
    def of(cls, game: Game, recall: str, shape: str, rate: float, seed: int, outputs: str = "moves") -> Self:
        """From a game's encoding to numbers for its moves, or for directions of its pieces."""
        encoding, pieces = encoding_of(game, recall), pieces_of(game, outputs)
        return cls(encoding.size, read_shape(shape), pieces.outputs if pieces else game.actions, rate, seed, encoding.board, pieces)

    def __getstate__(self) -> dict[str, Any]:
        """For workers, who ask it only."""
        return {"net": self.net}

    def __setstate__(self, state: dict[str, Any]) -> None:
        torch.set_num_threads(1)
        self.net = state["net"]

    def descend(self, loss: Any, clip: float = 0.0) -> float:
        """One step of the optimiser, with gradients no longer than `clip`."""
        self._adam.zero_grad(set_to_none=True)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(self.net.parameters(), clip)
        self._adam.step()
        return float(loss.detach())

    def pace(self, rate: float) -> None:
        """Another rate from now on."""
        for group in self._adam.param_groups:
            group["lr"] = rate

    def __call__(self, rows: Floats) -> Floats:
        with torch.inference_mode():
            if self.net.norm:
                self.net.eval()
            found: Floats = self.net.answer(rows).numpy()
            if self.net.norm:
                self.net.train()
        return found

    def follow(self, other: Net, kept: float) -> None:
        """Become a mean: so much of what this network is, the rest of the other."""
        with torch.no_grad():
            for mine, new in zip(self.net.state_dict().values(), other.net.state_dict().values(), strict=True):
                mine.copy_(torch.lerp(new, mine, kept) if mine.is_floating_point() else new)

    def layers(self) -> tuple[Layer, ...]:
        """As NumPy plays it; copies."""
        return self.net.layers()

    def save(self, name: str = "") -> Arrays:
        held = {f"{name}{key}": _array(each) for key, each in self.net.state_dict().items()}
        for i, each in enumerate(self.net.parameters()):
            held |= {f"{name}{kind}{i}": _array(self._adam.state[each][kind]) for kind in MOMENTS if each in self._adam.state}
        return held

    def restore(self, arrays: Arrays, name: str = "") -> None:
        with torch.no_grad():
            for key, each in self.net.state_dict().items():
                saved = torch.from_numpy(arrays[f"{name}{key}"])
                each.copy_(saved if each.ndim else saved.squeeze())  # single numbers, batches that were normalised, are saved as rows
        for i, parameter in enumerate(self.net.parameters()):
            if f"{name}step{i}" in arrays:
                held = {kind: torch.from_numpy(arrays[f"{name}{kind}{i}"].copy()) for kind in MOMENTS}
                shapes = dict.fromkeys(MOMENTS, parameter.shape) | {"step": STEP}
                if any(each.dtype != parameter.dtype or each.shape != shapes[kind] for kind, each in held.items()):
                    raise ValueError(f"what Adam remembers of parameter {i} is of another shape")
                self._adam.state[parameter] = held


class Dense(Net):
    """A network for policies: at first all moves are equally likely."""

    def step(self, batch: Experience, clip: float = 0.0, weights: Floats | None = None) -> float:
        """One step towards the experts' shares; returns the mean Kullback-Leibler divergence of the network's from theirs. With `weights`
        the loss is the weighted mean square error of shares of all outputs, those of moves that are not legal too, as in the paper on
        Geister."""
        if not len(batch.rows):
            return 0.0
        rows, shares, legal = (torch.from_numpy(array) for array in batch)
        if weights is not None:
            errors = torch.sum((torch.softmax(self.net.outputs(rows), 1) - self.net.by_output(shares, rows)) ** 2, 1)
            return self.descend(torch.mean(torch.from_numpy(weights) * errors), clip)
        logs = log_shares(self.net(rows), legal)
        return self.descend(torch.sum(torch.xlogy(shares, shares) - shares * logs) / len(rows))

    def policy(self, game: Game, recall: str, facts: dict[str, Any]) -> NetPolicy:
        return NetPolicy(game.string, game.fingerprint, recall, self.layers(), facts, self.net.pieces)


class Settled(Dense):
    """A network for policies, and the mean of its last weights, which plays: by steps of one length a network never comes to rest."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._mean, self._steps = Dense(*args), 0

    def step(self, batch: Experience, clip: float = 0.0, weights: Floats | None = None) -> float:
        loss = super().step(batch, clip, weights)
        self._steps += 1
        self._mean.follow(self, min(KEPT, self._steps / (self._steps + 10)))
        return loss

    def layers(self) -> tuple[Layer, ...]:
        return self._mean.layers()

    def save(self, name: str = "") -> Arrays:
        return super().save(name) | self._mean.save(f"{name}mean.") | {f"{name}steps": np.array([self._steps])}

    def restore(self, arrays: Arrays, name: str = "") -> None:
        super().restore(arrays, name)
        self._mean.restore(arrays, f"{name}mean.")
        self._steps = int(arrays[f"{name}steps"][0])


class Values(Net):
    """A network that gives a number for each move, regrets or what moves are worth, fitted by weighted least squares."""

    def step(self, lessons: Lessons, clip: float = 0.0, weights: Floats | None = None) -> float:
        """One step towards figures of legal moves; returns the mean square of what it was off, by row times `weights`."""
        if not len(lessons.rows):
            return 0.0
        rows, figures, legal = (torch.from_numpy(array) for array in lessons)
        errors = torch.sum(legal * (self.net(rows) - figures) ** 2, 1)
        return self.descend(torch.mean(errors if weights is None else torch.from_numpy(weights) * errors), clip)

    def fit(self, rows: Floats, wanted: Floats, weight: Floats, steps: int, rng: np.random.Generator) -> float:
        """`weight` is by row and move: 0 where nothing is wanted. Returns the last loss."""
        loss = 0.0
        if not len(rows):
            return loss
        x, y, w = (torch.from_numpy(np.ascontiguousarray(each, np.float32)) for each in (rows, wanted, weight))
        for _ in range(steps):
            part: Any = slice(None) if len(rows) <= MOST_ROWS else torch.from_numpy(rng.integers(0, len(rows), MOST_ROWS))
            error = w[part] * (self.net(x[part]) - y[part]) ** 2
            loss = self.descend(torch.sum(error) / torch.sum(w[part]))
        return loss


def _convolved(rows: Floats, board: tuple[int, int], convolution: Any) -> Any:
    """What a convolution makes of the planes with which rows begin: by row, channel, line and column."""
    weight, bias = convolution.weight.detach(), convolution.bias.detach()
    (size, _), (pad, _) = convolution.kernel_size, convolution.padding
    ones = torch.eye(weight.shape[1])[:, :, None, None].expand(-1, -1, *board)
    levels = nn.functional.conv2d(ones, weight, padding=pad).permute(0, 2, 3, 1).contiguous()
    made = bias.repeat(len(rows), *levels.shape[1:3])
    kernels = weight.flip(3).permute(1, 2, 3, 0).flatten(2).contiguous()
    add_planes(rows, *board, kernels.numpy(), levels.flatten(2).numpy(), size, pad, made.numpy())
    return made.reshape(len(rows), *levels.shape[1:]).permute(0, 3, 1, 2)


def log_shares(logits: Any, legal: Any) -> Any:
    """Logarithms of shares over legal moves; 0 elsewhere."""
    return torch.log_softmax(logits.masked_fill(~legal, -torch.inf), 1).masked_fill(~legal, 0.0)


def shares_of_logits(logits: Floats, legal: Any) -> Any:
    """Shares over legal moves in NumPy, as a game in step takes them."""
    return torch.softmax(torch.from_numpy(logits).double().masked_fill_(~torch.from_numpy(legal), -torch.inf), 1).numpy()


def _array(tensor: Any) -> Any:
    return np.ascontiguousarray(tensor.detach().numpy()).copy()
