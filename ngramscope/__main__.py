"""``python -m ngramscope``, and the entry point of the ``ngramscope`` program."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Load the program and run it; what is interrupted while it loads ends as it does later."""
    try:
        from ngramscope.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("ngramscope: interrupted\n")
        sys.stderr.flush()
        os._exit(130)  # nothing is open yet; and Python may have noted the signal, and would end by it
    run()


if __name__ == "__main__":
    main()
