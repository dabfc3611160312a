"""Monte Carlo CFR: outcome sampling, external sampling, chance sampling.

Lanctot, Waugh, Zinkevich, Bowling. Monte Carlo Sampling for Regret Minimization in Extensive Games. 2009
Lanctot. Monte Carlo Sampling and Regret Minimization for Equilibrium Computation. PhD thesis. 2013 (stochastically-weighted averaging)
Schmid, Burch, Lanctot, Moravcik, Kadlec, Bowling. Variance Reduction in Monte Carlo Counterfactual Regret Minimization. 2019 (baselines)
Brown, Sandholm. Solving Imperfect-Information Games via Discounted Regret Minimization. 2019 (linear and discounted weights)

The pool holds, for each information state with n moves, n regrets and then n sums of the average strategy. Chance's
probabilities cancel everywhere. Simple averaging adds strategies at the opponent's decisions, who plays on policy, so that only the
traverser's exploration has to be divided out; stochastically-weighted averaging adds them at the traverser's own decisions, by own reach
over the sampling probability of both players' moves. Both have the same expectation. Where it departs from the papers: weights that grow
with time change every `period` iterations, not at each.

An iteration is two traversals, in which the players take turns to be the one who explores all moves.
Kernels take shape = (depth, width) of the game and knobs = (epsilon, rate of the baselines or 0 for none, 1 for stochastically-weighted
averaging or 0). They return how many histories they met, how many traversals they completed, and whether another one was cut off. They
end early where the world's `halt` is not 0: outcome sampling after a whole iteration, the others at once, with what the traversal has
found so far.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nebel.core.game import CHANCE, END
from nebel.core.regret import match_regrets, pick
from nebel.core.rng import uniform
from nebel.core.rule import kernel
from nebel.solve.walk import Walker


def outcome_sampler(walker: Walker, match: Any = match_regrets) -> Any:
    """One history an iteration and traverser; the traverser explores with probability epsilon."""
    begin, turn, options, draw, row, step, score = walker

    @kernel
    def run(w: Any, pool: Any, guess: Any, rng: Any, shape: Any, traversals: int, weight: float, knobs: Any) -> Any:
        depth, width = shape
        epsilon, rate, weighted = knobs
        baseline = rate > 0.0
        who = np.empty(depth + 1, np.int64)
        count = np.empty(depth + 1, np.int64)
        place = np.empty(depth + 1, np.int64)
        chosen = np.empty(depth + 1, np.int64)
        chance_of = np.empty(depth + 1)  # of the choice, as sampled
        explored = np.empty(depth + 1)  # product of the traverser's sampling probabilities before this decision
        reached = np.empty(depth + 1)  # the traverser's reach, over the product of the opponent's sampling probabilities
        gains = np.empty((depth + 1, width))
        scale = np.empty(depth + 1)  # gains times this are probabilities
        touched = 0
        for t in range(traversals):
            traverser = t & 1
            if traverser == 0 and w.halt[0] != 0:
                return touched, t, False
            begin(w)
            d = 0
            product, ratio = 1.0, 1.0
            p = turn(w, 0)
            while p != END:
                n = options(w, 0)
                if p == CHANCE:
                    step(w, 0, 0, draw(w, 0, n, uniform(rng)))
                    touched += 1
                    p = turn(w, 0)
                    continue
                k = row(w, 0, p, n)
                total = match(pool, k, n, gains[d])
                scale[d] = 1.0 / total
                u = uniform(rng)
                if p == traverser:
                    if u < epsilon:
                        c = int(u / epsilon * n)
                    else:
                        c = pick(gains[d], n, (u - epsilon) / (1.0 - epsilon) * total)
                    chance_of[d] = epsilon / n + (1.0 - epsilon) * scale[d] * gains[d, c]
                else:
                    c = pick(gains[d], n, u * total)
                    chance_of[d] = scale[d] * gains[d, c]
                who[d], count[d], place[d], chosen[d], explored[d], reached[d] = p, n, k, c, product, ratio
                if p == traverser:
                    product *= chance_of[d]
                    ratio *= scale[d] * gains[d, c]
                else:
                    ratio /= chance_of[d]
                step(w, 0, 0, c)
                d += 1
                p = turn(w, 0)
            touched += d + 1
            # value: what is sampled from here on, to the traverser, with the later sampling probabilities divided out
            value = score(w, 0) if traverser == 0 else -score(w, 0)
            for e in range(d - 1, -1, -1):
                n, k, c = count[e], place[e], chosen[e]
                share = scale[e] * gains[e, c]
                step_weight = weight / explored[e]
                if baseline:
                    half = k >> 1
                    sign = 1.0 if traverser == 0 else -1.0
                    mean = 0.0
                    for i in range(n):
                        mean += gains[e, i] * guess[half + i]
                    mean *= sign * scale[e]
                    held = sign * guess[half + c]
                    child = held + (value - held) / chance_of[e]
                    mean += share * (child - held)
                    if who[e] == traverser:
                        for i in range(n):
                            estimate = child if i == c else sign * guess[half + i]
                            pool[k + i] += step_weight * (estimate - mean)
                    guess[half + c] += rate * sign * (value - held)
                    value = mean
                else:
                    child = value / chance_of[e]
                    value = share * child
                    if who[e] == traverser:
                        for i in range(n):
                            pool[k + i] -= step_weight * value
                        pool[k + c] += step_weight * child
                if weighted > 0.0:
                    step_weight *= reached[e]
                if (who[e] == traverser) == (weighted > 0.0):
                    for i in range(n):
                        pool[k + n + i] += step_weight * scale[e] * gains[e, i]
        return touched, traversals, False

    return run


def deep_sampler(walker: Walker, external: bool, match: Any = match_regrets) -> Any:
    """All of the traverser's moves. External: chance and the opponent are sampled; otherwise (chance sampling) only chance, and both
    players learn from each traversal."""
    begin, turn, options, draw, row, step, score = walker

    @kernel
    def run(w: Any, pool: Any, extra: Any, rng: Any, shape: Any, traversals: int, weight: float, knobs: Any) -> Any:
        depth, width = shape
        rate, weighted = knobs[1], knobs[2] > 0.0
        baseline = rate > 0.0
        who = np.empty(depth + 2, np.int64)
        count = np.empty(depth + 2, np.int64)
        place = np.empty(depth + 2, np.int64)
        chosen = np.empty(depth + 2, np.int64)
        last = np.empty(depth + 2, np.int64)  # options from `chosen` up to this one are walked
        reach = np.ones((depth + 2, 2))
        sigma = np.empty((depth + 2, width))
        worth = np.empty((depth + 2, width))
        fresh = np.empty((1024, 2), np.int64)  # rows whose regrets wait for the end of the traversal
        touched = 0
        for t in range(traversals):
            traverser = t & 1
            if traverser == 0 and w.halt[0] != 0:
                return touched, t, False
            sign = 1.0 if traverser == 0 else -1.0
            begin(w)
            waiting = 0
            d = 0
            value = 0.0
            entering = True
            while d >= 0:
                if entering:
                    if w.halt[0] != 0:
                        break
                    touched += 1
                    p = turn(w, d)
                    if p == END:
                        value = sign * score(w, d)
                        d -= 1
                        entering = False
                        continue
                    n = options(w, d)
                    who[d], count[d] = p, n
                    if p == CHANCE:
                        chosen[d] = draw(w, d, n, uniform(rng))
                        last[d] = chosen[d] + 1
                    else:
                        place[d] = row(w, d, p, n)
                        scale = 1.0 / match(pool, place[d], n, sigma[d])
                        for i in range(n):
                            sigma[d, i] *= scale
                        if external and p != traverser:
                            chosen[d] = pick(sigma[d], n, uniform(rng))
                            last[d] = chosen[d] + 1
                            if not weighted:
                                for i in range(n):
                                    pool[place[d] + n + i] += weight * sigma[d, i]
                        else:
                            chosen[d], last[d] = 0, n
                else:
                    p, n = who[d], count[d]
                    if p >= 0:
                        worth[d, chosen[d]] = value
                    chosen[d] += 1
                    if chosen[d] == last[d]:
                        k = place[d]
                        if external and p >= 0 and p != traverser:
                            if baseline:
                                half, c = k >> 1, chosen[d] - 1
                                held = sign * extra[half + c]
                                mean = 0.0
                                for i in range(n):
                                    mean += sigma[d, i] * sign * extra[half + i]
                                extra[half + c] += rate * sign * (value - held)
                                value = mean + value - held
                        elif p >= 0:
                            value = 0.0
                            for i in range(n):
                                value += sigma[d, i] * worth[d, i]
                            if p == traverser and external:
                                for i in range(n):
                                    pool[k + i] += weight * (worth[d, i] - value)
                                if weighted:
                                    own = weight * reach[d, p] / reach[d, 1 - p]
                                    for i in range(n):
                                        pool[k + n + i] += own * sigma[d, i]
                            elif not external:
                                half = k >> 1
                                gain = weight * reach[d, 1 - p] * (sign if p == 0 else -sign)
                                for i in range(n):
                                    extra[half + i] += gain * (worth[d, i] - value)
                                    pool[k + n + i] += weight * reach[d, p] * sigma[d, i]
                                if waiting == fresh.shape[0]:
                                    more = np.empty((2 * waiting, 2), np.int64)
                                    for x in range(waiting):
                                        more[x, 0], more[x, 1] = fresh[x, 0], fresh[x, 1]
                                    fresh = more
                                fresh[waiting, 0], fresh[waiting, 1] = k, n
                                waiting += 1
                        d -= 1
                        continue
                if weighted or not external:
                    reach[d + 1, 0], reach[d + 1, 1] = reach[d, 0], reach[d, 1]
                    if who[d] >= 0:
                        reach[d + 1, who[d]] *= sigma[d, chosen[d]]
                step(w, d, d + 1, chosen[d])
                d += 1
                entering = True
            for j in range(waiting):
                k, n = fresh[j, 0], fresh[j, 1]
                for i in range(n):
                    pool[k + i] += extra[(k >> 1) + i]
                    extra[(k >> 1) + i] = 0.0
            if d >= 0:
                return touched, t, True
        return touched, traversals, False

    return run
