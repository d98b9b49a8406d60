"""Scoring a set: passes of models over it to a store, chunk by chunk, in one process or several."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ngramscope import _core
from ngramscope.checks import check_choice, check_integer, check_optional
from ngramscope.errors import InputError, UsageError
from ngramscope.models.documents import ScoredSet, read_set
from ngramscope.models.encode import EncodeOptions, Encoder
from ngramscope.models.load import LoadedModel, ModelOptions, load_model
from ngramscope.models.passes import PassKind, PassTexts, find_pass
from ngramscope.models.scored_pass import ScoredPass, Teller
from ngramscope.models.stats import STATISTICS
from ngramscope.models.store import ROLES
from ngramscope.models.workers import Job, helpers
from ngramscope.models.write import open_store
from ngramscope.progress import Step
from ngramscope.sets.records import RecordSource

__all__ = ["ENGINES", "ScoreOptions", "score_set", "texts_of_pass"]

ENGINES = ("processes", "ray")
"""Where further workers are."""

Progress = Callable[[_core.Progress | Step], object]

_MAX_WORKERS = 1024


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """What is scored, and how.

    Parameters
    ----------
    model
        The model.
    label
        What the store calls it; None takes its name. Two models of one name need it.
    role
        One of `ROLES`.
    passes
        Kinds of passes.
    encode
        How texts become tokens.
    pass_options
        Options of the kinds of passes, by name; each kind takes those that it has.
    batch_tokens
        Most tokens of a batch, padding included; None finds out.
    padding_side
        ``right`` or ``left``; scores do not depend on it.
    statistics
        Further statistics of `STATISTICS` for the plain pass to keep.
    workers
        Processes, each with the model; process number k takes every `workers`-th chunk, from number k on.
    devices
        Where they are, in turn; none leaves it to `model`. There is at least one process a device.
    engine
        ``processes`` of this machine, or ``ray``: all but the first are tasks of a Ray cluster that sees the same folders.
    ray_address
        The cluster; None makes one on this machine.
    """

    model: ModelOptions
    label: str | None = None
    role: str = "target"
    passes: tuple[str, ...] = ("plain",)
    encode: EncodeOptions = field(default_factory=EncodeOptions)
    pass_options: Mapping[str, Any] = field(default_factory=dict)
    batch_tokens: int | None = None
    padding_side: str = "right"
    statistics: tuple[str, ...] = ()
    workers: int = 1
    devices: tuple[str, ...] = ()
    engine: str = ENGINES[0]
    ray_address: str | None = None

    def __post_init__(self) -> None:
        check_choice("--as", self.role, ROLES)
        if self.label is not None and not self.label.strip():
            raise UsageError("--name: is empty")
        check_choice("--engine", self.engine, ENGINES)
        check_choice("--padding-side", self.padding_side, ("right", "left"))
        check_optional("--batch-tokens", self.batch_tokens, 1, 1 << 30)
        check_integer("--workers", self.workers, 1, _MAX_WORKERS)
        object.__setattr__(self, "workers", max(self.workers, len(self.devices)))
        for each in self.statistics:
            check_choice("--statistic", each, tuple(STATISTICS))
        if not self.passes:
            raise UsageError("--pass: none given")
        kinds = [find_pass(each) for each in self.passes]
        for name in self.pass_options:
            if not any(name in each.options for each in kinds):
                raise UsageError(f"--{name.replace('_', '-')}: no option of --pass {', '.join(self.passes)}")

    def of_worker(self, number: int) -> ModelOptions:
        """The model as process `number` holds it; processes share the processors."""
        device = self.devices[number % len(self.devices)] if self.devices else self.model.device
        threads = self.model.threads
        if threads is None and self.workers > 1:
            threads = max(1, (os.cpu_count() or 1) // self.workers)
        return dataclasses.replace(self.model, device=device, threads=threads)


def score_set(
    source: RecordSource,
    out: Path,
    options: ScoreOptions,
    *,
    loaded: LoadedModel | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Score a set: a pass over it for each of `options.passes`.

    Chunks that the same call has finished before are kept, whatever ended it.

    Parameters
    ----------
    source
        A candidate set, or documents.
    out
        Folder of the store; made, or gone on with if it is the store of this set.
    loaded
        The model, if it is in memory already; then `options.model` is not asked, and there is one process.
    progress
        Called with every text that is through, on the calling thread.

    Returns
    -------
    dict
        ``store``; ``set``, counts of it; ``inputs``, what was read and left out; ``partial``, whether records or files were
        left out; ``passes``: of each its ``folder``, ``pass.json``, and ``chunks_kept``: how many were there already.

    Raises
    ------
    UsageError
        Options that cannot be; the folder holds something else, or the store of another set.
    InputError
        A file, model or chunk that cannot be used; the set has no text.
    ResourceError
        Not enough disk or memory; what was finished is kept.
    """
    if loaded is not None and options.workers > 1:
        raise UsageError("--workers: every process loads the model itself; name it instead")
    if "-" in source.paths and options.workers > 1:
        raise UsageError("--workers: standard input (-) cannot be read by every process; name a file")
    scored = read_set(source, progress)
    if not len(scored):
        raise InputError(f"{source.paths[0]}: no text to score; left out: {scored.counts()['unusable'] or 'nothing'}")
    made = [(kind, texts_of_pass(kind, scored, options)) for kind in map(find_pass, dict.fromkeys(options.passes))]
    header = open_store(out, scored, {"paths": [Path(each).name for each in source.paths]})
    jobs: list[Job] = [(score_share, (source, out, options, number)) for number in range(1, options.workers)]
    with _helpers(jobs, options) as others:
        work = _run(made, out, options, loaded, 0, progress, others.check)
        others.wait(lambda: None)
    for each in work:
        each.finish()
    report = scored.report
    return {
        "store": str(out),
        "set": header["set"]["counts"],
        "inputs": report["sources"],
        "partial": bool(report["bad_records"] or report["bad_files"]),
        "passes": [each.summary() for each in work],
    }


def _helpers(jobs: list[Job], options: ScoreOptions) -> Any:
    if options.engine == "ray" and jobs:
        from ngramscope.distributed.ray_helpers import ray_helpers

        return ray_helpers(jobs, options.ray_address)
    return helpers(jobs)


def score_share(source: RecordSource, out: Path, options: ScoreOptions, number: int) -> None:
    """What process `number` of `options.workers` does: its chunks, and no ``pass.json``."""
    scored = read_set(source)
    made = [(kind, texts_of_pass(kind, scored, options)) for kind in map(find_pass, dict.fromkeys(options.passes))]
    open_store(out, scored, {})
    _run(made, out, options, None, number, None, lambda: True)


def texts_of_pass(kind: PassKind, scored: ScoredSet, options: ScoreOptions) -> PassTexts:
    """What a pass shows to a model.

    Raises
    ------
    UsageError, InputError
        See `PassKind.make`; or there is no text.
    """
    mine = {name: value for name, value in options.pass_options.items() if name in kind.options}
    texts = kind.make(scored.candidates, **mine)
    if not texts.texts:
        raise InputError(f"--pass {kind.name}: there is no text to score; {dict(texts.counts)}")
    return texts


def _run(
    made: Sequence[tuple[PassKind, PassTexts]],
    out: Path,
    options: ScoreOptions,
    loaded: LoadedModel | None,
    number: int,
    progress: Progress | None,
    check: Callable[[], object],
) -> list[ScoredPass]:
    if loaded is None:
        if progress is not None:
            progress(Step("load"))
        loaded = load_model(options.of_worker(number))
    if options.label is not None:
        loaded = dataclasses.replace(loaded, label=options.label)
    encoder = Encoder(loaded, options.encode)
    work = []
    for place, (kind, texts) in enumerate(made, 1):
        each = ScoredPass(out, kind, texts, loaded, encoder, options, number, Teller(progress, place, len(made)))
        each.run(check)
        work.append(each)
    return work
