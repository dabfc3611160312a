"""Searching at the board: simulations of OOS a second, from the root, where two make an iteration: one for each player."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nebel.bench.clock import Contender, against, looped, race
from nebel.bench.peers import OPENSPIEL, openspiel_solver
from nebel.bench.row import Claim, Row
from nebel.bench.sampling import OUTCOME, WARM_UP
from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.registry import load
from nebel.policy.net import Layer, NetPolicy
from nebel.policy.table import Policy
from nebel.search.online import Searches

BATCHED = "oos-network"
HIDDEN, TOGETHER = (128, 128, 64), 256


def _games(cards: int) -> tuple[str, str]:
    """Goofspiel with the same settings in both libraries."""
    ours = f"goofspiel(cards={cards},order=descending,first_prize=1,forced_last=false)"
    return ours, f"goofspiel(imp_info=True,num_cards={cards},points_order=descending)"


def _searcher(string: str, policy: Policy | None = None, together: int = 1) -> Contender:
    searches = Searches(load(string), policy=policy, together=together)
    return Contender("", lambda iterations: searches.simulate(np.array([2 * iterations])))


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


def _batched(seconds: float) -> Row:
    game = load("goofspiel:13")
    assert isinstance(game, Game)
    network = random_network(game, HIDDEN)
    end = race(_searcher(game.string, network, TOGETHER), [_searcher(game.string, network)], seconds, TOGETHER)
    note = f"network playouts of Goofspiel(13), layers of {'-'.join(map(str, HIDDEN))}: up to {TOGETHER} states at once, and one"
    return Row(BATCHED, 2 * end.ours, 2 * end.peer, end.ratio, "simulations/s", "nebel, one state at a time", note)


def claims() -> list[Claim]:
    return [_claim(6), _claim(13), Claim(BATCHED, _batched)]
