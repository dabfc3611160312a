"""Boards with numbers on their cells: any picture of a game that writes its moves' names where they are played."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping

SVG = "http://www.w3.org/2000/svg"
ET.register_namespace("", SVG)


def with_shares(svg: str, shares: Mapping[str, float], least: float = 0.0005) -> str:
    """The picture with each move's probability on its cell, on a ground that is the stronger the likelier it is."""
    root = ET.fromstring(svg)
    for label in [element for element in root if element.tag == f"{{{SVG}}}text"]:
        share = shares.get(label.text or "", 0.0)
        if share < least:
            continue
        x, y = float(label.attrib["x"]), float(label.attrib["y"])
        ground = ET.Element(f"{{{SVG}}}circle", {"cx": f"{x:.1f}", "cy": f"{y - 4:.1f}", "r": "21", "fill": "#d9622b"})
        ground.set("fill-opacity", f"{0.25 + 0.6 * share:.2f}")
        number = ET.Element(f"{{{SVG}}}text", {"x": f"{x:.1f}", "y": f"{y + 7:.1f}", "text-anchor": "middle"})
        number.attrib |= {"font-size": "12", "font-weight": "700", "fill": "#1c1c1c"}
        number.text = share_text(share)
        label.attrib |= {"y": f"{y - 7:.1f}", "font-size": "10", "fill": "#4a3f28"}
        place = list(root).index(label)
        root.insert(place, ground)
        root.insert(place + 2, number)
    return ET.tostring(root, encoding="unicode")


def with_moves(svg: str, shares: Mapping[str, float], least: float = 0.0005) -> str:
    """The picture with the probability of each move: on its cell or its card, or as an arrow from cell to cell for moves such as b2-b3.

    Where moves are made of several cards, such as 2s2h, a card tells how often it is among them.
    """
    root = ET.fromstring(with_shares(svg, shares, least))
    for card, share in _on_cards(root, shares):
        if share >= least:
            ET.SubElement(card, f"{{{SVG}}}circle", {"cx": "38", "cy": "6", "r": "11", "fill": "#d9622b"})
            _write(card, 38, 9.5, share_text(share), 9, "#ffffff")
    cells = {cell.attrib["data-cell"]: cell for cell in _cells(root)}
    for move, share in sorted(shares.items(), key=lambda pair: pair[1]):
        start, _, aim = move.partition("-")
        if share < least or start not in cells or not aim:
            continue
        x, y, size = _centre(cells[start])
        to_x, to_y, _ = _centre(cells[aim]) if aim in cells else (x, y - size, size)  # off the board is ahead
        x, y, to_x, to_y = x + 0.3 * (to_x - x), y + 0.3 * (to_y - y), x + 0.8 * (to_x - x), y + 0.8 * (to_y - y)
        line = ET.SubElement(root, f"{{{SVG}}}line", {"x1": f"{x:.1f}", "y1": f"{y:.1f}", "x2": f"{to_x:.1f}", "y2": f"{to_y:.1f}"})
        line.attrib |= {"stroke": "#d9622b", "stroke-width": f"{2 + 8 * share:.1f}", "stroke-linecap": "round"}
        ET.SubElement(root, f"{{{SVG}}}circle", {"cx": f"{to_x:.1f}", "cy": f"{to_y:.1f}", "r": "10", "fill": "#d9622b"})
        _write(root, to_x, to_y + 3, share_text(share), 9, "#ffffff")
    return ET.tostring(root, encoding="unicode")


def with_shades(svg: str, shades: Mapping[str, float], colour: str) -> str:
    """The picture with cells shaded, the darker the likelier, each with its probability in percent."""
    root = ET.fromstring(svg)
    for cell in list(_cells(root)):
        share = shades.get(cell.attrib["data-cell"], 0.0)
        if share <= 0.0:
            continue
        shade = ET.Element(cell.tag, {name: value for name, value in cell.attrib.items() if name != "data-cell"})
        shade.attrib |= {"fill": colour, "fill-opacity": f"{0.15 + 0.75 * share:.2f}", "stroke": "none"}
        root.insert(list(root).index(cell) + 1, shade)  # below what stands there
        x, y, size = _centre(cell)
        _write(root, x, y + 0.4 * size, percent_text(share), 12, "#1c1c1c", halo=True)
    return ET.tostring(root, encoding="unicode")


def with_names(svg: str, names: Mapping[str, str]) -> str:
    """The picture with a name on what stands on each of these cells."""
    root = ET.fromstring(svg)
    for cell in list(_cells(root)):
        if cell.attrib["data-cell"] in names:
            x, y, size = _centre(cell)
            _write(root, x - 0.34 * size, y - 0.2 * size, names[cell.attrib["data-cell"]], 12, "#1c1c1c", halo=True)
    return ET.tostring(root, encoding="unicode")


def _on_cards(root: ET.Element, shares: Mapping[str, float]) -> Iterator[tuple[ET.Element, float]]:
    """Cards that are marked as moves or as parts of moves, each with how often it is played."""
    names = {card.attrib["data-part"] for card in root if "data-part" in card.attrib}
    parts = {move: _parts(move, names) for move in shares}
    for card in root:
        if card.tag == f"{{{SVG}}}g" and "data-cell" in card.attrib:
            yield card, shares.get(card.attrib["data-cell"], 0.0)
        elif "data-part" in card.attrib:
            yield card, sum(share for move, share in shares.items() if card.attrib["data-part"] in parts[move])


def _parts(move: str, names: set[str]) -> list[str]:
    """A move as the cards that it is made of; nothing if it is none of cards alone."""
    if not move:
        return []
    for name in sorted(names, key=len, reverse=True):
        if move.startswith(name) and (move == name or _parts(move[len(name) :], names)):
            return [name, *_parts(move[len(name) :], names)]
    return []


def _cells(root: ET.Element) -> Iterator[ET.Element]:
    """Places that are drawn as hexagons or squares."""
    return (part for part in root if "data-cell" in part.attrib and part.tag in (f"{{{SVG}}}polygon", f"{{{SVG}}}rect"))


def _centre(cell: ET.Element) -> tuple[float, float, float]:
    """Its middle, and how wide it is."""
    if "points" not in cell.attrib:
        x, y, width, height = (float(cell.attrib[name]) for name in ("x", "y", "width", "height"))
        return x + width / 2, y + height / 2, width
    points = [[float(part) for part in point.split(",")] for point in cell.attrib["points"].split()]
    columns, rows = zip(*points, strict=True)
    return sum(columns) / len(points), sum(rows) / len(points), max(columns) - min(columns)


def _write(root: ET.Element, x: float, y: float, text: str, size: int, colour: str, halo: bool = False) -> None:
    number = ET.SubElement(root, f"{{{SVG}}}text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": "middle", "font-size": str(size)})
    number.attrib |= {"font-weight": "700", "fill": colour}
    if halo:
        number.attrib |= {"stroke": "#ffffff", "stroke-opacity": "0.75", "stroke-width": "3", "paint-order": "stroke"}
    number.text = text


def percent_text(share: float) -> str:
    return "<1%" if 0.0 < share < 0.01 else ">99%" if 0.99 < share < 1.0 else f"{100 * share:.0f}%"


def share_text(share: float) -> str:
    """Three digits: .500, 1"""
    return "1" if share >= 0.9995 else f"{share:.3f}".removeprefix("0")
