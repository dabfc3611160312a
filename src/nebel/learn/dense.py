"""Dense networks in torch: policies, and numbers for moves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from nebel.core.errors import BadSetting
from nebel.core.game import BaseGame
from nebel.learn.reservoir import Arrays, Experience
from nebel.policy.net import Floats, Layer, NetPolicy

try:
    import torch
    from torch import nn
except ImportError as error:  # the rest of the library does without
    raise BadSetting("learning takes torch; install it with: pip install 'torch>=2.13,<2.14'") from error

MOST_ROWS = 1024
"""That a step of a fit learns from; of more, as many are drawn."""

MOMENTS = ("exp_avg", "exp_avg_sq", "step")
"""What Adam remembers of a parameter."""


def read_hidden(text: str) -> list[int]:
    """Sizes of hidden layers, such as 128-64."""
    sizes = [int(word) if word.isdecimal() else 0 for word in text.split("-")]
    if min(sizes) < 1:
        raise BadSetting(f"--hidden {text} is not understood; write sizes of layers such as 128-64")
    return sizes


class Net:
    """A dense network, rectified between its layers, with its optimiser. The last layer begins with zeros: nothing is preferred."""

    def __init__(self, inputs: int, hidden: list[int], outputs: int, rate: float, seed: int) -> None:
        torch.set_num_threads(1)
        luck = torch.Generator().manual_seed(seed)
        sizes = [inputs, *hidden, outputs]
        self._layers = [nn.Linear(a, b) for a, b in pairwise(sizes)]
        with torch.no_grad():
            for layer in self._layers:
                nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu", generator=luck)
                layer.bias.zero_()
            self._layers[-1].weight.zero_()
        parts: list[nn.Module] = [part for layer in self._layers for part in (layer, nn.ReLU())]
        self._net = nn.Sequential(*parts[:-1])
        self._adam = torch.optim.Adam(self._net.parameters(), lr=rate, fused=True)

    def descend(self, loss: Any) -> float:
        """One step of the optimiser."""
        self._adam.zero_grad(set_to_none=True)
        loss.backward()
        self._adam.step()
        return float(loss.detach())

    def layers(self) -> tuple[Layer, ...]:
        """Weights and biases as NumPy uses them; copies."""
        return tuple((_array(layer.weight.T), _array(layer.bias)) for layer in self._layers)

    def save(self, name: str = "") -> Arrays:
        held = {f"{name}parameter{i}": _array(each) for i, each in enumerate(self._net.parameters())}
        for i, each in enumerate(self._net.parameters()):
            held |= {f"{name}{kind}{i}": _array(self._adam.state[each][kind]) for kind in MOMENTS if each in self._adam.state}
        return held

    def restore(self, arrays: Arrays, name: str = "") -> None:
        with torch.no_grad():
            for i, each in enumerate(self._net.parameters()):
                each.copy_(torch.from_numpy(arrays[f"{name}parameter{i}"]))
                if f"{name}step{i}" in arrays:
                    self._adam.state[each] = {kind: torch.from_numpy(arrays[f"{name}{kind}{i}"].copy()) for kind in MOMENTS}


class Dense(Net):
    """A network for policies: at first all moves are equally likely."""

    def step(self, batch: Experience) -> float:
        """One step towards the experts' shares; returns the mean Kullback-Leibler divergence of the network's from theirs."""
        rows, shares, legal = (torch.from_numpy(array) for array in batch)
        logits = self._net(rows).masked_fill(~legal, -torch.inf)
        logs = torch.log_softmax(logits, 1).masked_fill(~legal, 0.0)
        return self.descend(torch.sum(torch.xlogy(shares, shares) - shares * logs) / len(rows))

    def policy(self, game: BaseGame, recall: str, facts: dict[str, Any]) -> NetPolicy:
        return NetPolicy(game.string, game.fingerprint, recall, self.layers(), facts)


class Values(Net):
    """A network that gives a number for each move, regrets or what moves are worth, fitted by weighted least squares."""

    def __call__(self, rows: Floats) -> Floats:
        with torch.inference_mode():
            found: Floats = self._net(torch.from_numpy(rows)).numpy()
        return found

    def fit(self, rows: Floats, wanted: Floats, weight: Floats, steps: int, rng: np.random.Generator) -> float:
        """`weight` is by row and move: 0 where nothing is wanted. Returns the last loss."""
        loss = 0.0
        x, y, w = (torch.from_numpy(np.ascontiguousarray(each, np.float32)) for each in (rows, wanted, weight))
        for _ in range(steps):
            part: Any = slice(None) if len(rows) <= MOST_ROWS else torch.from_numpy(rng.integers(0, len(rows), MOST_ROWS))
            error = w[part] * (self._net(x[part]) - y[part]) ** 2
            loss = self.descend(torch.sum(error) / torch.sum(w[part]))
        return loss


def _array(tensor: Any) -> Any:
    return np.ascontiguousarray(tensor.detach().numpy()).copy()
