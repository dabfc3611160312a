"""Pictures of games that draw none."""

from __future__ import annotations

from html import escape


def text_picture(text: str) -> str:
    """A plain picture for games that draw none: their text in a frame."""
    lines = text.splitlines() or [""]
    width, height = 24 + 9 * max(map(len, lines)), 24 + 20 * len(lines)
    rows = "".join(f'<text x="12" y="{28 + 20 * i}" xml:space="preserve">{escape(line)}</text>' for i, line in enumerate(lines))
    frame = f'<rect width="{width}" height="{height}" rx="8" fill="#f4f1ea" stroke="#8a8578"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="monospace" font-size="15">{frame}{rows}</svg>'
    )
