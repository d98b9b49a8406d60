"""Progress of long work: a live line on a terminal, a plain line now and then in a log."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TextIO

from ngramscope._core import Progress
from ngramscope.sizes import counted, format_count, format_size

__all__ = ["ProgressLine", "Step"]

_LIVE_EVERY = 0.1
_PLAIN_EVERY = 10.0
_PHASES = {
    "find": "finding files",
    "spool": "copying",
    "choose": "choosing a sample",
    "sample": "reading a sample",
    "count": "counting n-grams",
    "insert": "indexing",
    "write": "writing",
    "sync": "syncing",
    "load": "loading",
    "verify": "verifying",
    "score": "scoring",
    "arrange": "arranging n-grams",
    "read": "reading",
    "fetch": "downloading",
    "compare": "comparing",
    "match": "matching",
    "attack": "attacking",
    "resample": "resampling",
    "blind": "fitting blind baselines",
    "encode": "encoding",
}


@dataclass(frozen=True)
class Step:
    """A step of work done here and not in the core, which has `Progress` for it; the same attributes."""

    phase: str
    pass_number: int = 1
    passes: int = 1
    documents: int = 0
    bytes_done: int = 0
    bytes_total: int = 0
    ngrams: int = 0
    fill: float | None = None
    seconds: float = 0.0
    tokens: int = 0


class ProgressLine:
    """Shows steps on `stream`; never a carriage return or an escape code unless it is a capable terminal.

    Parameters
    ----------
    stream
        Where to write; usually standard error.
    live
        Rewrite one line; None asks the stream and ``TERM``.
    """

    def __init__(self, stream: TextIO, *, live: bool | None = None) -> None:
        self._stream = stream
        self._live = stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb") if live is None else live
        self._next = 0.0 if self._live else time.monotonic() + _PLAIN_EVERY
        self._shown = False

    def __call__(self, step: Progress | Step) -> None:
        """Show `step`, unless the last one was shown a moment ago."""
        now = time.monotonic()
        if now < self._next:
            return
        if self._live:
            self._next = now + _LIVE_EVERY
            self._stream.write(f"\r{describe(step)}\x1b[K")
            self._shown = True
        else:
            self._next = now + _PLAIN_EVERY
            self._stream.write(describe(step) + "\n")
        self._stream.flush()

    def clear(self) -> None:
        """Take the live line away, so that the next message starts on an empty one."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False


def describe(step: Progress | Step) -> str:
    """One line: what, how far, how fast, how full, how long still."""
    parts = [_PHASES.get(step.phase, step.phase)]
    if step.passes > 1:
        parts[0] += f" (pass {step.pass_number} of {step.passes})"
    elif step.pass_number > 1:
        # How many there will be is not known.
        parts[0] += f" (pass {step.pass_number})"
    if step.bytes_total:
        share = min(1.0, step.bytes_done / step.bytes_total)
        parts.append(f"{share:4.0%} of {format_size(step.bytes_total)}")
    else:
        share = 0.0
        if step.bytes_done:
            parts.append(format_size(step.bytes_done))
    if step.documents:
        parts.append(counted(step.documents, "document"))
    if step.ngrams and step.seconds > 0:
        parts.append(f"{format_count(step.ngrams)} n-grams, {format_count(step.ngrams / step.seconds)}/s")
    if isinstance(step, Step) and step.tokens and step.seconds > 0:
        parts.append(f"{format_count(step.tokens)} tokens, {format_count(step.tokens / step.seconds)}/s")
    if step.fill is not None:
        parts.append(f"fill at most {step.fill:.0%}")
    if 0.01 < share < 1 and step.seconds > 1:
        parts.append(f"{_duration(step.seconds * (1 - share) / share)} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
