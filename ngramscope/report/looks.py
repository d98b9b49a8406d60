"""How attacks look: a colour and a marker each, the same in all figures of a report; the usual attacks in all reports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from zlib import crc32

__all__ = ["BLIND", "COLOURS", "MEMBERS", "MODIFIED", "NONMEMBERS", "REFERENCE", "family", "looks"]

COLOURS = ("#0072b2", "#c44e00", "#00805f", "#aa3377", "#332288", "#8a6d00", "#b2182b", "#4d6a75")
"""On white each has a contrast of at least 4.5. Those that follow each other can be told apart by colour-blind readers;
markers tell apart what is too alike."""

MEMBERS, NONMEMBERS, MODIFIED, REFERENCE = "#c44e00", "#0072b2", "#6b4c9a", "#666666"
"""Of sides of a set."""

BLIND = "#000000"
"""Of what sees no model."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")

_FIRST = ("loss", "ref", "zlib", "min-k", "min-k++", "recall", "neighbourhood", "camia-edgington")

Look = tuple[str, str]


def family(attack: str) -> str:
    """The attack without options, signal and seed: ``min-k`` of ``min-k(k=0.1)``."""
    return re.split(r"[(@]|(?<!\d)\.(?=\w)", attack, maxsplit=1)[0]


def looks(attacks: Iterable[str]) -> dict[str, Look]:
    """Colour and marker by attack; attacks of one family share the colour as long as markers suffice."""
    found: dict[str, Look] = {}
    for name in sorted(set(attacks), key=lambda each: (family(each) not in _FIRST, family(each), len(each), each)):
        base = family(name)
        place = _FIRST.index(base) if base in _FIRST else crc32(base.encode())
        first = 0 if base in _FIRST else 1 + crc32(base.encode()) // 8 % 9
        every = (
            (COLOURS[(place + other) % len(COLOURS)], MARKERS[(first + step) % len(MARKERS)])
            for other in range(len(COLOURS))
            for step in range(len(MARKERS))
        )
        taken = set(found.values())
        found[name] = next((each for each in every if each not in taken), (COLOURS[place % len(COLOURS)], MARKERS[first]))
    return found
