"""What texts are matched on, as columns of numbers: overlap, length, date, domain. No texts are held."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import UsageError
from ngramscope.sets.base import MEMBER, Candidate
from ngramscope.sets.dates import DAY, middle
from ngramscope.sets.overlaps import Measurement, Overlaps
from ngramscope.sets.records import RecordBatch, Records
from ngramscope.sets.seeds import draw

__all__ = ["COVARIATES", "LOO_COLUMN", "MEMBER_OVERLAPS", "Covariates", "Need", "Shares", "read_covariates"]

COVARIATES = ("overlap", "words", "date", "domain")
"""What texts can be matched on."""

MEMBER_OVERLAPS = ("loo", "plain")
"""Which overlap stands for a text: leave-one-out where there is one, or the plain one."""

LOO_COLUMN = "overlap_loo"
"""Leave-one-out overlap by n, among `Candidate.extra`: a text's own document does not count."""

_N = 7
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Need:
    """What `read_covariates` has to find.

    The covariates; the lengths of n-grams (empty: 7, or the only one that there is) and which overlap stands for a text; the
    seed of the order; and the labels of the texts that are to be matched.
    """

    on: tuple[str, ...]
    n: tuple[int, ...]
    member_overlap: str
    seed: int
    labels: tuple[int | None, ...]


class Shares:
    """Overlaps measured in one pass, to be put on the same candidates in a next one."""

    def __init__(self, n: tuple[int, ...]) -> None:
        self._overlap = {each: array("d") for each in n}
        self._loo = {each: array("d") for each in n}
        self._reasons: dict[int, list[str | None]] = {each: [] for each in n}

    def add(self, measurement: Measurement) -> None:
        """Those of the next candidates."""
        for n, measured in measurement.items():
            self._overlap[n].extend(measured.overlap.tolist())
            self._reasons[n].extend(measured.null_reason)
            if measured.loo is not None:
                self._loo[n].extend(measured.loo.tolist())

    def put(self, candidate: Candidate, row: int) -> None:
        """Give the candidate its overlaps, by the number it had in the pass that measured them."""
        for n, shares in self._overlap.items():
            key, reason = str(n), self._reasons[n][row]
            candidate.overlap[key] = None if reason else shares[row]
            if reason:
                candidate.overlap_null[key] = reason
            column = dict(candidate.extra.pop(LOO_COLUMN, None) or {})
            column.pop(key, None)  # of an earlier measurement
            if self._loo[n]:
                column[key] = None if reason else self._loo[n][row]
            if column:
                candidate.extra[LOO_COLUMN] = column


@dataclass
class Covariates:
    """Candidates as numbers, in the order of reading; every column has length ``rows``.

    Attributes
    ----------
    n
        Lengths whose overlap counts.
    names
        Of the columns of numbers: ``overlap_N``, ``words``, ``date`` (days since 1970).
    values
        By name, NaN where there is none.
    labels
        1, 0, or -1 where the label is not known.
    order
        What `draw` makes of each text: sorted by it, candidates stand as if shuffled.
    domains
        None where it is not known.
    reasons
        Why a text cannot be compared; None where it can.
    shares
        What was measured here; None if the set had it.
    records
        The finished pass; with its report and headers.
    measured
        For each n how the overlap was measured; None if it was not measured here.
    warnings
        What the user should know of the indexes.
    """

    n: tuple[int, ...]
    names: tuple[str, ...]
    values: dict[str, Floats]
    labels: NDArray[np.int8]
    order: NDArray[np.uint64]
    domains: list[str | None]
    reasons: list[str | None]
    shares: Shares | None
    records: Records
    measured: dict[str, Any] | None
    warnings: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many candidates were read."""
        return len(self.reasons)

    def overlap_facts(self) -> dict[str, Any]:
        """For each n, how the overlap was measured, here or by the steps before."""
        before = {n: how for header in self.records.headers for n, how in header["overlap"].items()}
        return before if self.measured is None else {**before, **self.measured}

    def matrix(self, rows: NDArray[np.int64]) -> Floats:
        """The numbers of these rows, shape (rows, names)."""
        return np.stack([self.values[name][rows] for name in self.names], axis=1)


def read_covariates(reading: Records | Overlaps, need: Need) -> Covariates:
    """One pass: over records that have their overlaps, or over such as are measured.

    Words are always counted, so that their balance can be reported; the rest is as asked for.

    Raises
    ------
    UsageError
        Neither the records have overlaps nor is said where they come from; members without leave-one-out overlap.
    """
    shares: Shares | None = None
    if isinstance(reading, Overlaps):
        records = reading.records
        pairs: Iterator[tuple[RecordBatch, Measurement | None]] = reading
        shares = Shares(reading.n)
        lengths = set(reading.n)
    else:
        records = reading
        pairs = ((batch, None) for batch in records)
        there = [set(map(int, header["overlap"])) for header in records.headers]
        lengths = set.intersection(*there) if there else set()
    need = replace(need, n=_lengths(need.n, lengths, records.names) if "overlap" in need.on else ())
    names = (*(f"overlap_{n}" for n in need.n if "overlap" in need.on), "words", *(["date"] if "date" in need.on else []))
    columns = {name: array("d") for name in names}
    labels, order = array("b"), array("Q")
    domains: list[str | None] = []
    reasons: list[str | None] = []
    known: dict[str, str] = {}
    for batch, measurement in pairs:
        if measurement is not None and shares is not None:
            shares.add(measurement)
        for candidate in batch.candidates:
            if shares is not None:
                shares.put(candidate, len(reasons))
            found, reason = _numbers(candidate, need, records.names[batch.source])
            for name, column in columns.items():
                column.append(found.get(name, np.nan))
            labels.append(-1 if candidate.label is None else candidate.label)
            order.append(draw(need.seed, candidate.id, candidate.text, candidate.domain, candidate.group, candidate.date))
            # One string for each domain and reason, not one for each text.
            domains.append(None if candidate.domain is None else known.setdefault(candidate.domain, candidate.domain))
            reasons.append(None if reason is None else known.setdefault(reason, reason))
    return Covariates(
        n=need.n,
        names=names,
        values={name: np.asarray(column) for name, column in columns.items()},
        labels=np.asarray(labels),
        order=np.asarray(order),
        domains=domains,
        reasons=reasons,
        shares=shares,
        records=records,
        measured=reading.facts() if isinstance(reading, Overlaps) else None,
        warnings=reading.warnings if isinstance(reading, Overlaps) else [],
    )


def _numbers(candidate: Candidate, need: Need, file: str) -> tuple[Mapping[str, float], str | None]:
    """The covariates, and why one that is asked for is missing."""
    found = {"words": float(len(candidate.text.split()))}
    reason = None
    if "overlap" in need.on:
        loo = (candidate.extra.get(LOO_COLUMN) or {}) if need.member_overlap == "loo" else {}
        for n in map(str, need.n):
            if candidate.label == MEMBER and MEMBER in need.labels and need.member_overlap == "loo" and n not in loo:
                _refuse_plain(file)
            share = loo[n] if n in loo else candidate.overlap.get(n)
            if share is None:
                reason = reason or candidate.overlap_null.get(n) or "no_overlap"
            else:
                found[f"overlap_{n}"] = share
    if "date" in need.on:
        moment = middle(candidate.extra.get("date_utc") or candidate.date)
        if isinstance(moment, str):
            reason = reason or moment
        else:
            found["date"] = moment / DAY
    if "domain" in need.on and candidate.domain is None:
        reason = reason or "no_domain"
    return found, reason


def _lengths(asked: tuple[int, ...], there: set[int], names: tuple[str, ...]) -> tuple[int, ...]:
    """The lengths whose overlap counts: those asked for, or 7, or the only one."""
    if not there or not set(asked) <= there:
        lengths = "".join(f"{n}-" for n in asked if n not in there)
        raise UsageError(
            f"{names[0]}: has no overlap of {lengths or 'any n-'}grams; say where it comes from: --index, --scan or --flags"
        )
    if not asked and len(there) > 1 and _N not in there:
        raise UsageError(f"--n: there is overlap of n-grams of {', '.join(map(str, sorted(there)))} words; name one")
    return asked or ((_N,) if _N in there else tuple(there))


def _refuse_plain(file: str) -> NoReturn:
    raise UsageError(
        f"{file}: members have no leave-one-out overlap. Their own n-grams are in the corpus, so their plain overlap "
        "is near 1 whatever the rest of the corpus holds, and no non-member could match it. Measure with --scan or an index of "
        "two tiers (build-index --tiers 2), or match a held-out sample (--reference FILE). "
        "--member-overlap plain takes it as it is"
    )
