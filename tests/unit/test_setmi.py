"""Set-level membership inference: aggregations against naive code, and what sets make of scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from ngramscope import provenance
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.cli import setmi as setmi_command
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.auc import auc
from ngramscope.evaluate.setlevel.aggregations import base
from ngramscope.evaluate.setlevel.aggregations.base import Known, aggregations, find_aggregation
from ngramscope.evaluate.setlevel.aggregations.vote import best_threshold
from ngramscope.evaluate.setlevel.curves import exchanged, regrouped, subsample
from ngramscope.evaluate.setlevel.documents import SetScores, by_set
from ngramscope.evaluate.setlevel.grouping import set_names
from ngramscope.evaluate.setlevel.measure import fold_of, mean_auc, parts, permutation_p
from ngramscope.evaluate.setlevel.setmi import SetMiOptions, setmi

Floats = np.typing.NDArray[np.float64]


def table_of(documents: dict[str, list[Any]], columns: dict[tuple[str, str, str], Floats]) -> ScoreTable:
    """A score table of document columns and of scores by attack, model and role."""
    import pyarrow as pa

    count = len(documents["label"])
    ids = {"id": [json.dumps(f"d{number}") for number in range(count)]}
    scored = [
        ScoreColumn(attack, model, role, np.asarray(scores, dtype=float), [None] * count)
        for (attack, model, role), scores in columns.items()
    ]
    stamp = provenance.stamp("score-table", version=SCORES_VERSION, settings={}, inputs=[])
    return ScoreTable(pa.table({**ids, **documents}), tuple(scored), stamp)


def months(random: np.random.Generator, sets: int = 12, size: int = 10, shift: float = 0.0, spread: float = 0.0) -> ScoreTable:
    """As many sets of members, then of non-members, each a month; a placebo that knows the months but not who was trained on."""
    label, date, words, scores, old = [], [], [], [], []
    for number in range(2 * sets):
        effect = random.normal(0, spread)
        for _ in range(size):
            label.append(int(number < sets))
            date.append(f"{2015 + number // 12}-{number % 12 + 1:02}-{random.integers(1, 28):02}")
            words.append(int(random.integers(50, 400)))
            scores.append(random.normal(effect + shift * label[-1]))
            old.append(random.normal(effect))
    documents = {"label": label, "date": date, "words": words}
    columns = {("loss", "big", "target"): np.array(scores), ("loss", "old", "placebo"): np.array(old)}
    return table_of(documents, columns)


def some_sets(
    random: np.random.Generator, members: int = 5, nonmembers: int = 6
) -> tuple[SetScores, np.typing.NDArray[np.bool_]]:
    labels = np.arange(members + nonmembers) < members
    return by_set([random.normal(0.5 * label, 1, random.integers(2, 9)).round(1) for label in labels]), labels


def test_every_aggregation_is_what_its_definition_says() -> None:
    random = np.random.default_rng(0)
    (sets, _), (others, labels) = some_sets(random), some_sets(random)
    known = Known.of(others, labels)
    groups = np.split(sets.scores, sets.offsets[1:-1])
    null = known.nonmembers

    def p(score: float) -> float:
        return float((np.sum(null > score) + np.sum(null == score) / 2 + 0.5) / (len(null) + 1))

    def deviate(scores: Floats) -> float:
        return float(stats.norm.isf(stats.combine_pvalues([p(each) for each in scores], "fisher").pvalue))

    threshold = best_threshold(known)
    expected = {
        "mean": [np.mean(each) for each in groups],
        "median": [np.median(each) for each in groups],
        "trimmed": [stats.trim_mean(each, 0.1) for each in groups],
        "vote": [np.mean(each >= threshold) for each in groups],
        "stouffer": [stats.combine_pvalues([p(s) for s in each], "stouffer").statistic for each in groups],
        "t": [stats.ttest_ind(each, null, equal_var=False).statistic for each in groups],
    }
    for name, values in expected.items():
        assert find_aggregation(name)(sets, known) == pytest.approx(np.array(values)), name
    # Wilson and Hilferty's cube root is good to two digits.
    assert find_aggregation("fisher")(sets, known) == pytest.approx(np.array([deviate(each) for each in groups]), abs=0.03)
    assert set(aggregations()) == {*expected, "fisher"}


def test_the_threshold_of_votes_has_the_best_balanced_accuracy() -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        known = Known(random.integers(0, 6, 7).astype(float), random.integers(0, 5, 9).astype(float))
        gains = {
            cut: np.mean(known.members >= cut) - np.mean(known.nonmembers >= cut)
            for cut in [*known.members.tolist(), *known.nonmembers.tolist()]
        }
        assert gains[best_threshold(known)] == pytest.approx(max(gains.values()))


def test_a_set_without_documents_or_of_one_is_undefined_where_it_has_to_be() -> None:
    sets = by_set([np.array([1.0, 2.0]), np.zeros(0), np.array([3.0])])
    known = Known(np.array([1.0, 2.0]), np.array([0.0, 0.5, 1.0]))
    for each in aggregations().values():
        found = each(sets, known)
        assert np.isnan(found[1])
        assert not np.isnan(found[0])
        assert np.isnan(found[2]) == (each.name == "t")


def test_an_aggregation_is_added_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "highest.py").write_text(
        "from ngramscope.evaluate.setlevel.aggregations.base import aggregation\n\n"
        '@aggregation("highest", summary="The highest score.", source="An example")\n'
        "def highest(sets):\n"
        "    return sets.each(lambda scores: float(scores.max()))\n"
    )
    monkeypatch.setenv("NGRAMSCOPE_AGGREGATIONS", str(tmp_path))
    try:
        table = months(np.random.default_rng(2), shift=1.0)
        (row,) = setmi(table, SetMiOptions(group_by="date:month", aggregations=("highest",), permutations=9))["rows"]
        by_hand = [scores.max() for scores in np.split(table.columns[0].scores, 24)]
        assert row["auc"] == pytest.approx(auc(by_hand, np.arange(24) < 12))
    finally:
        base._registry.pop("highest")
    monkeypatch.delenv("NGRAMSCOPE_AGGREGATIONS")
    with pytest.raises(UsageError, match="known: fisher, mean"):
        find_aggregation("highest")


def test_learning_never_sees_the_sets_it_is_evaluated_on() -> None:
    random = np.random.default_rng(3)
    sets, labels = some_sets(random, 12, 14)
    order = random.permutation(26)
    fold = fold_of(labels, order)
    for number, part in enumerate(parts(find_aggregation("fisher"), sets, labels, order)):
        here, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        known = Known.of(sets.take(others), labels[others])
        expected = find_aggregation("fisher")(sets.take(here), known)
        assert part.scores[0, here] == pytest.approx(expected)
        assert np.isnan(part.scores[0, others]).all()
        assert (labels[here].sum(), (~labels[here]).sum()) == (6, 7)


def test_the_auc_of_means_is_that_of_sets_not_of_documents() -> None:
    table = months(np.random.default_rng(4), sets=20, size=30, shift=0.4)
    report = setmi(table, SetMiOptions(group_by="date:month", aggregations=("mean",), permutations=99))
    (row,) = report["rows"]
    means = table.columns[0].scores.reshape(40, 30).mean(axis=1)
    assert row["auc"] == pytest.approx(auc(means, np.arange(40) < 20))
    assert row["document_auc"] == pytest.approx(auc(table.columns[0].scores, table.labels == 1))
    assert row["auc"] > row["document_auc"] + 0.1
    assert row["p"] == row["p_holm"] == 0.01
    (placebo,) = row["placebos"]
    assert placebo["difference"]["difference"] == pytest.approx(row["auc"] - placebo["auc"])
    assert report["counts"]["sets"] == {"members": 20, "nonmembers": 20}


def test_the_report_does_not_depend_on_the_order_of_the_documents() -> None:
    table = months(np.random.default_rng(5), shift=0.3)
    shuffled = np.random.default_rng(6).permutation(len(table.labels))
    columns = [ScoreColumn(each.attack, each.model, each.role, each.scores[shuffled], each.reasons) for each in table.columns]
    other = ScoreTable(table.documents.take(shuffled), tuple(columns), table.header)
    ways = ("mean", "stouffer")
    options = SetMiOptions(
        group_by="date:month", aggregations=ways, permutations=19, bootstrap=100, draws=3, curves=True, length="words"
    )
    assert setmi(table, options) == setmi(other, options)


def test_sets_of_both_labels_and_documents_without_a_set_are_counted() -> None:
    random = np.random.default_rng(7)
    names = [None if number == 0 else f"s{number % 24}" for number in range(240)]
    labels: list[int | None] = [int(number % 24 < 12) for number in range(240)]
    labels[12] = 1  # one document in set 12 of the other label
    labels[13] = None
    table = table_of({"label": labels, "source": names}, {("loss", "big", "target"): random.normal(size=240)})
    options = SetMiOptions(group_by="source", aggregations=("mean",), permutations=0)
    report = setmi(table, options)
    counts = report["counts"]
    assert counts["left_out"] == {"mixed_set": 10, "no_label": 1, "no_value": 1}
    assert counts["in_sets"] + sum(counts["left_out"].values()) == counts["documents"] == 240
    assert (report["rows"][0]["n1"], report["rows"][0]["n0"]) == (12, 11)
    pure = setmi(table, SetMiOptions(group_by="source", aggregations=("mean",), permutations=0, purity=0.9))
    assert pure["counts"]["left_out"] == {"no_label": 1, "no_value": 1}
    assert pure["rows"][0]["n0"] == 12
    with pytest.raises(InputError, match="no set of one label"):
        setmi(
            table_of({"label": [0, 1], "source": ["a", "a"]}, {("loss", "big", "target"): np.zeros(2)}),
            SetMiOptions(group_by="source"),
        )


def test_fewer_than_ten_sets_have_no_number_and_constant_scores_no_interval() -> None:
    few = months(np.random.default_rng(8), sets=9)
    for row in setmi(few, SetMiOptions(group_by="date:month", curves=True))["rows"]:
        assert (row["auc"], row["p"], row["curves"], row["reason"]) == (None, None, None, "fewer_than_10_sets")
    constant = table_of(
        {"label": [int(number < 60) for number in range(120)], "source": [f"s{number // 5}" for number in range(120)]},
        {("loss", "big", "target"): np.ones(120)},
    )
    rows = {row["aggregation"]: row for row in setmi(constant, SetMiOptions(group_by="source", permutations=19))["rows"]}
    assert (rows["mean"]["auc"], rows["mean"]["interval"], rows["mean"]["p"]) == (0.5, None, 1.0)
    assert rows["mean"]["interval_reason"] == "all_tied"
    assert rows["t"]["reason"] == "fewer_than_10_sets"  # nothing varies, so there is no t


def test_one_document_a_set_is_the_document_auc() -> None:
    random = np.random.default_rng(9)
    scores = random.normal(size=60) + (np.arange(60) < 30)
    table = table_of(
        {"label": [int(number < 30) for number in range(60)], "source": [f"s{number:02}" for number in range(60)]},
        {("loss", "big", "target"): scores},
    )
    rows = setmi(table, SetMiOptions(group_by="source", permutations=9, draws=3))["rows"]
    for row in rows:
        if row["aggregation"] in ("mean", "median", "trimmed"):
            assert row["auc"] == pytest.approx(auc(scores, np.arange(60) < 30))
            assert row["document_auc"] == pytest.approx(row["auc"])
            assert row["document_interval"] == pytest.approx(row["interval"])
        if row["aggregation"] == "t":
            assert row["reason"] == "fewer_than_10_sets"


def test_dates_become_periods() -> None:
    documents = {"label": [1, 1, 0, 0, 0], "date": ["2020-03-05", "2020-03-31T23:00:00Z", "2020", None, "soon"]}
    table = table_of(documents, {("loss", "big", "target"): np.zeros(5)})
    names, reasons = set_names(table, "date:month")
    assert names == ["2020-03", "2020-03", None, None, None]
    assert reasons == [None, None, "coarse_date", "no_date", "unknown_date_format"]
    assert set_names(table, "date:year")[0] == ["2020", "2020", "2020", None, None]
    assert set_names(table, "date")[0][2] == "2020"


def test_random_regrouping_takes_away_what_sets_have_in_common() -> None:
    random = np.random.default_rng(10)
    members = np.arange(50) < 25
    sets = by_set([random.normal(effect + 0.3 * (row == 0), 1, 20) for row in range(2) for effect in np.linspace(-2, 2, 25)])
    mean = find_aggregation("mean")
    order = np.arange(50)
    real = mean_auc(parts(mean, sets, members, order), members)
    # Months differ by far more than membership does; dealt out at random, they do not.
    assert regrouped(mean, sets, members, order, 20, random).mean() > real + 0.1


def test_draws_for_curves_keep_what_they_should() -> None:
    random = np.random.default_rng(11)
    sets, labels = some_sets(random, 6, 7)
    small = subsample(sets, 2, random)
    for number in range(13):
        own = sets.scores[sets.offsets[number] : sets.offsets[number + 1]].tolist()
        for each in small.scores[2 * number : 2 * number + 2].tolist():
            own.remove(each)  # drawn without replacement
    marked = SetScores(labels[sets.set_of].astype(float), sets.offsets)
    mixed = exchanged(marked, labels, 0.5, random)
    assert mixed.counts.tolist() == sets.counts.tolist()
    wanted = [np.round(count * 0.5) / count for count in sets.counts]
    assert np.abs(mixed.means() - labels) == pytest.approx(wanted)


def test_false_alarms_of_the_permutation_test() -> None:
    random = np.random.default_rng(12)
    for name in ("mean", "vote"):
        alarms = 0
        for _ in range(60):
            sets = by_set([random.standard_exponential(5) for _ in range(20)])
            labels = random.permutation(np.arange(20) < 10)
            alarms += permutation_p(find_aggregation(name), sets, labels, np.arange(20), 19, random) <= 0.05
        assert alarms <= stats.binom.ppf(0.999, 60, 0.05), name


def test_blind_scores_from_a_column_and_from_another_table(tmp_path: Path) -> None:
    table = months(np.random.default_rng(13), shift=0.5)
    blind = ScoreTable(
        table.documents,
        (ScoreColumn("words", "blind", "target", table.labels * 2.0, [None] * len(table.labels)),),
        table.header,
    )
    options = SetMiOptions(group_by="date:month", aggregations=("mean",), permutations=0, blind=("words",))
    (row,) = setmi(table, options, blind=blind)["rows"]
    found = {each["name"]: each for each in row["blind"]}
    assert list(found) == ["documents a set", "words", "words @ blind"]
    assert found["words @ blind"]["auc"] == 1.0
    lengths = np.array(table.documents["words"].to_pylist()).reshape(24, 10).mean(axis=1)
    assert found["words"]["auc"] == pytest.approx(auc(lengths, np.arange(24) < 12))
    assert any("not above blind 'words @ blind'" in each for each in setmi(table, options, blind=blind)["warnings"])
    with pytest.raises(UsageError, match="no column 'nothing'"):
        setmi(table, SetMiOptions(group_by="date:month", blind=("nothing",)))


def test_the_command(tmp_path: Path) -> None:
    lines = ["id,label,source,loss @ big,loss @ old"]
    random = np.random.default_rng(14)
    lines += [f"{row},{int(row < 60)},s{row // 5},{random.normal()},{random.normal()}" for row in range(120)]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    arguments = [str(tmp_path / "scores.csv"), "--group-by", "source", "--placebo", "old", "--permutations", "19"]
    runner = CliRunner()
    done = runner.invoke(setmi_command.command, [*arguments, "--json", "--out", str(tmp_path / "report.json")])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report == json.loads((tmp_path / "report.json").read_text())
    assert report["artefact"] == "set-mi"
    assert report["inputs"][0]["sha256"]
    assert {row["model"] for row in report["rows"]} == {"big"}
    shown = runner.invoke(setmi_command.command, [*arguments, "--aggregation", "mean", "--curves"]).stdout
    assert "12 sets of members, 12 of non-members" in shown
    assert "by share of the labels mixed" in shown
    listed = runner.invoke(setmi_command.command, ["--list"]).stdout
    assert "stouffer: " in listed
