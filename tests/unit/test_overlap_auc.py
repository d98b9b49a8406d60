"""AUC against overlap: both curves, strata, matched, weighted and doubly robust, against naive oracles and known truths."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from ngramscope.cli.evaluate import command
from ngramscope.errors import UsageError
from ngramscope.evaluate.associated import KINDS, adjusted
from ngramscope.evaluate.curves import BOTH, NONMEMBERS, POOLED, AucAt, curves, strata_of_overlap
from ngramscope.evaluate.delong import Part, standard_error
from ngramscope.evaluate.lines import BLIND, LEAST, Line, read
from ngramscope.evaluate.matched import match, matched, pair_error
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.overlap_section import OVERLAP_ALONE
from ngramscope.evaluate.overlaps import NO_LOO, NO_OVERLAP, DocumentOverlap
from ngramscope.evaluate.report import Report
from ngramscope.evaluate.run import evaluate
from ngramscope.evaluate.text import to_text
from ngramscope.evaluate.weighted import doubly_robust, weigh, weighted
from ngramscope.evaluate.writers import write
from ngramscope.models.documents import document_table
from ngramscope.report.auc_curves import auc_curves
from ngramscope.report.looks import looks
from ngramscope.sets.base import Candidate
from tests.scoring import score_table

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
QUICK = EvaluationOptions(bootstrap=0)


def one(scores: Floats) -> Line:
    return Line("loss", "m", "target", "all", (Part(scores[None]),))


def shares(seed: int, n: int = 60) -> tuple[Floats, Floats, Mask]:
    """Overlap and scores of n members and n non-members with ties, in no order."""
    random = np.random.default_rng(seed)
    members = random.permutation(np.arange(2 * n) < n)
    overlap = np.round(random.beta(2 + members, 4), 2)
    return overlap, np.round(random.normal(size=2 * n) + 2 * overlap, 1), members


def a_table(seed: int = 0, n: int = 60, **documents: Any) -> Any:
    overlap, scores, members = shares(seed, n)
    noise = np.random.default_rng(seed + 1).normal(size=2 * n)
    known = {"overlap_7": np.where(members, 1.0, overlap).tolist(), "overlap_loo_7": overlap.tolist()}
    columns = {"loss": scores, "zlib": scores + noise, "loss @ old @ placebo": noise}
    return score_table(members.astype(int), columns, **{**known, **documents})


def point(report: Report, restricted: str, most: float, attack: str = "loss", model: str = "m") -> AucAt:
    (found,) = [
        each
        for each in report.overlap[0].curves
        if (each.attack, each.model, each.restricted, each.at_most) == (attack, model, restricted, most)
    ]
    return found


# Curves and strata


def test_both_curves_are_aucs_of_the_documents_that_are_left() -> None:
    overlap, scores, members = shares(0)
    plain = np.where(members, 1.0, overlap)
    overlap[[0, 5]] = plain[[0, 5]] = np.nan
    found = list(curves([one(scores)], members, None, DocumentOverlap(7, plain, overlap, None), (0.35, 0.6, 1.0)))
    assert [(each.restricted, each.at_most) for each in found] == [(s, t) for s in (NONMEMBERS, BOTH) for t in (0.35, 0.6, 1.0)]
    for each in found:
        assert each.at_most is not None
        kept = overlap <= each.at_most
        if each.restricted == NONMEMBERS:
            kept = members | kept  # members stay, also one without an overlap
        assert (each.n1, each.n0) == ((kept & members).sum(), (kept & ~members).sum())
        assert each.auc == pytest.approx(roc_auc_score(members[kept], scores[kept]))
        assert each.interval is not None
        assert each.interval[0] < each.auc < each.interval[1]
        assert each.less_raw is not None
        assert each.less_raw.difference == pytest.approx(each.auc - roc_auc_score(members, scores))


def test_the_interval_at_a_threshold_is_delong_s() -> None:
    overlap, scores, members = shares(1)
    (each,) = curves([one(scores)], members, None, DocumentOverlap(7, overlap, None, NO_LOO), (0.4,))
    kept = members | (overlap <= 0.4)
    ours, others = scores[kept & members], scores[kept & ~members]
    above = (ours[:, None] > others) + 0.5 * (ours[:, None] == others)
    variance = above.mean(axis=1).var(ddof=1) / len(ours) + above.mean(axis=0).var(ddof=1) / len(others)
    assert each.auc is not None
    assert each.interval is not None
    logits = [np.log(bound / (1 - bound)) for bound in each.interval]
    assert (logits[1] - logits[0]) / 2 == pytest.approx(1.959964 * np.sqrt(variance) / (each.auc * (1 - each.auc)), rel=1e-5)


def test_too_few_documents_are_null_with_the_reason() -> None:
    overlap, scores, members = shares(2)
    overlap = 0.1 + overlap
    both = list(curves([one(scores)], members, None, DocumentOverlap(7, overlap, overlap, None), (0.05, 1.5)))
    assert [each.reason for each in both] == ["too_few_nonmembers", None, "too_few_members", None]
    assert (both[0].n1, both[0].n0, both[0].auc, both[0].interval) == (60, 0, None, None)
    # Sixty documents, but of two groups only: a number, and no interval.
    unit = np.where(members, np.arange(len(members)), np.arange(len(members)) % 2 + len(members))
    (grouped,) = curves([one(scores)], members, unit, DocumentOverlap(7, overlap, None, NO_LOO), (1.5,))
    assert (grouped.n0, grouped.reason, grouped.interval) == (60, "too_few_units", None)
    assert grouped.auc == both[1].auc
    assert LEAST == 10


def test_a_line_of_several_parts_is_their_mean_and_empty_ones_do_not_count() -> None:
    _, scores, members = shares(3)
    number = np.arange(len(members)) % 3
    line = Line("x", "m", BLIND, "all", tuple(Part(np.where(number == each, scores, np.nan)[None]) for each in range(3)))
    found = read(line, members)
    assert found is not None
    parts = [roc_auc_score(members[number == each], scores[number == each]) for each in range(3)]
    assert found.auc == pytest.approx(np.mean(parts))
    kept = (number < 2) | members  # the third part has no non-member left
    found = read(line, members, kept)
    assert found is not None
    assert found.auc == pytest.approx(np.mean(parts[:2]))
    assert not found.moved[number == 2].any()
    # What learns anew gives parts for the documents that are asked for.
    asked: list[Mask] = []
    again = replace(line, refit=lambda mask: asked.append(mask) or [Part(-scores[None])])
    found = read(again, members, kept)
    assert found is not None
    assert found.auc == pytest.approx(roc_auc_score(members[kept], -scores[kept]))
    assert (asked[0] == kept).all()


def test_strata_hold_equally_many_and_pooled_pairs_are_within_them() -> None:
    overlap, scores, members = shares(4)
    found = list(strata_of_overlap([one(scores)], members, None, overlap, 3))
    assert [each.stratum for each in found][-1] == POOLED
    edges = np.quantile(overlap, [1 / 3, 2 / 3], method="lower")
    number = np.searchsorted(edges, overlap, "right")
    wins, pairs = 0.0, 0
    for stratum in range(3):
        ours, others = scores[members & (number == stratum)], scores[~members & (number == stratum)]
        won = ((ours[:, None] > others) + 0.5 * (ours[:, None] == others)).sum()
        assert found[stratum].auc == pytest.approx(won / (len(ours) * len(others)))
        wins, pairs = wins + won, pairs + len(ours) * len(others)
    assert found[-1].auc == pytest.approx(wins / pairs)
    assert (found[-1].n1, found[-1].n0) == (60, 60)


# Which overlap


def test_without_leave_one_out_overlap_only_the_first_curve_is_given_and_why(tmp_path: Path) -> None:
    report = evaluate(a_table(overlap_loo_7=[None] * 120), QUICK)
    (section,) = report.overlap
    assert (section.reason, section.strata, section.adjusted) == (NO_LOO, (), ())
    assert {each.restricted for each in section.curves} == {NONMEMBERS}
    assert section.counts == {"members": 60, "members_without": 60, "nonmembers": 60, "nonmembers_without": 0}
    assert OVERLAP_ALONE not in {each.attack for each in section.curves}
    assert "members have no leave-one-out overlap" in to_text(report)
    auc_curves(tmp_path / "curves.svg", report.overlap)
    assert "<!-- no leave one out overlap of members -->" in (tmp_path / "curves.svg").read_text()


def test_a_nonmember_without_a_document_of_its_own_has_its_plain_overlap_and_a_member_never() -> None:
    overlap, _, members = shares(0)
    loo: list[float | None] = np.where(members, overlap, np.nan).tolist()
    loo = [None if each != each else each for each in loo]
    gone = int(np.flatnonzero(members)[0])
    loo[gone] = None
    whole, part = evaluate(a_table(), QUICK), evaluate(a_table(overlap_loo_7=loo), QUICK)
    assert part.overlap[0].counts["members_without"] == 1
    assert point(part, BOTH, 1.0).n1 == point(whole, BOTH, 1.0).n1 - 1
    assert point(part, BOTH, 0.4).n0 == point(whole, BOTH, 0.4).n0


def test_plain_overlap_of_members_has_to_be_asked_for() -> None:
    table = a_table(overlap_loo_7=[None] * 120)
    report = evaluate(table, replace(QUICK, member_overlap="plain"))
    assert report.overlap[0].reason is None
    assert point(report, BOTH, 0.5).reason == "too_few_members"  # theirs is 1
    assert {each.reason for each in report.overlap[0].adjusted if each.kind != "matched"} == {"no_common_support"}
    assert {each.reason for each in report.overlap[0].adjusted if each.kind == "matched"} == {"too_few_members"}


def test_null_and_constant_overlaps() -> None:
    nothing = evaluate(a_table(overlap_7=[None] * 120, overlap_loo_7=[None] * 120), QUICK).overlap[0]
    assert nothing.reason == NO_OVERLAP
    assert {each.reason for each in nothing.curves} == {"too_few_nonmembers"}
    report = evaluate(a_table(overlap_7=[0.3] * 120, overlap_loo_7=[0.3] * 120), QUICK)
    raw = report.row("loss").auc
    for kind, row in zip(KINDS, report.overlap[0].adjusted, strict=False):
        assert (row.kind, row.reason) == (kind, None)
        assert row.auc == pytest.approx(raw, abs=1e-9)
    assert [each.stratum for each in report.overlap[0].strata[:2]] == ["0.3", POOLED]
    assert [point(report, BOTH, most).auc for most in (0.25, 0.3)] == [None, pytest.approx(raw)]


def test_lengths_of_ngrams() -> None:
    both = {"overlap_13": [0.1] * 120, "overlap_3": [0.2] * 120}
    assert [each.n for each in evaluate(a_table(**both), QUICK).overlap] == [7]
    assert [each.n for each in evaluate(a_table(**both), replace(QUICK, overlap=(13, 3))).overlap] == [13, 3]
    without = score_table([1, 0] * 30, {"loss": np.arange(60.0)}, **{name: each[:60] for name, each in both.items()})
    assert [each.n for each in evaluate(without, QUICK).overlap] == [3, 13]
    assert not evaluate(score_table([1, 0], {"loss": [1, 2]}), QUICK).overlap
    with pytest.raises(UsageError, match=r"--overlap 5: the table has no column overlap_5 \(lengths there: 7\)"):
        evaluate(a_table(), replace(QUICK, overlap=(5,)))
    with pytest.raises(UsageError, match="column overlap_7 of the table holds something else"):
        evaluate(a_table(overlap_7=["many"] * 120), QUICK)


def test_the_tables_of_a_store_have_leave_one_out_overlap() -> None:
    rows = [
        Candidate(1, "a", 1, overlap={"7": 1.0}, extra={"overlap_loo": {"7": 0.25}}),
        Candidate(2, "b", 0, overlap={"7": 0.5}),
    ]
    assert document_table(rows)["overlap_loo_7"].to_pylist() == [0.25, None]
    assert "overlap_loo_7" not in document_table(rows[1:]).column_names


# Matched, weighted, doubly robust


def study(seed: int, n: int, effect: float, random: np.random.Generator | None = None) -> tuple[Floats, Floats, Mask]:
    """Scores that depend on overlap, of which members have more, and by `effect` on membership."""
    random = random or np.random.default_rng(seed)
    overlap = np.concatenate([random.beta(3, 6, n), random.beta(2, 6, n)])
    members = np.arange(2 * n) < n
    return overlap, 4 * overlap + random.normal(size=2 * n) + effect * members, members


def truth(effect: float) -> tuple[float, float]:
    """AUC against all non-members, and against such as overlap as members do."""
    random = np.random.default_rng(99)
    ours = np.sort(4 * random.beta(3, 6, 200_000) + random.normal(size=200_000) + effect)
    return tuple(  # type: ignore[return-value]
        float(1 - np.searchsorted(ours, 4 * random.beta(a, 6, 200_000) + random.normal(size=200_000)).mean() / len(ours))
        for a in (2, 3)
    )


@pytest.mark.parametrize("effect", [0.0, 0.5])
def test_adjusted_aucs_cover_the_truth_and_raw_ones_do_not(effect: float) -> None:
    raw, known = truth(effect)
    assert raw > known + 0.05
    assert known == pytest.approx(0.5, abs=0.005) or effect
    studies, held, raw_held, below = 20, dict.fromkeys(KINDS, 0), 0, dict.fromkeys(KINDS, 0)
    for seed in range(studies):
        overlap, scores, members = study(seed, 250, effect)
        for row in adjusted([one(scores)], members, None, overlap, seed=seed):
            assert row.interval is not None
            assert row.raw_interval is not None
            assert row.raw_less_adjusted is not None
            held[row.kind] += row.interval[0] <= known <= row.interval[1]
            below[row.kind] += (row.raw_less_adjusted.low or 0) > 0
            raw_held += row.kind == "weighted" and row.raw_interval[0] <= known <= row.raw_interval[1]
    assert min(held.values()) >= 17, held
    assert min(below.values()) >= 17, below
    assert raw_held <= 6


def test_doubly_robust_is_right_if_weights_or_regression_are() -> None:
    _, known = truth(0.5)
    overlap, scores, members = study(0, 4000, 0.5)
    line = one(scores)
    right = weigh(overlap, members, np.ones_like(members))
    assert right is not None
    equal = replace(right, weights=(~members).astype(np.float64))
    blunt = replace(right, terms=right.terms[:, :1])  # a regression on nothing
    for wrong in (equal, blunt):
        found = doubly_robust(line, members, wrong)
        assert found is not None
        assert found.auc == pytest.approx(known, abs=0.015)
    unweighted = weighted(line, members, equal)
    assert unweighted is not None
    assert unweighted.auc == pytest.approx(roc_auc_score(members, scores))
    assert unweighted.auc > known + 0.05


def test_weighted_aucs_are_those_of_all_pairs() -> None:
    overlap, scores, members = shares(6)
    found = weigh(overlap, members, np.ones_like(members), trim=0.9)
    assert found is not None
    ours, others, weights = scores[members], scores[~members], found.weights[~members]
    above = (ours[:, None] > others) + 0.5 * (ours[:, None] == others)
    reading = weighted(one(scores), members, found)
    assert reading is not None
    assert reading.auc == pytest.approx((above * weights).sum() / (len(ours) * weights.sum()))
    assert found.trimmed.sum() == pytest.approx(6, abs=2)
    assert found.trimmed_share == found.trimmed[~members].mean()
    assert found.effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert weights.mean() == pytest.approx(1)
    # The regression's prediction at members' overlaps, and the weighted mean of what it misses.
    terms, placed = found.terms, above.mean(axis=0)
    fitted = np.linalg.lstsq(terms[~members], placed, rcond=None)[0]
    predicted = np.clip(terms @ fitted, 0, 1)
    expected = predicted[members].mean() + np.average(placed - predicted[~members], weights=weights)
    robust = doubly_robust(one(scores), members, found)
    assert robust is not None
    assert robust.auc == pytest.approx(expected)


def test_standard_errors_are_those_of_refitted_resamples() -> None:
    overlap, scores, members = study(1, 200, 0.3)
    n, random = 200, np.random.default_rng(5)

    def numbers(rows: Any) -> list[float]:
        x, s, m = overlap[rows], scores[rows], members[rows]
        found = weigh(x, m, np.ones_like(m))
        assert found is not None
        readings = [read(one(s), m), weighted(one(s), m, found), doubly_robust(one(s), m, found)]
        if rows is all_rows:
            kept.extend(readings)
        return [each.auc for each in readings if each is not None]

    kept: list[Any] = []
    all_rows = np.arange(2 * n)
    numbers(all_rows)
    drawn = np.array([numbers(np.concatenate([random.integers(0, n, n), n + random.integers(0, n, n)])) for _ in range(100)])
    raw, by_weight, robust = kept
    for place, reading in ((1, by_weight), (2, robust)):
        assert reading.error(members, None) == pytest.approx(drawn[:, place].std(), rel=0.25)
        change = raw.less(reading, members, None)[1]
        assert change == pytest.approx((drawn[:, 0] - drawn[:, place]).std(), rel=0.25)
        assert abs(reading.moved[members].sum()) < 1e-9


def test_pairs_are_close_and_retained_members_are_compared_with_all_and_with_partners() -> None:
    overlap, scores, members = shares(7)
    there = np.arange(len(members)) > 3
    found = match(overlap, members, there, caliper=0.1, seed=3)
    assert not (found.kept & ~there).any()
    assert (found.kept & members).sum() == (found.kept & ~members).sum() == found.pairs
    sd = np.sqrt((overlap[there & members].var(ddof=1) + overlap[there & ~members].var(ddof=1)) / 2)
    for number in np.unique(found.pair[found.kept]):
        first, second = np.flatnonzero((found.pair == number) & found.kept)
        assert members[first] != members[second]
        assert abs(overlap[first] - overlap[second]) <= 0.1 * sd + 1e-12
    raw, pairs = matched(one(scores), members, found)[0]
    rows = there & (found.kept | ~members)
    assert raw.auc == pytest.approx(roc_auc_score(members[rows], scores[rows]))
    assert pairs.auc == pytest.approx(roc_auc_score(members[found.kept], scores[found.kept]))
    assert len(found.orders) == len(matched(one(scores), members, found)) == 5
    assert match(overlap, members, there, caliper=0.1, seed=3).pairs == found.pairs


def test_errors_of_pairs_and_groups() -> None:
    overlap, scores, members = shares(8)
    found = match(overlap, members, np.ones_like(members))
    raw, pairs = matched(one(scores), members, found)[0]
    moved, used = raw.moved - pairs.moved, raw.used | pairs.used
    alone = pair_error(moved, used, members, None, found)
    assert alone == pytest.approx(standard_error(moved, used, members, found.pair))
    # Groups that are the pairs say nothing new; those of single documents neither.
    assert pair_error(moved, used, members, found.pair, found) == pytest.approx(alone)
    assert pair_error(moved, used, members, np.arange(len(members)), found) == pytest.approx(alone)
    groups = np.random.default_rng(0).permutation(len(members)) // 12
    variances = [
        standard_error(moved, used, members, np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1)) ** 2
        for keys in (found.pair[None], groups[None], np.stack([found.pair, groups]))
    ]
    expected = variances[0] + variances[1] - variances[2]
    assert expected > 0
    assert pair_error(moved, used, members, groups, found) ** 2 == pytest.approx(expected)


def test_a_share_of_the_excess_needs_a_raw_auc_clearly_above_a_half() -> None:
    overlap, scores, members = study(3, 200, 0.0)
    scores = scores - 0.3 * members
    weak = list(adjusted([one(scores)], members, None, overlap))
    assert {each.share for each in weak} == {None}
    assert {each.share_reason for each in weak} == {"raw_auc_not_clearly_above_0.55"}
    strong = list(adjusted([one(scores + 1.3 * members)], members, None, overlap))
    for each in strong:
        assert each.raw is not None
        assert each.auc is not None
        assert each.share_interval is not None
        assert each.share == pytest.approx((each.raw - each.auc) / (each.raw - 0.5))
        assert each.share_interval[0] < each.share < each.share_interval[1]
        assert each.share_reason is None
    facts = strong[1].facts
    assert list(facts) == ["effective_sample_size", "trimmed_share", "propensity_overlap", "members_beyond"]
    assert 10 < (facts["effective_sample_size"] or 0) < 200
    assert 0.5 < (facts["propensity_overlap"] or 0) < 1


# Reports


def test_the_section_does_not_depend_on_the_order_of_documents() -> None:
    overlap, scores, members = shares(0)
    order = np.random.default_rng(4).permutation(120)

    def report(rows: Any) -> Any:
        columns = {"overlap_7": overlap[rows].tolist(), "overlap_loo_7": overlap[rows].tolist()}
        ids = [f'"d{row}"' for row in rows.tolist()]
        return evaluate(score_table(members[rows].astype(int), {"loss": scores[rows]}, id=ids, **columns), QUICK).to_json()

    assert report(order) == report(np.arange(120))


def test_every_line_is_overlaid_and_overlap_alone_shows_what_matching_has_left() -> None:
    report = evaluate(a_table(n=100), replace(QUICK, thresholds=(0.5, 1.0)))
    (section,) = report.overlap
    lines = [("loss", "m"), ("zlib", "m"), ("loss", "old"), (OVERLAP_ALONE, "no model")]
    for restricted in (NONMEMBERS, BOTH):
        assert [(e.attack, e.model) for e in section.curves if e.restricted == restricted and e.at_most == 1.0] == lines
    alone = [each for each in section.adjusted if each.attack == OVERLAP_ALONE]
    assert (alone[0].raw or 0) > 0.6
    assert all(abs((each.auc or 0) - 0.5) < 0.03 for each in alone)


def test_learned_attacks_are_read_on_the_documents_held_out() -> None:
    overlap, scores, members = shares(0)
    kept = {seed: np.random.default_rng(seed).random(120) < 0.6 for seed in (0, 1)}
    learned = {f"lr@{seed} @ m": np.where(kept[seed], scores, np.nan) for seed in kept}
    columns = {"overlap_7": overlap.tolist(), "overlap_loo_7": overlap.tolist()}
    report = evaluate(score_table(members.astype(int), {"loss": scores, **learned}, **columns), QUICK)
    found = point(report, BOTH, 0.5, "lr")
    assert found.split == "held-out"
    aucs = [roc_auc_score(members[kept[s] & (overlap <= 0.5)], scores[kept[s] & (overlap <= 0.5)]) for s in kept]
    assert found.auc == pytest.approx(np.mean(aucs))


def test_files_have_the_section(tmp_path: Path) -> None:
    report = evaluate(a_table(), QUICK)
    for ending in (".json", ".csv", ".tex", ".parquet"):
        write(tmp_path / f"report{ending}", report)
    found = json.loads((tmp_path / "report.json").read_text())["overlap"][0]
    assert (found["n"], len(found["curves"]), len(found["adjusted"])) == (7, 4 * 2 * 20, 4 * 3)
    with (tmp_path / "report.csv").open(newline="") as file:
        rows = [each for each in csv.DictReader(file) if each["section"] in ("overlap-7", "adjusted-7")]
    assert {each["statistic"] for each in rows} >= {"auc", "auc_less_raw", "raw_less_adjusted", "effective_sample_size"}
    at = next(e for e in rows if (e["stratum"], e["other"], e["attack"]) == ("at most 0.5", BOTH, "zlib"))
    assert float(at["value"]) == pytest.approx(point(report, BOTH, 0.5, "zlib").auc)
    tex = (tmp_path / "report.tex").read_text()
    assert tex.count("\\begin{tabular}") == 2
    assert "doubly robust" in tex
    assert "explained" not in (text := to_text(report))
    assert "associated with overlap" in text


def test_figures_are_the_same_each_time_and_attacks_look_alike(tmp_path: Path) -> None:
    report = evaluate(a_table(), replace(QUICK, thresholds=(0.2, 0.5, 1.0)))
    for name in ("one.svg", "two.svg", "one.pdf", "one.png"):
        auc_curves(tmp_path / name, report.overlap)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "one.pdf").read_bytes().startswith(b"%PDF")
    many = looks([f"attack-{number}" for number in range(30)])
    assert len(set(many.values())) == 30
    assert looks(["loss", "zlib", "ref"])["zlib"] == looks(["zlib"])["zlib"]


def test_the_command_draws_and_refuses(tmp_path: Path) -> None:
    overlap, scores, members = shares(0)
    path = tmp_path / "scores.csv"
    lines = [f"{int(m)},{1 if m else x},{x},{s}" for x, s, m in zip(overlap, scores, members, strict=True)]
    path.write_text("\n".join(["label,overlap_7,overlap_loo_7,loss", *lines]))
    figure = tmp_path / "curves.svg"
    options = ["--bootstrap", "0", "--overlap-at", "0.5", "--overlap-at", "1", "--figure", str(figure), "--json", "--quiet"]
    done = CliRunner().invoke(command, [str(path), *options], catch_exceptions=False)
    assert done.exit_code == 0
    (section,) = json.loads(done.stdout)["overlap"]
    assert sorted({each["at_most"] for each in section["curves"]}) == [0.5, 1.0]
    assert figure.read_text().startswith("<?xml")
    path.write_text("label,loss\n1,2\n0,1\n")
    with pytest.raises(UsageError, match="has no overlap"):
        CliRunner().invoke(command, [str(path), "--figure", str(figure)], catch_exceptions=False, standalone_mode=False)
    for bad in (["--overlap-at", "2"], ["--caliper", "0"], ["--overlap", "0"]):
        with pytest.raises(UsageError, match=bad[0]):
            CliRunner().invoke(command, [str(path), *bad], catch_exceptions=False, standalone_mode=False)
