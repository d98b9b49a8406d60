"""Exit codes; 0 is success."""

from __future__ import annotations

FAILURE = 1
USAGE = 2
PARTIAL = 3
"""Finished, but records or files were left out."""
PIPE = 141
"""Nobody read the output to its end, as with ``| head``."""
INTERRUPTED = 130
TERMINATED = 143
