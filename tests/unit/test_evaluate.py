"""Reports of whole score tables: comparisons, splits, strata, other sets, files."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from ngramscope.cli._run import run
from ngramscope.cli.evaluate import command
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.bootstrap import percentiles
from ngramscope.evaluate.calibration import kind
from ngramscope.evaluate.delong import LEAST_GROUPS, TOO_FEW
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.run import evaluate
from ngramscope.evaluate.setlevel.columns import choose
from ngramscope.evaluate.splits import families, seed_of
from ngramscope.evaluate.tables import read_csv, read_scores
from ngramscope.evaluate.text import to_text
from ngramscope.evaluate.writers import COLUMNS, check, write
from tests.scoring import score_table

QUICK = EvaluationOptions(bootstrap=100)
LABELS = np.repeat([1, 0], 100)
MEMBERS = LABELS == 1


def normal(seed: int, shift: float = 0.0, size: int = 200) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=size) + shift * (np.arange(size) < size // 2)


def full_table(**documents: Any) -> Any:
    base = normal(0, 0.8)
    return score_table(
        LABELS,
        {
            "loss": base,
            "zlib": base + normal(1),
            "noise": normal(2),
            "loss @ old @ placebo": normal(3),
            "zlib @ old @ placebo": normal(4),
        },
        **documents,
    )


def test_rows_are_compared_with_the_baseline_and_the_placebo() -> None:
    report = evaluate(full_table(), QUICK)
    assert [(row.attack, row.role) for row in report.rows] == [
        ("loss", "target"), ("zlib", "target"), ("noise", "target"), ("loss", "placebo"), ("zlib", "placebo"),
    ]  # fmt: skip
    loss, zlib = report.row("loss"), report.row("zlib")
    assert loss.auc == pytest.approx(roc_auc_score(LABELS, normal(0, 0.8)))
    assert loss.interval is not None
    assert loss.interval[0] < loss.auc < loss.interval[1]
    assert loss.to_baseline is None
    assert zlib.to_baseline is not None
    assert zlib.to_baseline.difference == pytest.approx((zlib.auc or 0) - loss.auc)
    assert zlib.to_baseline.p is not None
    assert zlib.to_baseline.p_holm is not None
    assert zlib.to_baseline.p_holm >= zlib.to_baseline.p
    (placebo,) = loss.placebos
    assert placebo.model == "old"
    assert placebo.difference.difference == pytest.approx(loss.auc - roc_auc_score(LABELS, normal(3)))
    assert not report.row("noise").placebos
    assert not report.row("loss", "old").placebos
    # Every attack of a model is compared with that model's own loss attack.
    other = report.row("zlib", "old")
    assert other.to_baseline is not None
    assert other.to_baseline.difference == pytest.approx(roc_auc_score(LABELS, normal(4)) - roc_auc_score(LABELS, normal(3)))


def test_attacks_are_chosen_by_name_with_their_placebos() -> None:
    table = score_table(
        LABELS,
        {
            "loss": normal(0), "loss @ n": normal(1), "loss @ old @ placebo": normal(2), "camia.loss-200": normal(3),
            "min-k(k=0.1)": np.full(200, np.nan), "zlib": normal(4), "zlib @ old @ placebo": normal(5),
            "lr@0": normal(6), "lr@1": normal(7),
        },
    )  # fmt: skip

    def of(*names: str) -> list[tuple[str, str]]:
        report = evaluate(table, EvaluationOptions(bootstrap=0, attacks=names))
        return [(each.attack, each.model) for each in report.rows]

    assert of("loss") == [("loss", "m"), ("loss", "n"), ("loss", "old")]
    assert of("loss @ n", "camia.loss-200") == [("loss", "n"), ("loss", "old"), ("camia.loss-200", "m")]
    assert of("lr") == of("lr @ m") == of("lr@0", "lr@1") == [("lr", "m")]
    with pytest.raises(
        UsageError, match=r"--attack: no attack 'min-k'; the table has: loss, camia\.loss-200, min-k\(k=0\.1\), zlib"
    ):
        of("loss", "min-k")
    # What is left out takes no documents from the others, and its name stands in the settings.
    assert choose(table, ("zlib @ m",))[0].placebos[0].name == "zlib @ old"
    whole = evaluate(table, EvaluationOptions(bootstrap=0))
    report = evaluate(table, EvaluationOptions(bootstrap=0, attacks=("zlib",)))
    assert report.row("zlib").auc == whole.row("zlib").auc
    assert report.header["settings"]["attacks"] == ("zlib",)
    assert any("no attack loss" in each and "--attack adds it" in each for each in report.warnings)


def test_many_attacks_without_numbers_are_one_short_warning() -> None:
    nothing = np.full(200, np.nan)
    report = evaluate(score_table(LABELS, {"loss": normal(0), **{f"camia.{number}": nothing for number in range(90)}}), QUICK)
    said = [each for each in report.warnings if each.startswith("no numbers for ")]
    assert said == ["no numbers for " + ", ".join(f"camia.{number} @ m" for number in range(5)) + " and 85 more (no_scores)"]


def test_reports_do_not_depend_on_the_order_of_documents() -> None:
    groups = [f"g{number // 4}" if number % 3 else None for number in range(200)]
    table = full_table(group=groups)
    order = np.random.default_rng(3).permutation(200)
    scores = {"loss": normal(0, 0.8)[order]}
    shuffled = score_table(LABELS[order], scores, id=[f'"d{row}"' for row in order], group=[groups[row] for row in order])
    plain = score_table(LABELS, {"loss": normal(0, 0.8)}, group=groups)
    assert evaluate(shuffled, QUICK).to_json() == evaluate(plain, QUICK).to_json()
    assert evaluate(table, QUICK).row("loss").auc == evaluate(plain, QUICK).row("loss").auc


def test_groups_make_intervals_wider() -> None:
    same = np.repeat(normal(5, 0.5, 40), 5)
    table = score_table(LABELS, {"loss": same}, group=[f"g{row // 5}" for row in range(200)], book=list(range(200)))
    grouped = evaluate(table, QUICK)
    alone = evaluate(table, EvaluationOptions(bootstrap=100, group=None))
    assert (grouped.counts["units"], alone.counts["units"]) == (40, None)
    wide, narrow = grouped.row("loss"), alone.row("loss")
    assert wide.standard_error is not None
    assert narrow.standard_error is not None
    assert wide.standard_error > 1.8 * narrow.standard_error
    assert wide.detectable is not None
    assert narrow.detectable is not None
    assert wide.detectable > narrow.detectable
    assert evaluate(table, EvaluationOptions(bootstrap=0, group="book")).counts["units"] == 200
    with pytest.raises(UsageError, match="--group: no column 'author'"):
        evaluate(table, EvaluationOptions(group="author"))


def of_groups(count: int, each: int = 20) -> Any:
    """So many groups a side, of 20 documents; the sides differ much."""
    random, size = np.random.default_rng(count), 2 * count * each
    number = np.arange(size) // each
    labels = number % 2
    common, overlap = random.normal(size=2 * count)[number] + 1.5 * labels, random.random(size)
    names = {"loss": 1.0, "zlib": 1.5, "loss @ old @ placebo": 2.0}
    return score_table(
        labels,
        {name: common + noise * random.normal(size=size) for name, noise in names.items()},
        group=[f"g{each}" for each in number], domain=["a" if each % 4 < 2 else "b" for each in number],
        overlap_7=list(overlap), overlap_loo_7=list(overlap),
    )  # fmt: skip


@pytest.mark.parametrize("count", [2, LEAST_GROUPS - 1])
def test_few_groups_have_numbers_without_intervals(count: int, tmp_path: Path) -> None:
    options = EvaluationOptions(bootstrap=100, by=("domain",), pairs=True, thresholds=(0.5, 1.0))
    report = evaluate(of_groups(count), options)
    for row in report.rows:
        assert row.auc is not None
        assert (row.interval, row.bootstrap_interval, row.standard_error, row.p, row.detectable) == (None,) * 5
        assert TOO_FEW in row.notes
        assert {(each.interval, each.unreliable) for each in row.tprs} == {(None, True)}
        assert {each.reason for each in row.tprs if each.tpr is not None} == {TOO_FEW}
    compared = [row.to_baseline for row in report.rows if row.to_baseline is not None]
    compared += [each.difference for row in report.rows for each in row.placebos] + [each.difference for each in report.pairs]
    compared += [each.less_raw for each in report.strata if each.less_raw is not None]
    (section,) = report.overlap
    compared += [each.less_raw for each in (*section.curves, *section.strata) if each.less_raw is not None]
    compared += [each.raw_less_adjusted for each in section.adjusted if each.raw_less_adjusted is not None]
    assert len(compared) > 30
    assert {(each.low, each.p, each.reason) for each in compared} == {(None, None, TOO_FEW)}
    numbers = [*report.strata, *section.curves, *section.strata, *section.adjusted]
    assert {(each.interval, each.reason) for each in numbers if each.auc is not None} == {(None, TOO_FEW)}
    assert {each.kind for each in section.adjusted if each.auc is not None} >= {"matched", "doubly_robust"}
    assert report.verdict is not None
    assert report.verdict.because == "too_few_groups"
    shown = to_text(report)
    assert "The attacks are not judged: with fewer than 10 groups on a side" in shown
    assert "fewer than 10 groups on a side: no intervals and no p-values" in shown
    write(tmp_path / "report.csv", report)
    with (tmp_path / "report.csv").open() as file:
        kept = [each for each in csv.DictReader(file) if each["section"] != "verdict"]
    assert not any(each["low"] or each["p"] for each in kept)
    assert any(each["note"] == TOO_FEW for each in kept if each["statistic"] == "auc_less_placebo")
    # The same documents, taken to stand alone, have all of it.
    alone = evaluate(of_groups(count), replace(options, group=None))
    assert all(row.interval is not None and row.p is not None for row in alone.rows)


def test_ten_groups_have_intervals_and_the_bootstrap_makes_up_for_their_number() -> None:
    report = evaluate(of_groups(LEAST_GROUPS), EvaluationOptions(bootstrap=400))
    row = report.row("loss")
    assert TOO_FEW not in row.notes
    for interval in (row.interval, row.bootstrap_interval):
        assert interval is not None
        assert interval[0] < (row.auc or 0.0) < interval[1]
    assert row.detectable is not None
    # Of nine degrees of freedom, by hand.
    drawn = np.random.default_rng(0).normal(size=100_000)
    assert percentiles(drawn, 0.95, 10)[1] == pytest.approx(2.262157 * math.sqrt(10 / 9), abs=0.04)
    assert percentiles(drawn, 0.95)[1] == pytest.approx(1.96, abs=0.03)


def test_notes_say_what_a_reader_has_to_know() -> None:
    table = score_table(
        LABELS, {"loss": normal(0), "same": np.ones(200), "apart": 1.0 * LABELS, "against": normal(1) - 2 * LABELS}
    )
    report = evaluate(table, QUICK)
    assert report.row("same").notes == ("all_tied",)
    assert (report.row("same").auc, report.row("same").interval, report.row("same").bootstrap_interval) == (0.5, None, None)
    assert "separated" in report.row("apart").notes
    assert report.row("against").notes == ("below_half",)
    against = report.row("against").auc
    assert against is not None
    assert against < 0.2
    assert [each.reason for each in report.row("loss").tprs] == ["fewer_nonmembers_than_1_in_fpr", None, None, None]
    assert [each.unreliable for each in report.row("loss").tprs] == [True, True, True, False]
    text = to_text(report)
    assert "AUC below .5; scores are never turned round" in text
    assert "every document has the same score" in text


def learned() -> tuple[Any, dict[int, NDArray[np.bool_]], dict[int, NDArray[np.float64]]]:
    kept = {seed: np.random.default_rng(seed).random(200) < 0.7 for seed in (0, 1, 2)}
    scores = {seed: np.where(kept[seed], normal(10 + seed, 1.0), np.nan) for seed in kept}
    columns = {"loss": normal(0, 0.8)} | {f"camia-lr@{seed}(c=1) @ m": values for seed, values in scores.items()}
    return score_table(LABELS, columns), kept, scores


def test_learned_attacks_are_means_over_splits_and_so_is_every_attack_beside_them() -> None:
    table, kept, scores = learned()
    report = evaluate(table, EvaluationOptions(bootstrap=100, decision_fpr=0.1))
    assert [(row.attack, row.split, row.seeds) for row in report.rows] == [
        ("loss", "all", ()), ("loss", "held-out", (0, 1, 2)), ("camia-lr(c=1)", "held-out", (0, 1, 2)),
    ]  # fmt: skip
    lr, loss = report.row("camia-lr(c=1)", split="held-out"), report.row("loss", split="held-out")
    assert lr.auc == pytest.approx(np.mean([roc_auc_score(LABELS[kept[s]], scores[s][kept[s]]) for s in kept]))
    assert loss.auc == pytest.approx(np.mean([roc_auc_score(LABELS[kept[s]], normal(0, 0.8)[kept[s]]) for s in kept]))
    assert lr.to_baseline is not None
    assert lr.auc is not None
    assert loss.auc is not None
    assert lr.to_baseline.difference == pytest.approx(lr.auc - loss.auc)
    assert lr.n1 == min((kept[s] & MEMBERS).sum() for s in kept)
    assert report.row("loss").n1 == 100  # what learned takes nothing from what did not
    (between,) = [each for each in report.stability if each.between == "seeds"]
    assert between.attack == "camia-lr(c=1)"
    assert "means over 3 splits" in to_text(report)


def test_learned_attacks_take_no_documents_from_comparisons_with_another_set() -> None:
    table, _, _ = learned()
    report = evaluate(table, QUICK, against=table, modified=table)
    assert (report.changes[0].attack, report.changes[0].first) == ("loss", report.row("loss").auc)
    assert {each.flagged.of for each in report.transfer} == {100}
    assert {(each.what, each.flagged.of) for each in report.modified} == {("modified", 200), ("originals", 100)}


def test_names_of_learned_attacks() -> None:
    assert seed_of("camia-lr@3") == ("camia-lr", 3)
    assert seed_of("camia-lr@12(pca=10).group") == ("camia-lr(pca=10).group", 12)
    assert seed_of("min-k(k=0.1)") == ("min-k(k=0.1)", None)
    # As ngramscope attack names them.
    assert seed_of("camia-lr(share=0.5, splits=2)@0") == ("camia-lr(share=0.5, splits=2)", 0)
    assert seed_of("camia-lr(procedure=camia-code).leaking@4") == ("camia-lr(procedure=camia-code).leaking", 4)
    assert seed_of("ref(form=ratio).model@step3") == ("ref(form=ratio).model@step3", None)
    plain, found = families([("loss", "m"), ("lr@1", "m"), ("lr@0", "m"), ("lr@0", "n")])
    assert plain == [0]
    assert [(each.model, each.seeds, each.columns) for each in found] == [
        ("m", (0, 1), ((0, 2), (1, 1))),
        ("n", (0,), ((0, 3),)),
    ]


def test_strata_of_a_column_and_what_is_left_within_them() -> None:
    length = np.where(np.random.default_rng(1).random(200) < np.where(MEMBERS, 0.8, 0.2), 2.0, 1.0)
    table = score_table(LABELS, {"loss": length + 0.01 * normal(1)}, length=length, domain=["a", None] * 100)
    report = evaluate(table, EvaluationOptions(bootstrap=0, by=("length", "domain")))
    rows = {(each.column, each.stratum): each for each in report.strata}
    assert set(rows) == {
        ("length", "1.0"), ("length", "2.0"), ("length", "pooled"), ("domain", "a"), ("domain", "no value"), ("domain", "pooled"),
    }  # fmt: skip
    raw, pooled = report.row("loss").auc, rows["length", "pooled"]
    assert raw is not None
    assert pooled.auc is not None
    assert pooled.interval is not None
    assert raw > 0.7
    assert pooled.interval[0] < 0.5 < pooled.interval[1]  # within a length nothing is left
    assert pooled.less_raw is not None
    assert pooled.less_raw.difference == pytest.approx(pooled.auc - raw)
    assert pooled.less_raw.high is not None
    assert pooled.less_raw.high < 0
    one, two = rows["length", "1.0"], rows["length", "2.0"]
    assert (one.n1 + two.n1, one.n0 + two.n0) == (100, 100)
    with pytest.raises(UsageError, match="--by: no column 'size'"):
        evaluate(table, EvaluationOptions(bootstrap=0, by=("size",)))


def test_a_stratum_with_one_side_is_null() -> None:
    table = score_table([1, 1, 0, 1], {"loss": [1, 2, 0, 3.0]}, domain=["a", "a", "a", "b"])
    report = evaluate(table, EvaluationOptions(bootstrap=0, by=("domain",)))
    assert [(each.stratum, each.auc, each.reason) for each in report.strata] == [
        ("a", 1.0, TOO_FEW), ("b", None, "one_side_only"), ("pooled", 1.0, TOO_FEW),
    ]  # fmt: skip


def test_thresholds_on_another_set_and_on_modified_members() -> None:
    here = score_table(LABELS, {"loss": normal(0, 1.0)})
    there = score_table(LABELS, {"loss": normal(1, 1.0) + 1.0}, id=[f'"e{row}"' for row in range(200)])
    edited = score_table([None] * 50, {"loss": normal(0, 1.0)[:50] - 0.5})
    report = evaluate(here, QUICK, against=there, modified=edited)
    ours = normal(0, 1.0)
    threshold = ours[ours > np.sort(ours[~MEMBERS])[-11]].min()  # the last score above the eleventh non-member
    natural = next(each for each in report.transfer if each.what == "nonmembers" and each.target_fpr == 0.1)
    assert natural.flagged.count == (normal(1, 1.0)[~MEMBERS] + 1 >= threshold).sum()
    assert natural.flagged.value is not None
    assert natural.flagged.value > 0.2  # of a set with higher scores the threshold flags far more than 10 %
    shares = {each.what: each.flagged.value for each in report.modified if each.target_fpr == 0.1}
    assert shares["originals"] == report.row("loss").tprs[3].tpr
    assert shares["modified"] == pytest.approx((ours[:50] - 0.5 >= threshold).mean())
    with pytest.raises(InputError, match="no attack on the same model in common"):
        evaluate(here, QUICK, against=score_table(LABELS, {"zlib": normal(0)}))


def test_calibrated_attacks_that_part_from_the_others_are_a_sign_of_shift() -> None:
    assert [kind(name) for name in ("loss", "min-k(k=0.1)", "min-k++", "ref.gpt2", "smaller-ref(form=ratio)", "zlib", "camia")] == [
        "calibration-free", "calibration-free", None, "calibrated", "calibrated", "calibrated", None,
    ]  # fmt: skip
    base, chosen = {"loss": normal(0, 0.2), "ref": normal(1, 0.2)}, np.r_[0:100, 150:200]
    raw = score_table(LABELS, base)

    def thresholded(moved: Mapping[str, float]) -> Any:
        scores = {name: (values - moved.get(name, 0.0) * ~MEMBERS)[chosen] for name, values in base.items()}
        return score_table(LABELS[chosen], scores, id=[f'"d{row}"' for row in chosen])

    shifted = evaluate(raw, QUICK, against=thresholded({"loss": 1.5}))
    divergence = shifted.changes[-1]
    assert divergence.attack is None
    assert divergence.sign_of_shift is True
    assert divergence.change.difference == pytest.approx(
        shifted.changes[0].change.difference - shifted.changes[1].change.difference
    )
    assert "sign of shift" in to_text(shifted)
    alike = evaluate(raw, QUICK, against=thresholded({"loss": 1.5, "ref": 1.5}))
    assert alike.changes[-1].sign_of_shift is False
    # The same documents with the same scores change nothing, and there is no error in that.
    same = evaluate(raw, QUICK, against=raw).changes[0].change
    assert (same.difference, same.low) == (0.0, None)


def test_pairs_and_decisions_between_models() -> None:
    table = score_table(LABELS, {"loss": normal(0, 1.0), "zlib": normal(1, 1.0), "loss @ n": normal(2, 1.0)})
    report = evaluate(table, EvaluationOptions(bootstrap=100, pairs=True))
    assert [(each.first, each.second) for each in report.pairs] == [
        ("loss @ m", "zlib @ m"), ("loss @ m", "loss @ n"), ("zlib @ m", "loss @ n"),
    ]  # fmt: skip
    pair = report.pairs[0]
    assert pair.both + pair.first_only + pair.second_only + pair.neither == 100
    assert pair.both + pair.first_only == round(100 * (report.row("loss").tprs[1].tpr or 0))
    kinds = {(each.attack, each.between) for each in report.stability}
    assert kinds == {("loss", "resamples"), ("zlib", "resamples"), ("loss", "models")}


def test_documents_without_a_label_and_without_scores_are_counted() -> None:
    labels = [1, 0, None, 1, 0, 1]
    table = score_table(
        labels, {"loss": [1, 0, 5, np.nan, 0.5, 2], "zlib": [1, 0, 5, 1, 0.2, np.inf]}, reasons={"loss": {3: "not-finite"}}
    )
    report = evaluate(table, EvaluationOptions(bootstrap=0))
    assert report.counts == {
        "documents": 6, "unlabelled": 1, "members": 3, "nonmembers": 2, "used": 3, "left_out": 2, "units": None,
    }  # fmt: skip
    assert (report.row("loss").n1, report.row("zlib").n1) == (1, 1)
    assert (report.row("loss").undefined, report.row("zlib").undefined) == ({"not-finite": 1}, {"infinite": 1})
    own = evaluate(table, EvaluationOptions(bootstrap=0, missing="per-attack"))
    assert (own.row("loss").n1, own.row("zlib").n1) == (2, 2)


def test_an_attack_that_takes_most_documents_from_the_others_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["label,loss,surp", *(f"{number % 2},{number},{number if number < 14 else 'nan'}" for number in range(40))]
    scores = tmp_path / "scores.csv"
    scores.write_text("\n".join(lines) + "\n")
    quick = ["evaluate", str(scores), "--bootstrap", "0"]
    assert run(quick) == 0
    said = capsys.readouterr().err
    assert "26 documents without a score of some attack" in said
    assert "most documents are left out: surp @ model has no score for 26 documents; --missing per-attack" in said
    assert run([*quick, "--missing", "per-attack"]) == run([*quick, "--attack", "loss"]) == 0
    assert "most documents are left out" not in capsys.readouterr().err


def test_files_hold_the_same_numbers(tmp_path: Path) -> None:
    table = full_table(domain=["a", "b"] * 100)
    report = evaluate(table, EvaluationOptions(bootstrap=100, by=("domain",), pairs=True), against=table)
    for ending in ("json", "csv", "parquet", "tex"):
        write(tmp_path / f"r.{ending}", report)
    whole = json.loads((tmp_path / "r.json").read_text())
    assert whole["artefact"] == "evaluation"
    assert whole["settings"]["seed"] == 0
    rows = pq.read_table(tmp_path / "r.parquet")
    assert json.loads(rows.schema.metadata[b"ngramscope"])["format_version"] == 1
    with (tmp_path / "r.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert json.loads((tmp_path / "r.csv.meta.json").read_text())["counts"]["members"] == 100
    assert len(lines) == len(rows)
    assert tuple(lines[0]) == COLUMNS
    for section in ("attacks", "pairs", "strata", "transfer", "changes", "stability"):
        assert any(line["section"] == section for line in lines)
    auc = next(line for line in lines if line["attack"] == "zlib" and line["statistic"] == "auc")
    assert float(auc["value"]) == whole["rows"][1]["auc"] == report.row("zlib").auc
    latex = (tmp_path / "r.tex").read_text()
    assert latex.count(r"\toprule") == latex.count(r"\bottomrule") == 1
    assert f"{report.row('zlib').auc:.3f}" in latex
    body = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert {line.count(" & ") for line in body} == {8}
    for name in ("r.txt", "nowhere/r.json", "."):
        with pytest.raises(UsageError, match="--out"):
            check(tmp_path / name)


def test_reports_have_no_nan(tmp_path: Path) -> None:
    table = score_table([1, 1, 1], {"loss": [1.0, 2, 3]})
    report = evaluate(table, EvaluationOptions(bootstrap=0, pairs=True), against=table)
    write(tmp_path / "r.json", report)
    write(tmp_path / "r.csv", report)
    assert report.row("loss").reason == "no_nonmember_scores"
    assert "nan" not in (tmp_path / "r.csv").read_text()
    assert math.isnan(report.changes[0].change.difference)
    assert report.to_json()["changes"][0]["change"]["difference"] is None
    with pytest.raises(InputError, match="no attack"):
        evaluate(score_table([1, 0], {}))


@pytest.mark.parametrize(
    "values",
    [{"bootstrap": 5}, {"bootstrap": -1}, {"seed": -1}, {"level": 1.0}, {"bins": 1}, {"missing": "x"}, {"fprs": (0.0,)}],
)
def test_impossible_options_are_refused_by_name(values: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--"):
        EvaluationOptions(**values)


def test_csv_files_of_other_tools(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("id,label,length,loss @ big,zlib\na,1,3,0.5,inf\nb,0,,nan,\nc,,2,1,2\n")
    table = read_csv(path, ["length"])
    assert [(each.attack, each.model) for each in table.columns] == [("loss", "big"), ("zlib", "model")]
    assert table.columns[0].reasons == [None, "nan", None]
    assert table.columns[1].reasons == [None, "missing", None]
    assert table.documents["length"].to_pylist() == [3.0, None, 2.0]
    for text, message in (
        ("label,loss\n1,x\n", "line 2: loss is 'x'"), ("label,loss\n2,1\n", "line 2: label '2'"), ("label,loss\n1\n", "line 2: 1 values"),
        ("loss\n1\n", "no column 'label'"), ("label,a,a\n", "twice"),
        ("label,a,\n", "line 1: column 3 has no name"), ("", "the first line has: nothing"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_csv(path)


def test_scores_without_an_attack_are_named(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("id,label\na,1\n")
    score_table([1, 0], {}).save(tmp_path / "s.parquet")
    for name in ("s.csv", "s.parquet"):
        with pytest.raises(InputError, match=f"{name}: no attack in it"):
            read_scores(tmp_path / name)


def test_what_cannot_be_is_said_before_the_resamples() -> None:
    def never(_: Any) -> None:
        raise AssertionError("resampled")

    table = score_table(LABELS, {"loss": normal(0)}, overlap_7=normal(1), domain=["a"] * 200)
    other = score_table(LABELS, {"zlib": normal(0)})
    for more, message in (
        ({"by": ("colour",)}, "--by: no column 'colour'"),
        ({"group": "author"}, "--group: no column 'author'"),
        ({"overlap": (5,)}, "--overlap 5: the table has no column"),
    ):
        with pytest.raises(UsageError, match=message):
            evaluate(table, EvaluationOptions(**more), progress=never)
    for compared in ({"against": other}, {"modified": other}):
        with pytest.raises(InputError, match="no attack on the same model in common"):
            evaluate(table, progress=never, **compared)


def test_the_command_writes_what_the_library_finds(tmp_path: Path) -> None:
    full_table().save(tmp_path / "scores.parquet")
    out = tmp_path / "r.json"
    arguments = [str(tmp_path / "scores.parquet"), "--bootstrap", "100", "--fpr", "0.1", "--tpr-rule", "lt", "--out", str(out)]
    done = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert done.exception is None
    assert done.return_value == 0
    assert done.stdout.startswith("100 members, 100 non-members")
    report = json.loads(out.read_text())
    assert report["settings"]["fprs"] == [0.1]
    assert report["inputs"][0]["option"] == "scores"
    again = CliRunner().invoke(command, [*arguments[:-2], "--json"], standalone_mode=False)
    assert json.loads(again.stdout) == report
    refused = CliRunner().invoke(command, [arguments[0], "--out", str(tmp_path / "scores.parquet")], standalone_mode=False)
    assert "is one of the inputs" in str(refused.exception)
