"""Attacks on a store as one table: what is computed, skipped, undefined, and how a reader adds one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ngramscope.attacks.base import MissingPassError, attacks, find_attack
from ngramscope.attacks.compat import PRESETS, presets, switches
from ngramscope.attacks.run import run_attacks
from ngramscope.attacks.table import ScoreTable
from ngramscope.cli._run import run as run_here
from ngramscope.corpus.tokens import TokenCounts
from ngramscope.errors import InputError, UsageError
from ngramscope.models.store import ScoreStore
from tests.conftest import ROOT
from tests.score_stores import Pass, write_store

TEXTS = [[-1.0, -2.0, -4.0], [-0.5, -3.0], [], [-2.0, -2.0, -1.0, -7.0], [-1.0, -1.5]]


def full(texts: list[list[float]] = TEXTS, **facts: Any) -> Pass:
    """A plain pass with all statistics."""
    columns = {
        "token_id": [[token % 5 for token in range(len(each))] for each in texts],
        "log_prob": texts,
        "mu": [[-1.5] * len(each) for each in texts],
        "sigma": [[1.0] * len(each) for each in texts],
        "rank": [[1] * len(each) for each in texts],
        "top1_log_prob": [[-0.1] * len(each) for each in texts],
        "logsumexp": [[3.0] * len(each) for each in texts],
    }
    return Pass(columns, **facts)


def brief(texts: list[list[float]], kind: str, **facts: Any) -> Pass:
    return Pass(
        {"token_id": [[token % 5 for token in range(len(each))] for each in texts], "log_prob": texts}, kind=kind, **facts
    )


@pytest.fixture
def store(tmp_path: Path) -> ScoreStore:
    louder = [[value - 0.5 for value in each] for each in TEXTS]
    neighbours = [
        brief([[-3.0], [-4.0], [-5.0]], "neighbours", rows=[0, 0, 4], label=f"{role}-model", role=role)
        for role in ("target", "placebo")
    ]
    return write_store(
        tmp_path / "store",
        [
            full(), full(louder, role="placebo", label="placebo-model"), full(louder, role="reference", label="ref-model"),
            brief(louder, "prefix", shot_rows=[1]), *neighbours,
        ],
        labels=[1, 0, 1, 0, None],
    )  # fmt: skip


def column(table: ScoreTable, name: str) -> Any:
    return next(each for each in table.columns if each.name == name)


def test_all_that_can_be_is_computed_for_targets_and_placebos(store: ScoreStore) -> None:
    table = run_attacks(store)
    names = {each.name for each in table.columns}
    assert {(each.model, each.role) for each in table.columns} == {("target-model", "target"), ("placebo-model", "placebo")}
    assert names >= {
        "loss @ target-model", "loss @ placebo-model", "min-k @ target-model", "min-k(k=0.05) @ target-model",
        "min-k(k=1.0) @ placebo-model", "ref.ref-model @ target-model", "recall @ target-model", "rank.top10 @ target-model",
    }  # fmt: skip
    assert "recall @ placebo-model" not in names
    skipped = {(each["attack"], each["model"]) for each in table.header["skipped"]}
    assert {("recall", "placebo-model"), ("lowercase", "target-model"), ("dc-pdd", "target-model")} <= skipped
    done = {(re.split(r"[(.]", each.attack)[0], each.model) for each in table.columns}
    assert skipped | done == {(name, model) for name in attacks() for model in ("target-model", "placebo-model")}
    assert not skipped & done
    reason = next(each["reason"] for each in table.header["skipped"] if each["attack"] == "lowercase")
    assert "ngramscope score" in reason


def test_what_is_undefined_has_a_reason(store: ScoreStore) -> None:
    table = run_attacks(store)
    assert column(table, "loss @ target-model").reasons == [None, None, "one_token", None, None]
    # A candidate that is a shot keeps its other scores.
    assert column(table, "recall @ target-model").reasons == [None, "shot", "one_token", None, None]
    assert column(table, "neighbourhood @ target-model").reasons == [None, "no_text", "one_token", "no_text", None]
    assert column(table, "surp @ target-model").reasons == [None, None, "one_token", None, None]
    for each in table.columns:
        assert [reason is not None for reason in each.reasons] == np.isnan(each.scores).tolist()
        counted = table.header["undefined"].get(each.name, {})
        assert sum(counted.values()) == int(np.isnan(each.scores).sum())


@pytest.mark.parametrize(("asked", "reasons"), [(2, [None, "no_shot"]), (0, [None, None])])
def test_a_text_before_which_no_shot_fits_has_no_score_after_shots(
    tmp_path: Path, asked: int, reasons: list[str | None]
) -> None:
    given = brief(TEXTS[:2], "prefix", scalars={"shots": [asked, 0]}, settings={"options": {"shots": asked}})
    table = run_attacks(write_store(tmp_path / "store", [full(TEXTS[:2]), given]))
    assert column(table, "recall @ target-model").reasons == reasons
    assert column(table, "loss @ target-model").reasons == [None, None]


def test_two_passes_of_one_kind_are_an_error_and_not_skipped(tmp_path: Path) -> None:
    store = write_store(tmp_path / "store", [full(), full()])
    with pytest.raises(UsageError, match=r"several plain passes of target-model .*remove all but one"):
        run_attacks(store)


def test_an_undefined_ratio_says_so(tmp_path: Path) -> None:
    texts = [[0.0, 0.0], [-1.0]]
    table = run_attacks(write_store(tmp_path / "s", [brief(texts, "plain"), brief(texts, "lowercase")]), ["lowercase"])
    assert table.columns[0].reasons == ["zero_loss", None]
    huge = run_attacks(write_store(tmp_path / "t", [brief([[-1e4], [-1.0]], "plain")]), ["perplexity"])
    assert huge.columns[0].reasons == ["not_finite", None]


def test_asked_for_by_name_nothing_is_skipped(store: ScoreStore) -> None:
    with pytest.raises(UsageError, match="no lowercase pass of target-model"):
        run_attacks(store, ["lowercase"])
    with pytest.raises(UsageError, match=r"no attack 'loser'; known: .*loss"):
        run_attacks(store, ["loser"])
    with pytest.raises(UsageError, match="token-counts"):
        run_attacks(store, ["dc-pdd"])


def test_what_is_missing_is_said_for_the_role_that_the_model_has(store: ScoreStore) -> None:
    reasons = {each["reason"] for each in run_attacks(store).header["skipped"] if each["attack"] == "lowercase"}
    assert reasons == {
        f"{store.path}: no lowercase pass of {model}; make it with ngramscope score SET --model MODEL {role}--pass lowercase "
        f"--out {store.path}"
        for model, role in (("target-model", ""), ("placebo-model", "--as placebo "))
    }


def test_an_option_takes_the_place_of_the_sweep(store: ScoreStore) -> None:
    table = run_attacks(store, ["min-k"], options={"min-k": {"k": 0.3}})
    assert [each.attack for each in table.columns] == ["min-k(k=0.3)"] * 2
    assert table.columns[0].settings == {"k": 0.3, "k_round": "floor-min1", "tokens": "least-likely"}
    swept = run_attacks(store, ["min-k"], options={"min-k": {"k_round": "ceil"}})
    assert len(swept.columns) == 26
    assert "min-k(k=0.05, k_round=ceil)" in {each.attack for each in swept.columns}
    with pytest.raises(UsageError, match=r"min-k.*not computed"):
        run_attacks(store, ["loss"], options={"min-k": {"k": 0.3}})
    with pytest.raises(UsageError, match="no option 'q'"):
        run_attacks(store, options={"min-k": {"q": 1}})


@pytest.mark.parametrize("preset", list(PRESETS))
def test_presets_are_computed_and_said(store: ScoreStore, preset: str) -> None:
    table = run_attacks(store, compat=preset)
    said = table.header["settings"]["compat"]
    assert (said["preset"], said["stands_for"]) == (preset, PRESETS[preset])
    for name, values in said["switches"].items():
        for plan in table.header["settings"]["attacks"]:
            assert plan["attack"] != name or plan["options"].items() >= values.items()
    impossible = {name for name, each in attacks().items() if isinstance(each.compat.get(preset), str)}
    assert impossible == {each["attack"] for each in table.header["skipped"] if f"--compat {preset}" in each["reason"]}


def test_a_preset_changes_scores_and_can_be_overridden(store: ScoreStore) -> None:
    ours, theirs = (run_attacks(store, ["neighbourhood"], compat=preset) for preset in (None, "mimir-head"))
    (mine, *_), (head, *_) = ours.columns, theirs.columns
    assert mine.scores[0] == pytest.approx(-7 / 3 + 3.5)
    assert head.scores[0] == pytest.approx(-7 / 3 + 4)
    assert head.attack == "neighbourhood(aggregate=least-likely)"
    back = run_attacks(store, ["min-k"], compat="mimir", options={"min-k": {"k": 0.2, "k_round": "ceil"}})
    assert back.columns[0].settings["k_round"] == "ceil"


def test_what_a_store_cannot_give_is_refused_or_skipped(store: ScoreStore) -> None:
    with pytest.raises(UsageError, match=r"attack recall: --compat sok is not possible: .* shots"):
        run_attacks(store, ["recall"], compat="sok")
    with pytest.raises(UsageError, match="--compat: 'nobody' is not known; known: paper"):
        run_attacks(store, compat="nobody")
    assert set(presets()) >= set(PRESETS)
    assert switches(find_attack("loss"), "mimir") == {}


def test_token_counts_of_another_tokenizer_are_noticed(store: ScoreStore, tmp_path: Path) -> None:
    for digest, warned in (("tokenizer-a", 0), ("tokenizer-b", 2)):
        header = {
            "artefact": "token-counts",
            "format_version": 1,
            "settings": {"tokenizer": {"name": "t.json", "digest": digest}},
        }
        TokenCounts(np.arange(5), ["a"] * 5, header).save(tmp_path / "counts.parquet")
        table = run_attacks(store, ["dc-pdd"], token_counts=tmp_path / "counts.parquet")
        assert [each.attack for each in table.columns] == ["dc-pdd", "dc-pdd"]
        assert len(table.header["warnings"]) == warned
    assert {each["name"] for each in table.header["inputs"]} >= {"store.json", "counts.parquet"}


def test_scores_do_not_depend_on_how_the_store_is_divided(tmp_path: Path) -> None:
    one, three = (
        run_attacks(write_store(tmp_path / str(chunks), [full(), full(role="reference", label="r")], chunks=chunks))
        for chunks in (1, 3)
    )
    for a, b in zip(one.columns, three.columns, strict=True):
        assert a.name == b.name
        np.testing.assert_array_equal(a.scores, b.scores)


def test_the_table_can_be_saved_and_opened(store: ScoreStore, tmp_path: Path) -> None:
    table = run_attacks(store)
    table.save(tmp_path / "scores.parquet")
    again = ScoreTable.open(tmp_path / "scores.parquet")
    assert again.header == json.loads(json.dumps(table.header))
    for a, b in zip(table.columns, again.columns, strict=True):
        assert (a.name, a.role, a.reasons, dict(a.settings)) == (b.name, b.role, b.reasons, dict(b.settings))
        np.testing.assert_array_equal(a.scores, b.scores)


def test_a_statistic_that_a_pass_lacks_is_named(tmp_path: Path) -> None:
    lean = write_store(tmp_path / "lean", [brief(TEXTS, "plain")])
    table = run_attacks(lean)
    assert "loss @ target-model" in [each.name for each in table.columns]
    why = {each["attack"]: each["reason"] for each in table.header["skipped"]}
    assert f"{lean.passes[0].path} has not kept sigma" in why["gap-k"]
    assert "--statistic" not in why["gap-k"]
    with pytest.raises(MissingPassError, match=r"attack rank: .* has not kept rank; remove it"):
        run_attacks(lean, ["rank"])
    with pytest.raises(MissingPassError, match=r"has not kept flat_mu and flat_sigma; .*--statistic flat_sigma --out"):
        run_attacks(lean, ["min-k++"], compat="sok")


@pytest.mark.parametrize("change", ["rows", "order", "column", "header", "number", "twice"])
def test_a_table_that_another_program_has_changed_is_refused(store: ScoreStore, tmp_path: Path, change: str) -> None:
    run_attacks(store).save(tmp_path / "scores.parquet")
    table = pq.ParquetFile(tmp_path / "scores.parquet").read()
    header = json.loads(table.schema.metadata[b"ngramscope"])
    if change in ("header", "number", "twice"):
        if change == "header":
            del header["columns"]
        elif change == "number":
            header["columns"][0]["attack"] = 5
        else:
            header["columns"].append(header["columns"][0])
        table = table.replace_schema_metadata({b"ngramscope": json.dumps(header)})
    else:
        changed = {
            "rows": table.slice(0, 2),
            "order": table.take([4, 3, 2, 1, 0]),
            "column": table.drop_columns(["loss @ target-model"]),
        }
        table = changed[change]
    pq.write_table(table, tmp_path / "changed.parquet")
    with pytest.raises(InputError, match="another program has changed it"):
        ScoreTable.open(tmp_path / "changed.parquet")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "no column 'label'"),
        (["yes", "no", "no", "no", "no"], "row 1: label 'yes'; 1 is a member, 0 a non-member"),
        ([1, 0, 2, 0, None], "row 3: label 2; 1 is a member"),
    ],
)
def test_a_table_with_labels_of_neither_side_is_refused(
    store: ScoreStore, tmp_path: Path, labels: list[Any] | None, message: str
) -> None:
    table = run_attacks(store, ["loss"])
    documents = table.documents.drop_columns(["label"])
    replace(table, documents=documents if labels is None else documents.append_column("label", pa.array(labels))).save(
        tmp_path / "scores.parquet"
    )
    with pytest.raises(InputError, match=message) as caught:
        ScoreTable.open(tmp_path / "scores.parquet")
    assert "scores.parquet" in str(caught.value)


def test_options_are_refused_before_there_is_a_store() -> None:
    for attack in attacks().values():
        assert attack.check({}) == attack.options
        for name in attack.options:
            with pytest.raises(UsageError, match=name):
                attack.check({name: ()})


def test_a_store_without_a_model_to_attack(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no target or placebo model"):
        run_attacks(write_store(tmp_path / "s", [full(role="reference")]))


def test_the_command(store: ScoreStore, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "scores.parquet"
    assert run_here(["attack", str(store.path), "--compat", "mimir", "--set", "min-k.k=0.3", "--json", "--out", str(out)]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["candidates"] == 5
    assert {"column": "min-k(k=0.3, k_round=floor) @ target-model", "attack": "min-k(k=0.3, k_round=floor)",
            "model": "target-model", "role": "target"} in found["columns"]  # fmt: skip
    assert found["settings"]["compat"]["preset"] == "mimir"
    assert len(found["columns"]) == len(ScoreTable.open(out).columns)
    assert run_here(["attack", str(store.path), "--compat", "mimir", "--out", str(out)]) == 0
    said = capfd.readouterr()
    assert said.out == ""
    for wanted in (
        "--compat mimir: iamgroot42/mimir",
        "min-k: k_round=floor",
        "skipped lowercase",
        "wrote",
        "shot",
        "loss tail",
    ):
        assert wanted in said.err
    # Alike lines are one: many attacks lack one thing, many columns are undefined for one reason.
    lines = said.err.splitlines()
    assert len(set(lines)) == len(lines)
    assert any(each.startswith("skipped camia, camia-cauchy, ") for each in lines)
    assert any(re.search(r", in .*min-k \(\d+ columns\)", each) for each in lines if each.startswith("undefined: "))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "STORE"),
        (("STORE",), "--out"),
        (("STORE", "--out", "scores.csv"), "FILE.parquet"),
        (("STORE", "--out", "s.parquet", "--set", "min-k"), "NAME.OPTION=VALUE"),
        (("STORE", "--out", "s.parquet", "--set", "min-q.k=1"), "no attack 'min-q'"),
        (("STORE", "--out", "s.parquet", "--set", "min-k.k=2"), "min-k.k: 2"),
        (("STORE", "--out", "s.parquet", "--token-counts", "none.parquet"), "none.parquet"),
        (("nowhere", "--out", "s.parquet"), "no score store"),
        (("STORE", "--out", "STORE/documents.parquet"), "one of the inputs"),
    ],
)
def test_the_command_refuses(
    store: ScoreStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    arguments: tuple[str, ...], message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run_here(["attack", *(each.replace("STORE", "store") for each in arguments)]) in (1, 2)
    said = capfd.readouterr()
    assert message in said.err
    assert said.out == ""
    assert not (tmp_path / "s.parquet").exists()


def test_the_list_is_of_all_attacks(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_here(["attack", "--list", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [each["name"] for each in found["attacks"]] == list(attacks())
    assert found["presets"].keys() >= PRESETS.keys()
    assert run_here(["attack", "--list"]) == 0
    shown = capfd.readouterr().out
    for name in (*attacks(), *PRESETS):
        assert name in shown


def documented_attack() -> str:
    """The example of docs/attacks.md."""
    page = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return str(code)


def test_an_attack_is_added_in_one_file_and_no_model_is_imported(store: ScoreStore, tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "median.py").write_text(documented_attack())
    out = tmp_path / "scores.parquet"
    program = (
        "import sys\n"
        "from ngramscope.cli._run import run\n"
        f"code = run(['attack', {str(store.path)!r}, '--out', {str(out)!r}, '--quiet'])\n"
        "print(code, *sorted({'torch', 'transformers', 'sklearn', 'scipy'} & set(sys.modules)))\n"
    )
    environment = {**os.environ, "NGRAMSCOPE_ATTACKS": str(plugins)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False, timeout=120
    )
    assert done.stdout == "0\n", done.stderr
    scores = column(ScoreTable.open(out), "median @ target-model").scores
    np.testing.assert_allclose(scores, [-2.0, -1.75, np.nan, -2.0, -1.25])
    quantile = column(ScoreTable.open(out), "median(q=0.1) @ target-model").scores
    assert quantile[1] == pytest.approx(np.quantile([-0.5, -3.0], 0.1))
