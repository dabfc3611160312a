"""A paper as sections that are computed one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nebel.core.errors import BadSetting
from nebel.core.suggest import did_you_mean
from nebel.report.page import MADE, page
from nebel.report.parts import Section

Scale = TypeVar("Scale")
Tell = Callable[[str], None]
"""Hears what is going on, a line at a time."""


class Terms(NamedTuple):
    """How much to compute, from which seed, who is told, and which sections it is for."""

    quick: bool = False
    seed: int = 1
    tell: Tell = lambda line: None
    sections: Sequence[str] = ()
    full: bool = False
    runs: Path | None = None
    """Where runs that take hours keep their folders: the same command continues them. None: nothing is kept."""
    finished: bool = False
    """Whether reports are made of the finished runs in `runs` alone, and no run is begun or continued."""

    @property
    def size(self) -> str:
        return "quick" if self.quick else "full" if self.full else "usual"

    def choose(self, quick: Scale, usual: Scale, full: Scale | None = None) -> Scale:
        """One of these scales; `full` where the paper's own size takes much longer than the usual one."""
        return quick if self.quick else full if full and self.full else usual

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.tell(f"  {what}: {time.perf_counter() - begin:.1f} s")


class Paper(NamedTuple):
    """`study` makes what the sections share, such as players that learn once, and is closed at the end; each section is made from it."""

    name: str
    title: str
    cite: str
    intro: str
    study: Callable[[Terms], Any]
    sections: Mapping[str, Callable[[Any], Section]]


class Report(NamedTuple):
    paper: Paper
    terms: Terms
    sections: dict[str, Section]
    seconds: dict[str, float]

    def html(self) -> str:
        size, seconds = self.terms.size, sum(self.seconds.values())
        made = f"{MADE}{self.paper.name} ({size} size, seed {self.terms.seed}) in {seconds:.0f} s."
        return page(self.paper.title, self.paper.cite, self.paper.intro, self.sections, made)

    def data(self) -> dict[str, Any]:
        sections = {
            name: {"title": section.title, "seconds": round(self.seconds[name], 3), **section.data}
            for name, section in self.sections.items()
        }
        return {"paper": self.paper.name, "quick": self.terms.quick, "size": self.terms.size, "seed": self.terms.seed, "sections": sections}


def chosen(paper: Paper, names: Sequence[str]) -> list[str]:
    """The sections of these names, in the paper's order; all if none is named."""
    for name in names:
        if name not in paper.sections:
            hint = did_you_mean(name, paper.sections)
            raise BadSetting(f"{paper.name} has no section {name!r}{hint}; it has: {', '.join(paper.sections)}")
    return [name for name in paper.sections if name in names or not names]


def compute(paper: Paper, names: Sequence[str], terms: Terms, done: Callable[[Section], None] = lambda section: None) -> Report:
    """Make the sections of these names (all if there are none); `done` hears of each when it is finished."""
    terms = terms._replace(sections=chosen(paper, names))
    sections, seconds = {}, {}
    with closing(paper.study(terms)) as study:
        for name in terms.sections:
            terms.tell(f"{name} ...")
            begin = time.perf_counter()
            sections[name] = paper.sections[name](study)
            seconds[name] = time.perf_counter() - begin
            terms.tell(f"{name}: {seconds[name]:.1f} s")
            done(sections[name])
    return Report(paper, terms, sections, seconds)
