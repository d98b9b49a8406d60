"""Audits of groups: rates and prevalence by hand, coverage by simulation, corner cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from ngramscope.attacks.table import ScoreTable
from ngramscope.cli import audit_groups
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.setlevel.audit import AuditOptions, audit, prevalence
from tests.unit.test_dataset_inference import table_of

OPTIONS = AuditOptions(group_by="book", attack="loss")


def books(
    random: np.random.Generator, count: int = 30, per: int = 20, share: float = 0.3, shift: float = 1.5
) -> tuple[ScoreTable, ScoreTable]:
    """Books of which a part is trained on, the snippets of one alike; and known documents."""
    trained = random.random((count, per)) < (random.random(count) < 2 * share)[:, None] * 0.5
    scores = random.normal(size=(count, per)) + shift * trained + random.normal(0, 0.3, (count, 1))
    labels = np.arange(300) % 2
    known = random.normal(0, np.sqrt(1.09), 300) + shift * labels
    names = [f"b{number:02}" for number in range(count) for _ in range(per)]
    return (
        table_of([0] * (count * per), {("loss", "big", "target"): scores.ravel()}, book=names),
        table_of(labels.tolist(), {("loss", "big", "target"): known}),
    )


def test_rates_are_counted_at_a_threshold_of_the_known_documents() -> None:
    known = table_of([1, 1, 1, 1] + [0] * 10, {("loss", "m", "target"): np.array([9, 8, 4, 1, *range(10)], float)})
    asked = table_of([0] * 6, {("loss", "m", "target"): np.array([9, 9, 0, 9, 1, 1], float)}, book=list("aaabbb"))
    (found,) = audit(asked, known, AuditOptions(group_by="book", attack="loss", fpr=0.2))["models"]
    assert (found["threshold"], found["tpr"], found["fpr"]) == (
        8.0,
        0.5,
        0.2,
    )  # 8 and 9 of ten non-members, 9 and 8 of four members
    assert found["flagged"] == 0.5
    assert found["prevalence"] == pytest.approx((0.5 - 0.2) / (0.5 - 0.2))
    assert [(each["name"], each["flagged"]["count"], each["flagged"]["of"]) for each in found["groups"]] == [
        ("a", 2, 3),
        ("b", 1, 3),
    ]
    assert found["groups"][1]["prevalence"] == pytest.approx((1 / 3 - 0.2) / 0.3)
    assert (found["prevalence_interval"], found["reason"]) == (None, "fewer_than_10_units")


def test_the_corrected_prevalence_is_that_of_the_rates() -> None:
    assert prevalence(0.3 * 0.6 + 0.7 * 0.1, 0.6, 0.1) == pytest.approx(0.3)
    assert prevalence(0.05, 0.6, 0.1) == pytest.approx(-0.1)
    assert prevalence(0.5, 0.1, 0.1) is None


def test_intervals_of_books_cover_and_those_of_documents_would_not() -> None:
    random = np.random.default_rng(0)
    covered, naive, studies = 0, 0, 100
    for _ in range(studies):
        asked, known = books(random)
        (found,) = audit(asked, known, OPTIONS)["models"]
        low, high = found["prevalence_interval"]
        covered += low <= 0.3 <= high
        n = found["documents"]
        reach = 1.96 * np.sqrt(found["flagged"] * (1 - found["flagged"]) / n)
        naive += found["flagged_interval"][1] - found["flagged_interval"][0] > 2 * reach
    low, high = stats.binom.interval(0.999, studies, 0.95)
    assert low <= covered <= high
    assert naive > 0.95 * studies  # snippets of a book are alike


def test_fieller_s_interval_is_the_test_turned_round() -> None:
    asked, known = books(np.random.default_rng(1))
    (found,) = audit(asked, known, OPTIONS)["models"]
    # At either end the flagged share and what the rates predict differ by as many errors as at the other.
    sums = np.array([[each["flagged"]["count"], each["flagged"]["of"]] for each in found["groups"]], float).T

    def variance(flagged: Any, all_: Any) -> float:
        moved = flagged - all_ * flagged.sum() / all_.sum()
        return float((moved**2).sum() / all_.sum() ** 2 * len(all_) / (len(all_) - 1))

    flags, labels = known.columns[0].scores >= found["threshold"], known.labels == 1
    of_tpr, of_fpr = (variance(flags[side].astype(float), np.ones(side.sum())) for side in (labels, ~labels))
    errors = [
        (found["flagged"] - (1 - p) * found["fpr"] - p * found["tpr"])
        / np.sqrt(variance(*sums) + (1 - p) ** 2 * of_fpr + p**2 * of_tpr)
        for p in found["prevalence_interval"]
    ]
    assert errors[0] == pytest.approx(-errors[1])
    assert 1.96 < errors[0] < 2.1


def test_an_attack_that_tells_nothing_has_no_prevalence() -> None:
    random = np.random.default_rng(2)
    asked, known = books(random, shift=0.0)
    flipped = table_of([1, 0] * 50, {("loss", "big", "target"): np.tile([0.0, 1.0], 50)})
    (found,) = audit(asked, flipped, OPTIONS)["models"]
    assert (found["prevalence"], found["prevalence_interval"], found["reason"]) == (None, None, "no_better_than_chance")
    constant = table_of([1, 0] * 50, {("loss", "big", "target"): np.ones(100)})
    (none,) = audit(asked, constant, OPTIONS)["models"]
    assert (none["tpr"], none["fpr"], none["reason"]) == (0.0, 0.0, "no_better_than_chance")
    assert json.dumps(audit(asked, known, OPTIONS), allow_nan=False)


def test_documents_are_audited_or_left_out_for_a_reason() -> None:
    scores = np.ones(40)
    scores[:3] = np.nan
    names = [None if row in (0, 5) else f"b{row % 12}" for row in range(40)]
    asked = table_of([0] * 40, {("loss", "big", "target"): scores}, book=names)
    _, known = books(np.random.default_rng(3))
    counts = audit(asked, known, OPTIONS)["counts"]
    assert counts["left_out"] == {"no_value": 2, "undefined_score": 2}
    assert counts["audited"] + sum(counts["left_out"].values()) == counts["documents"] == 40
    with pytest.raises(InputError, match="no known member"):
        audit(asked, table_of([0] * 5, {("loss", "big", "target"): np.ones(5)}), OPTIONS)
    with pytest.raises(UsageError, match="--known: no column 'loss @ big'"):
        audit(asked, table_of([0, 1], {("loss", "small", "target"): np.ones(2)}), OPTIONS)


def test_the_command(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    for name, table in zip(("books", "known"), books(random), strict=True):
        header = ["id", "label", "book", "loss @ big", "loss @ old"]
        names = table.documents["book"].to_pylist() if "book" in table.documents.column_names else [""] * len(table.labels)
        rows = zip(table.labels.astype(int), names, table.columns[0].scores, strict=True)
        lines = [f"{row},{label},{book},{score},{random.normal()}" for row, (label, book, score) in enumerate(rows)]
        if name == "known":
            header.remove("book")
            lines = [line.replace(",,", ",") for line in lines]
        (tmp_path / f"{name}.csv").write_text(",".join(header) + "\n" + "\n".join(lines) + "\n")
    arguments = [str(tmp_path / "books.csv"), "--known", str(tmp_path / "known.csv"), "--group-by", "book", "--attack", "loss"]
    done = CliRunner().invoke(audit_groups.command, [*arguments, "--placebo", "old", "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    target, placebo = report["models"]
    assert (target["role"], placebo["role"]) == ("target", "placebo")
    low, high = target["prevalence_interval"]
    assert low <= 0.3 <= high
    assert abs(placebo["flagged"] - placebo["fpr"]) < 0.05
    shown = CliRunner().invoke(audit_groups.command, [*arguments, "--placebo", "old", "--top", "3"]).stdout
    assert "groups with the largest flagged shares (3 of 30)" in shown
    refused = CliRunner().invoke(audit_groups.command, arguments)
    assert isinstance(refused.exception, UsageError)
    assert "several target models" in str(refused.exception)
