"""Dense networks in torch, and as policies."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from nebel.core.errors import BadSetting
from nebel.core.game import BaseGame
from nebel.learn.reservoir import Arrays, Experience
from nebel.policy.net import Layer, NetPolicy

try:
    import torch
    from torch import nn
except ImportError as error:  # the rest of the library does without
    raise BadSetting("learning takes torch; install it with: pip install 'torch>=2.13,<2.14'") from error

MOMENTS = ("exp_avg", "exp_avg_sq", "step")
"""What Adam remembers of a parameter."""


def read_hidden(text: str) -> list[int]:
    """Sizes of hidden layers, such as 128-64."""
    sizes = [int(word) if word.isdecimal() else 0 for word in text.split("-")]
    if min(sizes) < 1:
        raise BadSetting(f"--hidden {text} is not understood; write sizes of layers such as 128-64")
    return sizes


class Dense:
    """A network for policies with its optimiser. The last layer begins with zeros, so that all moves are equally likely."""

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
        self._adam = torch.optim.Adam(self._net.parameters(), lr=rate)

    def step(self, batch: Experience) -> float:
        """One step towards the experts' shares; returns the mean Kullback-Leibler divergence of the network's from theirs."""
        rows, shares, legal = (torch.from_numpy(array) for array in batch)
        logits = self._net(rows).masked_fill(~legal, -torch.inf)
        logs = torch.log_softmax(logits, 1).masked_fill(~legal, 0.0)
        loss = torch.sum(torch.xlogy(shares, shares) - shares * logs) / len(rows)
        self._adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.step()
        return float(loss.detach())

    def layers(self) -> tuple[Layer, ...]:
        """Weights and biases as NumPy uses them; copies."""
        return tuple((_array(layer.weight.T), _array(layer.bias)) for layer in self._layers)

    def policy(self, game: BaseGame, recall: str, facts: dict[str, Any]) -> NetPolicy:
        return NetPolicy(game.string, game.fingerprint, recall, self.layers(), facts)

    def save(self) -> Arrays:
        held = {f"parameter{i}": _array(each) for i, each in enumerate(self._net.parameters())}
        for i, each in enumerate(self._net.parameters()):
            held |= {f"{name}{i}": _array(self._adam.state[each][name]) for name in MOMENTS if each in self._adam.state}
        return held

    def restore(self, arrays: Arrays) -> None:
        with torch.no_grad():
            for i, each in enumerate(self._net.parameters()):
                each.copy_(torch.from_numpy(arrays[f"parameter{i}"]))
                if f"step{i}" in arrays:
                    self._adam.state[each] = {name: torch.from_numpy(arrays[f"{name}{i}"].copy()) for name in MOMENTS}


def _array(tensor: Any) -> Any:
    return np.ascontiguousarray(tensor.detach().numpy()).copy()
