"""Files that make no sense, or mean harm: one line, never a traceback. NEBEL_FUZZ=10000 tries so many of each instead of a few hundred."""

from __future__ import annotations

import copy
import gzip
import json
import lzma
import os
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.core.errors import Problem
from nebel.core.tree import grow
from nebel.judge.certificate import verify
from nebel.judge.exact import judge
from nebel.match.agents import PolicyAgent
from nebel.policy.builder import Builder
from nebel.policy.io import Arrays, read_arrays, read_header, write_arrays
from nebel.policy.listing import listed
from nebel.policy.net import Layer, NetPolicy
from nebel.policy.nets import NetsPolicy
from nebel.policy.reading import read_answers
from nebel.policy.simplify import simplify
from nebel.policy.states import States
from nebel.policy.strategy import read_strategy
from nebel.policy.table import MadePolicy, TablePolicy, from_tree
from nebel.web.setup import Setup
from nebel.web.shelf import Shelf

COUNT = int(os.environ.get("NEBEL_FUZZ", "150"))
CERTIFICATES = Path(__file__).parent.parent.parent / "docs" / "certificates"
GAME = nebel.game("kuhn")

STRANGE: list[Any] = [
    None, True, 0, -1, 3, 1e308, "", "x", "kuhn", "leduc", "perfect", "board", "no such thing", "kuhn(", "openspiel:", "evil.py:boom", "\n",
    "é" * 3000, [], {}, [[]], ["relu"], [["relu", False, 1]], [["relu", True, 2]], [["tanh", False, 0]], {"a": {"b": []}}, [1, 2, 3],
    "error", "uniform", "policy", "network", "networks", "checkpoint", "dark_hex(rows=0)", "dark_hex(rows=99999999999,cols=3)",
]  # fmt: skip


@pytest.fixture(scope="module")
def made() -> list[MadePolicy]:
    """A table, a network and many networks."""
    tree, rng = grow(GAME), np.random.default_rng(1)
    table = from_tree(tree, tuple(np.repeat(1 / np.diff(side.row), np.diff(side.row)) for side in tree.sides))  # type: ignore[arg-type]
    size, moves = GAME.encodings["perfect"].size, GAME.actions  # type: ignore[attr-defined]

    def layers(*count: int) -> tuple[Layer, ...]:
        def floats(*shape: int) -> Any:
            return rng.random((*count, *shape), np.float32)

        first, second = Layer(floats(size, 4), floats(4), "relu"), Layer(floats(4, 4), floats(4), "tanh", True)
        return first, second, Layer(floats(4, moves), floats(moves), "")

    own = GAME.string, GAME.fingerprint, "perfect"
    return [table, NetPolicy(*own, layers()), NetsPolicy(*own, (layers(2), layers(3)), (np.ones(2), np.ones(3)))]


def change_array(array: Any, rng: random.Random) -> Any:
    """Another shape, another type, or other numbers."""
    flat = array.reshape(-1).copy()
    match rng.randrange(9):
        case 0:
            return array.astype(rng.choice([np.float16, np.float32, np.float64, np.int8, np.int32, np.uint64, np.bool_]))
        case 1:
            return array[..., None]
        case 2:
            return flat[: rng.randrange(len(flat) + 1)]
        case 3:
            return np.concatenate([flat, flat])
        case 4:
            return array[:0]
        case 5:
            return array.swapaxes(0, -1).copy()
        case 6:
            return np.array(rng.choice([0, 1, -1]), array.dtype)
        case _:
            strange = [0, 1, -1, 7, 2**62] if array.dtype.kind == "i" else [0, -1, 0.5, 2, 1e300, float("nan"), float("inf")]
            with np.errstate(over="ignore"):
                for _ in range(rng.randrange(1, 3)):
                    flat[rng.randrange(len(flat))] = np.array(rng.choice(strange)).astype(array.dtype)
            return flat.reshape(array.shape)


def change_policy(arrays: Arrays, header: dict[str, Any], rng: random.Random) -> tuple[Arrays, dict[str, Any]]:
    """A policy with one to three changes of its meaning."""
    arrays, header = dict(arrays), copy.deepcopy(header)
    for _ in range(rng.randrange(1, 4)):
        name, field = rng.choice(sorted(arrays) or [""]), rng.choice(sorted(header))
        match rng.randrange(8):
            case 0:
                header[field] = rng.choice(STRANGE)
            case 1:
                del header[field]
            case 2:
                arrays.pop(name, None)
            case 3:
                arrays[rng.choice(["keys0", "weights9", "x", "keys2"])] = np.zeros(rng.randrange(4))
            case 4 if len(arrays) > 1:
                other = rng.choice(sorted(arrays))
                arrays[name], arrays[other] = arrays[other], arrays[name]
            case _:
                if name in arrays:
                    arrays[name] = change_array(arrays[name], rng)
        if not header:
            break
    return arrays, header


def use(policy: MadePolicy) -> None:
    """Judge, show, simplify and play."""
    uses: list[Callable[[], object]] = [lambda: judge(GAME, policy), lambda: policy.probabilities(GAME.start().play("K J"))]
    uses.append(lambda: PolicyAgent("it", policy).join(nebel.game("leduc")))
    if isinstance(policy, TablePolicy):
        table = policy
        uses += [lambda: table.check_game(GAME), lambda: listed(table, GAME, (0, 1), 5), lambda: simplify(table)]
    policy.check_game(GAME)
    for each in uses:
        try:
            each()
        except Problem as problem:
            one_line(problem)


def one_line(problem: Problem, quoting: bool = False) -> None:
    """The message is one line that can be read; strategies quote the line of the file below it."""
    first, *more = str(problem).splitlines()
    assert len(first) < 2500
    assert quoting or not more


def test_policies_of_changed_meaning_are_refused_or_make_sense(made: list[MadePolicy], tmp_path: Path) -> None:
    file, refused = tmp_path / "changed.nebel", 0
    sources = []
    for policy in made:
        nebel.save_policy(policy, file)
        sources.append(read_arrays(file, "policy", "network", "networks"))
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


NUMBERS = ["1/2", "-1/2", "0", "1e-9999999", "1e9999999", "NaN", "Infinity", "1/0", "9" * 5000, "1/" + "7" * 900, "", 1, 0.5, None, [], "½"]


def change_certificate(data: Any, rng: random.Random) -> str:
    """A certificate with one to three changes, as text."""
    data = copy.deepcopy(data)
    for _ in range(rng.randrange(1, 4)):
        side = data.get(rng.choice(["black", "white"]))
        lines = side.get("strategies") if isinstance(side, dict) else None
        match rng.randrange(7):
            case 0:
                data[rng.choice(list(data))] = rng.choice([*NUMBERS, True, {}, "silent", "noisy", "flash", 30, -1, 10**30])
            case 1:
                data.pop(rng.choice(list(data)))
            case 2 if isinstance(side, dict):
                side["guarantee"] = rng.choice(NUMBERS)
            case 3 if lines:
                lines[rng.randrange(len(lines))] = rng.choice([[], ["1/2"], "1/2", [rng.choice(NUMBERS), "a;"], [1, 2, 3], None])
            case 4 if lines and isinstance(lines[0], list) and lines[0]:
                lines[0][0] = rng.choice(NUMBERS)
            case 5 if lines and isinstance(lines[-1], list) and len(lines[-1]) > 1 and isinstance(lines[-1][1], str):
                text = [*lines[-1][1]]
                for _ in range(rng.randrange(1, 4)):
                    text[rng.randrange(len(text))] = rng.choice("abcdz+-*;.") * rng.choice([0, 1, 1, 2, 3000])
                lines[-1][1] = "".join(text) or ";"
            case _:
                if isinstance(side, dict):
                    side["strategies"] = rng.choice([[], None, {}, [["1", ";" * 9]], [["1", "a+" * 5000]], [["1", "a;"]] * 2])
    text = json.dumps(data)
    if rng.random() < 0.2:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice(["[" * 3000, "NaN", "", "\0", "9" * 5000, '"', "}"]) + text[at + rng.randrange(3) :]
    return text


@pytest.fixture(scope="module")
def certificates() -> list[Any]:
    files = [*CERTIFICATES.glob("2x2*.gz"), *CERTIFICATES.glob("2x3-classic*.gz"), *CERTIFICATES.glob("3x2-abrupt-silent*.gz")]
    assert len(files) == 10
    return [json.loads(gzip.decompress(file.read_bytes())) for file in sorted(files)]


def test_changed_certificates_are_refused_or_hold(certificates: list[Any], tmp_path: Path) -> None:
    refused = 0
    for seed in range(COUNT):
        rng = random.Random(seed)
        file = tmp_path / f"changed.json{rng.choice(['', '.gz', '.xz'])}"
        text = change_certificate(rng.choice(certificates), rng).encode()
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


def test_a_search_that_would_not_end_gives_up(certificates: list[Any], tmp_path: Path) -> None:
    file = tmp_path / "hard.json"
    file.write_text(json.dumps(certificates[-1]))
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


HEADER = "rows: {}\ncols: {}\nplayer: {}\n"
PIECES = [
    "a1", "b1", "a2", "b2", "c3", "z9", "!", "?", "T", "(", ")", "{", "}", ",", ":", "|", "~", "=", "/", "1/2", "0.3", "1/3", "n_", "m_",
    "\n", "é", "(a1)", "~ (b2)", "{a1, b1}", "{a1: 1/2, b2: 1/2}", "{a1 | b2}",
    "T(n_)", "m_ = a2 ~ (b1)", "n_ = {m_, T(m_)}", "9" * 30, "#", "¬",
    "(" * 200, "~ (a1)" * 200, "a1 " * 500, "{" * 100,
]  # fmt: skip


def change_notation(rng: random.Random) -> str:
    """Definitions of pieces, or of names that name each other."""
    head = HEADER.format(rng.choice([2, 2, 3, 0, "9" * 30, "x"]), rng.choice([2, 2, 1, 40]), rng.choice(["black", "white", "red"]))
    if rng.random() < 0.3:
        head = HEADER.format(2, 2, "black")
        count = rng.randrange(1, 60)
        forms = ["{{{0}: 1/2, T({0}): 1/2}}", "{0}, {0}", "{0} ~ ({0})", "{{{0} | T({0})}}", "{{{0}: 1/3, a1: 2/3}}, {0}", "T({0})"]
        lines = [f"x{i}_ = {rng.choice(forms).format(f'x{i + 1}_')}" for i in range(count)]
        return "\n".join([head, "play = x0_", *lines, f"x{count}_ = {rng.choice(['a1 ~ (b1), !', 'a1', '{a1, a2, b1, b2}'])}"])
    body = " ".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 12)))
    rest = "\n".join(f"{name} = {' '.join(rng.choice(PIECES) for _ in range(3))}" for name in rng.sample(["n_", "m_", "k_"], 2))
    return f"{head}play = {body}\n{rest}\n"


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
