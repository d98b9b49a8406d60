"""Jumps at a cutoff: against least squares and rdrobust, and simulated coverage and false alarms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy import stats

from ngramscope import provenance
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.cli import rdd as rdd_command
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.discontinuity.density import density_test
from ngramscope.evaluate.discontinuity.local import bandwidth, jump, smoother
from ngramscope.evaluate.discontinuity.run import RddOptions, rdd

Floats = np.typing.NDArray[np.float64]


def curve(random: np.random.Generator, n: int = 400, effect: float = 0.4, bend: float = 1e-5) -> tuple[Floats, Floats]:
    """Days from the cutoff and scores, which are `effect` higher before it."""
    x = np.round(random.uniform(-180, 180, n), 0)
    return x, 0.002 * x + bend * x**2 - effect * (x >= 0) + random.normal(0, 0.5, n)


def table_of(x: Floats, scores: dict[tuple[str, str], Floats], **documents: Any) -> ScoreTable:
    columns = tuple(ScoreColumn("loss", model, role, values, [None] * len(x)) for (model, role), values in scores.items())
    ids = [json.dumps(number) for number in range(len(x))]
    base = {"id": ids, "label": (x < 0).astype(int), "distance_days": x, **documents}
    return ScoreTable(pa.table(base), columns, provenance.stamp("score-table", version=SCORES_VERSION, settings={}, inputs=[]))


def test_jump_and_errors_are_those_of_rdrobust() -> None:
    # rdrobust 2.1.1: h = b = 90, triangular kernel, p = 1, q = 2, vce = hc3; its jump is after less before.
    x, y = curve(np.random.default_rng(7))
    found = jump(x, y, 90.0)
    assert (found.n_before, found.n_after) == (82, 99)
    assert found.jump == pytest.approx(0.397957, abs=1e-6)
    assert found.standard_error == pytest.approx(0.155829, abs=1e-6)
    assert found.interval == pytest.approx((0.092537, 0.703377), abs=1e-6)
    assert found.robust_jump == pytest.approx(0.406113, abs=1e-6)
    assert found.robust_interval == pytest.approx((-0.041687, 0.853913), abs=1e-6)


def test_the_jump_is_that_of_weighted_least_squares() -> None:
    random = np.random.default_rng(1)
    x, y = curve(random)
    for degree in (1, 2):
        found = smoother(x, 70.0, degree)
        assert found is not None
        ends = []
        for side in (x < 0, x >= 0):
            kernel = np.sqrt(np.maximum(0, 1 - np.abs(x[side]) / 70))
            ends.append(np.polyfit(x[side], y[side], degree, w=kernel)[-1])
        assert found.estimate(y)[0] == pytest.approx(ends[0] - ends[1])
    # Every document a unit of its own: as without units, but for the number of units less one.
    plain, alone = found.estimate(y)[1], found.estimate(y, np.arange(len(x)))[1]
    used = int((np.abs(x) < 70).sum())
    assert alone == pytest.approx(plain * np.sqrt(used / (used - 1)))


def test_copies_of_documents_do_not_make_the_error_smaller() -> None:
    random = np.random.default_rng(2)
    x, y = curve(random)
    once = jump(x, y, 90.0)
    copied = jump(np.repeat(x, 5), np.repeat(y, 5), 90.0, np.repeat(np.arange(len(x)), 5))
    assert copied.jump == pytest.approx(once.jump)
    assert copied.standard_error == pytest.approx(once.standard_error, rel=0.05)
    assert jump(np.repeat(x, 5), np.repeat(y, 5), 90.0).standard_error < 0.5 * (once.standard_error or 0)


def test_the_bandwidth_knows_no_units_and_is_near_the_best() -> None:
    random = np.random.default_rng(3)
    x, y = curve(random, 1000)
    assert bandwidth(x / 365, y) == pytest.approx((bandwidth(x, y) or 0) / 365)
    assert bandwidth(x, 10 * y + 3) == pytest.approx(bandwidth(x, y))
    # Mean squared errors over a grid of bandwidths, of a curve that bends on one side.
    grid, errors, chosen = np.array([20.0, 40.0, 60.0, 90.0, 130.0, 180.0]), np.zeros(6), []
    for _ in range(60):
        x = random.uniform(-180, 180, 1000)
        y = np.where(x < 0, 3 * np.sin(x / 40), 0.0) + random.normal(0, 0.5, 1000)
        errors += [(jump(x, y, h).jump or 0) ** 2 for h in grid.tolist()]
        own = bandwidth(x, y)
        chosen.append((jump(x, y, own).jump or 0) ** 2)
    assert np.sum(chosen) < 1.5 * errors.min()
    assert errors.max() > 5 * errors.min()


def test_intervals_cover_and_density_tests_do_not_cry_wolf() -> None:
    random = np.random.default_rng(4)
    covered, alarms, studies = 0, 0, 250
    for _ in range(studies):
        x, y = curve(random, 300, bend=3e-5)
        found = jump(x, y, bandwidth(x, y))
        assert found.robust_interval is not None
        covered += found.robust_interval[0] <= 0.4 <= found.robust_interval[1]
        p = density_test(x).p
        alarms += p is not None and p <= 0.05
    # The full simulation is a benchmark; here only what 250 studies can tell.
    low, high = stats.binom.interval(0.999, studies, 0.95)
    assert low <= covered <= high
    assert alarms <= stats.binom.ppf(0.999, studies, 0.05)


def test_the_density_test_sees_documents_that_are_missing() -> None:
    random = np.random.default_rng(5)
    x = np.floor(random.uniform(-180, 180, 3000))
    kept = (x < 0) | (random.random(3000) < 0.5)
    found = density_test(x[kept])
    assert found.log_ratio == pytest.approx(np.log(2), abs=3 * (found.standard_error or 0))
    assert (found.p or 1) < 0.001
    assert found.bin == round(found.bin or 0)  # whole days
    assert density_test(np.arange(-10.0, 10.0)).reason == "too_few_documents"


def test_the_report_finds_the_jump_and_not_where_there_is_none() -> None:
    random = np.random.default_rng(6)
    x, y = curve(random, 2000)
    old = 0.5 * random.normal(size=2000) + 0.002 * x
    overlap = np.clip(0.2 + random.normal(0, 0.05, 2000), 0, 1)
    table = table_of(x, {("big", "target"): y, ("old", "placebo"): old}, overlap_7=overlap)
    report = rdd(table)
    attack, share = report["rows"]
    assert (attack["kind"], share["kind"], share["name"]) == ("attack", "overlap", "overlap_7")
    assert attack["at_cutoff"]["p"] == attack["at_cutoff"]["p_holm"] < 0.01
    assert attack["at_cutoff"]["bandwidth"] == pytest.approx(bandwidth(x, y))
    (placebo,) = attack["placebos"]
    assert placebo["difference"]["jump"] == pytest.approx(attack["at_cutoff"]["jump"] - placebo["at_cutoff"]["jump"])
    assert placebo["at_cutoff"]["bandwidth"] == attack["at_cutoff"]["bandwidth"]
    assert {each["side"] for each in attack["placebo_cutoffs"]} == {"before", "after"}
    assert len(attack["placebo_cutoffs"]) == 10
    assert [each["bandwidth"] / attack["at_cutoff"]["bandwidth"] for each in attack["sweep"]] == pytest.approx(
        [0.5, 0.75, 1.5, 2]
    )
    shuffled = random.permutation(2000)
    columns = tuple(ScoreColumn(c.attack, c.model, c.role, c.scores[shuffled], c.reasons) for c in table.columns)
    again = rdd(ScoreTable(table.documents.take(shuffled), columns, table.header))
    assert again["rows"][0]["at_cutoff"]["jump"] == pytest.approx(attack["at_cutoff"]["jump"])
    jumping = table_of(x, {("big", "target"): y}, overlap_7=overlap + 0.1 * (x < 0))
    assert any("overlap_7 jumps" in each for each in rdd(jumping)["warnings"])


def test_placebo_cutoffs_only_see_one_side() -> None:
    random = np.random.default_rng(7)
    x, y = curve(random, 1000)
    other = np.where(x >= 0, y + 100 * random.normal(size=1000), y)
    before = [
        each for each in rdd(table_of(x, {("big", "target"): y}))["rows"][0]["placebo_cutoffs"] if each["side"] == "before"
    ]
    again = [
        each for each in rdd(table_of(x, {("big", "target"): other}))["rows"][0]["placebo_cutoffs"] if each["side"] == "before"
    ]
    assert before == again


def test_corner_cases_are_null_with_a_reason() -> None:
    x = np.concatenate([np.arange(-100.0, 0), np.arange(0.0, 100)])
    flat = rdd(table_of(x, {("big", "target"): np.ones(200)}))["rows"][0]["at_cutoff"]
    assert (flat["jump"], flat["p"], flat["reason"]) == (0.0, None, "constant")
    one_side = rdd(table_of(x - 200, {("big", "target"): x}))
    assert one_side["rows"][0]["at_cutoff"]["reason"] == "too_few_documents"
    assert one_side["density"]["reason"] == "too_few_documents"
    exact = rdd(table_of(x, {("big", "target"): x}))["rows"][0]["at_cutoff"]
    assert exact["jump"] == pytest.approx(0, abs=1e-8)
    assert json.dumps(exact, allow_nan=False)
    few = rdd(table_of(x, {("big", "target"): np.where(np.abs(x) < 90, np.nan, x)}))["rows"][0]
    assert few["undefined"] == 179
    assert few["at_cutoff"]["reason"] == "too_few_documents"


def test_odd_distances_widths_and_columns_are_no_obstacle() -> None:
    x, y = curve(np.random.default_rng(8), 300)
    far = np.where(x > x.max() / 2, np.inf, x)
    report = rdd(table_of(far, {("big", "target"): y}))
    assert report["counts"]["left_out"]["no_distance"] == np.isinf(far).sum()
    wide = rdd(table_of(x, {("big", "target"): y}), RddOptions(bandwidths=(1e300, 1e6)))["rows"][0]
    assert wide["at_cutoff"]["jump"] == pytest.approx(wide["sweep"][0]["jump"], rel=1e-3)
    why = pa.array(["too_short", *[None] * 299])
    table = table_of(x, {("big", "target"): y}, overlap_7=y, overlap_null_7=why)
    names = {each["name"] for each in rdd(table)["rows"]}
    assert "overlap_7" in names
    assert "overlap_null_7" not in names


def test_documents_are_used_or_left_out_for_a_reason(tmp_path: Path) -> None:
    x, y = curve(np.random.default_rng(8), 300)
    days = np.datetime64("2023-03-01") + x.astype(int)
    cutoff = np.datetime64("2023-03-01")
    rows = [f"{number},{int(days[number] < cutoff)},{days[number]},{y[number]}" for number in range(300)]
    rows += ["a,1,2023,0", "b,0,2022-05-05,0", "c,,2023-04-04,0", "d,1,,0"]
    (tmp_path / "scores.csv").write_text("id,label,date,loss @ big\n" + "\n".join(rows) + "\n")
    arguments = [str(tmp_path / "scores.csv"), "--cutoff", "2023-03-01", "--json", "--out", str(tmp_path / "rdd.json")]
    done = CliRunner().invoke(rdd_command.command, arguments)
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report == json.loads((tmp_path / "rdd.json").read_text())
    counts = report["counts"]
    assert counts["left_out"] == {"no_label": 1, "no_distance": 2, "label_contradicts_distance": 1}
    assert counts["before"] + counts["after"] + sum(counts["left_out"].values()) == counts["documents"] == 304
    assert report["rows"][0]["at_cutoff"]["jump"] == pytest.approx(jump(x, y, bandwidth(x, y)).jump)
    shown = CliRunner().invoke(rdd_command.command, [*arguments[:3], "--bandwidth", "60", "--bandwidth", "30"]).stdout
    assert "60.0 d" in shown
    assert "30.0 d" in shown


def test_what_cannot_be_is_refused() -> None:
    x, y = curve(np.random.default_rng(9), 100)
    table = table_of(x, {("big", "target"): y})
    with pytest.raises(UsageError, match="no column 'age'"):
        rdd(table, RddOptions(covariates=("age",)))
    with pytest.raises(UsageError, match="--bandwidth"):
        RddOptions(bandwidths=(0.0,))
    without = ScoreTable(table.documents.drop_columns("distance_days"), table.columns, table.header)
    with pytest.raises(UsageError, match="sets rdd"):
        rdd(without)
    with pytest.raises(InputError, match="go together"):
        rdd(table_of(np.full(3, np.nan), {("big", "target"): np.zeros(3)}))
