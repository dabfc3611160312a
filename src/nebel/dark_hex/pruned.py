"""Classic Dark Hex that ends in a sure win, for solvers; and what a policy must know to win from there in the real game.

Tapkan. Dark Hex: A Large Scale Imperfect Information Game. 2022 ("pONE" pruning, section 4.2)

The pruned game has the same moves, observations and glances. Only, when the player to move wins for sure, the game is over.
Every solver takes it as any other game; its policy then says nothing of sure wins, which `answers` adds.
"""

from __future__ import annotations

import functools
import time
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadSetting, TooLarge
from nebel.core.game import END, BaseGame, Game, Record, Rules
from nebel.core.reach import Reach, explore
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.rng import generator, uniform
from nebel.core.rule import kernel, native, rule
from nebel.core.unfold import look_away
from nebel.dark_hex.sure_wins import SureWins, on_board, sure_wins, view_of

Longs = NDArray[np.int64]
Reals = NDArray[np.float64]

BUMPED = 1
"""What a player sees who hits a hidden stone."""
BYTE = 8
BYTES_A_STATE = 100
"""What an information state takes in a policy, roughly; three times as much while the policy is put together."""


@functools.cache
def _bit_table(rows: int, cols: int) -> Any:
    """A rule `sure(player, own, met)`, by one bit for each pair of own and discovered stones.

    Compiled code finds the bits by a symbol's name. As a constant they would be compiled into every kernel, and a large constant
    keeps Numba from storing the kernel on disk.
    """
    wins = on_board(rows, cols)
    bits = np.stack([np.packbits(move >= 0, bitorder="little") for move in wins.moves])
    stride, symbol = bits.shape[1], f"nebel_sure_wins_{rows}x{cols}"
    ternary = np.array([sum(3**c for c in range(BYTE) if byte >> c & 1) for byte in range(1 << BYTE)])
    high = 3**BYTE

    def make() -> Any:
        from llvmlite import binding  # type: ignore[import-untyped]
        from numba import types
        from numba.core import cgutils
        from numba.extending import intrinsic

        binding.add_symbol(symbol, bits.ctypes.data)

        @intrinsic  # type: ignore[untyped-decorator]
        def byte_at(typing_context: Any, place: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                known = builder.module.globals.get(symbol)
                start = known or cgutils.add_global_variable(builder.module, context.get_value_type(types.uint8), symbol)
                offset = context.cast(builder, args[0], signature.args[0], types.int64)
                return builder.load(cgutils.pointer_add(builder, start, offset))

            return types.uint8(place), codegen

        return byte_at

    @native(make)
    def byte_at(place: int) -> int:
        return int(bits.reshape(-1)[place])

    @rule
    def sure(player: int, own: int, met: int) -> bool:
        index = ternary[own & 255] + 2 * ternary[met & 255] + high * (ternary[own >> 8] + 2 * ternary[met >> 8])
        return byte_at(player * stride + (index >> 3)) >> (index & 7) & 1 == 1

    return sure


@functools.lru_cache(maxsize=64)
def pruned(game: Game) -> Game:
    """The same game, won as soon as the player to move stands in a sure win."""
    wins = sure_wins(game)
    sure = _bit_table(wins.rows, wins.cols)
    start, _, _, play, _, _ = game.rules

    @rule
    def settle(s: Record) -> None:
        if s.turn != END and sure(s.turn, s.stones[s.turn], s.met[s.turn]):
            s.winner = s.turn
            s.turn = END

    @rule
    def begin(s: Record) -> None:
        start(s)
        settle(s)

    @rule
    def go_on(s: Record, cell: int, seen: Any) -> None:
        play(s, cell, seen)
        settle(s)

    rules: Rules = game.rules._replace(start=begin, play=go_on)
    return replace(game, rules=rules)


def refuse_won(game: Game) -> None:
    """Raise `BadSetting` if nothing is left of the pruned game: the first player wins for sure from the start."""
    if sure_wins(game).winner() == 0:
        raise BadSetting(f"--pone leaves nothing to learn of {game.string}: Black wins for sure from the start; take dark_hex:4x3")


class Shares(Protocol):
    """One player's table in a policy."""

    @property
    def keys(self) -> Longs: ...
    @property
    def first(self) -> Longs: ...
    @property
    def move(self) -> Longs: ...
    @property
    def share(self) -> Reals: ...


class Policy(Protocol):
    """What is needed of a table policy."""

    @property
    def recall(self) -> str: ...
    @property
    def shares(self) -> tuple[Shares, Shares]: ...


class Answers(NamedTuple):
    """Information states of a policy in any order: keys, how many moves each has, and the moves with their probabilities."""

    keys: Longs
    width: Longs
    move: Longs
    share: Reals
    left_out: int  # sure wins that there was no room for


def answers(game: BaseGame, player: int, policy: Policy, room: int) -> Answers:
    """The winning move in every sure win that there is; of perfect recall, in every one that can follow what the policy plays, as far
    as there is room (in bytes)."""
    wins = sure_wins(game)
    if policy.recall == PERFECT:
        keys, indices, found = _follow(wins, player, policy.shares[player], room // BYTES_A_STATE)
    else:
        indices = np.flatnonzero(wins.moves[player] >= 0)
        own, met = _stones(indices, wins.cells)
        keys, found = own << wins.cells | met, len(indices)
    width = np.empty(len(keys), np.int64)
    _widths(wins.cells, indices, width)
    move, share = np.empty(width.sum(), np.int64), np.zeros(width.sum())
    _write(wins.cells, indices, wins.moves[player], move, share)
    return Answers(keys, width, move, share, found - len(keys))


def check(game: BaseGame, recall: str, memory: float) -> None:
    """Refuse what cannot be pruned, or whose policy could not be completed in this much memory (in GB)."""
    count = sum(int(counts[1].sum()) for counts in sure_wins(game).counts)
    need = 3 * BYTES_A_STATE * count / 2**30
    if recall != PERFECT and need > memory:
        raise TooLarge(
            f"the {count:,} sure wins of {game.string} take about {need:.2g} GB in a policy, and --memory is {memory:g}; give more"
        )
    if recall == PERFECT and game.options["leak"] != "silent":  # what is heard of the opponent's turns is not followed
        advice = "take --recall board"
        raise BadSetting(f"sure wins can be added to a policy with perfect recall only in silent Dark Hex, not in {game.string}; {advice}")


@kernel
def _widths(cells: int, indices: Any, width: Any) -> None:
    for i in range(indices.size):
        width[i] = view_of(indices[i], cells, 0).unknown_count


@kernel
def _write(cells: int, indices: Any, win: Any, move: Any, share: Any) -> None:
    """The legal moves of each view, all probability on the winning one."""
    k = 0
    for i in range(indices.size):
        unknown = view_of(indices[i], cells, 0).unknown
        for c in range(cells):
            if unknown >> c & 1:
                move[k], share[k] = c, 1.0 if win[indices[i]] == c else 0.0
                k += 1


def _follow(wins: SureWins, player: int, table: Shares, most: int) -> tuple[Longs, Longs, int]:
    """Memories and views of at most `most` sure wins, and how many there are."""
    size, found = 0, 0
    while True:
        keys, indices = np.empty(size, np.int64), np.empty(size, np.int64)
        lines = (table.keys, table.first, table.move, table.share)
        with np.errstate(over="ignore"):
            found = int(_walk(player, wins.cells, wins.power, wins.moves[player], lines, keys, indices))
        if size == min(found, most):
            return keys, indices, found
        size = min(found, most)


def _stones(indices: Longs, cells: int) -> tuple[Longs, Longs]:
    """Own and discovered stones of views that are given as numbers in base three."""
    own, met, rest = np.zeros_like(indices), np.zeros_like(indices), indices.copy()
    for c in range(cells):
        rest, digit = np.divmod(rest, 3)
        own |= (digit == 1).astype(np.int64) << c
        met |= (digit == 2).astype(np.int64) << c
    return own, met


@rule
def find(keys: Any, key: Any) -> int:
    i = np.searchsorted(keys, key)
    return i if i < keys.size and keys[i] == key else -1


@kernel
def _walk(player: int, cells: int, power: Any, win: Any, table: Any, out_keys: Any, out_indices: Any) -> int:
    """Follow a player's views by what the policy may play, and by the winning move in sure wins. Those are written down as far as
    there is room; returns how many there are."""
    keys, first, move, share = table
    memory, view = np.empty(4 * cells * cells, np.int64), np.empty(4 * cells * cells, np.int64)
    memory[0], view[0] = blank_memory(player), 0
    waiting, found = 1, 0
    while waiting > 0:
        waiting -= 1
        here, index = memory[waiting], view[waiting]
        hidden = view_of(index, cells, player).hidden
        begin, end, cell = 0, 0, int(win[index])
        if cell >= 0:
            if found < out_keys.size:
                out_keys[found], out_indices[found] = here, index
            found += 1
            end = 1
        else:
            i = find(keys, here)
            if i >= 0:
                begin, end = first[i], first[i + 1]
        for k in range(begin, end):
            if cell < 0 and share[k] == 0.0:
                continue
            tried = cell if cell >= 0 else move[k]
            after = remember_move(here, tried)
            if win[index + power[tried]] != -2:
                memory[waiting], view[waiting] = after, index + power[tried]
                waiting += 1
            if hidden > 0 and win[index + 2 * power[tried]] != -2:
                memory[waiting], view[waiting] = remember_sight(after, BUMPED), index + 2 * power[tried]
                waiting += 1
    return found


class Effect(NamedTuple):
    """A traversal of a game, each distinct state once, without pruning and with it."""

    plain: Reach
    pruned: Reach
    seconds: tuple[float, float]


def effect(game: Game, slots: int = 1 << 26) -> Effect:
    """How many states and information states (own and discovered stones) a traversal meets, with sure wins played out and cut off."""
    small = pruned(game)
    reaches, seconds = [], []
    for variant in (game, small):
        begin = time.process_time()
        reach = explore(variant, "board", slots)
        if reach is None:
            raise TooLarge(f"{game.string} has too many states to traverse; take a smaller board")
        reaches.append(reach)
        seconds.append(time.process_time() - begin)
    return Effect(reaches[0], reaches[1], (seconds[0], seconds[1]))


class Missed(NamedTuple):
    """Sure wins that a policy lets slip.

    games       played by the policy against itself
    lost        by player: games lost after standing in a sure win (together: "missed wins")
    sure_wins   by player: information states that are sure wins
    unsure      by player: those in which the policy may play a cell that does not win for sure
    chance      by player: how likely it plays such a cell, on average over all sure wins
    The last two are exact, and None if the policy does not remember by board.
    """

    games: int
    lost: tuple[int, int]
    sure_wins: tuple[int, int]
    unsure: tuple[int, int] | None
    chance: tuple[float, float] | None


def missed_wins(game: Game, policy: Policy, samples: int = 10_000, seed: int = 1) -> Missed:
    """How often a policy, playing against itself, loses from a sure win; and in how many sure wins it may fail to play on surely.
    Where the policy knows nothing it plays uniformly."""
    wins = sure_wins(game)
    tables = tuple((t.keys, t.first, t.share) for t in policy.shares)
    with np.errstate(over="ignore"):
        black, white = _self_play(game, policy.recall)(game.blank(1), *tables, generator(seed), samples)
    lost = (int(black), int(white))
    counts = (int(wins.counts[0][1].sum()), int(wins.counts[1][1].sum()))
    if policy.recall != "board":
        return Missed(samples, lost, counts, None, None)
    slips = [_slips(wins, player, policy.shares[player]) for player in range(2)]
    unsure = [int(np.count_nonzero(slip > 1e-12)) for slip in slips]
    chance = [float(slip.sum()) / max(1, len(slip)) for slip in slips]
    return Missed(samples, lost, counts, (unsure[0], unsure[1]), (chance[0], chance[1]))


def _slips(wins: SureWins, player: int, table: Shares) -> Reals:
    """For each sure win: how likely the policy plays a cell that does not win for sure."""
    indices = np.flatnonzero(wins.moves[player] >= 0)
    own, met = _stones(indices, wins.cells)
    winning = wins.winning(player, indices)
    cells = np.arange(wins.cells)
    free, good = ~(own | met)[:, None] >> cells & 1, winning[:, None] >> cells & 1
    slips = 1.0 - good.sum(axis=1) / free.sum(axis=1)
    keys = own << wins.cells | met
    known = np.isin(keys, table.keys)
    at = np.searchsorted(table.keys, keys[known])
    width = np.diff(table.first)[at]
    begin = np.cumsum(width) - width
    spots = np.repeat(table.first[at] - begin, width) + np.arange(width.sum())
    bad = 1 - (np.repeat(winning[known], width) >> table.move[spots] & 1)
    if len(spots):
        slips[known] = np.add.reduceat(table.share[spots] * bad, begin)
    return slips


@functools.lru_cache(maxsize=16)
def _self_play(game: Game, recall: str) -> Any:
    wins = sure_wins(game)
    sure = _bit_table(wins.rows, wins.cols)
    start, turn, moves, play, _, _ = game.rules
    perfect = recall == PERFECT
    look = look_away if perfect else game.glances[recall].look
    width = game.width

    @kernel
    def run(states: Any, black: Any, white: Any, rng: Any, games: int) -> Any:
        """Returns how many games each player lost after standing in a sure win."""
        legal, seen, memory, had = np.zeros(width, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64)
        s = states[0]
        lost = np.zeros(2, np.int64)
        for _ in range(games):
            start(s)
            memory[0], memory[1] = blank_memory(0), blank_memory(1)
            had[:] = 0
            while turn(s) != END:
                p = turn(s)
                had[p] |= sure(p, s.stones[p], s.met[p])
                n = moves(s, legal)
                key = memory[p] if perfect else np.int64(look(s, p))
                keys, first, share = black if p == 0 else white
                i = find(keys, key)
                u = uniform(rng)
                c = min(int(u * n), n - 1)
                if i >= 0:
                    for k in range(n):
                        if share[first[i] + k] > 0.0:
                            c = k
                            u -= share[first[i] + k]
                            if u < 0.0:
                                break
                seen[:] = 0
                play(s, legal[c], seen)
                memory[p] = remember_move(memory[p], legal[c])
                memory[0], memory[1] = remember_sight(memory[0], seen[0]), remember_sight(memory[1], seen[1])
            lost[1 - s.winner] += had[1 - s.winner]
        return lost

    return run
