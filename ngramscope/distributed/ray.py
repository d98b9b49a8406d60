"""Building an index as tasks of a Ray cluster.

::

    part 1/k ─┐
    part 2/k ─┼─ merge ─┐
    ...       │         ├─ merge ─▶ index       a task builds a part of the files, in passes of the memory it has;
    part k/k ─┴─ merge ─┘                       filters pass as folders of a scratch folder that all machines see

Every attempt of a task writes to a folder of its own and returns its name, so that one that died, or that comes late, leaves
nothing that counts. The result is the index of a single build with the same plan, byte for byte.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import logging
import os
import shutil
import signal
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ngramscope import _core
from ngramscope.corpus.remote import is_remote, public_name
from ngramscope.errors import InputError, MissingExtraError, ResourceError, UsageError
from ngramscope.index.options import BuildOptions, MergeOptions

__all__ = ["build", "cancel", "cluster"]

Show = Callable[[_core.Progress], None]

_FAN_IN = 8
"""Indexes that one task merges."""
_RETRIES = 5
"""How often Ray runs a task again whose worker died."""
_TICK = 0.2
"""Seconds between two looks at the tasks."""
_ENDING = 1.5
"""Seconds that cancelled tasks are given to end."""
_SETTLE = 0.3
"""Seconds that tasks are given to come to a worker, before they are cancelled."""
_REPORT_EVERY = 1.0
_MIN_MEMORY = 64 << 20
_OBJECT_STORE = 80 << 20  # of a local cluster: only names and counts go through it, and Ray wants 75 MiB

logger = logging.getLogger("ngramscope")


@dataclass(frozen=True)
class _Step:
    """Where all tasks together stand: the attributes of a `Progress`."""

    phase: str
    documents: int
    bytes_done: int
    bytes_total: int
    ngrams: int
    seconds: float
    pass_number: int = 1
    passes: int = 1
    fill: None = None


@dataclass(frozen=True)
class _Made:
    """An index that a task has made."""

    folder: str
    warnings: tuple[str, ...] = ()
    bad_records: int = 0
    bad_files: int = 0
    passes: int = 1


def build(paths: Sequence[str], out: str, options: BuildOptions, progress: Show | None = None) -> str:
    """Build an index of the files `paths` in the folder `out`, as `_core.build` does, with the tasks of a Ray cluster.

    Parameters
    ----------
    paths
        Files, folders, globs; every machine of the cluster sees them under these names.
    options
        `ray_address`, `ray_parts` and `scratch` say where; `threads` and `memory` hold for one task.
    progress
        Called with objects that have the attributes of a `Progress`.

    Returns
    -------
    str
        The summary as JSON.

    Raises
    ------
    MissingExtraError
        Ray is not installed.
    UsageError, InputError, ResourceError
        As a build does; or a task's workers died again and again. Nothing is left under `out` or in the scratch folder.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise MissingExtraError("ray", "ray", "--engine ray") from error
    if "-" in paths:
        raise UsageError("--engine ray: standard input cannot be read by several workers; name files")
    for name in filter(is_remote, paths):
        raise UsageError(f"--engine ray: {public_name(name)} is no file that every machine sees; download it first")
    if options.part is not None:
        raise UsageError("--engine ray, --part: Ray makes the parts; give one of them")
    paths = [_absolute(each) for each in paths]
    out = _absolute(out)
    files = sorted(_core.find(paths, options.read, progress=progress))
    warnings = _core.check_output(out, options.force)
    with _scratch(options.scratch, Path(out)) as scratch, cluster(ray, options.ray_address):
        return _Build(ray, paths, out, options, files, scratch, progress, warnings).run()


class _Build:
    def __init__(
        self,
        ray: Any,
        paths: Sequence[str],
        out: str,
        options: BuildOptions,
        files: Sequence[tuple[str, int]],
        scratch: Path,
        progress: Show | None,
        warnings: Sequence[str],
    ) -> None:
        self._ray = ray
        self._paths = list(paths)
        self._out = out
        self._asked = options
        self._scratch = scratch
        self._show = progress
        self._warnings = list(warnings)
        self._began = time.monotonic()
        self._threads, slots, memory = _room(ray, options)
        self._parts = min(options.ray_parts or slots, len(files))
        # What every task is told. Paths hold on other machines too; a task may run twice (`out` was looked at above).
        self._options = dataclasses.replace(
            options,
            threads=self._threads,
            memory=memory,
            force=True,
            plan=None if options.plan is None else _absolute(options.plan),
            like=None if options.like is None else _absolute(options.like),
        )
        self._bytes = [sum(size for _, size in files[part :: self._parts]) for part in range(self._parts)]

    def run(self) -> str:
        logger.info("building %d parts, %d threads each", self._parts, self._threads)
        if self._parts == 1:  # nothing to merge: the task's own commit is the last step
            task = self._submit(_whole, self._paths, self._out, self._options, self._report(0))
            (summary,) = self._wait({task: "the index"})
            return self._finished(summary, {}, [])
        # A part may hold more than its share of the n-grams; what is asked for is looked after at the end.
        options = dataclasses.replace(self._options, accept_overfull=True)
        if options.expected_ngrams is None and options.plan is None and options.like is None:
            options = dataclasses.replace(options, plan=self._count(), shards=None)
        counted = time.monotonic()
        tasks: dict[Any, str] = {}
        parts = [
            self._submit(_part, self._paths, self._scratch, each, self._report(number)) for number, each in self._each(options)
        ]
        tasks.update((ref, f"part {number} of {self._parts}") for number, ref in enumerate(parts, 1))
        level = parts
        inputs: dict[Any, list[Any]] = {}
        while len(level) > _FAN_IN:
            groups = [level[start : start + _FAN_IN] for start in range(0, len(level), _FAN_IN)]
            some = MergeOptions(threads=self._threads, memory=options.memory, accept_overfull=True, incomplete=True)
            level = [self._submit(_merge, self._scratch, some, *group) for group in groups]
            inputs.update(zip(level, groups, strict=True))
            tasks.update(dict.fromkeys(level, "a merge of parts"))
        made: dict[Any, _Made] = {}

        def finished(ref: Any, result: _Made) -> None:
            made[ref] = result
            for each in inputs.get(ref, ()):
                shutil.rmtree(made[each].folder, ignore_errors=True)
            self._check_bad([made[each] for each in parts if each in made])

        self._wait(tasks, finished)
        asked = self._asked
        last = MergeOptions(
            threads=asked.threads,
            memory=asked.memory,
            force=asked.force,
            accept_overfull=asked.accept_overfull,
            name=asked.name,
        )
        inserted = time.monotonic()
        summary = _core.merge([made[each].folder for each in level], self._out, last, progress=self._show)
        seconds = {"count": counted - self._began, "insert": inserted - counted}
        return self._finished(summary, seconds, [made[each] for each in parts])

    def _each(self, options: BuildOptions) -> Iterator[tuple[int, BuildOptions]]:
        """The options of each part, with its number from 0."""
        for number in range(self._parts):
            yield number, dataclasses.replace(options, part=(number + 1, self._parts))

    def _count(self) -> str:
        """Count the distinct n-grams of the parts, and write a plan for all of them."""
        tasks = [self._submit(_count, self._paths, each, self._report(number)) for number, each in self._each(self._options)]
        counts = self._wait({ref: f"counting part {number} of {self._parts}" for number, ref in enumerate(tasks, 1)})
        plan = self._scratch / "plan.json"
        plan.write_text(_core.layout(counts, self._asked))
        return os.fspath(plan)

    def _finished(self, summary: str, seconds: dict[str, float], parts: Sequence[_Made]) -> str:
        facts = json.loads(summary)
        told = dict.fromkeys(each for part in parts for each in part.warnings)
        facts["warnings"] = [*self._warnings, *told, *facts["warnings"]]
        facts["passes"] = max(each.passes for each in parts) if parts else facts["passes"]
        facts["seconds"] = {**facts["seconds"], **seconds, "total": time.monotonic() - self._began}
        return json.dumps(facts)

    def _submit(self, work: Callable[..., Any], *arguments: Any) -> Any:
        task = self._ray.remote(num_cpus=self._threads, max_retries=_RETRIES)(work)
        return task.remote(*arguments)

    def _wait(self, tasks: dict[Any, str], finished: Callable[[Any, Any], None] | None = None) -> list[Any]:
        """The results of `tasks`, in their order; all are cancelled when one fails or the work is to stop."""
        results: dict[Any, Any] = {}
        pending = list(tasks)
        began = time.monotonic()
        for part in range(self._parts):
            self._report(part).unlink(missing_ok=True)
        try:
            while pending:
                done, pending = self._ray.wait(pending, timeout=_TICK)
                for ref in done:
                    results[ref] = self._result(ref, tasks[ref])
                    if finished is not None:
                        finished(ref, results[ref])
                self._tell(began)
        except BaseException as error:
            cancel(self._ray, pending)
            # One that still writes would bring the scratch folder back.
            if pending:
                self._ray.wait(pending, num_returns=len(pending), timeout=_ENDING)
            if isinstance(error, SystemError) and error.__cause__ is not None:
                raise error.__cause__ from None  # what a signal's handler raised inside of Ray's compiled code
            raise
        return [results[ref] for ref in tasks]

    def _result(self, ref: Any, label: str) -> Any:
        exceptions = self._ray.exceptions
        try:
            return self._ray.get(ref)
        except exceptions.RayTaskError as error:
            raise error.cause from None
        except exceptions.RayError as error:
            first = str(error).strip().splitlines()[0]
            raise ResourceError(
                f"--engine ray: {label}: its worker died {_RETRIES + 1} times ({first}); "
                "give a task less --memory, or look into Ray's logs"
            ) from error

    def _check_bad(self, parts: Sequence[_Made]) -> None:
        """Refuse in all what every part may leave out."""
        read = self._asked.read
        for count, limit, what in (
            (sum(each.bad_records for each in parts), read.max_bad_records, "records"),
            (sum(each.bad_files for each in parts), read.max_bad_files, "files"),
        ):
            if count > limit:
                raise InputError(f"{count} unusable {what} in all parts, more than --max-bad-{what} {limit}")

    def _report(self, part: int) -> Path:
        return self._scratch / f"{part}.progress"

    def _tell(self, began: float) -> None:
        if self._show is None:
            return
        phase, documents, ngrams, done = "insert", 0, 0, 0
        for part, size in enumerate(self._bytes):
            with contextlib.suppress(OSError):
                told = json.loads(self._report(part).read_text())
                phase = told["phase"]
                documents += told["documents"]
                ngrams += told["ngrams"]
                done += int(told["share"] * size)
        step = _Step(phase, documents, done, sum(self._bytes), ngrams, time.monotonic() - began)
        self._show(cast("_core.Progress", step))


def _absolute(path: str | os.PathLike[str]) -> str:
    return os.fspath(Path(path).absolute())


def _room(ray: Any, options: BuildOptions) -> tuple[int, int, int | None]:
    """Threads of a task, how many tasks run at once, and the memory of each (None: what it finds)."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    if not nodes:
        raise ResourceError("--engine ray: the cluster has no processor to run a task on")
    cpus = [int(node["CPU"]) for node in nodes]
    # One task a machine, unless asked otherwise: its memory then holds one filter, not one for each processor.
    threads = min(options.threads or min(cpus), max(cpus))
    beside = max(each // threads for each in cpus)
    memory = cast("int | None", options.memory)
    if memory is None and beside > 1:
        memory = max(_MIN_MEMORY, int(min(node.get("memory", 0) for node in nodes)) // beside)
    return threads, sum(each // threads for each in cpus), memory


def cancel(ray: Any, tasks: Sequence[Any]) -> None:
    """End tasks; a moment later, since Ray ends this process too if it is just then handing one of them to a worker."""
    if tasks:
        time.sleep(_SETTLE)
    for task in tasks:
        ray.cancel(task, force=True)


@contextlib.contextmanager
def cluster(ray: Any, address: str | None) -> Iterator[None]:
    """A connection to the cluster: the caller's own, the one at `address`, or a local one that ends with the block."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anybody
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM) if main else None
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        try:
            if address is None:
                ray.init(include_dashboard=False, object_store_memory=_OBJECT_STORE, **quiet)
            else:
                ray.init(address=address, **quiet)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            where = "--engine ray" if address is None else f"--ray-address: {address}"
            raise ResourceError(f"{where}: no connection to a cluster: {error}") from error
        if handler is not None:
            signal.signal(signal.SIGTERM, handler)  # Ray's own would end the process without a word
        yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _scratch(asked: str | os.PathLike[str] | None, out: Path) -> Iterator[Path]:
    parent = out.parent if asked is None else Path(_absolute(asked))
    if asked is not None and not parent.is_dir():
        raise UsageError(f"--scratch: {asked}: there is no such folder")
    parent.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(prefix=f"{out.name}.ray-", dir=parent)
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# What runs on the workers.


def _whole(paths: list[str], out: str, options: BuildOptions, report: Path) -> str:
    return _core.build(paths, out, options, progress=_reporter(report))


def _part(paths: list[str], scratch: Path, options: BuildOptions, report: Path) -> _Made:
    folder = scratch / f"part-{uuid.uuid4().hex}"
    facts = json.loads(_core.build(paths, folder, options, progress=_reporter(report)))
    read = facts["report"]
    # That a part is empty or over-full is no news; the merged index says what it is.
    warnings = tuple(each for each in facts["warnings"] if "passes over block ranges" in each)
    return _Made(os.fspath(folder), warnings, read["bad_records"], read["bad_files"], facts["passes"])


def _merge(scratch: Path, options: MergeOptions, *parts: _Made) -> _Made:
    folder = scratch / f"merge-{uuid.uuid4().hex}"
    _core.merge([each.folder for each in parts], folder, options)
    return _Made(os.fspath(folder))


def _count(paths: list[str], options: BuildOptions, report: Path) -> list[bytes]:
    return _core.count(paths, options, progress=_reporter(report))


def _reporter(path: Path) -> Show:
    """Write now and then to a small file how far a task has come, for the driver to read."""
    last = 0.0

    def report(step: _core.Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if step.phase not in ("count", "insert") or now - last < _REPORT_EVERY:
            return
        last = now
        share = step.bytes_done / step.bytes_total if step.bytes_total else 0.0
        facts = {
            "phase": step.phase,
            "documents": step.documents,
            "ngrams": step.ngrams,
            "share": (step.pass_number - 1 + share) / step.passes,
        }
        temporary = path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):  # the work does not depend on it
            temporary.write_text(json.dumps(facts))
            temporary.replace(path)

    return report
