"""Files that make no sense, or mean harm: one line, never a traceback. tests/tools/many_files.py tries more of them."""

from __future__ import annotations

import gzip
import json
import lzma
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from odd_files import HEADER, certificates, change_certificate, change_notation, change_policy, one_line, policies

import nebel
from nebel.core.errors import Problem
from nebel.judge.certificate import verify
from nebel.judge.exact import judge
from nebel.match.agents import PolicyAgent
from nebel.policy.builder import Builder
from nebel.policy.io import POLICIES, read_arrays, read_header, write_arrays
from nebel.policy.listing import listed
from nebel.policy.reading import read_answers
from nebel.policy.simplify import simplify
from nebel.policy.states import States
from nebel.policy.strategy import read_strategy
from nebel.policy.table import MadePolicy, TablePolicy
from nebel.web.setup import Setup
from nebel.web.shelf import Shelf

COUNT = 150
"""Files of each kind that are tried; tests/tools/many_files.py tries thousands."""
GAMES = nebel.game("kuhn"), nebel.game("dark_hex:3x2")


@pytest.fixture(scope="module")
def made() -> list[MadePolicy]:
    return policies()


def use(policy: MadePolicy) -> None:
    """Judge, show, simplify and play."""
    game = next((game for game in GAMES if game.fingerprint == policy.fingerprint), GAMES[0])
    state = game.start().play("K J") if game is GAMES[0] else game.start()
    uses: list[Callable[[], object]] = [lambda: judge(game, policy), lambda: policy.probabilities(state)]
    uses.append(lambda: PolicyAgent("it", policy).join(nebel.game("leduc")))
    if isinstance(policy, TablePolicy):
        table = policy
        uses += [lambda: table.check_game(game), lambda: listed(table, game, (0, 1), 5), lambda: simplify(table)]
    policy.check_game(game)
    for each in uses:
        try:
            each()
        except Problem as problem:
            one_line(problem)


def test_policies_of_changed_meaning_are_refused_or_make_sense(made: list[MadePolicy], tmp_path: Path) -> None:
    file, refused = tmp_path / "changed.nebel", 0
    sources = []
    for policy in made:
        nebel.save_policy(policy, file)
        sources.append(read_arrays(file, *POLICIES))
    shelf = Shelf(Setup(runs=tmp_path))
    for seed in range(COUNT):
        rng = random.Random(seed)
        arrays, header = change_policy(*rng.choice(sources), rng)
        header.pop("format", None)
        write_arrays(file, arrays, header)
        list(shelf.policies())
        try:
            read_header(file)
            policy = nebel.load_policy(file)
            use(policy)
        except Problem as problem:
            refused += 1
            one_line(problem)
    assert refused > COUNT // 2


@pytest.mark.parametrize("fact", [{"method": "\033[2J"}, {"\033": 1}, {"settings": "x" * 200_000}], ids=["value", "name", "long"])
def test_facts_that_a_terminal_cannot_show(fact: dict[str, Any], made: list[MadePolicy], tmp_path: Path) -> None:
    file = tmp_path / "facts.nebel"
    nebel.save_policy(made[0], file)
    arrays, header = read_arrays(file, *POLICIES)
    write_arrays(file, arrays, {**header, "facts": fact})
    with pytest.raises(Problem, match="too long or cannot be shown"):
        nebel.load_policy(file)


@pytest.mark.parametrize("which", [2, 3], ids=["network", "networks"])
def test_networks_whose_numbers_grow_without_bounds(which: int, made: list[MadePolicy], tmp_path: Path) -> None:
    file = tmp_path / "large.nebel"
    nebel.save_policy(made[which], file)
    arrays, header = read_arrays(file, *POLICIES)
    large = {name: array * np.float32(3e38) if "weights" in name else array for name, array in arrays.items()}
    write_arrays(file, large, header)
    policy = nebel.load_policy(file)
    with pytest.raises(Problem, match="not finite"):
        judge(GAMES[0], policy)
    with pytest.raises(Problem, match="not finite"):
        policy.probabilities(GAMES[0].start().play("K J"))


def test_damaged_policies_are_refused(made: list[MadePolicy], tmp_path: Path) -> None:
    file = tmp_path / "damaged.nebel"
    nebel.save_policy(made[0], file)
    whole = file.read_bytes()
    for seed in range(COUNT):
        rng, data = random.Random(seed), bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data) if rng.random() < 0.5 else 600)
            data[at] ^= 1 << rng.randrange(8)
        if rng.random() < 0.2:
            data = data[: rng.randrange(len(data))]
        file.write_bytes(data)
        if data == whole:
            continue
        with pytest.raises(Problem) as caught:
            nebel.load_policy(file)
        one_line(caught.value)


@pytest.mark.parametrize(
    "start",
    [
        struct.pack("<Q", 90_000_000) + b"{",
        struct.pack("<Q", 2**63) + b"{",
        b"",
        b'{"a": 1}',
        struct.pack("<Q", 80) + b'{"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,8]}}      ' + b"\0" * 8,
        struct.pack("<Q", 2_000_000) + b'{"__metadata__":{"nebel":"' + b"[" * 1_999_971 + b'"}}' + b" ",
    ],
    ids=["huge", "huger", "empty", "json", "shape", "deep"],
)
def test_headers_that_would_fill_the_memory(start: bytes, tmp_path: Path) -> None:
    file = tmp_path / "bomb.nebel"
    file.write_bytes(start)
    for read in (nebel.load_policy, read_header):
        with pytest.raises(Problem) as caught:
            read(file)
        one_line(caught.value)


def test_changed_certificates_are_refused_or_hold(tmp_path: Path) -> None:
    refused, whole = 0, certificates()
    assert len(whole) == 10
    for seed in range(COUNT):
        rng = random.Random(seed)
        file = tmp_path / f"changed.json{rng.choice(['', '.gz', '.xz'])}"
        text = change_certificate(rng.choice(whole), rng).encode()
        file.write_bytes({".gz": gzip.compress, ".xz": lzma.compress}.get(file.suffix, bytes)(text))
        try:
            verify(file)
        except Problem as problem:
            refused += 1
            one_line(problem)
    assert refused > COUNT // 2


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_certificate_that_unpacks_to_too_much(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = tmp_path / ("bomb.gz" if pack is gzip.compress else "bomb.xz")
    file.write_bytes(pack(b" " * 8_000_000))
    with pytest.raises(Problem, match="too large"):
        verify(file)


def test_a_search_that_would_not_end_gives_up(tmp_path: Path) -> None:
    file = tmp_path / "hard.json"
    file.write_text(json.dumps(certificates()[-1]))
    verify(file)
    with pytest.raises(Problem, match="more than 3 steps"):
        verify(file, patience=3)


def test_verify_says_what_a_file_is_instead(made: list[MadePolicy], tmp_path: Path) -> None:
    nebel.save_policy(made[0], tmp_path / "kuhn.nebel")
    with pytest.raises(Problem, match=r"is not a certificate: it is a policy; nebel judge .*kuhn\.nebel measures it"):
        verify(tmp_path / "kuhn.nebel")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    with pytest.raises(Problem, match="it is not text"):
        verify(tmp_path / "picture.png")


def test_changed_notations_are_refused_or_followed(tmp_path: Path) -> None:
    file = tmp_path / "changed.dhs"
    states = {(rows, who): States(f"dark_hex:{rows}x2", who) for rows in (2, 3) for who in range(2)}
    followed = 0
    for seed in range(COUNT):
        file.write_text(change_notation(random.Random(seed)), encoding="utf-8")
        try:
            text = read_strategy(str(file)).text
            followed += 1
            if (text.rows, text.player) in states and text.cols == 2:
                read_answers(text, states[text.rows, text.player], 500)
        except Problem as problem:
            one_line(problem, quoting=True)
    assert followed


def names(form: str, count: int) -> str:
    """Definitions of which each is made of the next one."""
    return "".join(f"x{i}_ = {form.format(f'x{i + 1}_')}\n" for i in range(count)) + f"x{count}_ = a1\n"


C12 = [f"{col}{row}" for row in range(1, 5) for col in "abc"]
HARD = {
    "names that double": "play = x0_\n" + names("{{{0}: 1/2, T({0}): 1/2}}", 40),
    "names that double in a row": "play = x0_\n" + names("{0}, {0}", 40),
    "three ways": "play = x0_\n" + names("{{{0}, T({0}), {0} ~ (a1)}}", 14),
    "a long run": "play = " + "a1 " * 3000,
    "parentheses": "play = " + "(" * 3000 + "a1" + ")" * 3000,
    "collisions": "play = a1" + " ~ (a2)" * 3000,
    "turns": "play = " + "T(" * 3000 + "a1" + ")" * 3000,
    "names in names": "play = x0_\n" + names("{0}", 2000),
    "names in names, backwards": "".join(f"n{i}_ = n{i + 1}_\n" for i in reversed(range(2000))) + "n2000_ = a1\nplay = n0_",
    "digits": "play = {a1: 1/" + "7" * 6000 + ", b1: 1}",
    "denominators": "play = {" + ", ".join(f"a1: 1/{10**19 + 2 * i + 1}" for i in range(1500)) + "}",
    "many alternatives": "play = {" + " | ".join(C12 * 200) + "}",
    "mixtures": "play = x_,x_,x_\nx_ = " + ", ".join(["{" + ", ".join(f"{c} ~ (y_)" for c in C12) + "}"] * 12) + "\ny_ = {a1, b1}",
    "a long name": "play = " + "q" * 100_000,
}


@pytest.mark.parametrize("name", HARD)
def test_strategies_that_would_take_for_ever(name: str, tmp_path: Path) -> None:
    file = tmp_path / "hard.dhs"
    file.write_text(HEADER.format(4, 3, "black") + HARD[name])
    try:
        assert read_strategy(str(file)).gaps  # names that double are alike, and followed once
        assert name == "names that double"
    except Problem as problem:
        one_line(problem, quoting=True)


def test_random_play_on_a_large_board_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "large.dhs"
    file.write_text(HEADER.format(7, 7, "black") + "play = !")
    with pytest.raises(Problem, match="more than 2,000,000 information states"):
        read_strategy(str(file))


@pytest.mark.parametrize("rows", ["9" * 5000, "9" * 20, "0"])
def test_sizes_that_no_board_has(rows: str, tmp_path: Path) -> None:
    for size in ((rows, 3), (3, rows)):
        (tmp_path / "size.dhs").write_text(HEADER.format(*size, "black") + "play = a1")
        with pytest.raises(Problem):
            read_strategy(str(tmp_path / "size.dhs"))


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "NaN", '{"kind": "strategy in the making", "format": 1, "game": 7}', "\xff"])
def test_works_that_are_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "work.build.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(Problem) as caught:
        Builder.load(tmp_path / "work.build.json")
    one_line(caught.value)
