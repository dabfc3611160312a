"""From notation to answers: what a strategy file says of each information state, as the builder keeps it."""

from __future__ import annotations

from fractions import Fraction

from nebel.core.interrupt import check
from nebel.core.recall import PERFECT
from nebel.policy.ahead import Ahead
from nebel.policy.builder import ROAM, Step
from nebel.policy.states import Seen, Shares, States
from nebel.policy.strategy import MOST_STATES, Gap, Walked, walk
from nebel.policy.syntax import PLAYERS, BadStrategy, StrategyText


def read_answers(text: StrategyText, states: States, most: int = MOST_STATES) -> Step:
    """The answers of a strategy in notation, which may leave states open; `!` stays what it is as far as it can."""
    if (text.rows, text.cols, text.player, text.start) != (states.rows, states.cols, states.player, states.initial):
        board = f", board: {states.initial_text}" if states.initial_text else ""
        who = f"player: {list(PLAYERS)[states.player]}{board}"
        raise BadStrategy(f"the strategy is for rows: {states.rows}, cols: {states.cols}, {who}; the header says otherwise")
    if states.abrupt:
        raise BadStrategy("the notation describes the classic game alone")
    ordered = states.recall == PERFECT
    walked = walk(text, ordered, roaming=False, most=most)
    said: dict[Seen, Shares] = {}
    for (own, met), answers in walked.answers.items():
        for answer in answers:
            state = Seen(own, met, answer.path if ordered else ())
            if said.setdefault(state, answer.shares) != answer.shares:
                raise _disputed(states, state)
    return _with_roaming(states, said, walked, most)


def _with_roaming(states: States, said: dict[Seen, Shares], walked: Walked, most: int) -> Step:
    """`!` is written out on the way to boards that have an answer of their own: an answer holds however the player comes there."""
    found: Step = dict(said)
    ordered = states.recall == PERFECT
    ahead = Ahead([*said, *(_seen(gap, ordered) for gap in walked.gaps)])
    todo = [Seen(own, met, path if ordered else ()) for own, met, path in walked.roams]
    done: set[Seen] = set()
    while todo:
        check()
        state = todo.pop()
        if state in done:
            continue
        done.add(state)
        free = states.free(state)
        even: Shares = dict.fromkeys(free, Fraction(1, len(free)))
        if state in said:
            if said[state] != even:
                raise _disputed(states, state)
        elif not ahead(state):
            found[state] = ROAM
            continue
        if len(found) > most:
            raise BadStrategy(f"written out, '!' comes to more than {most:,} information states; use it later, or a smaller board")
        found[state] = even
        todo += [then for cell in free for _, then in states.after(state, cell)]
    return found


def _seen(gap: Gap, ordered: bool) -> Seen:
    return Seen(gap.own, gap.met, gap.path if ordered else ())


def _disputed(states: States, state: Seen) -> BadStrategy:
    return BadStrategy(f"the order of moves counts at {states.board(state)}: choose a strategy that remembers the order of moves")
