"""Shares of scoring as tasks of a Ray cluster, whose machines see the same folders."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ngramscope.distributed.ray import cancel, cluster
from ngramscope.errors import MissingExtraError, ResourceError
from ngramscope.models.workers import Job

__all__ = ["ray_helpers"]

_TICK = 0.2


class _Tasks:
    """What `ngramscope.models.workers.Helpers` does, with tasks for processes."""

    def __init__(self, ray: Any, jobs: list[Job]) -> None:
        self._ray = ray
        cards = 1 if ray.cluster_resources().get("GPU", 0) else 0
        start = ray.remote(num_cpus=1, num_gpus=cards, max_retries=0)(_work)
        self._tasks: list[Any] = [start.remote(str(Path.cwd()), function, arguments) for function, arguments in jobs]

    def check(self) -> bool:
        """See `Helpers.check`."""
        done, pending = self._ray.wait(self._tasks, num_returns=len(self._tasks), timeout=0) if self._tasks else ([], [])
        self._tasks, exceptions = pending, self._ray.exceptions
        for task in done:
            try:
                self._ray.get(task)
            except exceptions.RayTaskError as error:
                raise error.cause from None
            except exceptions.RayError as error:
                first = str(error).strip().splitlines()[0]
                raise ResourceError(
                    f"--engine ray: a task died ({first}); what was finished is kept, and the same command goes on"
                ) from error
        return not pending

    def wait(self, tell: Callable[[], object]) -> None:
        """See `Helpers.wait`."""
        while not self.check():
            tell()
            self._ray.wait(self._tasks, timeout=_TICK)

    def stop(self) -> None:
        """See `Helpers.stop`."""
        cancel(self._ray, self._tasks)


def _work(folder: str, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    os.chdir(folder)  # names of files are of there
    function(*arguments)


@contextmanager
def ray_helpers(jobs: list[Job], address: str | None) -> Iterator[_Tasks]:
    """Tasks of the cluster at `address`, or of one on this machine, that end with the block.

    Raises
    ------
    MissingExtraError
        Ray is not installed.
    ResourceError
        The cluster cannot be reached.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise MissingExtraError("ray", "ray", "--engine ray") from error
    with cluster(ray, address):
        tasks = _Tasks(ray, jobs)
        try:
            yield tasks
        finally:
            tasks.stop()
