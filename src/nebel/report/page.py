"""One page: no other files, no script; readable on a phone, by day and by night."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from nebel.report.parts import Figure, Section, Table

STYLE = """
:root { --ink: #1d2126; --soft: #59616b; --ground: #fcfbf8; --line: #d9d5ca; --card: #ffffff; --link: #2560b8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6e9; --soft: #a0a7b1; --ground: #15181c; --line: #363c44; --card: #1c2026; --link: #7fb0ff; }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 66rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 .4rem; padding-top: .8rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p { margin: .4rem 0 .8rem; max-width: 46rem; }
.note, footer, .cite { color: var(--soft); font-size: .9rem; }
a { color: var(--link); }
nav { display: flex; flex-wrap: wrap; gap: .3rem .9rem; margin: 1rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .75rem .3rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; vertical-align: bottom; }
.n { text-align: right; }
td.n { white-space: nowrap; }
td:first-child { min-width: 4.5rem; }
figure { margin: .6rem 0; display: flex; flex-wrap: wrap; gap: 1rem; }
figure > div { flex: 0 1 auto; max-width: 100%;
  background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .7rem; }
figure.boards > div { width: 15rem; }
figure.boards > div:has(.chart) { width: 30rem; }
figcaption { font-size: .88rem; color: var(--soft); margin-top: .3rem; max-width: 40rem; }
svg { display: block; max-width: 100%; height: auto; }
@media (max-width: 40rem) { .heat { overflow-x: auto; } .heat svg { max-width: none; }
  figure.boards > div:not(:has(.chart)) { width: calc(50% - .5rem); } }
"""


HEAD = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"/>'
MADE = "Made by nebel paper "
"""How the last line of a report begins."""


def holds_report(path: Path) -> bool:
    """Return whether a file is a report, which may be replaced by another one unasked."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return text.startswith(HEAD) and f"<footer><p>{MADE}" in text


def page(title: str, cite: str, intro: str, sections: Mapping[str, Section], made: str) -> str:
    """The whole HTML text. `sections` by the names that links point to; `made` says how the page came to be."""
    links = "".join(f'<a href="#{escape(name)}">{escape(section.title)}</a>' for name, section in sections.items())
    body = "".join(_section(name, section) for name, section in sections.items())
    return (
        HEAD + '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f'<body><h1>{escape(title)}</h1><p class="cite">{escape(cite)}</p><p>{escape(intro)}</p><nav>{links}</nav>\n'
        f"{body}<footer><p>{escape(made)}</p></footer></body></html>\n"
    )


def _section(name: str, section: Section) -> str:
    parts = "".join(_table(part) if isinstance(part, Table) else _figure(part) for part in section.parts)
    return f'<section id="{escape(name)}"><h2>{escape(section.title)}</h2><p>{escape(section.lead)}</p>{parts}</section>\n'


def _table(table: Table) -> str:
    numeric = [all(_is_number(row[i]) for row in table.rows) for i in range(len(table.head))]

    def line(cells: Sequence[str], tag: str) -> str:
        classes = [' class="n"' if number else "" for number in numeric]
        return "<tr>" + "".join(f"<{tag}{c}>{escape(cell)}</{tag}>" for c, cell in zip(classes, cells, strict=True)) + "</tr>"

    rows = "".join(line(row, "td") for row in table.rows)
    return f'<h3>{escape(table.title)}</h3><div class="wide"><table>{line(table.head, "th")}{rows}</table></div>{_note(table.note)}'


def _figure(figure: Figure) -> str:
    boards = ' class="boards"' if len(figure.pictures) > 1 else ""
    heat = ' class="heat"' if "<g>" in figure.pictures[0][1] else ""
    shown = "".join(
        f"<div{heat}>{svg}<figcaption>{escape(caption)}</figcaption></div>" if caption else f"<div{heat}>{svg}</div>"
        for caption, svg in figure.pictures
    )
    return f"<h3>{escape(figure.title)}</h3><figure{boards}>{shown}</figure>{_note(figure.note)}"


def _note(note: str) -> str:
    return f'<p class="note">{escape(note)}</p>' if note else ""


def _is_number(cell: str) -> bool:
    """Figures stand to the right; a dash or nothing may be among them."""
    return re.fullmatch(r"(about )?[-+±=/.,%()\de ]*( s)?", cell) is not None
