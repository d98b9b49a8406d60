"""What an index of a corpus takes, before it is built: counted, or predicted from a sample."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

from ngramscope import _core
from ngramscope.corpus.sources import corpus_sources
from ngramscope.errors import UsageError
from ngramscope.index.build import PathLike, ProgressCallback
from ngramscope.index.options import BuildOptions
from ngramscope.index.predict import Interval, Prediction, predict
from ngramscope.sizes import parse_size

__all__ = ["ENDS", "SAMPLE", "plan_index", "sample_size"]

SAMPLE = "1GiB"
"""How much of the files a sample has, unless the caller says."""
ENDS = ("high", "value")
"""What an index can be sized for."""


def plan_index(
    sources: Sequence[PathLike],
    options: BuildOptions,
    *,
    sample: int | str | float | None = None,
    seed: int = 1,
    size_for: str = "high",
    machines: int = 1,
    progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """Choose the geometry that an index of `sources` would have, and tell what it takes; builds nothing.

    With ``expected_ngrams`` nothing is read. Else the sources are read once and their distinct n-grams are estimated, as a
    build does first; or, with `sample`, only so much of them is read, and the rest is predicted (`ngramscope.index.predict`).

    Parameters
    ----------
    sample
        Bytes of the files (an integer, or a size as ``"1GiB"``) or a share of them (a fraction below 1, or ``"5%"``). Sources
        that are no larger, and standard input, are counted whole. None always counts. Only files of this machine can be
        sampled.
    seed
        Chooses the sample.
    size_for
        Which end of the prediction the geometry is for: ``high``, or ``value``, the likely number. A filter that gets more
        n-grams than it was made for has a higher rate than it was made for.
    machines
        Among how many machines like this one the files are divided, for the hours.

    Returns
    -------
    dict
        ``layout`` (the content of a plan file), ``index_bytes``, ``memory`` and ``passes`` (with that memory), ``words`` and
        ``occurrences`` (counted, for each n), ``report`` (what was read; None with ``expected_ngrams``), ``seconds`` of
        reading; ``sample`` (what it had) and ``predicted`` (each number as ``low``, ``value``, ``high``), both None unless a
        sample
        was read; ``time``: hours of a build with this geometry, and the measured speeds they come from; None with
        ``expected_ngrams``.

    Raises
    ------
    UsageError, InputError
        An option or file that cannot be used; a sample without documents.
    """
    if size_for not in ENDS:
        raise UsageError(f"--size-for: {size_for!r} is not known; known: {', '.join(ENDS)}")
    if isinstance(machines, bool) or not isinstance(machines, int) or machines < 1:
        raise UsageError(f"--machines: {machines!r} is not possible; a whole number of at least 1")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 63:
        raise UsageError(f"--seed: {seed!r} is not possible; a whole number from 0 to below 2^63")
    paths, read = corpus_sources(sources, options.read)
    options = dataclasses.replace(options, read=read)
    if options.expected_ngrams is None and sample is not None:
        drawn = _core.sample(paths, sample_size(sample), seed, options, progress=progress)
        if drawn is not None:
            return _predicted(json.loads(drawn), options, seed=seed, size_for=size_for, machines=machines)
    plan: dict[str, Any] = json.loads(_core.plan(paths, options, progress=progress))
    time = None
    if options.expected_ngrams is None:
        time = _time(plan, options, plan["words"], sum(plan["occurrences"]), plan["words"] / plan["seconds"], machines)
    return plan | {"sample": None, "predicted": None, "time": time}


def sample_size(sample: int | str | float) -> int | float:
    """Bytes, as an integer, or a share, as a float above 0 and below 1."""
    if isinstance(sample, float):
        share = sample
    elif isinstance(sample, str) and sample.strip().endswith("%"):
        share = _number(sample.strip()[:-1]) / 100
    elif isinstance(sample, str) and sample.strip().startswith(("0.", ".")):
        share = _number(sample)
    else:
        return parse_size(sample, option="--sample")
    if not 0 < share < 1:
        raise UsageError(f"--sample: {sample!r} is not possible; a size as {SAMPLE}, or a share above 0 and below 1, as 5%")
    return share


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _predicted(drawn: dict[str, Any], options: BuildOptions, *, seed: int, size_for: str, machines: int) -> dict[str, Any]:
    prediction = predict(drawn)
    ngrams = [prediction.distinct[n] for n in options.n]

    def sized(end: str) -> dict[str, Any]:
        numbers = [(each.value, max(1, round(getattr(each, end)))) for each in ngrams]
        plan: dict[str, Any] = json.loads(_core.plan_sized(options, numbers))
        return plan

    plans = {end: sized(end) for end in ("low", "value", "high")}
    plan = plans[size_for]
    words = sum(drawn["words"])
    occurrences = sum(each.value for each in prediction.occurrences.values())
    time = _time(plan, options, prediction.words.value, occurrences, words / drawn["seconds"], machines)
    facts = {
        name: drawn[name]
        for name in ("files", "files_read", "files_from_beginning", "parts", "bytes_total", "bytes_read", "seconds", "threads")
    }
    facts |= {name: sum(drawn[name]) for name in ("documents", "words", "text_bytes")}
    return plan | {
        "report": drawn["report"],
        "seconds": drawn["seconds"],
        "sample": facts | {"seed": seed},
        "predicted": _as_dict(prediction) | {"index_bytes": {end: each["index_bytes"] for end, each in plans.items()}},
        "time": time,
    }


def _as_dict(prediction: Prediction) -> dict[str, Any]:
    def by_n(numbers: dict[int, Interval]) -> list[dict[str, Any]]:
        return [{"n": n} | dataclasses.asdict(each) for n, each in numbers.items()]

    return {
        "documents": dataclasses.asdict(prediction.documents),
        "words": dataclasses.asdict(prediction.words),
        "occurrences": by_n(prediction.occurrences),
        "distinct": by_n(prediction.distinct),
    }


def _time(
    plan: dict[str, Any],
    options: BuildOptions,
    words: float,
    occurrences: float,
    words_per_second: float,
    machines: int,
) -> dict[str, Any]:
    """Hours of building with the plan: every pass reads all words, every occurrence is inserted in one of the passes."""
    sized_for = max(each["sizing"]["sized_for"] for each in plan["layout"]["sets"])
    probe = dataclasses.replace(options, expected_ngrams=max(1, sized_for))
    insertions_per_second = _core.insertion_rate(probe)
    read = words / words_per_second if words else 0.0
    insert = occurrences / insertions_per_second
    passes = max(1, plan["passes"])
    return {
        "words_per_second": words_per_second,
        "insertions_per_second": insertions_per_second,
        "read_hours": read * passes / 3600,
        "insert_hours": insert / 3600,
        "hours": (read * passes + insert) / 3600,
        "machines": machines,
        "hours_with_machines": (read * passes + insert) / 3600 / machines,
    }
