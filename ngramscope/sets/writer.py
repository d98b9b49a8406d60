"""Candidate sets to files: rows as they come, the header at the end, both under their names only when whole."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ngramscope import provenance
from ngramscope.errors import UsageError
from ngramscope.index.output import TableFile, TableWriter
from ngramscope.json_texts import sound
from ngramscope.sets.balance import Balance
from ngramscope.sets.base import SET_VERSION, Candidate

__all__ = ["Counts", "SetFile", "Step"]


@dataclass
class Counts:
    """What a step did with what it read: every record is used or left out for a reason."""

    used: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        """For the header."""
        reasons = {reason: count for reason, count in sorted(self.left_out.items()) if count}
        return {"read": self.used + sum(reasons.values()), "used": self.used, "left_out": reasons}

    def reasons(self) -> str:
        """For messages, the most frequent first."""
        return ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.most_common() if count) or "none"


@dataclass(frozen=True)
class Step:
    """One rule applied: a part of a set's history.

    Attributes
    ----------
    rule
        Name of the command.
    settings
        Every option that had a say in the content.
    seed
        None where nothing is left to chance.
    inputs
        Name, size and digest of each file that was read.
    counts
        By input or side: `Counts.to_dict`.
    facts
        What else the rule has to report, by name.
    """

    rule: str
    settings: Mapping[str, Any]
    inputs: Sequence[Mapping[str, Any]]
    counts: Mapping[str, Any]
    seed: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class SetFile:
    """A candidate set being written: ``with SetFile(path) as file: file.add(...); file.commit(step)``.

    Leaving the block without `commit` removes what was written.

    Parameters
    ----------
    path
        Ends in ``.jsonl``, ``.jsonl.gz`` or ``.jsonl.zst``.

    Raises
    ------
    UsageError
        The name cannot be that of a set.
    ResourceError
        It cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self._table = TableFile(Path(path), {".jsonl": _CandidateLines}, with_source=True)
        self.path = self._table.path
        self.balance = Balance()
        self._columns: dict[str, None] = {}

    @property
    def names(self) -> tuple[Path, ...]:
        """The files that `commit` brings about."""
        return self._table.names

    def __enter__(self) -> SetFile:
        self._table.__enter__()
        return self

    def add(self, candidates: Iterable[Candidate]) -> None:
        """Append these."""
        rows = list(candidates)
        for each in rows:
            self.balance.add(each)
            self._columns.update(dict.fromkeys(each.extra))
        self._table.write(rows)

    def commit(
        self,
        step: Step,
        *,
        before: Sequence[Mapping[str, Any]] = (),
        overlap: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Finish the set, give it its name, and return its header.

        Parameters
        ----------
        step
            What made it.
        before
            Headers of the candidate sets that it was made from; their histories come first.
        overlap
            For each n that this step has measured, how (see `ngramscope.sets.overlaps`); for others what `before` says holds.
        """
        header = provenance.stamp("candidate-set", version=SET_VERSION, settings=step.settings, inputs=step.inputs)
        header["rule"], header["seed"] = step.rule, step.seed
        header["history"] = [*(each for one in before for each in one["history"]), dataclasses.asdict(step)]
        header["counts"] = self.balance.counts()
        header["overlap"] = _merged([one["overlap"] for one in before], dict(overlap or {}))
        header["columns"] = list(self._columns)
        header["balance"] = self.balance.to_dict()
        # Whoever reads it must not find a number that JSON does not have.
        self._table.commit(json.loads(json.dumps(header, allow_nan=False)))
        return header

    def __exit__(self, *exception: object) -> None:
        self._table.__exit__(*exception)


class _CandidateLines(TableWriter[list[Candidate]]):
    def write(self, table: list[Candidate]) -> None:
        if table:
            # Half a surrogate pair cannot be written as UTF-8; reading replaces it, but a candidate may be made elsewhere.
            lines = [json.dumps(each.row(), ensure_ascii=False, allow_nan=False) for each in table]
            self._stream.write(sound("\n".join(lines) + "\n").encode("utf-8"))

    def close(self, provenance: Mapping[str, Any]) -> None:
        pass


def _merged(overlaps: Sequence[Mapping[str, Any]], new: dict[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for overlap in overlaps:
        for n, measured in overlap.items():
            if n not in new and merged.setdefault(n, measured) != measured:
                raise UsageError(
                    f"the sets measured the overlap of {n}-grams differently ({merged[n]['by']} and {measured['by']}, or with "
                    "other corpora); measure it anew for all of them"
                )
    return {**merged, **new}
