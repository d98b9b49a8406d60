"""A report as a file: JSON, the whole of it; CSV and Parquet, one row a number; LaTeX, the table of attacks."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ngramscope.errors import ResourceError, UsageError
from ngramscope.evaluate.blind_section import BlindSection
from ngramscope.evaluate.overlap_section import OverlapSection
from ngramscope.evaluate.report import AttackRow, Report
from ngramscope.evaluate.verdict_words import title_of
from ngramscope.index.output import check_place, whole_file, write_whole

__all__ = ["COLUMNS", "WRITERS", "check", "latex_text", "write"]

COLUMNS = (
    "section", "attack", "model", "role", "split", "other", "stratum", "statistic", "target_fpr", "attained_fpr", "threshold",
    "value", "low", "high", "p", "p_holm", "n1", "n0", "n", "note",
)  # fmt: skip
"""Of the table in CSV and Parquet."""

_TEXTS = frozenset(("section", "attack", "model", "role", "split", "other", "stratum", "statistic", "note"))
_WHOLE = frozenset(("n1", "n0", "n"))
_ESCAPES = {each: f"\\{each}" for each in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def check(path: Path) -> None:
    """Refuse, before anything is computed, a name that could not be written.

    Raises
    ------
    UsageError
        An unknown ending, a folder that is not there, something else than a file.
    """
    if path.suffix not in WRITERS:
        raise UsageError(f"--out: {path}: the ending says no known format; known: {', '.join(WRITERS)}")
    if not path.parent.is_dir():
        raise UsageError(f"--out: {path}: there is no folder {path.parent}")
    check_place(path, "--out")


def write(path: Path, report: Report) -> None:
    """Write a report in the format that the ending chooses; the file appears when whole.

    Raises
    ------
    UsageError
        See `check`.
    ResourceError
        The disk does not take it.
    """
    check(path)
    try:
        WRITERS[path.suffix](path, report)
    except OSError as error:
        raise ResourceError(f"{path}: cannot write the report: {error.strerror or error}") from error


def _json(path: Path, report: Report) -> None:
    write_whole(path, json.dumps(report.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _csv(path: Path, report: Report) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_finite(each) for each in report.cells())
    write_whole(path.with_name(f"{path.name}.meta.json"), json.dumps(_facts(report), indent=2, allow_nan=False) + "\n")
    write_whole(path, text.getvalue())


def _parquet(path: Path, report: Report) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {name: pa.string() if name in _TEXTS else pa.int64() if name in _WHOLE else pa.float64() for name in COLUMNS}
    rows = [_finite(each) for each in report.cells()]
    table = pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in types.items()})
    with whole_file(path) as temporary:
        pq.write_table(table.replace_schema_metadata({"ngramscope": json.dumps(_facts(report))}), temporary, compression="zstd")


def _latex(path: Path, report: Report) -> None:
    targets = [each.target for each in next((row.tprs for row in report.rows if row.tprs), ())]
    header = " & ".join(["Attack", "Model", "$n_1$/$n_0$", "AUC", "$\\Delta$", *(f"TPR@{100 * each:g}\\%" for each in targets)])
    lines = [
        "% " + json.dumps(_facts(report), ensure_ascii=True, allow_nan=False),
        "% AUC with its interval; \\Delta: less the baseline on the same documents; \\dag: unreliable; --: undefined.",
        "% Needs \\usepackage{booktabs}.",
        *([] if report.verdict is None else [f"% Verdict: {title_of(report.verdict.code, report.verdict.because)}."]),
        "\\begin{tabular}{ll" + "r" * (3 + len(targets)) + "}",
        "\\toprule",
        header + r" \\",
    ]
    before = None
    for row in report.rows:
        lines += ["\\midrule"] if (row.split, row.model) != before else []
        lines.append(" & ".join(_latex_cells(row, len(targets))) + r" \\")
        before = (row.split, row.model)
    lines += ["\\bottomrule", "\\end{tabular}"]
    for section in report.overlap:
        lines += _latex_overlap(section)
    if report.blind is not None:
        lines += _latex_blind(report.blind)
    write_whole(path, "\n".join(lines) + "\n")


def _latex_overlap(section: OverlapSection) -> Iterator[str]:
    """A second table: what is associated with overlap."""
    if section.adjusted:
        yield f"% AUC as if non-members shared as many {section.n}-grams with the corpus as members do; raw: all non-members."
        yield "\\begin{tabular}{lllrrrr}"
        yield "\\toprule"
        yield "Attack & Model & By & $n_1$/$n_0$ & Raw & AUC & Raw $-$ AUC \\\\"
        yield "\\midrule"
        for row in section.adjusted:
            cells = [latex_text(each) for each in (row.attack, row.model, row.kind.replace("_", " "))]
            change = row.raw_less_adjusted
            cells += [f"{row.n1}/{row.n0}", _latex_auc(row.raw, row.raw_interval), _latex_auc(row.auc, row.interval)]
            yield " & ".join([*cells, "--" if change is None else f"${change.difference:+.3f}$"]) + r" \\"
        yield "\\bottomrule"
        yield "\\end{tabular}"


def _latex_auc(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None:
        return "--"
    return f"{value:.3f}" + ("" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]")


def latex_text(name: str) -> str:
    """A text as LaTeX spells it."""
    return "".join(_ESCAPES.get(each, each) for each in name)


def _latex_blind(section: BlindSection) -> Iterator[str]:
    """A second table: attacks beside text alone."""
    if section.ceiling is None:
        yield f"% No blind baselines: {' '.join((section.reason or '').split())}"
        return
    yield "% Blind ceiling: AUC of what text alone tells, out of fold; gain: what the attack adds to it, p by permutations."
    yield "\\begin{tabular}{llrrrrrr}"
    yield "\\toprule"
    yield "Attack & Model & AUC & Blind & $-$ blind & Placebo & Gain & $p$ \\\\"
    yield "\\midrule"
    for row in section.attacks:
        names = [f"{row.attack} ({row.role})" if row.role != "target" else row.attack, row.model]
        cells = [latex_text(each) for each in names]
        less = None if row.less_ceiling is None else row.less_ceiling.difference
        cells += [_shown(row.auc), _shown(row.ceiling), _shown(less, "+.3f")]
        cells.append("; ".join(_shown(each.auc) for each in row.placebos) or "--")
        yield " & ".join([*cells, _shown(row.gain.gain, "+.3f"), _shown(row.gain.p, ".4f")]) + r" \\"
    yield "\\bottomrule"
    yield "\\end{tabular}"


def _shown(value: float | None, form: str = ".3f") -> str:
    return "--" if value is None else f"${value:{form}}$"


def _latex_cells(row: AttackRow, rates: int) -> list[str]:
    names = [f"{row.attack} ({row.role})" if row.role != "target" else row.attack, row.model]
    cells = [latex_text(each) for each in names]
    cells.append(f"{row.n1}/{row.n0}")
    if row.auc is None:
        return [*cells, *["--"] * (2 + rates)]
    cells.append(_latex_auc(row.auc, row.interval))
    cells.append("--" if row.to_baseline is None else f"${row.to_baseline.difference:+.3f}$")
    cells += ["--" if each.tpr is None else f"{each.tpr:.3f}" + ("\\dag" * each.unreliable) for each in row.tprs]
    return cells


WRITERS: Mapping[str, Callable[[Path, Report], None]] = {".json": _json, ".csv": _csv, ".parquet": _parquet, ".tex": _latex}


def _facts(report: Report) -> dict[str, Any]:
    return {**report.header, "counts": dict(report.counts), "warnings": list(report.warnings)}


def _finite(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(each, float) and each != each else each for name, each in row.items()}
