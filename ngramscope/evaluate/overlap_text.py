"""The part of a report for people that is about overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscope.evaluate.associated import KINDS, Adjusted
from ngramscope.evaluate.curves import BOTH, NONMEMBERS, POOLED, AucAt
from ngramscope.evaluate.overlap_section import OverlapSection
from ngramscope.evaluate.overlaps import NO_LOO, NO_OVERLAP
from ngramscope.evaluate.plain import difference, number

__all__ = ["overlap_tables"]

Table = tuple[str, list[str], list[list[str]], list[str]]
"""Title, names of columns, rows, lines below."""

_SHOWN = 6
_WHY = {
    NO_LOO: "members have no leave-one-out overlap: their own n-grams are in the corpus, so theirs cannot stand beside that of "
    "non-members. Only non-members are restricted. Measure the set with --scan or an index of two tiers, or give "
    "--member-overlap plain if no member is in the corpus that was measured against",
    NO_OVERLAP: "no document of a side has an overlap",
}
_RESTRICTED = {
    NONMEMBERS: "non-members with at most so much overlap, all members",
    BOTH: "members and non-members with at most so much overlap",
}


def overlap_tables(section: OverlapSection) -> Iterator[Table]:
    """Tables of a section."""
    counts = section.counts
    kind = "leave-one-out overlap" if section.of_members == "loo" and section.reason is None else "overlap"
    without = [f"{counts[f'{side}_without']:,} {side}" for side in ("members", "nonmembers") if counts[f"{side}_without"]]
    below = [f"without {kind}: {', '.join(without)}"] if without else []
    below += [_WHY[section.reason]] if section.reason is not None else []
    for restricted, title in _RESTRICTED.items():
        rows = [each for each in section.curves if each.restricted == restricted]
        if rows:
            shown = _shown(sorted({each.at_most for each in rows if each.at_most is not None}))
            yield (
                f"{section.n}-grams, AUC by {kind}: {title}",
                ["attack", "model", *(f"<= {each:g}" for each in shown)],
                [[*name, *cells] for name, cells in _by_line(rows, [f"{each:g}" for each in shown])],
                below if restricted == NONMEMBERS else [],
            )
    if section.strata:
        names = list(dict.fromkeys(each.stratum for each in section.strata if each.stratum is not None))
        yield (
            f"{section.n}-grams, AUC within strata of {kind}",
            ["attack", "model", *names],
            [[*name, *cells] for name, cells in _by_line(section.strata, names)],
            [f"{POOLED}: pairs of a member and a non-member of one stratum only"],
        )
    if section.adjusted:
        yield _adjusted(section)


def _shown(thresholds: Sequence[float]) -> list[float]:
    """Some of them, evenly, and always the last."""
    step = max(1, -(-len(thresholds) // _SHOWN))
    return [each for place, each in enumerate(reversed(thresholds)) if place % step == 0][::-1]


def _by_line(rows: Sequence[AucAt], columns: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    for name in dict.fromkeys((each.attack, each.model) for each in rows):
        found = {
            f"{each.at_most:g}" if each.at_most is not None else each.stratum: each
            for each in rows
            if (each.attack, each.model) == name
        }
        cells = [
            "" if each is None else f"{number(each.auc, each.interval)} {each.n1:,}/{each.n0:,}"
            for each in map(found.get, columns)
        ]
        yield list(name), cells


def _adjusted(section: OverlapSection) -> Table:
    rows = [_adjusted_cells(each) for each in section.adjusted]
    below = [
        "raw: the same members against all non-members. share: of the raw AUC's excess over .5 that is associated with "
        "overlap; only where the raw AUC's interval lies above .55"
    ]
    for kind in KINDS:
        facts = {
            tuple((name, value) for name, value in each.facts.items() if value is not None)
            for each in section.adjusted
            if each.kind == kind and each.facts
        }
        below += [f"{kind}: {', '.join(f'{name} {value:.3g}' for name, value in each)}" for each in sorted(facts)]
    return (
        f"{section.n}-grams, AUC as if non-members overlapped as members do",
        ["attack", "model", "by", "n1/n0", "raw", "AUC", "raw - AUC", "share"],
        rows,
        below,
    )


def _adjusted_cells(row: Adjusted) -> list[str]:
    return [
        row.attack, row.model, row.kind, f"{row.n1:,}/{row.n0:,}", number(row.raw, row.raw_interval),
        number(row.auc, row.interval) if row.auc is not None else row.reason or "-", difference(row.raw_less_adjusted),
        number(row.share, row.share_interval),
    ]  # fmt: skip
