"""Further processes that score a share of the chunks, on other devices or other processors."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

from ngramscope.errors import NgramscopeError, ResourceError

__all__ = ["Helpers", "Job", "helpers"]

Job = tuple[Callable[..., object], tuple[Any, ...]]
"""A function that can be pickled, and its arguments."""

_TICK = 0.2
_ENDING = 1.0


class Helpers:
    """Processes at work.

    Parameters
    ----------
    jobs
        What each of them does.
    """

    def __init__(self, jobs: list[Job]) -> None:
        context = multiprocessing.get_context("spawn")  # a forked process could not use CUDA
        self._processes = []
        self._ends: list[Connection] = []
        for function, arguments in jobs:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(theirs, function, arguments), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._ends.append(ours)

    def check(self) -> bool:
        """Whether all are done.

        Raises
        ------
        NgramscopeError
            What one of them raised.
        ResourceError
            One died.
        """
        for end in wait(self._ends, timeout=0):
            number = self._ends.index(end)  # type: ignore[arg-type]
            process = self._processes[number]
            try:
                error = self._ends[number].recv()
            except EOFError:
                process.join(_ENDING)
                killed = " (not enough memory?)" if process.exitcode == -signal.SIGKILL else ""
                error = ResourceError(
                    f"--workers: one of the processes died with exit code {process.exitcode}{killed}; what was finished is "
                    "kept, and the same command goes on"
                )
            if error is not None:
                raise error
            del self._processes[number], self._ends[number]
        return not self._processes

    def wait(self, tell: Callable[[], object]) -> None:
        """Wait until all are done, calling `tell` now and then; raises as `check`."""
        while not self.check():
            tell()
            wait(self._ends, timeout=_TICK)

    def stop(self) -> None:
        """End those that are still at work."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join(_ENDING)


@contextmanager
def helpers(jobs: list[Job]) -> Iterator[Helpers]:
    """Processes that end with the block."""
    started = Helpers(jobs)
    try:
        yield started
    finally:
        started.stop()


def _work(end: Connection, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process says what is to happen
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    try:
        function(*arguments)
    except NgramscopeError as error:
        end.send(error)
    else:
        end.send(None)


def _end_with(sentinel: int) -> None:
    """Not to go on when the first process was killed."""
    wait([sentinel])
    os._exit(1)
