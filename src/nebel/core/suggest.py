"""Suggestions for names that are not known."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

MOST, CUTOFF = 3, 0.65
"""How many names are suggested, and how alike they are at least, from 0 to 1."""


def close_to(word: str, known: Iterable[str]) -> list[str]:
    """Return the known names that `word` may have been meant as, the closest first.

    Case does not count, hyphens and underscores are equal, and `plus` may be written for +.

    >>> close_to("cfrplus", ["cfr", "cfr+", "dcfr"])
    ['cfr+']
    >>> close_to("kuhn_poker", ["kuhn", "leduc"])
    ['kuhn']
    >>> close_to("zzz", ["kuhn", "leduc"])
    []
    """
    plain: dict[str, str] = {}
    for name in known:
        plain.setdefault(_plain(name), name)
    asked = _plain(word)
    if asked in plain:
        return [plain[asked]]
    found = difflib.get_close_matches(asked, plain, MOST, CUTOFF)
    if len(asked) > 2:  # one is a part of the other, such as kuhn of kuhn_poker
        found += [name for name in plain if len(name) > 2 and (asked in name or name in asked)]
    return [plain[name] for name in dict.fromkeys(found)][:MOST]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return what to add to a message about an unknown name, beginning with a space; empty if nothing is close.

    >>> did_you_mean("leducc", ["kuhn", "leduc"])
    ' (did you mean leduc?)'
    """
    found = close_to(word, known)
    return f" (did you mean {' or '.join(', '.join(found).rsplit(', ', 1))}?)" if found else ""


def _plain(name: str) -> str:
    """Return a name without what people mix up."""
    return re.sub(r"-?(plus|\+)$", "+", re.sub("[_ ]", "-", name.lower().strip(" -_")))
