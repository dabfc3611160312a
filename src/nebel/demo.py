"""What `make run` does: 4x3 Dark Hex solved and proven, the thesis about it computed again, a report to look at."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from nebel.cli.paper import show
from nebel.cli.screen import say
from nebel.core.errors import Problem
from nebel.core.output import check_target, write_text
from nebel.papers.dark_hex import PAPER
from nebel.papers.paper import Terms, compute
from nebel.report.page import holds_report
from nebel.web.setup import PORT

NEXT = (
    "paper dark_hex                                             all of it at full size, ten minutes or more",
    "solve dark_hex:4x3 --with double-oracle --out hex.nebel    the solution as a policy, with its certificate",
    "verify hex.nebel.certificate.json                          the certificate checked on its own",
    "play dark_hex:4x3 --against hex.nebel                      you against the solution",
    "games                                                      what else there is to solve",
)


def main(out: str = "runs/dark_hex.html") -> None:
    check_target(Path(out), same_kind=holds_report)
    begin = time.perf_counter()
    say("nebel solves Dark Hex on 4x3, has the solution checked, and computes the thesis about it again.")
    say("(The first time everything is compiled; the machine code is kept.)")
    report = compute(PAPER, [], Terms(quick=True, tell=lambda line: say(line, to_error=True)), show)
    write_text(Path(out), report.html())
    say(f"\n{time.perf_counter() - begin:.0f} s in all. The report, with all figures: {Path(out).resolve()}")
    say("Next:")
    for words in NEXT:
        say(f"  .venv/bin/nebel {words}")
    say(f"\nPlay against it in a browser: start .venv/bin/nebel serve, then open http://127.0.0.1:{PORT}/")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except Problem as problem:
        sys.exit(f"nebel: {problem}")
