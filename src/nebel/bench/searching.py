"""Searching at the board: simulations of OOS a second, from the root, where two make an iteration: one for each player."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from nebel.bench.clock import Contender, against, looped
from nebel.bench.peers import OPENSPIEL, openspiel_solver
from nebel.bench.row import Claim, Row
from nebel.bench.sampling import OUTCOME, WARM_UP
from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.registry import load
from nebel.policy.net import Floats, Layer, NetPolicy
from nebel.policy.table import Policy
from nebel.search.online import Searches

BY_TORCH, BY_NUMPY = "oos-network", "oos-network-numpy"
HIDDEN, TOGETHER = (128, 128, 64), 256
LONG = 10_000
"""Simulations of a search by a network: who is faster does not search on in a larger memory."""


def _games(cards: int) -> tuple[str, str]:
    """Goofspiel with the same settings in both libraries."""
    ours = f"goofspiel(cards={cards},order=descending,first_prize=1,forced_last=false)"
    return ours, f"goofspiel(imp_info=True,num_cards={cards},points_order=descending)"


def _searcher(string: str) -> Contender:
    searches = Searches(load(string))
    return Contender("", lambda iterations: searches.simulate(np.array([2 * iterations])))


def _advised(string: str, policy: Policy, together: int) -> Contender:
    """Searches of the same length, one after another; here an iteration is a simulation."""
    searches = Searches(load(string), policy=policy, together=together)
    left = LONG

    def work(simulations: int) -> None:
        nonlocal left
        while simulations:
            part = min(simulations, left)
            searches.simulate(np.array([part]))
            simulations, left = simulations - part, left - part
            if not left:
                searches.forget()
                left = LONG

    return Contender("", work)


def _claim(cards: int) -> Claim:
    name = f"oos-goofspiel{cards}"
    ours, theirs = _games(cards)

    def field() -> list[Contender]:
        return [Contender(f"{OPENSPIEL} {OUTCOME}", looped(openspiel_solver(theirs, OUTCOME, False, seed=1)[1]))]

    def measure(seconds: float) -> Row:
        warm_up = int(WARM_UP * seconds) // cards
        note = f"a simulation learns for one player, an iteration of the peer is two; {warm_up:,} iterations on both sides first"
        row = against(name, _searcher(ours), field, seconds, "simulations/s", OPENSPIEL, note, warm_up)
        return row._replace(ours=2 * row.ours, peer=row.peer and 2 * row.peer)

    return Claim(name, measure)


def random_network(game: Game, hidden: tuple[int, ...], seed: int = 1) -> NetPolicy:
    rng = np.random.default_rng(seed)
    sizes = (game.encodings[PERFECT].size, *hidden, game.actions)
    pairs = [((rng.normal(size=(a, b)) / np.sqrt(a)).astype(np.float32), rng.normal(size=b).astype(np.float32)) for a, b in pairwise(sizes)]
    layers = [Layer(*pair, "relu") for pair in pairs]
    return NetPolicy(game.string, game.fingerprint, PERFECT, (*layers[:-1], layers[-1]._replace(bend="")))


class ByTorch(NetPolicy):
    """The same network, asked as networks in torch usually are: `facts` has the module."""

    def logits(self, rows: Floats) -> Floats:
        import torch

        with torch.inference_mode():
            found: Floats = self.facts["module"](torch.from_numpy(rows)).numpy()
        return found


def by_torch(network: NetPolicy) -> NetPolicy:
    import torch

    torch.set_num_threads(1)
    stages: list[torch.nn.Module] = []
    for layer in network.layers:
        stage = torch.nn.Linear(*layer.weights.shape)
        with torch.no_grad():
            stage.weight.copy_(torch.from_numpy(layer.weights.T))
            stage.bias.copy_(torch.from_numpy(layer.biases))
        stages += [stage, torch.nn.ReLU()] if layer.bend else [stage]
    return ByTorch(network.game, network.fingerprint, network.recall, network.layers, {"module": torch.nn.Sequential(*stages).eval()})


def _batched(name: str, peer: str, one_by_one: Callable[[NetPolicy], NetPolicy]) -> Claim:
    def measure(seconds: float) -> Row:
        game = load("goofspiel:13")
        assert isinstance(game, Game)
        network = random_network(game, HIDDEN)
        layers = "-".join(map(str, HIDDEN))
        note = f"searches of {LONG:,} simulations, Goofspiel(13), a network of {layers}: up to {TOGETHER} states at once, and one"
        ours = _advised(game.string, network, TOGETHER)
        row = against(name, ours, lambda: [_advised(game.string, one_by_one(network), 1)], seconds, "simulations/s", peer, note, TOGETHER)
        return row._replace(peer_name=peer)

    return Claim(name, measure)


def claims() -> list[Claim]:
    return [
        _claim(6), _claim(13), _batched(BY_TORCH, "nebel, one state at a time by torch", by_torch),
        _batched(BY_NUMPY, "nebel, one state at a time by NumPy", lambda network: network),
    ]  # fmt: skip
