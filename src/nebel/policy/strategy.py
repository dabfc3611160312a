"""What a Dark Hex strategy in notation means: it is followed against all opponents at once, and becomes a policy.

What is still to be played is a linked list of instructions. A guard in it marks where an answer to collisions stands: a
collision drops everything up to the nearest guard and goes on with its answer, then with what follows the guard. Without a
guard it goes on with what comes next: the thesis ends sequences with `!` for that. A player who mixes knows only the own
moves, so after a mixture there are several such lists, each with its probability.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from nebel.core.errors import BadFile, TooLarge
from nebel.core.game import Game
from nebel.core.input import MEGABYTE, read_text
from nebel.core.recall import PERFECT
from nebel.core.registry import load
from nebel.core.suggest import did_you_mean
from nebel.policy.hex_table import BOARD, Path_, board_key, position, table_policy
from nebel.policy.io import SHIPPED
from nebel.policy.limits import TOO_DEEP
from nebel.policy.notation import parse
from nebel.policy.program import NONE, ONE, Program, Rest, Trimmer
from nebel.policy.states import Seen, States
from nebel.policy.syntax import BadStrategy, StrategyText
from nebel.policy.table import TablePolicy
from nebel.policy.terrain import Terrain

MOST_STATES = 2_000_000
METHOD = "strategy notation"
SURELY = 10
"""An estimate of information states this many times above the limit is taken for granted."""
MOST_BYTES = MEGABYTE
"""Of a strategy file."""


class Answer(NamedTuple):
    """What is played in one information state: by cell. `reach`: the player's own part in the probability of getting here."""

    shares: dict[int, Fraction]
    reach: float
    path: Path_


class Gap(NamedTuple):
    """An information state that can be reached and has no answer (or, as a slip, a collision that has none of its own)."""

    own: int
    met: int
    path: Path_
    reason: str


class _Place(NamedTuple):
    """The player is to move: stones, what may be left to play, and the moves so far if their order counts."""

    own: int
    met: int
    belief: frozenset[tuple[Rest, Fraction]]
    path: Path_ | None


@dataclass(frozen=True, eq=False)
class Strategy:
    """A strategy, followed to the end of every game that it can come to."""

    text: StrategyText
    game: Game
    answers: dict[tuple[int, int], list[Answer]]  # by own and discovered stones; several if the order of moves counts
    gaps: list[Gap]
    slips: list[Gap]  # after a collision without an answer of its own the strategy plays on: legal, but perhaps not meant

    @property
    def player(self) -> int:
        return self.text.player

    @cached_property
    def disputed(self) -> list[tuple[int, int]]:
        """Boards that are answered in more than one way: the strategy needs the order of moves there."""
        return [board for board, answers in self.answers.items() if any(a.shares != answers[0].shares for a in answers)]

    def draw(self, own: int, met: int) -> str:
        return self.game.view_at(position(self.game, self.player, own, met), self.player) or ""

    def board_name(self, own: int, met: int) -> str:
        return self.game.glance_text(BOARD, board_key(self.game, self.player, own, met))

    def path_text(self, path: Path_) -> str:
        return " ".join(self.game.name_of_move(cell) + " taken" * hit for cell, hit in path) or "-"

    def require_complete(self) -> None:
        if self.gaps:
            gap = self.gaps[0]
            where = f"{self.board_name(gap.own, gap.met)} (after {self.path_text(gap.path)}: {gap.reason})"
            raise BadStrategy(f"the strategy does not answer {len(self.gaps):,} information states that can be reached, such as {where}")

    def policy(self, blend: bool = False, before: str = "") -> TablePolicy:
        """By own and discovered stones. `blend`: where answers differ by order, weigh them by how often the player comes by each.

        `before` is said of an initial board only: see `table_policy`.
        """
        self.require_complete()
        if self.disputed and not blend:
            board = self.disputed[0]
            paths = " and ".join(self.path_text(a.path) for a in self.answers[board][:2])
            raise BadStrategy(
                f"the order of moves counts at {len(self.disputed):,} boards, such as {self.board_name(*board)} (after {paths}): a policy "
                "with board recall cannot follow that; take perfect recall, or blend the answers"
            )
        rows = [(board_key(self.game, self.player, *board), board, _blended(answers)) for board, answers in self.answers.items()]
        return table_policy(self.game, self.player, BOARD, rows, METHOD, self.text.board, before)

    def policy_with_memory(self, before: str = "") -> TablePolicy:
        """By all own moves in order and what they met (perfect recall), whatever the order before the initial board."""
        self.require_complete()
        states = States(self.game, self.player, PERFECT, self.text.board)
        found = walk(self.text, ordered=True).answers
        rows = sum(len(answers) for answers in found.values()) * len(states.ways_to_start)
        if rows > MOST_STATES:
            raise TooLarge(f"the policy would have {rows:,} information states, more than {MOST_STATES:,}; take board recall")
        keyed = [
            (key, board, answer.shares)
            for board, answers in found.items()
            for answer in answers
            for key in states.keys(Seen(*board, answer.path))
        ]
        return table_policy(self.game, self.player, PERFECT, keyed, METHOD, self.text.board, before)


def _blended(answers: list[Answer]) -> dict[int, Fraction]:
    if all(a.shares == answers[0].shares for a in answers):
        return answers[0].shares
    whole = sum(Fraction(a.reach) for a in answers)
    blend: dict[int, Fraction] = defaultdict(Fraction)
    for answer in answers:
        for cell, share in answer.shares.items():
            blend[cell] += share * Fraction(answer.reach) / whole
    return blend


class Walked(NamedTuple):
    """What a strategy comes to; `roams` are the states (own, discovered, way) in which `!` alone is left, if the walk ends there."""

    answers: dict[tuple[int, int], list[Answer]]
    gaps: list[Gap]
    slips: list[Gap]
    roams: list[tuple[int, int, Path_]]


def walk(text: StrategyText, ordered: bool, roaming: bool = True, most: int = MOST_STATES) -> Walked:
    """Every information state that the strategy can come to from its initial board, or only those outside of `!`.

    Raises `TooLarge` if there are more than `most`, and `BadStrategy` if they take too many steps to find.
    """
    try:
        return _walk(text, ordered, roaming, most)
    except RecursionError:
        raise BadStrategy(TOO_DEEP) from None


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"the strategy comes to more than {most:,} information states; use '!' later, or a smaller board")


def _walk(text: StrategyText, ordered: bool, roaming: bool, most: int) -> Walked:
    """Stones only grow, so states are met in the order of their number."""
    program, terrain = Program(text), Terrain(text.rows, text.cols, text.player)
    trimmer = Trimmer(program, terrain)
    answers: dict[tuple[int, int], list[Answer]] = defaultdict(list)
    gaps: list[Gap] = []
    slips: list[Gap] = []
    roams: list[tuple[int, int, Path_]] = []
    layer: dict[_Place, tuple[float, Path_]] = {}
    own, met = text.start.own, text.start.met
    if terrain.possible(own, met, own.bit_count() + text.player - met.bit_count()):
        first: Rest = (program.main, None)
        layer[_Place(own, met, frozenset([(first, ONE)]), () if ordered else None)] = (1.0, ())
    count = 0
    while layer:
        count += len(layer)
        program.effort.add(len(layer))
        if count > most:
            raise _too_large(most)
        below: dict[_Place, tuple[float, Path_]] = {}
        for place, (reach, path) in layer.items():
            own, met = place.own, place.met
            if all(program.roams(rest) for rest, _ in place.belief):
                if not roaming:
                    roams.append((own, met, path))
                    continue
                if terrain.ways_on(own, met) > SURELY * most:
                    raise _too_large(most)
            free = [c for c in range(terrain.cells) if not (own | met) >> c & 1]
            plans: dict[int, dict[Rest, Fraction]] = defaultdict(dict)
            for rest, weight in place.belief:
                for p, cell, left in program.moves(rest, own, met):
                    for c in free if cell == -1 else [cell]:
                        plan = plans[-1 if c is None else c]
                        plan[left] = program.effort.weigh(plan.get(left, NONE) + weight * p / (len(free) if cell == -1 else 1))
            if -1 in plans:
                hit = bool(path) and path[-1][1]
                gaps.append(Gap(own, met, path, "nothing answers the collision" if hit else "nothing comes next"))
                continue
            shares = {c: program.effort.weigh(sum(plan.values(), NONE)) for c, plan in sorted(plans.items())}
            answers[own, met].append(Answer(shares, reach, path))
            for cell, plan in plans.items():
                for hit, mine, theirs in terrain.after(own, met, cell):
                    onward = (*path, (cell, hit))
                    after: dict[Rest, Fraction] = {}
                    for left, weight in plan.items():
                        then = program.collide(left) if hit else program.settle(left)
                        if hit and then is not None and then is left:
                            slips.append(Gap(mine, theirs, onward, f"nothing answers a collision on {program.name(cell)}"))
                        then = trimmer.trim(then, mine, theirs)
                        after[then] = after.get(then, 0) + weight / shares[cell] if len(plan) > 1 else ONE
                    place_ = _Place(mine, theirs, frozenset(after.items()), onward if ordered else None)
                    before, kept = below.get(place_, (0.0, onward))
                    below[place_] = (before + reach * float(shares[cell]), kept)
        layer = below
    return Walked(dict(answers), gaps, slips, roams)


def follow(text: StrategyText) -> Strategy:
    """What the strategy does, wherever it can come to."""
    game = load(f"dark_hex:{text.rows}x{text.cols}")
    assert isinstance(game, Game)
    return Strategy(text, game, *walk(text, ordered=False)[:3])


def shipped() -> list[str]:
    """Names of the strategies that come with the library."""
    return sorted(path.stem for path in SHIPPED.glob("*.dhs"))


def holds_strategy(path: Path) -> bool:
    """Return whether a file is a strategy in notation, which may be replaced by another one unasked."""
    try:
        parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return True


def read_strategy(name: str) -> Strategy:
    """A strategy from a file, or one that comes with the library, by name."""
    path = Path(name)
    if not path.is_file() and name in shipped():
        path = SHIPPED / f"{name}.dhs"
    if not path.is_file():
        hint = did_you_mean(name, shipped())
        raise BadFile(f"no file {name}, and no strategy of that name comes with nebel{hint}; there are {', '.join(shipped()) or 'none'}")
    try:
        text = read_text(path, MOST_BYTES, "a strategy")
        return follow(parse(text))
    except BadStrategy as error:
        raise BadStrategy(f"{name}: {error}" + (f"\n{error.at.quoted(text)}" if error.at else "")) from error
