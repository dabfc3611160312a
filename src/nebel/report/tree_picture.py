"""Trees of pictures: a game's boards joined by moves, as one SVG that repeats no shape."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import count

from nebel.report.boards import SVG
from nebel.report.page import HEAD, STYLE

WIDTH = 112.0
"""Of a board; its height follows."""
GAP, STEP, LINE = 14.0, 50.0, 13.0
"""Between neighbours, between a board and the next, and of a line of text."""
ASIDE = 104.0
"""Between a board and the next, from left to right."""
WIDEST = 1200.0
"""Wider trees grow from left to right."""
FAINT = "0.42"
TONES = {"good": "#2f7d4f", "bad": "#b3261e", "even": "#59616b", "": "#b9b2a0"}
"""Frames: a good end, a bad end, a draw, and a board on which the game continues."""
INK = {"": "#1d2126", "first": "#c2521f", "second": "#2560b8", "third": "#59616b"}
LEGEND = (
    "Orange: moves of the strategy, with probabilities. Blue: the best response. Grey: chance.",
    "Below each board stands the probability of coming to it. Faint is what the strategy's player does not see.",
)
MADE = "Made by nebel show"
"""What marks a file as one that may be replaced unasked."""


@dataclass
class Branch:
    """A board in a tree, and how it came about.

    picture   an SVG, from `with_hidden` for example
    label     the move that leads here, in the colour `ink`: "first", "second", "third" or ""
    caption   lines below the picture
    tone      "good", "bad" or "even" where the game ends, else ""
    """

    picture: str
    label: str = ""
    ink: str = ""
    caption: list[str] = field(default_factory=list)
    tone: str = ""
    next: list[Branch] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    extent: float = 0.0

    def all(self) -> Iterator[Branch]:
        """Yield this board and all after it, parents first."""
        todo = [self]
        while todo:
            branch = todo.pop()
            yield branch
            todo += branch.next[::-1]


def with_hidden(seen: str, truth: str) -> str:
    """Draw the true picture, with what is not in the other one faint; draw both side by side if their sizes differ."""
    known, real = ET.fromstring(seen), ET.fromstring(truth)
    if known.get("viewBox") != real.get("viewBox"):
        return _beside(known, real)
    left = Counter(ET.tostring(part) for part in known)
    for part in real:
        shape = ET.tostring(part)
        if left[shape]:
            left[shape] -= 1
        else:
            part.set("opacity", FAINT)
    return ET.tostring(real, encoding="unicode")


def _size(picture: ET.Element) -> tuple[float, float]:
    return float(picture.get("width", "100")), float(picture.get("height", "100"))


def _beside(first: ET.Element, second: ET.Element) -> str:
    (width, height), (wide, high) = _size(first), _size(second)
    root = ET.Element(f"{{{SVG}}}svg", {"width": f"{width + 8 + wide:g}", "height": f"{max(height, high):g}"})
    root.set("viewBox", f"0 0 {width + 8 + wide:g} {max(height, high):g}")
    second.set("x", f"{width + 8:g}")
    root.extend([first, second])
    return ET.tostring(root, encoding="unicode")


def tree_picture(root: Branch, *lines: str) -> str:
    """Draw a tree of boards below some lines of text, from top to bottom, or from left to right if that would be too wide."""
    shapes = _Shapes(branch.picture for branch in root.all())
    width, height = shapes.largest()
    height *= WIDTH / width
    box = height + LINE * max(len(branch.caption) for branch in root.all()) + 4
    across = WIDTH + GAP
    if _place(root, across) > WIDEST:
        _place(root, box + GAP)
        for branch in root.all():
            branch.x, branch.y = branch.y * (WIDTH + ASIDE), branch.x
        down = False
    else:
        for branch in root.all():
            branch.y *= box + STEP
        down = True
    body, wide, high = [], max((6.2 * len(line) for line in lines), default=0.0), 0.0
    for branch in root.all():
        wide, high = max(wide, branch.x + WIDTH), max(high, branch.y + box)
        body += [_edge(branch, then, box, down) for then in branch.next] + [_board(branch, shapes, height)]
    margin, head = 10.0, 17.0 * len(lines) + 4
    words = "".join(
        f'<text x="{margin:g}" y="{3 + 17 * (i + 1)}" font-size="12" fill="{INK[""]}">{escape(line)}</text>' for i, line in enumerate(lines)
    )
    size = f"{wide + 2 * margin:.0f} {high + 2 * margin + head:.0f}"
    return (
        f'<svg xmlns="{SVG}" viewBox="0 0 {size}" width="{size.split()[0]}" height="{size.split()[1]}" font-family="sans-serif">'
        f"<desc>{MADE}</desc>"
        f'<rect width="100%" height="100%" fill="#fcfbf8"/><defs>{shapes.definitions()}</defs>{words}'
        f'<g transform="translate({margin:g} {margin + head:g})" font-size="11" text-anchor="middle">{"".join(body)}</g></svg>\n'
    )


def tree_page(root: Branch, title: str, foot: str) -> str:
    """Return the tree on an HTML page of its own, with what its colours say."""
    return (
        HEAD + '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{escape(title)}</title><style>{STYLE}body {{ max-width: none; }} .wide svg {{ max-width: none; }}</style></head>\n"
        f'<body><h1>{escape(title)}</h1><p>{escape(" ".join(LEGEND))}</p><p>{escape(foot)}</p><div class="wide">{tree_picture(root)}</div>'
        f"<footer><p>{MADE}</p></footer></body></html>\n"
    )


def _place(root: Branch, across: float) -> float:
    """Give leaves a place each and other boards the middle of theirs (x), and depths (y); returns how far they reach."""
    root.y, places = 0.0, count()
    order = list(root.all())
    for branch in order:
        for then in branch.next:
            then.y = branch.y + 1
    leaves = [branch for branch in order if not branch.next]
    for branch in leaves:
        branch.x = next(places) * across
    for branch in reversed(order):
        if branch.next:
            branch.x = (branch.next[0].x + branch.next[-1].x) / 2
    return len(leaves) * across


def _edge(branch: Branch, then: Branch, box: float, down: bool) -> str:
    colour = INK[then.ink]
    if down:
        x, y, to_x, to_y = branch.x + WIDTH / 2, branch.y + box, then.x + WIDTH / 2, then.y
        path, at_x, at_y = f"M{x:.0f} {y:.0f}V{y + 12:.0f}H{to_x:.0f}V{to_y:.0f}", to_x, to_y - 22
    else:
        x, y, to_x, to_y = branch.x + WIDTH, branch.y + box / 2, then.x, then.y + box / 2
        path, at_x, at_y = f"M{x:.0f} {y:.0f}H{x + 12:.0f}V{to_y:.0f}H{to_x:.0f}", (x + 12 + to_x) / 2, to_y - 4
    words = escape(then.label)
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        f'<text x="{at_x:.0f}" y="{at_y:.0f}" fill="{colour}" font-weight="700" stroke="#fcfbf8" stroke-width="4" '
        f'paint-order="stroke">{words}</text>'
    )


def _board(branch: Branch, shapes: _Shapes, height: float) -> str:
    frame = f'<rect x="-3" y="-3" width="{WIDTH + 6:g}" height="{height + 6:.0f}" rx="5" fill="none" stroke="{TONES[branch.tone]}"'
    frame += f' stroke-width="{4 if branch.tone else 1}"/>'
    words = "".join(
        f'<text x="{WIDTH / 2:g}" y="{height + 4 + LINE * (i + 1):.0f}" fill="{TONES[branch.tone] if branch.tone else INK[""]}">'
        f"{escape(line)}</text>"
        for i, line in enumerate(branch.caption)
    )
    return f'<g transform="translate({branch.x:.0f} {branch.y:.0f})">{shapes.use(branch.picture, height)}{frame}{words}</g>'


class _Shapes:
    """The shapes of which pictures are made, each written once."""

    def __init__(self, pictures: Iterator[str]) -> None:
        self._parts: dict[str, list[tuple[str, str]]] = {}  # by picture: shapes, and how strong each is
        self._roots: dict[str, ET.Element] = {}
        often: Counter[str] = Counter()
        for picture in pictures:
            if picture not in self._parts:
                root = ET.fromstring(picture)
                self._roots[picture] = root
                self._parts[picture] = [_shape(part) for part in root]
            often.update(shape for shape, _ in self._parts[picture])
        self._names = {shape: f"s{i}" for i, shape in enumerate(shape for shape, n in often.items() if n > 1)}

    def largest(self) -> tuple[float, float]:
        """The size of the largest picture."""
        sizes = [_size(root) for root in self._roots.values()]
        return max(width for width, _ in sizes), max(height for _, height in sizes)

    def definitions(self) -> str:
        return "".join(f'<g id="{name}">{shape}</g>' for shape, name in self._names.items())

    def use(self, picture: str, height: float) -> str:
        root = self._roots[picture]
        width, own = _size(root)
        font = root.get("font-family", "sans-serif")
        parts = []
        for shape, opacity in self._parts[picture]:
            faint = f' opacity="{opacity}"' if opacity else ""
            parts.append(f'<use href="#{self._names[shape]}"{faint}/>' if shape in self._names else f"<g{faint}>{shape}</g>")
        return (
            f'<svg width="{WIDTH:g}" height="{height:.0f}" viewBox="0 0 {width:g} {own:g}" font-family="{escape(font)}" '
            f'font-size="{root.get("font-size", "16")}" text-anchor="start">{"".join(parts)}</svg>'
        )


def _shape(part: ET.Element) -> tuple[str, str]:
    """A shape without what only that picture needs, and its opacity ("": full)."""
    opacity = part.attrib.pop("opacity", "") if part.get("opacity") == FAINT else ""
    for element in part.iter():
        element.attrib.pop("data-cell", None)
        element.attrib.pop("data-part", None)
    return ET.tostring(part, encoding="unicode").replace(f' xmlns="{SVG}"', ""), opacity
