"""Random texts that hold what makes texts hard: repeated words, marks, emoji, scripts without spaces, kinds of white space."""

from __future__ import annotations

from hypothesis import strategies as st

FEW = ["a", "b", "c"]
"""So few words that n-grams repeat, in a document and between corpus and candidate."""

PIECES = [
    *FEW, "A", "don't", "3.14", "naïve", "e\u0301te\u0301", "\u0301", "日本", "語", "カタカナ", "ก็", "אבג", "🦉", "👩‍👩‍👧",
    "🇩🇪🇫🇷", "x\u200dy", "\ufeff", ".", ",", "—", "”", "\x00", "\U0001f3fd", "𝔘𝔫𝔦", "ﬁ",
]  # fmt: skip
GAPS = [" ", " ", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u202f", "\u3000", "\u2028", "\x85", "\x1c", ""]

plain = st.lists(st.sampled_from(FEW), max_size=30).map(" ".join)
"""White-space words of a few letters: any word rule cuts them alike."""

hard = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(GAPS)), max_size=30).map(
    lambda pairs: "".join(piece + gap for piece, gap in pairs)
)
"""Anything that a text may hold."""

lengths = st.integers(1, 6)
