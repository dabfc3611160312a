"""Every command on the papers' pages runs: its quick form, in which sizes are small, ends well in a folder of the page's own."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from nebel.cli import main

PAGES = sorted((Path(__file__).parents[2] / "docs" / "papers").glob("*.md"))
NOT_HERE = {"s1.csv", "sip.csv", "sip.nebel"}
"""Files of a paper's author."""
SMALL = {
    "exit-oos": "--simulations 10 --games 2 --steps 2 --workers 1",
    "deep-cfr": "--traversals 8 --steps 2 --average-steps 2 --batch 64 --room 2000",
    "dream": "--traversals 8 --steps 2 --baseline-steps 2 --batch 64 --room 2000",
    "nfsp": "--boards 32 --plies 8",
    "mmd-ppo": "--boards 64",
}
"""By method that learns: what its iterations are cut down to."""
PART = {"cheat": "values", "dark_hex": "sizes", "exit_oos": "replica", "geister_deep_cfr": "replica", "geister_dream": "replica"}
"""A section in place of a whole report: tests of each paper compute all of them."""


def commands(page: str) -> list[list[str]]:
    """The words of all commands of a page, in their order, each once."""
    found = dict[str, None]()
    for match in re.finditer(r"^(?P<line>nebel .*)$|`(?P<inline>nebel [^`]*)`", page, re.M):
        found[re.sub(r"\s+# .*", "", match["line"] or match["inline"]).strip()] = None
    return [shlex.split(command) for command in found]


def quick(words: list[str]) -> list[str]:
    """The same command with small sizes: of options that are given twice the last holds."""
    verb = words[1]
    if verb == "paper":
        part = [] if "--only" in words else ["--only", PART[words[2]]]
        return [*(word for word in words[1:] if word not in ("--full", "--quick")), "--quick", "--force", *part]
    if verb == "learn":
        method = words[words.index("--with") + 1] if "--with" in words else "exit-oos"
        return [*words[1:], *SMALL[method].split(), "--iterations", "1"]
    if verb == "solve":
        return [*words[1:], "--iterations", "20"]
    if verb == "match":
        return [*(re.sub(r"oos:\d+k", "oos:10", word) for word in words[1:]), "--games", "4"]
    return words[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = list[str]()
    for words in commands(page.read_text()):
        short = quick(words)
        if shlex.join(short) not in ran and not NOT_HERE.intersection(words):
            assert main(short) == 0, shlex.join(words)
            ran.append(shlex.join(short))
    assert ran
