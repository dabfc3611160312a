"""Thousands of files that make no sense, or mean harm, given to the command line: each has to end in one line, soon and in little memory.

    python tests/tools/many_files.py --policies 10000 --texts 5000

A file is drawn by its number, so that what is told of one can be tried again: --only NUMBER. The exit code is 1 if one was not as it has
to be.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import lzma
import os
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from odd_files import certificates, change_certificate, change_notation, change_policy, policies

import nebel
from nebel.cli import main
from nebel.core.errors import Problem
from nebel.policy.io import POLICIES, read_arrays, write_arrays

SECONDS = 1.0
"""Of one core, that nothing may take longer than: others may be at work on the machine."""
LONGEST = 2500
"""Characters of what is said of a file that is refused."""
Words = list[str]


def changed_policies(folder: Path) -> Callable[[random.Random], Iterator[Words]]:
    """Return what writes a policy with changes, and yields what is to be done with it."""
    file, sources = folder / "changed.nebel", []
    for policy in policies():
        nebel.save_policy(policy, file)
        sources.append(read_arrays(file, *POLICIES))

    def write(rng: random.Random) -> Iterator[Words]:
        arrays, header = change_policy(*rng.choice(sources), rng)
        header.pop("format", None)
        write_arrays(file, arrays, header)
        name = str(file)
        yield from uses_of(name, folder)
        with contextlib.suppress(Problem):
            ask(file)

    return write


def uses_of(name: str, folder: Path) -> Iterator[Words]:
    """What can be done with a policy file."""
    yield ["show", name, "--limit", "1"]
    yield ["judge", name]
    yield ["match", name, "uniform", "--games", "4"]
    yield ["match", name, "uniform", "--games", "4", "--game", "leduc"]
    yield ["simplify", name, "--out", str(folder / "simple.nebel")]


def compile_all(folder: Path) -> None:
    """Use policies as they are, which compiles what takes them."""
    file = folder / "whole.nebel"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for policy in policies():
            nebel.save_policy(policy, file)
            for words in uses_of(str(file), folder):
                main(words)


def ask(file: Path) -> None:
    """Ask a policy for its probabilities in the first positions of two games."""
    policy = nebel.load_policy(file)
    for state in (nebel.game("kuhn").start().play("K J"), nebel.game("dark_hex:3x2").start()):
        with contextlib.suppress(Problem):
            assert abs(sum(policy.probabilities(state).values()) - 1) < 1e-9


def changed_certificates(folder: Path) -> Callable[[random.Random], Iterator[Words]]:
    sources = certificates()

    def write(rng: random.Random) -> Iterator[Words]:
        file = folder / f"changed.json{rng.choice(['', '.gz', '.xz'])}"
        text = change_certificate(rng.choice(sources), rng).encode()
        file.write_bytes({".gz": gzip.compress, ".xz": lzma.compress}.get(file.suffix, bytes)(text))
        yield ["verify", str(file)]

    return write


def changed_notations(folder: Path) -> Callable[[random.Random], Iterator[Words]]:
    file = folder / "changed.dhs"

    def write(rng: random.Random) -> Iterator[Words]:
        file.write_text(change_notation(rng), encoding="utf-8")
        yield ["strategy", str(file), "--check"]
        yield ["strategy", str(file), "--out", str(folder / "read.nebel")]

    return write


def is_one_line(lines: list[str], quoting: bool) -> bool:
    """Whether what was told ends in one line that says what is wrong; with `quoting`, the line of the file may follow."""
    said = [at for at, line in enumerate(lines) if line.startswith("nebel: ")]
    return len(said) == 1 and len(lines[said[0]]) < LONGEST and (quoting or said[0] == len(lines) - 1)


def try_all(name: str, count: int, start: int, write: Callable[[random.Random], Iterator[Words]]) -> int:
    """Try so many files, print a line, and return how many were not as they have to be."""
    bad, ends, slowest, uses = 0, Counter[str](), (0.0, ""), 0
    for seed in range(start, start + count):
        rng = random.Random(seed)
        begun = time.process_time()
        words: Words = ["write"]
        try:
            for words in write(rng):
                uses += 1
                begun = time.process_time()
                said, told = io.StringIO(), io.StringIO()
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
                    code = main(words)
                took = time.process_time() - begun
                slowest = max(slowest, (took, f"{name} {seed}: {words[0]}"))
                lines = told.getvalue().splitlines()
                ends["refused" if code == 2 else "taken"] += 1
                fine = code in (0, 1) or (code == 2 and is_one_line(lines, words[0] == "strategy"))
                if not fine or took > SECONDS or "\033" in said.getvalue() + told.getvalue():
                    bad += 1
                    print(f"{name} {seed}: {' '.join(words)}: {code}, {took:.2f} s: {told.getvalue()[:300]!r} {said.getvalue()[:100]!r}")
                begun = time.process_time()
        except Exception:  # a traceback is what nobody may see
            bad += 1
            print(f"{name} {seed}: {' '.join(words)}: {traceback.format_exc()}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(
        f"{name}: {count:,} files, {uses:,} uses, {ends['refused']:,} refused in a line, {ends['taken']:,} taken, {bad} wrong; "
        f"slowest {slowest[0]:.2f} s ({slowest[1]}); peak {peak:.2f} GB",
        flush=True,
    )
    return bad


def run() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", type=int, default=1000, help="number of policy files (default: 1000)")
    parser.add_argument("--texts", type=int, default=500, help="number of certificates, and of strategies in notation (default: 500)")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="try one file of each kind")
    args = parser.parse_args()
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", DeprecationWarning)
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        os.environ["NEBEL_STATE"] = name
        os.chdir(name)
        folder = Path(name)
        policy = changed_policies(folder)
        compile_all(folder)
        for kind, count, write in (
            ("policies", args.policies, policy),
            ("certificates", args.texts, changed_certificates(folder)),
            ("notations", args.texts, changed_notations(folder)),
        ):
            start, tries = (0, count) if args.only is None else (args.only, min(1, count))
            bad += try_all(kind, tries, start, write) if tries else 0
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(run())
