"""Benchmarks and tables to candidate sets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ngramscope.errors import InputError
from ngramscope.index.options import ReadOptions
from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._files import Files, Progress, keep_inputs
from ngramscope.sets.formats._reading import Reading
from ngramscope.sets.formats.base import ImportOptions
from ngramscope.sets.formats.registry import AUTO, detect
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["Imported", "import_set"]

_BATCH = 256


@dataclass(frozen=True)
class Imported:
    """What an import read and wrote.

    Attributes
    ----------
    header
        Of the set.
    format
        Name of the format that was read.
    evidence
        What showed that it is this one.
    partial
        Some records were left out that could not be used.
    """

    header: dict[str, Any]
    format: str
    evidence: str
    partial: bool


def import_set(
    inputs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    format: str = AUTO,  # noqa: A002 - the option's name
    options: ImportOptions | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Make a candidate set of texts in some other format.

    Parameters
    ----------
    inputs
        Files, folders, globs, names with a scheme, or ``owner/name`` of a dataset of the Hugging Face hub.
    out
        The set: ``.jsonl``, ``.jsonl.gz`` or ``.jsonl.zst``.
    format
        See `formats`; ``auto`` finds it by the layout.
    options
        What is taken of the inputs, and how.
    progress
        Called now and then, on the calling thread.

    Raises
    ------
    UsageError
        An option that cannot be; a benchmark of several parts of which none was named.
    InputError
        Files that fit no format, or several; a file or record that cannot be used (names file and line).
    """
    options = ImportOptions() if options is None else options
    read = ReadOptions(max_bad_records=options.max_bad_records, max_record_size=options.max_record_size)
    with Files(inputs, progress) as files:
        form, evidence = detect(files, options, format)
        target = SetFile(Path(out))
        keep_inputs(target.names, files.paths())
        reading = Reading(read, progress)
        counts = Counts(left_out=reading.left_out)
        with target:
            batch: list[Candidate] = []
            for file, each in form.read(files, options, reading):
                reading.used(file)
                counts.used += 1
                each.source = file.name
                each.label = options.label if each.label is None else each.label
                batch.append(each)
                if len(batch) == _BATCH:
                    target.add(batch)
                    batch = []
            target.add(batch)
            if not counts.used:
                raise InputError(f"{files.first.shown}: no text in it; {_because(reading)}")
            told = {key: value for key, value in form.facts(files, options).items() if value is not None}
            step = Step(
                rule="import",
                settings={"format": form.name, **options.settings(), **told},
                inputs=reading.inputs(),
                counts={"texts": counts.to_dict()},
                facts={"labels": form.labels, "found": evidence},
            )
            header = target.commit(step)
    return Imported(header, form.name, evidence, partial=reading.bad > 0)


def _because(reading: Reading) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(reading.left_out.items())) or "it is empty"
