"""Boards with numbers on their cells: any picture of a game that writes its moves' names where they are played."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

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


def share_text(share: float) -> str:
    """Three digits: .500, 1"""
    return "1" if share >= 0.9995 else f"{share:.3f}".removeprefix("0")
