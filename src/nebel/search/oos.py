"""Online Outcome Sampling: outcome-sampling MCCFR that thinks about the position at the board.

Lisy, Lanctot, Bowling. Online Monte Carlo Counterfactual Regret Minimization for Search in Imperfect Information Games. 2015

Every simulation starts at the root, and learns for one player, who explores with probability epsilon; the other player errs
with probability gamma. With probability delta a simulation is led to the target, what the searcher knows (or everybody): of
the options at hand it draws only among those from which the target can still be reached. The sampling probability of a
history is then that of a mixture, l = delta * s1 + (1 - delta) * s2, with and without leading. What chance and the other player
contribute to s2 and to the counterfactual reach is the same and cancels, so all that is kept is `own`, the product of the
learner's own sampling probabilities, and `ratio` = s1 / s2, which becomes 0 off the target:

    reach / l = 1 / (own * (delta * ratio + 1 - delta))

Guesses of what each move is worth serve as control variates (VR-MCCFR, Schmid et al. 2019), with l(ha) / l(h) as the probability
that a was drawn at h; a rate of 0 gives the samples of the paper.

An information state with a choice that a simulation meets first is added to the memory, at most one before the target and one from
there on. Where nothing is remembered a playout policy moves, whose odds cancel as well. What is added begins with regrets by
which it moves as the policy does; how large they are, in lessons of that information state (`trust`), says how soon it may think
otherwise.

Targeted samples count the more the rarer the target is: all updates are multiplied by w = (1 - delta) + delta / P, where P is
the target's probability under the present strategies, estimated by the mean of s2 / s1 over led simulations. The paper on
ExIt-OOS takes a moving average of s1 / s2 over all simulations instead: the same in expectation, with heavy tails.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nebel.core.game import CHANCE, END, Game, Record
from nebel.core.keys import find
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.regret import match_regrets, pick
from nebel.core.rng import uniform
from nebel.core.rule import kernel, rule
from nebel.core.settings import Settings, setting
from nebel.core.unfold import look_away
from nebel.search.flights import Flights, Goals
from nebel.search.memory import NOWHERE, Memory, Own, enter, look_up, own
from nebel.search.target import follow

OFF, FREE = -1, -2
"""Of a simulation that is not on its way to the target: it strayed; or it has been there, or there is none."""

WAITING, DONE, PAST = 0, 1, 2
"""A simulation waits for a network's opinion, is at the end of the game, or has reached or missed the target."""

UNIFORM, TABLE, NET = "uniform", "table", "net"
"""What moves in playouts."""

LED, RATIOS, AVERAGE = 0, 1, 2
"""Of a search, since its target was set: simulations led there, the sum of their s2 / s1, and a moving average of s1 / s2."""

TO_DO, BEGUN = 0, 1
"""Of a search: simulations that are to do, and those begun so far; players learn by turns."""

KINDS, MORE = 3, 2
"""Numbers a move: regrets, sums of the average strategy, and guesses of what player 0 gets after it. Then two of the information state:
the weight of its lessons, and the regrets that it was given in advance."""

FIRST_REGRET = 1e-9
"""Enough to move by advice once."""

DECAY = 0.99
PLAIN, STEADY, PAPER = 0, 1, 2
WEIGHTINGS = ("plain", "steady", "paper")


@dataclass(frozen=True)
class OosSettings(Settings):
    """How to search."""

    epsilon: float = setting(0.6, "how often the learner explores", low=1e-3, high=1.0)
    delta: float = setting(0.9, "how often a simulation is led to the target", low=0.0, high=0.999)
    gamma: float = setting(0.01, "how often the other player errs", low=0.0, high=1.0)
    target: str = setting("information", "what simulations are led to: what the searcher knows, what all know, or nothing",
                          choices=("information", "public", "none"))  # fmt: skip
    rate: float = setting(0.1, "how fast guesses of what moves are worth are corrected, which make samples less noisy (0: none)",
                          low=0.0, high=1.0)  # fmt: skip
    trust: float = setting(1000.0, "in a table or network that moves in playouts: new information states follow it as if so many"
                           " simulations had found it right", low=0.0)  # fmt: skip
    weighting: str = setting("steady", "of led simulations: by the mean of s2/s1, as the paper by that of s1/s2, or not",
                             choices=WEIGHTINGS)  # fmt: skip


@rule
def no_encoding(s: Record, player: int, out: Any) -> None:
    """Where no network is asked."""


@rule
def mixed(ratio: float, knobs: Any) -> float:
    return knobs[1] * ratio + 1.0 - knobs[1]


@functools.lru_cache(maxsize=32)
def simulator(game: Game, playout: str, recall: str = PERFECT, common: bool = False) -> Any:
    """A kernel that simulates; `recall` is that of the playouts' policy; `common`: targets are what all know. Knobs are (epsilon, delta,
    gamma, number of the weighting, rate, trust)."""
    start, turn, moves, play, score, odds = game.rules
    step_on, reached, hopeful, own_room = follow(game, common)
    by_net, by_table, perfect = playout == NET, playout == TABLE, recall == PERFECT
    asks_by_key = by_table and perfect
    look = look_away if perfect else game.glances[recall].look
    encode = game.encodings[recall].write if by_net else no_encoding

    @rule
    def set_off(f: Record, s: Record, learner: int, led: int, aimed: int) -> None:
        start(s)
        f.keys[0], f.keys[1] = blank_memory(0), blank_memory(1)
        f.learner, f.led, f.at = learner, led, 0 if aimed else FREE
        f.ratio = f.own = 1.0
        f.grown = f.playout = f.noted = f.asked = 0
        f.flying = 1

    @rule
    def move_on(f: Record, s: Record, who: int, move: int) -> None:
        f.seen[0] = f.seen[1] = 0
        play(s, move, f.seen)
        if f.playout and not asks_by_key:
            return
        if who >= 0:
            f.keys[who] = remember_move(f.keys[who], move)
        f.keys[0] = remember_sight(f.keys[0], f.seen[0])
        f.keys[1] = remember_sight(f.keys[1], f.seen[1])

    @rule
    def leads_on(f: Record, s: Record, spare: Any, t: Record, room: Any, who: int, move: int) -> int:
        """How many events of the target have come about after a move; OFF if it leads astray."""
        if who == t.me and not common and t.events[f.at] != 2 * move + 1:
            return OFF
        spare[0] = s
        f.seen[0] = f.seen[1] = 0
        play(spare[0], move, f.seen)
        at = step_on(t, f.at, who, move, f.seen)
        return at if at >= 0 and hopeful(t, room, spare[0], at) else OFF

    @rule
    def add(o: Own, f: Record, who: int, n: int, knobs: Any) -> int:
        """Remember the information state at hand, of which the playout policy's odds are known."""
        place = enter(o, f.keys[who], KINDS * n + MORE)
        f.grown = 1
        if f.at < 0:
            f.playout = 1
        if place != NOWHERE and (by_net or by_table):
            for i in range(n):
                o.pool[place + i] = FIRST_REGRET * f.odds[i]
        return place

    @rule
    def by_shares(f: Record, s: Record, shares: Any, who: int, n: int) -> None:
        """A table's odds, even ones where it says nothing."""
        key: Any = f.keys[who] if perfect else np.int64(look(s, who))
        at = find(shares[who].keys, key)
        for i in range(n):
            f.odds[i] = shares[who].share[shares[who].first[at] + i] if at >= 0 else 1.0 / n

    @rule
    def evenly(f: Record, s: Record, shares: Any, who: int, n: int) -> None:
        f.odds[:n] = 1.0 / n

    opinion = by_shares if by_table else evenly

    @rule
    def listen(f: Record, logits: Any) -> None:
        """The network's odds of the legal moves."""
        n = f.options
        top, total = logits[f.legal[0]], 0.0
        for i in range(1, n):
            top = max(top, logits[f.legal[i]])
        for i in range(n):
            f.odds[i] = math.exp(logits[f.legal[i]] - top)
            total += f.odds[i]
        for i in range(n):
            f.odds[i] /= total
        f.asked = 1

    @rule
    def note(o: Own, f: Record, d: Record, who: int, n: int, place: int, knobs: Any) -> None:
        """Strategy and odds at an information state that is remembered."""
        scale = 1.0 / match_regrets(o.pool, place, n, d.gains)
        stray = knobs[0] if who == f.learner else knobs[2]
        for i in range(n):
            f.odds[i] = stray / n + (1.0 - stray) * scale * d.gains[i]
        d.who, d.place, d.count, d.scale = who, place, n, scale
        d.own_before, d.mixed_before = f.own, mixed(f.ratio, knobs)

    @rule
    def draw(f: Record, s: Record, spare: Any, t: Record, room: Any, who: int, n: int, u: float) -> int:
        """One of the options, by their odds; on the way to the target by those that lead on."""
        mass = 0.0
        for i in range(n):
            f.then[i] = leads_on(f, s, spare, t, room, who, f.legal[i])
            f.kept[i] = f.odds[i] if f.then[i] >= 0 else 0.0
            mass += f.kept[i]
        if mass <= 0.0:  # only where nobody could say what leads on
            f.at = FREE
            return pick(f.odds, n, u)
        c = pick(f.kept, n, u * mass) if f.led else pick(f.odds, n, u)
        while f.led and f.kept[c] <= 0.0:  # rounding went past the last
            c -= 1
        f.ratio = f.ratio / mass if f.kept[c] > 0.0 else 0.0
        f.at = f.then[c] if f.kept[c] > 0.0 else OFF
        return c

    @rule
    def past(f: Record, t: Record, who: int) -> bool:
        """Has the target been reached, or missed?"""
        if f.at >= 0 and reached(t, f.at, who):
            f.at, f.grown = FREE, 0
        return f.at < 0

    @rule
    def never(f: Record, t: None, who: int) -> bool:
        return False

    @rule
    def draw_freely(f: Record, s: Record, spare: None, t: None, room: None, who: int, n: int, u: float) -> int:
        return pick(f.odds, n, u)

    def advancing(leave: Any, choose: Any) -> Any:
        """On the way to the target, and without one: what need not be handed on saves half the time."""

        @rule
        def advance(o: Own, f: Record, notes: Any, s: Record, spare: Any, t: Any, room: Any, shares: Any, rng: Any, knobs: Any) -> int:
            """Go on until the end of the game, until a network must be asked, or until there is no target before."""
            while True:
                who = turn(s)
                if who == END:
                    return DONE
                if not f.asked:
                    f.options = moves(s, f.legal)
                if leave(f, t, who):
                    return PAST
                n = f.options
                place = NOWHERE
                if who == CHANCE:
                    odds(s, f.odds)
                elif f.playout and not by_net and not by_table:
                    move_on(f, s, who, f.legal[min(int(uniform(rng) * n), n - 1)] if n > 1 else f.legal[0])
                    continue
                elif n == 1:
                    f.odds[0] = 1.0
                elif not f.playout:
                    place = look_up(o, f.keys[who])
                if who >= 0 and n > 1 and place == NOWHERE:
                    if by_net and not f.asked:
                        return WAITING
                    if not by_net:
                        opinion(f, s, shares, who, n)
                    if not f.playout and not f.grown:
                        place = add(o, f, who, n, knobs)
                if place != NOWHERE:
                    note(o, f, notes[f.first + f.noted], who, n, place, knobs)
                c = choose(f, s, spare, t, room, who, n, uniform(rng))
                if place != NOWHERE:
                    d = notes[f.first + f.noted]
                    d.chosen, d.chance_of, d.mixed_after = c, f.odds[c], mixed(f.ratio, knobs)
                    f.noted += 1
                    if who == f.learner:
                        f.own *= f.odds[c]
                f.asked = 0
                move_on(f, s, who, f.legal[c])

        return advance

    approach, fly = advancing(past, draw), advancing(never, draw_freely)

    @rule
    def confide(pool: Any, place: int, n: int, trust: float) -> None:
        """What was advised gets regrets, on the scale of what is learned there."""
        for i in range(place, place + n):
            pool[i] *= 1.0 + trust / FIRST_REGRET
        pool[place + KINDS * n + 1] = trust

    @rule
    def settle(o: Own, f: Record, notes: Any, s: Record, tally: Any, knobs: Any) -> None:
        """The game is over: learn from it."""
        k, delta, ratio, pool = f.search, knobs[1], f.ratio, o.pool
        tally[k, AVERAGE] = DECAY * tally[k, AVERAGE] + (1.0 - DECAY) * ratio if tally[k, LED] > 0.0 else ratio
        if f.led:
            tally[k, LED] += 1.0
            tally[k, RATIOS] += 1.0 / ratio
        weight = 1.0
        if knobs[3] == STEADY and tally[k, LED] > 0.0:
            weight = 1.0 - delta + delta * tally[k, LED] / tally[k, RATIOS]
        elif knobs[3] == PAPER and tally[k, LED] > 0.0:
            weight = tally[k, AVERAGE]
        sign = 1.0 if f.learner == 0 else -1.0
        value, behind = sign * score(s), mixed(ratio, knobs)
        for at in range(f.first + f.noted - 1, f.first - 1, -1):
            d = notes[at]
            n, place, c, scale = d.count, d.place, d.chosen, d.scale
            before, after = d.mixed_before, d.mixed_after
            amount = weight / (d.own_before * before)
            guess = place + 2 * n
            learning = d.who == f.learner
            stray = 0.0 if learning else knobs[2]
            value *= after / behind  # what lies between was drawn by odds that are not noted
            held = sign * pool[guess + c]
            child = held + (value - held) * before / (d.chance_of * after)
            pool[guess + c] += knobs[4] * sign * (value - held)
            mean = 0.0
            for i in range(n):
                estimate = child if i == c else sign * pool[guess + i]
                mean += (stray / n + (1.0 - stray) * scale * d.gains[i]) * estimate
            if learning:
                if (by_net or by_table) and pool[place + KINDS * n] == 0.0:  # the first lesson here
                    confide(pool, place, n, knobs[5] * amount)
                pool[place + KINDS * n] += amount
            for i in range(n):
                if learning:
                    pool[place + i] += amount * ((child if i == c else sign * pool[guess + i]) - mean)
                else:
                    pool[place + n + i] += amount * scale * d.gains[i]
            value, behind = mean, before

    @kernel
    def pump(m: Memory, air: Flights, goals: Goals, shares: Any, rngs: Any, tally: Any, knobs: Any, plan: Any, said: Any, asks: Any) -> int:
        """Advance all simulations, and begin those that are to do (by search), until each waits for a network or there are none; returns
        how many wait. What their players know is written to `asks`; `said`: what the network answered to the last ones, as logits.
        """
        waiting, each, notes, spare = 0, air.one.size // plan.shape[0], air.notes, air.spare
        for k in range(plan.shape[0]):
            t, room, o, rng = goals.aims[k], own_room(goals.room, k), own(m, k), rngs[k]
            aimed = 1 if t.me >= 0 else 0
            for j in range(k * each, (k + 1) * each):
                f, s = air.one[j], air.state[j]
                if f.row != NOWHERE:
                    listen(f, said[f.row])
                    f.row = NOWHERE
                while f.flying or plan[k, TO_DO] > 0:
                    if not f.flying:
                        plan[k, TO_DO] -= 1
                        plan[k, BEGUN] += 1
                        set_off(f, s, plan[k, BEGUN] & 1, 1 if aimed and uniform(rng) < knobs[1] else 0, aimed)
                    came = approach(o, f, notes, s, spare, t, room, shares, rng, knobs) if f.at >= 0 else PAST
                    if came == PAST:
                        came = fly(o, f, notes, s, None, None, None, shares, rng, knobs)
                    if came == WAITING:
                        f.row = waiting
                        asks[waiting, :] = 0.0
                        encode(s, turn(s), asks[waiting])
                        waiting += 1
                        break
                    settle(o, f, notes, s, tally, knobs)
                    f.flying = 0
        return waiting

    return pump
