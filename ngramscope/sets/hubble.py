"""Hubble's randomised insertions as a candidate set (Wei et al. 2025, arXiv:2510.19811).

Each of its data sets has texts that were inserted in the training corpus of the perturbed models a stated number of times, and
texts that were not. The manifest ``hubble`` says where they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ngramscope import _core
from ngramscope.errors import InputError, UsageError
from ngramscope.sets.base import MEMBER, NONMEMBER
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["DUPLICATES_KEY", "hubble"]

DUPLICATES_KEY = "duplicates"
"""How often a text was inserted, in the published data sets."""

_COUNT = re.compile(r"\d+(\.0*)?")


def hubble(
    source: RecordSource,
    out: Path,
    *,
    duplicates_key: str = DUPLICATES_KEY,
    progress: Callable[[_core.Progress], object] | None = None,
) -> dict[str, Any]:
    """Write the set of `source` with a column ``copies``: label 1 where it is above 0. Returns its header.

    Parameters
    ----------
    source
        Documents; their keys are those of the source.
    duplicates_key
        Key of the number of insertions. A record without one is left out, as ``no_count``.

    Raises
    ------
    InputError
        A count that is no whole number of at least 0 (names file and record); no record is left.
    """
    if not duplicates_key:
        raise UsageError("--duplicates: '' is not possible; name a key of the records")
    keys = Keys() if source.keys is None else source.keys
    fields = tuple(dict.fromkeys((*keys.fields, duplicates_key)))
    records = replace(source, keys=replace(keys, fields=fields)).open(progress)
    counts = Counts()
    levels: dict[int, int] = {}
    with SetFile(out) as file:
        for batch in records:
            kept = []
            for candidate, position in zip(batch.candidates, batch.positions, strict=True):
                value = candidate.extra.pop(duplicates_key, None)
                if value is None:
                    counts.left_out["no_count"] += 1
                    continue
                copies = _count(value, f"{records.names[batch.source]}, record {position + 1}: {duplicates_key}")
                candidate.label = MEMBER if copies else NONMEMBER
                candidate.extra["copies"] = copies
                levels[copies] = levels.get(copies, 0) + 1
                kept.append(candidate)
            counts.used += len(kept)
            file.add(kept)
        counts.left_out.update(records.left_out())
        if not counts.used:
            raise InputError(
                f"{records.names[0]}: no record has a count under {duplicates_key!r}; --duplicates names the key that has it"
            )
        report = records.report()
        facts = {
            "texts_by_copies": {str(copies): levels[copies] for copies in sorted(levels)},
            "partial": bool(report["bad_records"] or report["bad_files"]),
        }
        settings = {"duplicates_key": duplicates_key}
        step = Step("hubble", settings, report["sources"], {"records": counts.to_dict()}, facts=facts)
        return file.commit(step, before=records.headers)


def _count(value: Any, where: str) -> int:
    # Tables may have made floats or strings of them.
    if isinstance(value, bool) or _COUNT.fullmatch(str(value).strip()) is None:
        raise InputError(f"{where}: {value!r:.80} is no number of insertions; a whole number of at least 0")
    return int(float(value))
