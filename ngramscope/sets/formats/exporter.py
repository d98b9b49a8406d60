"""Candidate sets to other formats."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ngramscope import provenance
from ngramscope.errors import InputError, UsageError
from ngramscope.sets.base import COLUMNS, Candidate, open_header
from ngramscope.sets.formats._files import Progress, keep_inputs
from ngramscope.sets.formats.base import ExportOptions, Format, SetToExport
from ngramscope.sets.formats.registry import find_format, formats
from ngramscope.sets.records import RecordSource

__all__ = ["EXPORT_VERSION", "export_set"]

EXPORT_VERSION = 1
"""Version of what is kept beside an exported set."""


def export_set(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    format: str,  # noqa: A002 - the option's name
    *,
    options: ExportOptions | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the candidate set at `path` in another format.

    Parameters
    ----------
    out
        A file whose ending fits the format, or for ``mimir`` a new folder.
    format
        One of `formats` that can be written.
    options
        Names and numbers that the format needs and the set's history does not have.
    progress
        Called now and then, on the calling thread.

    Returns
    -------
    dict
        What is kept beside the result: settings, input with digest, the set's history, counts by side, and in ``lost`` how many
        candidates had something that the format does not hold, by column.

    Raises
    ------
    UsageError
        No candidate set; a format that is only read; something that has to be named.
    InputError
        A candidate that the format cannot hold, as one without a label.
    """
    form = find_format(format)
    if form.keeps is None:
        written = ", ".join(each.name for each in formats().values() if each.keeps is not None)
        raise UsageError(f"--format: {format} is only read; written are {written}")
    where = Path(path)
    header = open_header(where)
    if header is None:
        raise UsageError(f"{where}: no candidate set; make one with `ngramscope sets import`")
    source = SetToExport(where, header, ExportOptions() if options is None else options)
    writer = form.writer(Path(out), source)
    keep_inputs(writer.names, [where])
    records = RecordSource((where,)).open(progress)
    lost: Counter[str] = Counter()
    sides: Counter[int | None] = Counter()
    with writer:
        for batch in records:
            for each in batch.candidates:
                if form.needs_label and each.label is None:
                    raise InputError(
                        f"{where}: candidate {each.id!r} has no label; {format} holds members and non-members only"
                    )
                sides[each.label] += 1
                lost.update(_lost(form, each, source))
            writer.write(batch.candidates)
        report = records.report()
        stamp = provenance.stamp(
            "candidate-export",
            version=EXPORT_VERSION,
            settings={"format": format, **vars(source.options)},
            inputs=report["sources"],
        )
        stamp["counts"] = {"members": sides[1], "nonmembers": sides[0], "unlabelled": sides[None]}
        stamp["lost"] = dict(sorted(lost.items()))
        stamp["history"] = header["history"]
        writer.commit(stamp)
    return stamp


def _lost(form: Format, candidate: Candidate, source: SetToExport) -> Iterable[str]:
    """Columns in which `candidate` has something that is not written."""
    kept = form.keeps or frozenset()
    yield from (name for name in COLUMNS if name not in kept and getattr(candidate, name) not in (None, {}))
    yield from (name for name, value in candidate.extra.items() if value is not None and not form.keeps_extra(name, source))
