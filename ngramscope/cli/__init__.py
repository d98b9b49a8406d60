"""The command line: a shell over the library, one file a command.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but records or files were left out, 130 and 143 ended by a signal.
"""

from __future__ import annotations

from ngramscope.cli._run import main

__all__ = ["main"]
