"""A validation report for people: text, and one HTML page with figures. Both are made from the JSON report alone."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscope.errors import MissingExtraError, ResourceError, UsageError
from ngramscope.index.output import write_whole
from ngramscope.report import html

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["check", "sentence", "to_html", "to_text", "write_html"]

Report = Mapping[str, Any]

_TITLES = {
    "representative": "Representative",
    "shifted_lower": "Shifted towards lower overlap",
    "shifted_higher": "Shifted towards higher overlap",
    "cannot_tell": "Cannot tell",
}
_MARKS = {"representative": "#2e9e5b", "shifted_lower": "#c62828", "shifted_higher": "#c62828", "cannot_tell": "#b58900"}
_NAMES = {
    "mean_shift": "difference of the means",
    "ks": "Kolmogorov-Smirnov",
    "auc": "Mann-Whitney (AUC)",
    "cliffs_delta": "Cliff's delta",
    "wasserstein": "Wasserstein",
    "energy": "energy distance",
}
_SIZE = (3.5, 2.5)
_FILES = 20


def check(path: Path) -> None:
    """Refuse, before anything is computed, a page that could not be written.

    Raises
    ------
    UsageError
        A folder that is not there.
    MissingExtraError
        matplotlib is not installed.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"--html: {path}: not the name of a file in a folder that there is")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot", "--html")


def sentence(report: Report) -> str:
    """The verdict and what it rests on."""
    declared, n = report["declared"], report["declared"]["n"]
    ours, theirs = (_quantity(report, n)[side]["mean"] for side in ("candidates", "reference"))
    if report["reason"] == "too_few_texts":
        units = " and ".join(f"{each:,}" for each in report["units"])
        return (
            f"There are too few texts with {n}-grams: {units} (texts or groups; candidates, reference); at least "
            f"{declared['least_units']} are needed on each side."
        )
    if report["reason"] == "no_variation":
        return f"The overlap of {n}-grams is {_percent(ours)} for every text on both sides; try a smaller n."
    least = f"{100 * report['least']:.3g}"
    level = f"{100 * (1 - declared['alpha']):g} %"
    low, high = report["interval"]
    measured = (
        f"The candidates' mean overlap of {n}-grams is {_percent(ours)}, the reference's {_percent(theirs)}: a shift of "
        f"{_points(report['shift'])} points ({level} interval {_points(low)} to {_points(high)}; p = {_p(report['p'])})."
    )
    follows = {
        "representative": f"The whole interval lies within {least} points on either side of none"
        + (", though the shift is not chance." if report["rejected"] else "."),
        "shifted_lower": f"The declared test rejects, and the shift is at least {least} points.",
        "shifted_higher": f"The declared test rejects, and the shift is at least {least} points.",
        "cannot_tell": f"The interval reaches beyond {least} points, but "
        + (
            f"the test does not reject at {declared['alpha']:g}."
            if not report["rejected"]
            else f"the shift that was found is smaller than {least} points, though not chance."
        ),
    }[report["verdict"]]
    smallest, often = f"{100 * report['detectable']:.1f}", f"{100 * declared['power']:g} %"
    power = f"With so many texts, a true shift of {smallest} points is called in {often} of cases."
    return " ".join([measured, follows, power])


def to_text(report: Report) -> str:
    """For a terminal."""
    lines = [f"{_TITLES[report['verdict']].upper()}", sentence(report), ""]
    declared = report["declared"]
    lines.append(
        f"declared test: {declared['test']}; n {declared['n']}, alpha {declared['alpha']:g}, shifts below "
        f"{declared['min_shift']:g} (and {declared['min_ratio']:g} of the reference's mean) do not matter, "
        f"{declared['permutations']:,} permutations, seed {declared['seed']}; leave-one-out: "
        + (declared["exclusion"] if declared["leave_one_out"] else "no")
    )
    for name, counts in report["counts"].items():
        left_out = f"; left out: {reasons}" if (reasons := _reasons(counts["left_out"])) else ""
        lines.append(f"{name}: {counts['used']:,} of {counts['read']:,} records{left_out}")
    how, files = _measured(report)
    names = ", ".join(each["name"] for each in files[:_FILES])
    lines.append(f"overlap: by {how}{f'; files of the corpus: {names}' if files else ''}{_more(files)}")
    lines += ["", "described (no verdict rests on it; p by Holm for all these tests together):"]
    head, rows = _described(report)
    cells = [list(head), *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for row in cells:
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    lines += ["", *_about_words(report)]
    return "\n".join(lines).rstrip()


def write_html(path: Path, report: Report) -> None:
    """Write the page, which appears under its name when whole."""
    try:
        write_whole(path, to_html(report))
    except OSError as error:
        raise ResourceError(f"{path}: cannot write the page: {error.strerror or error}") from error


def to_html(report: Report) -> str:
    """The page."""
    verdict = report["verdict"]
    title = f"Validation: {_TITLES[verdict].lower()}"
    body = ["<h1>Is the set representative?</h1>"]
    body.append(
        f'<div class="verdict" style="--mark: {_MARKS[verdict]}"><strong>{_TITLES[verdict]}</strong>'
        f"{escape(sentence(report))}</div>"
    )
    body += [f'<p class="warning">{escape(each)}</p>' for each in report["warnings"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks: text stays text, the page has other fonts
        body += ["<h2>Overlap</h2>", '<div class="figures">', _forest(report)]
        body += [_histogram(each) for each in report["quantities"] if each["n"] is not None and each["histogram"]]
        body.append("</div>")
        others = [_histogram(each) for each in report["quantities"] if each["n"] is None and each["histogram"]]
    body += ["<h2>Length and date</h2>", '<div class="figures">', *others, "</div>"]
    declared = report["declared"]
    how, files = _measured(report)
    body += [
        "<h2>Declared before any text was read</h2>",
        html.table(
            ("option", "value"),
            [(name, _value(value)) for name, value in declared.items() if name != "verdicts"],
            align=False,
        ),
        "<ul>" + "".join(f"<li>{escape(name.replace('_', ' '))}: {escape(rule)}</li>" for name, rule in
                         declared["verdicts"].items()) + "</ul>",
        "<h2>Records</h2>",
        html.table(
            ("side", "read", "used", "left out"),
            [
                (name, f"{each['read']:,}", f"{each['used']:,}", _reasons(each["left_out"]) or "none")
                for name, each in report["counts"].items()
            ],
        ),
        "<h2>Described</h2>",
        '<p class="note">No verdict rests on this. p by Holm holds for all these tests together; chance is the distance that '
        "5 % of random divisions of the same texts reach.</p>",
        html.table(*_described(report)),
        "<h2>Words</h2>",
        *(f"<p>{escape(line)}</p>" for line in _about_words(report)),
        "<h2>Provenance</h2>",
        f"<p>Overlap was measured by {escape(how)}.</p>",
        html.table(
            ("file", "side", "bytes", "BLAKE3"),
            [
                (each["name"], each.get("side", "corpus"), f"{each.get('bytes') or 0:,}", str(each.get("blake3") or "-"))
                for each in (*report["inputs"], *files[:_FILES])
            ],
        ),
        *([f'<p class="note">{_more(files).strip()}: under overlap in the settings</p>'] if _more(files) else []),
        f"<details><summary>Settings (ngramscope {escape(report['ngramscope'])}, seed {report['seed']})</summary><pre>"
        + escape(json.dumps({"settings": report["settings"], "overlap": report["overlap"]}, indent=1, ensure_ascii=False))
        + "</pre></details>",
    ]  # fmt: skip
    return html.page(title, body)


def _described(report: Report) -> tuple[Sequence[str], list[list[str]]]:
    """A row for each statistic of each quantity."""
    rows = []
    for each in report["quantities"]:
        name, unit = each["name"].replace("_", " "), each["unit"]
        sides = [_number(each[side]["mean"], unit) for side in ("candidates", "reference")]
        if each["statistics"] is None:
            rows.append([name, *sides, f"none ({each['null_reason']})", "", "", "", "", ""])
        for number, (key, value) in enumerate((each["statistics"] or {}).items()):
            kind = unit if key in ("mean_shift", "wasserstein") else "plain"
            rows.append(
                [
                    *((name, *sides) if number == 0 else ("", "", "")),
                    _NAMES[key],
                    _number(value["value"], kind),
                    " to ".join(_number(end, kind) for end in value["interval"]),
                    _number(value.get("chance"), kind),
                    _p(value.get("p")),
                    "declared" if value.get("declared") else _p(value.get("p_holm")),
                ]
            )
    return ("", "candidates", "reference", "statistic", "value", "interval", "chance", "p", "p by Holm"), rows


def _about_words(report: Report) -> list[str]:
    words, test = report["vocabulary"], report["classifier"]
    if words is None or test is None:
        return ["The words of the texts were not compared."]
    lines = []
    if words["distance"] is not None:
        lines.append(
            f"Words (first {report['settings']['words_of_texts']} of {words['texts'][0]:,} and {words['texts'][1]:,} texts): "
            f"Jensen-Shannon distance {words['distance']:.3f} (chance {words['chance']:.3f}; p by Holm {_p(words['p_holm'])})."
        )
        for side, key in (("candidates", "more_in_first"), ("reference", "more_in_second")):
            listed = ", ".join(f"{each['word']} ({each['first']:.1f}/{each['second']:.1f})" for each in words[key])
            lines.append(f"More often in the {side} (among 1,000 words of candidates/reference): {listed or 'none'}.")
    if test["auc"] is None:
        lines.append(f"No classifier was trained ({test['null_reason']}).")
    else:
        lines.append(
            f"A classifier that sees only the words tells {test['n_first']:,} candidates from {test['n_second']:,} texts of "
            f"the reference with an AUC of {test['auc']:.3f} (out of fold; {test['permutations']:,} refits to permuted labels; "
            f"p by Holm {_p(test['p_holm'])}); .5 is chance."
        )
    return lines


def _histogram(quantity: Report) -> str:
    bins, name = quantity["histogram"], quantity["name"].replace("_", " ")
    title = {"words": "white-space words", "date": "date"}.get(name, f"overlap of {quantity['n']}-grams")
    figure, axes = _axes()
    told = []
    for side, colour in (("reference", html.REFERENCE), ("candidates", html.CANDIDATES)):
        known = quantity[side]["n"]
        heights = [count / max(1, known) for count in bins[side]]
        axes.stairs(heights, bins["edges"], fill=True, color=colour, alpha=0.35)
        axes.stairs(heights, bins["edges"], color=colour, linewidth=1.2, label=f"{side} ({known:,})")
        if quantity[side]["mean"] is not None:
            axes.axvline(quantity[side]["mean"], color=colour, linewidth=1.2, linestyle="--")
            told.append(f"mean of the {side} {_number(quantity[side]['mean'], quantity['unit'])}")
    axes.set_xlabel(title)
    axes.set_ylabel("share of texts")
    figure.legend(fontsize=9, frameon=False, labelcolor=html.INK, loc="outside upper center", ncols=2)
    caption = f"Share of texts by {title}; dashed: means."
    return html.figure_svg(figure, alt=f"Histogram of {title}: {'; '.join(told)}", caption=caption, name=quantity["name"])


def _forest(report: Report) -> str:
    """Shift and interval for each n, with what does not matter shaded."""
    rows = [each for each in report["quantities"] if each["n"] is not None and each["statistics"]]
    figure, axes = _axes()
    least, told = 100 * (report["least"] or 0), []
    axes.axvspan(-least, least, color="#888888", alpha=0.25, linewidth=0)
    axes.axvline(0, color=html.INK, linewidth=0.8)
    for place, each in enumerate(rows):
        shift = each["statistics"]["mean_shift"]
        low, high = shift["interval"]
        axes.plot([100 * low, 100 * high], [place, place], color=html.CANDIDATES, linewidth=2)
        axes.plot([100 * shift["value"]], [place], "o", color=html.CANDIDATES, markersize=7 if shift["declared"] else 4)
        told.append(f"{each['n']}-grams {_points(shift['value'])} ({_points(low)} to {_points(high)})")
    labels = [f"{'test: ' if each['statistics']['mean_shift']['declared'] else ''}n = {each['n']}" for each in rows]
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("shift of the mean overlap, points")
    caption = "Candidates less reference, with intervals; shaded: shifts that do not matter to the test."
    return html.figure_svg(figure, alt=f"Shift of the mean overlap in points: {'; '.join(told)}", caption=caption, name="shift")


def _axes() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure as NewFigure

    # Small, so that letters are large where a telephone's width is all there is.
    figure = NewFigure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    axes.tick_params(colors=html.INK, labelsize=9)
    axes.locator_params(nbins=5)
    for spine in axes.spines.values():
        spine.set_color(html.INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.label.set_color(html.INK)
    axes.yaxis.label.set_color(html.INK)
    return figure, axes


def _quantity(report: Report, n: int) -> Report:
    found: Report = next(each for each in report["quantities"] if each["n"] == n)
    return found


def _reasons(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())


def _measured(report: Report) -> tuple[str, Sequence[Report]]:
    """By what the declared overlap was measured, and the files of the corpus."""
    measured = report["overlap"][str(report["declared"]["n"])]
    if "scan" in measured:
        return "scan", measured["scan"]["corpus"]
    if "indexes" not in measured:
        return f"flags {', '.join(measured['flags'])}", ()
    indexes = measured["indexes"]
    named = ", ".join(f"{each['name'] or 'unnamed'} (content id {each['content_id']})" for each in indexes)
    rate = f"false-positive rate {measured['filter_fpr']:.3g}"
    return f"index {named}, {rate}", [source for each in indexes for source in each["inputs"]]


def _more(files: Sequence[Report]) -> str:
    return f" and {len(files) - _FILES:,} more" if len(files) > _FILES else ""


def _value(value: Any) -> str:
    return (
        {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:,}" if isinstance(value, int) else str(value)
    )


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    digits = {"share": 4, "words": 1, "years": 2}.get(unit, 3)
    thousands = "" if unit == "years" else ","
    return f"{round(value, digits) + 0.0:{thousands}.{digits}f}"  # + 0.0: no -0.000


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"


def _p(p: float | None) -> str:
    return "-" if p is None else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"
