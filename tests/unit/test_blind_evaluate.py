"""Blind baselines in an evaluation: whose texts, beside which attacks, in which files; and the command ``blind``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from ngramscope.attacks.run import run_attacks
from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.base import BlindInputs
from ngramscope.blind.texts import NoTextsError, texts_of
from ngramscope.cli.blind import command as blind_command
from ngramscope.cli.evaluate import command as evaluate_command
from ngramscope.cli.setmi import command as setmi_command
from ngramscope.errors import UsageError
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.report import Report
from ngramscope.evaluate.run import evaluate
from ngramscope.evaluate.text import to_text
from ngramscope.evaluate.writers import write
from ngramscope.models.documents import read_set
from ngramscope.models.store import ScoreStore
from ngramscope.sets.records import RecordSource
from tests.conftest import write_jsonl
from tests.score_stores import Pass, write_store
from tests.scoring import score_table

SIZE = 120
LABELS = np.arange(SIZE) % 2
OPTIONS = EvaluationOptions(bootstrap=0, folds=3, permutations=19)


def texts(told: bool, size: int = SIZE) -> list[str]:
    random = np.random.default_rng(0)
    drawn = [" ".join(f"w{each}" for each in random.integers(0, 60, 20)) for _ in range(size)]
    return [f"{text} {'old' if row % 2 else 'new'}" if told else text for row, text in enumerate(drawn)]


def scores(shift: float, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=SIZE) + shift * LABELS


def table(**more: Any) -> ScoreTable:
    columns = {"loss": scores(1.0, 1), "noise": scores(0.0, 2), "loss @ old @ placebo": scores(0.0, 3), **more}
    return score_table(LABELS, columns)


@pytest.fixture(scope="module")
def report() -> Report:
    return evaluate(table(), OPTIONS, texts=BlindInputs(texts(told=False)))


def test_every_attack_stands_beside_the_ceiling_and_the_placebo(report: Report) -> None:
    assert report.blind is not None
    assert report.blind.ceiling is not None
    assert report.blind.reason is None
    loss, noise, placebo = report.blind.attacks
    assert [(each.attack, each.model, each.role) for each in (loss, noise, placebo)] == [
        ("loss", "m", "target"), ("noise", "m", "target"), ("loss", "old", "placebo"),
    ]  # fmt: skip
    assert loss.auc is not None
    assert report.row("loss").auc == pytest.approx(loss.auc, abs=0.03)  # within folds, and over all pairs
    assert loss.ceiling == pytest.approx(report.blind.ceiling.auc)
    assert loss.less_ceiling is not None
    assert loss.less_ceiling.difference == pytest.approx(loss.auc - (loss.ceiling or 0.0))
    assert loss.less_ceiling.low is not None
    assert loss.less_ceiling.low > 0
    assert (loss.gain.gain or 0.0) > 0.1
    assert loss.gain.p is not None
    assert loss.gain_p_holm == pytest.approx(min(1.0, 2 * loss.gain.p))  # of two attacks on targets
    assert noise.gain.p is not None
    assert noise.gain.p > 0.05
    assert loss.placebos == report.row("loss").placebos
    assert placebo.gain_p_holm is None
    assert not any("text alone" in each for each in report.warnings)


def test_a_report_has_it_in_every_format(report: Report, tmp_path: Path) -> None:
    shown = to_text(report)
    assert "text alone, without any model" in shown
    assert "blind ceiling" in shown
    assert report.blind is not None
    assert report.blind.ceiling is not None
    for name in ("r.json", "r.csv", "r.parquet", "r.tex"):
        write(tmp_path / name, report)
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["blind"]["ceiling"]["auc"] == report.blind.ceiling.auc
    assert found["blind"]["attacks"][0]["gain"]["gain"] == report.blind.attacks[0].gain.gain
    assert found["settings"]["permutations"] == 19
    with (tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    (ceiling,) = [each for each in rows if (each["section"], each["other"]) == ("blind", "ceiling")]
    assert float(ceiling["value"]) == report.blind.ceiling.auc
    (gain,) = [each for each in rows if each["statistic"] == "gain" and each["attack"] == "noise"]
    assert float(gain["p"]) == report.blind.attacks[1].gain.p
    assert pq.read_table(tmp_path / "r.parquet").num_rows == len(rows)
    assert "Blind ceiling" in (tmp_path / "r.tex").read_text()


def test_text_that_tells_as_much_as_attacks_is_warned_of() -> None:
    report = evaluate(table(told=scores(12.0, 4)), OPTIONS, texts=BlindInputs(texts(told=True)))
    (warning,) = [each for each in report.warnings if "text alone" in each]
    assert "blind ceiling has an AUC of" in warning
    assert "need not be membership" in warning
    # An AUC of 1 on both sides is no excess either.
    assert "no attack is shown to exceed it" in warning


def test_texts_that_are_not_there_are_said_loudly(tmp_path: Path) -> None:
    report = evaluate(table(), OPTIONS, no_texts="nobody knows")
    assert report.blind is not None
    assert (report.blind.ceiling, report.blind.attacks, report.blind.reason) == (None, (), "nobody knows")
    assert report.warnings[0].startswith("no blind baselines")
    assert "blind ceiling, - ceiling, gain over text): nobody knows" in report.warnings[0]
    assert "text alone: not known. nobody knows" in to_text(report)
    write(tmp_path / "r.tex", report)
    assert "% No blind baselines: nobody knows" in (tmp_path / "r.tex").read_text()
    few = evaluate(score_table([1, 1, 0], {"loss": [1, 2, 3]}), OPTIONS, texts=BlindInputs(["a", "b", "c"]))
    assert few.blind is not None
    assert few.blind.reason == "too_few_members"
    assert "too_few_members" in few.warnings[0]


def test_the_order_of_documents_has_no_say(report: Report) -> None:
    order = np.random.default_rng(9).permutation(SIZE)
    whole = table()
    columns = {each.name + (" @ placebo" if each.role == "placebo" else ""): each.scores[order] for each in whole.columns}
    shuffled = score_table(LABELS[order], columns, id=[f'"d{row}"' for row in order])
    mine = texts(told=False)
    again = evaluate(shuffled, OPTIONS, texts=BlindInputs([mine[row] for row in order]))
    assert again.blind == report.blind


def test_learned_attacks_are_set_beside_it_where_they_did_not_learn() -> None:
    held = {
        f"learned@{seed}": np.where(np.arange(SIZE) % 4 // 2 == seed, np.nan, scores(1.5, 5 + seed)) for seed in (0, 1)
    }  # fmt: skip
    report = evaluate(table(**held), OPTIONS, texts=BlindInputs(texts(told=False)))
    assert report.blind is not None
    found = [(each.attack, each.split, each.n1) for each in report.blind.attacks]
    assert found == [("loss", "all", 60), ("noise", "all", 60), ("loss", "all", 60), ("learned", "held-out", 30)]
    assert (report.blind.attacks[-1].gain.gain or 0.0) > 0.1


def records(told: bool = False) -> list[dict[str, Any]]:
    return [{"id": f"d{row}", "text": text, "label": int(LABELS[row])} for row, text in enumerate(texts(told))]


def scored(folder: Path, there: Path) -> ScoreTable:
    """What attacks on a store of this set give."""
    values = [[float(each)] for each in scores(0.0, 1)]
    write_store(folder / "store", [Pass({"log_prob": values})], labels=LABELS.tolist(), id=[f'"d{row}"' for row in range(SIZE)])
    header = json.loads((folder / "store" / "store.json").read_text())
    known = read_set(RecordSource((there,)))
    header |= {"set": {"texts_sha256": known.texts_sha256()}, "inputs": known.report["sources"]}
    (folder / "store" / "store.json").write_text(json.dumps(header))
    found = run_attacks(ScoreStore(folder / "store"), ["loss"])
    found.save(folder / "scores.parquet")
    return ScoreTable.open(folder / "scores.parquet")


def test_the_set_that_was_scored_is_found_by_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = write_jsonl(tmp_path / "set.jsonl", records())
    found = scored(tmp_path, there)
    inputs, sources = texts_of(found, tmp_path / "scores.parquet")
    assert list(inputs.texts) == texts(told=False)
    assert sources[0]["name"] == "set.jsonl"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(NoTextsError, match=r"set\.jsonl, which was scored, is neither here nor beside .*--set"):
        texts_of(found, elsewhere / "scores.parquet")
    monkeypatch.chdir(tmp_path)
    assert len(texts_of(found, elsewhere / "scores.parquet")[0]) == SIZE
    write_jsonl(there, records(told=True))
    with pytest.raises(NoTextsError, match=r"is not the file that was scored .*--set"):
        texts_of(found, tmp_path / "scores.parquet")
    with pytest.raises(UsageError, match=r"--set: .*not the texts that were scored"):
        texts_of(found, tmp_path / "scores.parquet", [there])
    renamed = write_jsonl(tmp_path / "renamed.jsonl", records())
    assert list(texts_of(found, tmp_path / "scores.parquet", [renamed])[0].texts) == texts(told=False)


def test_scores_from_elsewhere_find_their_texts_by_id_or_bring_them(tmp_path: Path) -> None:
    plain, place = table(), tmp_path / "scores.csv"
    with pytest.raises(NoTextsError, match="do not say what texts they are of"):
        texts_of(plain, place)
    there = write_jsonl(tmp_path / "set.jsonl", records()[::-1])
    assert list(texts_of(plain, place, [there])[0].texts) == texts(told=False)
    twice = write_jsonl(tmp_path / "twice.jsonl", [*records(), records()[5]])
    with pytest.raises(UsageError, match='2 texts with the id "d5" of row 5'):
        texts_of(plain, place, [twice])
    less = write_jsonl(tmp_path / "less.jsonl", records()[1:])
    with pytest.raises(UsageError, match='no text with the id "d0" of row 0'):
        texts_of(plain, place, [less])
    assert texts_of(score_table([1, 0], {"loss": [1, 2]}, text=["a", None]), place)[0].texts == ["a", ""]


def test_evaluate_takes_the_set_on_the_command_line(tmp_path: Path) -> None:
    there = write_jsonl(tmp_path / "set.jsonl", records(told=True))
    lines = ["id,label,loss", *(f"d{row},{LABELS[row]},{value}" for row, value in enumerate(scores(0.0, 1)))]
    (tmp_path / "scores.csv").write_text("\n".join(lines))
    arguments = [str(tmp_path / "scores.csv"), "--bootstrap", "0", "--folds", "3", "--permutations", "19"]
    without = CliRunner().invoke(evaluate_command, arguments, standalone_mode=False)
    assert "warning: no blind baselines" in without.stderr
    found = CliRunner().invoke(evaluate_command, [*arguments, "--set", str(there), "--json"], standalone_mode=False)
    result = json.loads(found.stdout)
    assert result["blind"]["ceiling"]["auc"] > 0.95
    assert {each["option"] for each in result["inputs"]} == {"scores", "set"}


def test_blind_is_a_command_of_its_own(tmp_path: Path) -> None:
    there, out = write_jsonl(tmp_path / "set.jsonl", records(told=True)), tmp_path / "blind.json"
    arguments = [str(there), "--folds", "3", "--permutations", "19", "--seed", "4"]
    found = CliRunner().invoke(blind_command, [*arguments, "--out", str(out)], standalone_mode=False)
    assert found.return_value == 0
    assert "60 members, 60 non-members" in found.stdout
    assert "text alone distinguishes these two sets" in found.stdout
    written = json.loads(out.read_text())
    assert written["artefact"] == "blind"
    assert written["settings"]["seed"] == 4
    assert written["ceiling"]["p"] == 0.05
    as_json = CliRunner().invoke(blind_command, [*arguments, "--json"], standalone_mode=False)
    assert json.loads(as_json.stdout) == written


def test_blind_scores_of_documents_go_on_to_the_commands_on_sets(tmp_path: Path) -> None:
    """Sets whose texts tell their side, and a loss that sees nothing: from a file of another tool, whose ids are plain."""
    rows = [{**each, "month": f"m{row % 24}"} for row, each in enumerate(records(told=True))]
    there = write_jsonl(tmp_path / "set.jsonl", rows)
    lines = ["id,label,month,loss", *(f"d{row},{LABELS[row]},m{row % 24},{value}" for row, value in enumerate(scores(0.0, 1)))]
    (tmp_path / "scores.csv").write_text("\n".join(lines))
    runner = CliRunner()
    divided, whole = tmp_path / "divided.parquet", tmp_path / "whole.parquet"
    for out, groups in ((divided, []), (whole, ["--group-key", "month"])):
        arguments = [str(there), "--folds", "3", "--permutations", "0", *groups, "--scores", str(out), "-q"]
        done = runner.invoke(blind_command, arguments, standalone_mode=False)
        assert done.return_value == 0, done.output
    arguments = [str(tmp_path / "scores.csv"), "--group-by", "month", "--aggregation", "mean", "--permutations", "0", "--json"]
    reports = {}
    for blind in (divided, whole):
        done = runner.invoke(setmi_command, [*arguments, "--blind-scores", str(blind)], standalone_mode=False)
        reports[blind] = json.loads(done.stdout)
    (row,) = reports[whole]["rows"]
    found = {each["name"]: each["auc"] for each in row["blind"]}
    assert found["ceiling @ no model"] == 1.0
    assert found["overlap @ no model"] is None
    assert {each["option"] for each in reports[whole]["inputs"]} == {"scores", "blind-scores"}
    assert any("sets in several folds of the blind scores" in each for each in reports[divided]["warnings"])
    assert not any("several folds" in each for each in reports[whole]["warnings"])
    # Beside attacks they are no evidence of membership, however well they tell the sides apart.
    arguments = [
        str(whole),
        "--set",
        str(there),
        "--bootstrap",
        "0",
        "--folds",
        "3",
        "--permutations",
        "0",
        "--by",
        "blind_fold",
    ]
    done = runner.invoke(evaluate_command, [*arguments, "--attack", "ceiling", "--json"], standalone_mode=False)
    evaluated = json.loads(done.stdout)
    assert evaluated["rows"][0]["role"] == "blind"
    assert evaluated["rows"][0]["auc"] > 0.95
    assert evaluated["verdict"]["because"] == "no_attack"
    refused = runner.invoke(blind_command, [str(there), "--scores", "blind.csv"], standalone_mode=False)
    assert "--scores: blind.csv: not the name of a Parquet file" in str(refused.exception)
