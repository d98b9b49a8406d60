"""How many threads torch should work with on this processor, as it is now."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence

__all__ = ["pick_threads"]

_ROUNDS = 5
_GAIN = 0.95


def pick_threads(work: Callable[[], object] | None = None, candidates: Sequence[int] | None = None) -> int:
    """Try several numbers of threads for a fraction of a second, and set torch to the best.

    More threads than free processors can be many times slower than one: they wait for each other. The numbers are tried in
    alternation, and a greater one is taken only if its median is at least 5 % better.

    Parameters
    ----------
    work
        What to time; default: matrix products and an exponential of the size of a small model's.
    candidates
        Numbers to try, ascending; default: powers of two up to the processors that this process may use, and that number.

    Returns
    -------
    int
        The number of threads, which torch has now.
    """
    import torch

    if candidates is None:
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        candidates = sorted({processors, *(2**power for power in range(processors.bit_length()) if 2**power <= processors)})
    if len(candidates) > 1:
        taken: dict[int, list[float]] = {threads: [] for threads in candidates}
        work = work or _layer()
        for turn in range(_ROUNDS + 1):
            for threads in candidates:
                torch.set_num_threads(threads)
                started = time.perf_counter()
                work()
                if turn:  # the first starts the threads
                    taken[threads].append(time.perf_counter() - started)
        best, *others = candidates
        for threads in others:
            if statistics.median(taken[threads]) < _GAIN * statistics.median(taken[best]):
                best = threads
        candidates = [best]
    torch.set_num_threads(candidates[0])
    return candidates[0]


def _layer() -> Callable[[], object]:
    """A feed-forward layer of 512 positions: some ten milliseconds on one processor."""
    import torch

    rows, up, down = torch.ones(512, 512), torch.ones(512, 2048), torch.ones(2048, 512)
    return lambda: (rows @ up).mul_(1e-3).exp_() @ down
