"""A report for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscope.blind.study import BlindResult
from ngramscope.evaluate.blind_section import BlindSection
from ngramscope.evaluate.blocks import HELD_OUT
from ngramscope.evaluate.overlap_text import overlap_tables
from ngramscope.evaluate.plain import difference, number, p_value, share, table
from ngramscope.evaluate.report import AttackRow, Report, TprRow
from ngramscope.evaluate.rows import NOTES
from ngramscope.evaluate.verdict_words import title_of

__all__ = ["blind_lines", "to_text"]

_REASONS = {
    "no_member_scores": "no member has a score",
    "no_nonmember_scores": "no non-member has a score",
    "no_scores": "no document has a score",
    "no_common_documents": "no document has a score of every attack",
}


def to_text(report: Report) -> str:
    """Tables in plain text, with what their marks mean below."""
    counts = report.counts
    lines = [
        f"{counts['members']:,} members, {counts['nonmembers']:,} non-members; {counts['used']:,} documents used"
        + (f", {counts['left_out']:,} left out" if counts["left_out"] else "")
        + (f"; {counts['units']:,} groups and single documents" if counts["units"] is not None else "")
    ]
    if report.verdict is not None:
        lines += [
            f"verdict: {title_of(report.verdict.code, report.verdict.because)}",
            *(f"  {each}" for each in report.verdict.sentences),
        ]
    for title, rows in _by_split(report.rows):
        lines += ["", *([title] if title else []), *_attacks(rows, report)]
    if report.blind is not None:
        lines += ["", *_beyond_text(report.blind, report)]
    for title, below in _sections(report):
        lines += ["", title, *below]
    return "\n".join(lines)


def _sections(report: Report) -> Iterator[tuple[str, list[str]]]:
    """What stands below the table of attacks: titles and tables."""
    for column in dict.fromkeys(each.column for each in report.strata):
        strata = [each for each in report.strata if each.column == column]
        yield (
            f"by {column}",
            table(
                ["stratum", "attack", "model", "n1/n0", "AUC", "pooled - raw", "notes"],
                [
                    [
                        s.stratum,
                        s.attack,
                        s.model,
                        f"{s.n1:,}/{s.n0:,}",
                        number(s.auc, s.interval),
                        difference(s.less_raw),
                        s.reason or "",
                    ]
                    for s in strata
                ],
            ),
        )
    for title, flagged in (("the other set", report.transfer), ("modified members", report.modified)):
        if flagged:
            yield (
                f"thresholds of this set on {title}",
                table(
                    ["attack", "model", "FPR here", "documents", "flagged"],
                    [
                        [
                            f.attack,
                            f.model,
                            f"{100 * f.target_fpr:g} %",
                            f.what,
                            share(f.flagged.value, (f.flagged.low, f.flagged.high), digits=2),
                        ]
                        for f in flagged
                    ],
                ),
            )
    if report.changes:
        yield "AUC on the other set less AUC here", table(
            ["attack", "model", "kind", "here", "there", "change"],
            [
                [
                    c.attack or "calibration-free less calibrated", c.model, c.kind or "", number(c.first), number(c.second),
                    difference(c.change) + "  sign of shift" * bool(c.sign_of_shift),
                ]
                for c in report.changes
            ],
        )  # fmt: skip
    for section in report.overlap:
        for title, columns, rows, below in overlap_tables(section):
            yield title, [*table(columns, rows), *below]
    if report.pairs:
        yield f"pairs; members found at {100 * report.pairs[0].at_fpr:g} % FPR", table(
            ["first", "second", "AUC difference", "p (Holm)", "both", "first only", "second only", "neither"],
            [
                [
                    p.first, p.second, difference(p.difference), p_value(p.difference.p_holm),
                    *map(str, (p.both, p.first_only, p.second_only, p.neither)),
                ]
                for p in report.pairs
            ],
        )  # fmt: skip
    if report.stability:
        rate = 100 * report.stability[0].target_fpr
        yield (
            f"stability of decisions at {rate:g} % FPR: chance that two on one document contradict each other",
            table(
                ["attack", "model", "between", "members", "non-members"],
                [
                    [
                        s.attack,
                        s.model,
                        s.between,
                        *("" if side is None else f"{side.mean:.3f}" for side in (s.members, s.nonmembers)),
                    ]
                    for s in report.stability
                ],
            ),
        )


def _beyond_text(section: BlindSection, report: Report) -> list[str]:
    """Attacks beside text alone and beside placebos."""
    if section.ceiling is None:
        return [f"text alone: not known. {section.reason}"]
    settings = report.header["settings"]
    folds = f"means within {settings['folds']} folds" + f", {settings['repeats']} times" * (settings["repeats"] > 1)
    lines = [f"text alone, without any model; out of fold, {folds}", *blind_lines((*section.baselines, section.ceiling))]
    if not section.attacks:
        return lines
    rows = [
        [
            each.attack, each.model, each.role, number(each.auc), number(each.ceiling), difference(each.less_ceiling),
            "; ".join(number(placebo.auc) for placebo in each.placebos),
            "; ".join(difference(placebo.difference) for placebo in each.placebos),
            "-" if each.gain.gain is None else f"{each.gain.gain:+.3f}" + "  turned round" * ((each.gain.weight or 0.0) < 0),
            p_value(each.gain.p), p_value(each.gain_p_holm), each.reason or each.gain.reason or "",
        ]
        for each in section.attacks
    ]  # fmt: skip
    columns = ["attack", "model", "role", "AUC", "blind ceiling", "- ceiling", "placebo", "- placebo", "gain over text"]
    cells = table([*columns, "p", "p (Holm)", "notes"], rows)
    below = "gain over text: AUC of blind ceiling and attack together, out of fold, less that of the ceiling; p by permutations"
    return [*lines, "", "attacks beside text alone and beside models that saw neither side", *cells, below]


def blind_lines(results: Sequence[BlindResult]) -> list[str]:
    """A table of blind baselines."""
    rows = [[each.name, number(each.auc, each.interval), p_value(each.p), each.reason or ""] for each in results]
    return table(["baseline", "AUC", "p", "notes"], rows)


def _by_split(rows: Sequence[AttackRow]) -> Iterator[tuple[str, list[AttackRow]]]:
    for key in dict.fromkeys((each.split, each.seeds) for each in rows):
        title = f"means over {len(key[1])} splits, documents that no attack learned from" if key[0] == HELD_OUT else ""
        yield title, [each for each in rows if (each.split, each.seeds) == key]


def _attacks(rows: Sequence[AttackRow], report: Report) -> list[str]:
    rates = [each.target for each in next((row.tprs for row in rows if row.tprs), ())]
    placebos = any(row.placebos for row in rows)
    baseline = report.header["settings"]["baseline"]
    columns = ["attack", "model", "role", "n1/n0", "AUC", f"- {baseline}", "p (Holm)"]
    columns += ["placebo", "- placebo"] * placebos + [f"TPR@{100 * each:g}%" for each in rates] + ["notes"]
    body = []
    for row in rows:
        cells = [row.attack, row.model, row.role, f"{row.n1:,}/{row.n0:,}", number(row.auc, row.interval)]
        base = row.to_baseline
        cells += [difference(base), p_value(None if base is None else base.p_holm)]
        if placebos:
            cells.append("; ".join(number(each.auc, each.interval) for each in row.placebos))
            cells.append("; ".join(difference(each.difference) for each in row.placebos))
        cells += [_tpr(each) for each in row.tprs] or ["-"] * len(rates)
        notes = [row.reason, *row.notes, *(f"{count} {reason}" for reason, count in row.undefined.items())]
        body.append([*cells, ", ".join(filter(None, notes))])
    lines = table(columns, body)
    marks = {code: NOTES[code] for row in rows for code in row.notes} | {
        row.reason: _REASONS[row.reason] for row in rows if row.reason is not None
    }
    lines.append("TPR (attained FPR); * unreliable, too few documents; - fewer than 1 / FPR non-members, or undefined")
    lines += [f"{code}: {meaning}" for code, meaning in marks.items()]
    least = {f"{each.detectable:.3f}" for each in rows if each.detectable is not None}
    if least:
        span = min(least) if len(least) == 1 else f"{min(least)} to {max(least)}"
        lines.append(f"smallest AUC that would be told from .5 here in 80 % of studies: {span}")
    return lines


def _tpr(each: TprRow) -> str:
    if each.tpr is None:
        return "-"
    attained = "" if each.attained_fpr is None else f" ({100 * each.attained_fpr:.2g}%)"
    return f"{each.tpr:.3f}{'*' if each.unreliable else ''}{attained}"
