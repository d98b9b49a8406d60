"""Scoring sets: passes, the store, resuming, workers."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope.errors import InputError, UsageError
from ngramscope.models import run
from ngramscope.models.encode import EncodeOptions
from ngramscope.models.load import LoadedModel, ModelOptions
from ngramscope.models.passes import find_pass
from ngramscope.models.passes.swaps import swap_words
from ngramscope.models.score import ScoreOptions, score_set
from ngramscope.models.stats import TokenStats
from ngramscope.models.store import ScoreStore
from ngramscope.sets.base import Candidate
from ngramscope.sets.records import Keys, RecordSource
from tests.conftest import WORDS, clean_environment, write_jsonl
from tests.tiny_models import tiny

SAME = 1e-4
MODEL = ModelOptions("tiny")


def texts(count: int, seed: int = 0) -> list[str]:
    """Of 1 to 12 words, about 6 to 70 tokens."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 12))) for _ in range(count)]


def a_set(path: Path, count: int = 24, **more: Any) -> RecordSource:
    rows = [{"id": f"d{n}", "text": text, "label": n % 2, **more} for n, text in enumerate(texts(count))]
    return RecordSource((write_jsonl(path, rows),), keys=Keys(fields=tuple(more)))


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return tiny("gpt_neox")


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of some 100 tokens."""
    monkeypatch.setattr("ngramscope.models.chunks._LEAST", 100)


def options(*passes: str, **more: Any) -> ScoreOptions:
    encode = EncodeOptions(**more.pop("encode", {}))
    return ScoreOptions(model=MODEL, passes=passes or ("plain",), encode=encode, pass_options=more.pop("of", {}), **more)


def scored(source: RecordSource, out: Path, model: LoadedModel, *passes: str, **more: Any) -> TokenStats:
    """Statistics of the last of the passes."""
    done = score_set(source, out, options(*passes, **more), loaded=model)
    return next(each.stats for each in ScoreStore(out).passes if each.path.name == done["passes"][-1]["folder"])


def assert_same(a: TokenStats, b: TokenStats) -> None:
    for name in ("rows", "variants", "offsets", "tokens_total", "text_bytes", "zlib_bytes", "truncated"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.null_reasons == b.null_reasons
    assert a.columns.keys() == b.columns.keys()
    for name, values in a.columns.items():
        if name != "rank":  # of two tokens that are equally likely up to rounding either may be first
            np.testing.assert_allclose(values, b.columns[name], atol=SAME, rtol=0)
    assert [each.tolist() for each in a.head] == [each.tolist() for each in b.head]


def chunks(folder: Path) -> dict[str, int]:
    return {each.name: each.stat().st_mtime_ns for each in folder.glob("*/chunk-*.arrow")}


# The store.


def test_documents_keep_what_is_known_of_them_but_no_text(tmp_path: Path, model: LoadedModel) -> None:
    extra = {"stars": 3, "share": 0.5, "kind": "a", "tags": ["x"], "odd": None}
    rows = [
        {"id": 7, "text": "one two", "label": "member", "date": 2020, "domain": "web", "group": "g", **extra},
        {"id": "7", "text": "three", "label": None, **extra, "odd": True},
    ]
    source = RecordSource((write_jsonl(tmp_path / "s.jsonl", rows),), keys=Keys(fields=tuple(extra)))
    score_set(source, tmp_path / "store", options(), loaded=model)
    table = ScoreStore(tmp_path / "store").documents
    assert table.column_names == [
        "id", "label", "domain", "group", "date", "source", "position", "stars", "share", "kind", "odd",
    ]  # fmt: skip
    assert table.to_pylist()[0] == {
        "id": "7", "label": 1, "domain": "web", "group": "g", "date": "2020", "source": "s.jsonl", "position": 0,
        "stars": 3, "share": 0.5, "kind": "a", "odd": None,
    }  # fmt: skip
    assert [row["id"] for row in table.to_pylist()] == ["7", '"7"']
    assert np.isnan(ScoreStore(tmp_path / "store").labels[1])
    assert b"three" not in b"".join(each.read_bytes() for each in (tmp_path / "store").rglob("*") if each.is_file())


def test_every_record_is_counted(tmp_path: Path, model: LoadedModel) -> None:
    long = "x" * 500
    source = RecordSource((write_jsonl(tmp_path / "s.jsonl", ["one two", "", "x", {"id": 1, "text": None}, long]),))
    done = score_set(source, tmp_path / "store", options(), loaded=model)
    assert done["set"] == {
        "records": 5, "candidates": 4, "members": 0, "nonmembers": 0, "unlabelled": 4, "unusable": {"null_text": 1},
    }  # fmt: skip
    counts = done["passes"][0]["counts"]
    assert counts["texts"] == counts["candidates"] == 4
    assert counts["null"] == {"no_token": 1, "one_token": 1}
    assert counts["scored"] == 2
    assert counts["truncated"] == 1
    stats = ScoreStore(tmp_path / "store").passes[0].stats
    assert stats.tokens_total[3] == 500
    assert counts["tokens"] == len(stats["log_prob"]) == stats.lengths.sum()


def test_the_same_texts_with_other_labels_are_the_same_set(
    tmp_path: Path, model: LoadedModel, caplog: pytest.LogCaptureFixture
) -> None:
    source = a_set(tmp_path / "s.jsonl", 6)
    score_set(source, tmp_path / "store", options(), loaded=model)
    before = chunks(tmp_path / "store")
    rows = [{"id": f"d{n}", "text": text, "label": 1, "date": "2020"} for n, text in enumerate(texts(6))]
    write_jsonl(tmp_path / "s.jsonl", rows)
    done = score_set(source, tmp_path / "store", options(), loaded=model)
    assert "documents.parquet is written anew" in caplog.text
    assert chunks(tmp_path / "store") == before
    assert done["passes"][0]["chunks_kept"] == 1
    assert ScoreStore(tmp_path / "store").labels.tolist() == [1] * 6


def test_the_store_of_another_set_is_refused(tmp_path: Path, model: LoadedModel) -> None:
    score_set(a_set(tmp_path / "s.jsonl", 6), tmp_path / "store", options(), loaded=model)
    with pytest.raises(UsageError, match="store of another set"):
        score_set(a_set(tmp_path / "t.jsonl", 5), tmp_path / "store", options(), loaded=model)
    with pytest.raises(UsageError, match="not empty, and no score store"):
        score_set(a_set(tmp_path / "t.jsonl", 5), tmp_path, options(), loaded=model)


# Chunks, resuming, settings.


@pytest.mark.usefixtures("small_chunks")
def test_finished_chunks_outlive_an_end_and_are_reused(
    tmp_path: Path, model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = a_set(tmp_path / "s.jsonl", 40)
    fresh = scored(source, tmp_path / "fresh", model)
    original, done = run.Runner.score, []

    def dies(self: Any, chunk: Any) -> Any:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(chunk.number)
        return original(self, chunk)

    monkeypatch.setattr(run.Runner, "score", dies)
    with pytest.raises(KeyboardInterrupt):
        score_set(source, tmp_path / "store", options(), loaded=model)
    assert ScoreStore(tmp_path / "store").passes == ()
    kept = chunks(tmp_path / "store")
    assert len(kept) == 3
    monkeypatch.setattr(run.Runner, "score", original)
    # What a kill in the middle of writing leaves.
    (pass_folder,) = (each for each in (tmp_path / "store").iterdir() if each.is_dir())
    (pass_folder / ".chunk-00003.arrow.1.tmp").write_bytes(b"half")
    summary = score_set(source, tmp_path / "store", options(batch_tokens=70, padding_side="left"), loaded=model)
    assert summary["passes"][0]["chunks_kept"] == 3
    assert summary["passes"][0]["chunks"] > 5
    assert kept.items() <= chunks(tmp_path / "store").items()
    assert not list(pass_folder.glob(".*"))
    assert_same(fresh, ScoreStore(tmp_path / "store").passes[0].stats)


@pytest.mark.parametrize(
    "change",
    [
        {"encode": {"start_token": "eos"}},
        {"encode": {"control_tokens": "token"}},
        {"encode": {"max_tokens": 64}},
        {"encode": {"long_text": "stride"}},
        {"statistics": ("flat_mu",)},
    ],
    ids=str,
)
def test_a_changed_setting_never_reuses(
    tmp_path: Path, model: LoadedModel, change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    source = a_set(tmp_path / "s.jsonl", 6)
    score_set(source, tmp_path / "store", options(), loaded=model)
    done = score_set(source, tmp_path / "store", options(**change), loaded=model)
    assert done["passes"][0]["chunks_kept"] == 0
    assert len(ScoreStore(tmp_path / "store").passes) == 2
    assert "has 2 plain passes" in caplog.text  # attacks would not know which


def test_another_model_of_the_same_name_never_reuses(tmp_path: Path, model: LoadedModel) -> None:
    source = a_set(tmp_path / "s.jsonl", 6)
    score_set(source, tmp_path / "store", options(), loaded=model)
    done = score_set(source, tmp_path / "store", options(), loaded=tiny("gpt_neox", seed=1))
    assert done["passes"][0]["chunks_kept"] == 0
    assert len(ScoreStore(tmp_path / "store").passes) == 2


@pytest.mark.usefixtures("small_chunks")
def test_a_model_in_another_role_takes_what_is_there(tmp_path: Path, model: LoadedModel) -> None:
    source = a_set(tmp_path / "s.jsonl")
    target = scored(source, tmp_path / "store", model)
    done = score_set(source, tmp_path / "store", options(role="reference"), loaded=model)
    assert done["passes"][0]["chunks_kept"] == done["passes"][0]["chunks"]
    assert {each.role for each in ScoreStore(tmp_path / "store").passes} == {"target", "reference"}
    assert_same(target, ScoreStore(tmp_path / "store").find("plain", role="reference")[0].stats)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("damage", ["cut", "flipped", "missing"])
def test_a_damaged_chunk_is_named_and_scored_again(
    tmp_path: Path, model: LoadedModel, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    source = a_set(tmp_path / "s.jsonl")
    before = scored(source, tmp_path / "store", model)
    path = next((tmp_path / "store").glob("*/chunk-00001.arrow"))
    data = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(data[:-100])
    elif damage == "flipped":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    else:
        path.unlink()
    with pytest.raises(InputError, match=r"chunk-00001\.arrow"):
        _ = ScoreStore(tmp_path / "store").passes[0].stats
    done = score_set(source, tmp_path / "store", options(batch_tokens=70), loaded=model)
    assert done["passes"][0]["chunks_kept"] == done["passes"][0]["chunks"] - 1
    assert ("is damaged" in caplog.text) == (damage != "missing")
    assert_same(before, ScoreStore(tmp_path / "store").passes[0].stats)


def test_padding_is_little_and_told(tmp_path: Path, model: LoadedModel) -> None:
    done = score_set(a_set(tmp_path / "s.jsonl", 60), tmp_path / "store", options(), loaded=model)
    padding = done["passes"][0]["padding"]
    assert 0 <= padding["waste"] < 0.1
    assert padding["real_positions"] == done["passes"][0]["counts"]["tokens"]


def test_half_precision_tells_its_drift(tmp_path: Path, model: LoadedModel) -> None:
    import copy
    import dataclasses

    import torch

    half = dataclasses.replace(model, model=copy.deepcopy(model.model).to(torch.bfloat16))
    done = score_set(a_set(tmp_path / "s.jsonl"), tmp_path / "store", options(), loaded=half)
    assert done["passes"][0]["drift"]["texts"] > 5
    assert 0 <= done["passes"][0]["drift"]["text_max"] < 0.1
    assert score_set(a_set(tmp_path / "s.jsonl"), tmp_path / "other", options(), loaded=model)["passes"][0]["drift"] is None


def test_a_model_that_returns_nan_is_told_with_its_type(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import torch

    broken = tiny("gpt_neox")
    with torch.no_grad():
        broken.model.get_input_embeddings().weight[broken.tokenizer.convert_tokens_to_ids("Z")] = float("inf")
    rows = [f"text {n} {'Z' * (n % 4 == 0)} end" for n in range(20)]
    done = score_set(RecordSource((write_jsonl(tmp_path / "s.jsonl", rows),)), tmp_path / "store", options(), loaded=broken)
    assert done["passes"][0]["counts"]["null"] == {"model_returned_nan": 5}
    assert "the model returned NaN for 5 texts in float32" in caplog.text
    stats = ScoreStore(tmp_path / "store").passes[0].stats
    assert [row for row, reason in enumerate(stats.null_reasons) if reason] == [0, 4, 8, 12, 16]


def test_attacks_on_a_store_import_no_model(tmp_path: Path, model: LoadedModel) -> None:
    score_set(a_set(tmp_path / "s.jsonl"), tmp_path / "store", options(), loaded=model)
    code = (
        "import json, sys\n"
        "from ngramscope.attacks.base import Inputs, find_attack\n"
        "from ngramscope.models.store import ScoreStore\n"
        f"scores = find_attack('loss').score(Inputs(ScoreStore({str(tmp_path / 'store')!r}), {model.label!r}))\n"
        "print(json.dumps([scores['loss'].tolist(), [each for each in sys.modules if each in ('torch', 'transformers')]]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean_environment(), capture_output=True, text=True, check=True, timeout=60
    )
    values, imported = json.loads(done.stdout)
    assert imported == []
    stats = ScoreStore(tmp_path / "store").find("plain")[0].stats
    assert values == pytest.approx(stats.means(stats["log_prob"]).tolist())


# Passes.


def candidates(*rows: str, label: int | None = None) -> list[Candidate]:
    return [Candidate(f"d{n}", text, label) for n, text in enumerate(rows)]


def made(name: str, rows: Sequence[Candidate], **more: Any) -> list[tuple[int, int, str]]:
    return [tuple(each) for each in find_pass(name).make(rows, **more).texts]


def test_lowercase_and_repeated() -> None:
    assert made("lowercase", candidates("Ab C", "É")) == [(0, 0, "ab c"), (1, 0, "é")]
    assert made("repeated", candidates("a b", ""), copies=3) == [(0, 0, "a b a b a b"), (1, 0, "")]
    assert made("repeated", candidates("x"))[0][2] == "x x x x x x"


def test_swaps_move_words_and_keep_white_space() -> None:
    text = "a  b\tc\nd e f g h i j"
    found = made("swaps", candidates(text, "one"), augmentations=3)
    assert [each[:2] for each in found] == [(0, 0), (0, 1), (0, 2)]
    assert len({each[2] for each in found}) == 3
    for _, _, swapped in found:
        assert sorted(swapped.split()) == sorted(text.split())
        assert "".join(each for each in swapped if each.isspace()) == "".join(each for each in text if each.isspace())
    assert find_pass("swaps").make(candidates(text, "one")).counts == {"fewer_than_two_words": 1}
    # The text decides, not where it stands.
    assert [each[2] for each in made("swaps", candidates("x y", text), augmentations=3)[3:]] == [each[2] for each in found]


def test_as_many_swaps_as_the_share_says() -> None:
    words = " ".join(map(str, range(100)))
    moved = [
        sum(a != b for a, b in zip(words.split(), swap_words(words, share, np.random.default_rng(1)).split(), strict=True))
        for share in (0.0, 0.01, 0.3)
    ]
    assert moved[0] == moved[1] == 2  # at least one swap
    assert 40 < moved[2] <= 60


@pytest.mark.parametrize("by", ["id", "row", "lists", "column"])
def test_neighbours_from_everywhere(tmp_path: Path, by: str) -> None:
    rows = candidates("a", "b", "c")
    texts = [["a1", "a2"], ["b"], ["c1", "c", "c2"]]
    if by == "column":
        for each, others in zip(rows, texts, strict=True):
            each.extra["neighbors"] = others
        given: tuple[str, ...] = ()
    elif by == "lists":  # as MIMIR: members, then non-members
        given = tuple(
            str(write_lines(tmp_path / name, part)) for name, part in (("train.jsonl", texts[:2]), ("test.jsonl", [texts[2:]]))
        )
    else:
        lines = [{by: f"d{n}" if by == "id" else n, "neighbours": others} for n, others in enumerate(texts)]
        given = (str(write_lines(tmp_path / "n.jsonl", lines[::-1])),)
    kind = find_pass("neighbours")
    found = kind.make(rows, neighbours=given)
    assert sorted(found.texts) == [(0, 0, "a1"), (0, 1, "a2"), (2, 0, "c1"), (2, 1, "c2")]
    assert found.counts == {"candidates_without_neighbours": 1, "same_as_candidate": 2}


def write_lines(path: Path, values: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in values), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"id": "other", "neighbours": []}, "line 1: id 'other': no candidate has that id"),
        ({"row": 3, "neighbours": []}, "line 1: row 3 is no candidate"),
        ({"row": 0, "neighbours": "text"}, "line 1: no list of texts"),
        ({"row": 0, "sha256": "0", "neighbours": ["x"]}, "line 1: made of another text"),
        ({"neighbours": []}, "line 1: neither id nor row"),
        (["a"], "1 lists of neighbours in all for 2 candidates"),
    ],
)
def test_neighbours_that_do_not_fit_are_refused(tmp_path: Path, line: Any, message: str) -> None:
    path = write_lines(tmp_path / "n.jsonl", [line])
    with pytest.raises(InputError, match=message):
        find_pass("neighbours").make(candidates("a", "b"), neighbours=(str(path),))


def test_a_pass_over_variants_is_kept_by_candidate(tmp_path: Path, model: LoadedModel) -> None:
    source = a_set(tmp_path / "s.jsonl", 5, neighbors=["one two", "three"])
    stats = scored(source, tmp_path / "store", model, "neighbours")
    assert stats.rows.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert stats.variants.tolist() == [0, 1] * 5
    means = stats.by_candidate(stats.means(stats["log_prob"]), 5)
    assert means == pytest.approx([means[0]] * 5, abs=SAME)


def test_gradients_are_scalars(tmp_path: Path, model: LoadedModel) -> None:
    source = RecordSource((write_jsonl(tmp_path / "s.jsonl", ["one two three", "x"]),))
    stats = scored(source, tmp_path / "store", model, "gradient")
    assert stats.columns == {}
    assert set(stats.scalars) == set(find_pass("gradient").scalars)
    for values in stats.scalars.values():
        assert values[0] > 0
        assert np.isnan(values[1])
    assert stats.null_reasons == [None, "one_token"]


# Trial F09: prefixes. Letters without pairs are a token each.

LETTERS = "bcdfgjklmpqrsuvwxyz"


def letters(count: int, seed: int) -> str:
    return "".join(random.Random(seed).choices(LETTERS, k=count))


@pytest.fixture
def f09(tmp_path: Path) -> tuple[RecordSource, str]:
    shots = write_jsonl(tmp_path / "shots.jsonl", [letters(30, 100 + n) for n in range(12)])
    rows = [letters(length, length) for length in (10, 60, 127)]
    return RecordSource((write_jsonl(tmp_path / "s.jsonl", rows),)), str(shots)


@pytest.mark.parametrize(("shots", "fitting"), [(0, [0, 0, 0]), (1, [1, 1, 0]), (3, [3, 2, 0]), (12, [3, 2, 0])])
def test_no_token_of_the_text_is_lost_to_shots(
    tmp_path: Path, model: LoadedModel, f09: tuple[RecordSource, str], shots: int, fitting: list[int]
) -> None:
    import torch

    source, file = f09
    plain = scored(source, tmp_path / "store", model)
    of = {"shots": shots, "shots_file": file}
    done = score_set(source, tmp_path / "store", options("prefix", of=of), loaded=model)["passes"][0]
    stats = ScoreStore(tmp_path / "store").find("prefix")[0].stats
    assert stats.scalars["shots"].tolist() == fitting
    assert done["counts"]["shots_dropped"] == 3 * shots - sum(fitting)
    assert done["left_out_rows"] == []
    # The same tokens as in the plain pass, in all of which there is no start token.
    assert np.array_equal(stats["token_id"], plain["token_id"])
    assert stats.lengths.tolist() == [9, 59, 126]
    chosen = find_pass("prefix").make([], **of).shots
    assert chosen is not None
    for row, (count, found, without) in enumerate(zip(fitting, stats.each("log_prob"), plain.each("log_prob"), strict=True)):
        if count == 0:
            assert np.array_equal(found, without)  # the ratio is 1 exactly
            continue
        text = letters((10, 60, 127)[row], (10, 60, 127)[row])
        ids = torch.tensor([model.tokenizer("".join(chosen.texts[:count]))["input_ids"] + model.tokenizer(text)["input_ids"]])
        logits = model.model(ids).logits[0, :-1].log_softmax(-1)
        expected = logits.gather(1, ids[0, 1:, None])[-len(found) :, 0]
        np.testing.assert_allclose(found, expected.numpy(), atol=SAME)


def test_shots_of_the_set_are_remembered(tmp_path: Path, model: LoadedModel) -> None:
    source = a_set(tmp_path / "s.jsonl", 20)
    of = {"shots": 3, "seed": 5}
    done = score_set(source, tmp_path / "store", options("prefix", "prefix-members", of=of), loaded=model)
    (prefix, members) = (each["left_out_rows"] for each in done["passes"])
    labels = ScoreStore(tmp_path / "store").labels
    assert labels[prefix].tolist() == [0] * len(prefix)
    assert labels[members].tolist() == [1] * len(members)
    assert len(prefix) >= 3
    # The same shots of the same texts in another order; others for another seed.
    rows = [Candidate(n, text, n % 2) for n, text in enumerate(texts(20))]
    kind = find_pass("prefix")
    assert kind.make(rows, **of).shots.texts == kind.make(rows[::-1], **of).shots.texts  # type: ignore[union-attr]
    assert kind.make(rows, **of).shots.texts != kind.make(rows, shots=3, seed=6).shots.texts  # type: ignore[union-attr]


def test_shots_that_cannot_be_are_refused(tmp_path: Path) -> None:
    rows = [Candidate(n, text, 1) for n, text in enumerate(["a b", "c d", "e f"])]
    file = str(write_jsonl(tmp_path / "shots.jsonl", ["x y", "c d"]))
    with pytest.raises(
        InputError, match=r"shots\.jsonl: 1 of its texts are candidates of the set too, the first is candidate 1"
    ):
        find_pass("prefix").make(rows, shots=2, shots_file=file)
    with pytest.raises(UsageError, match="the set has 0 different texts of nonmembers"):
        find_pass("prefix").make(rows, shots=2)
    with pytest.raises(UsageError, match=r"--shots 5: .*shots\.jsonl has 2 different texts"):
        find_pass("prefix").make(rows, shots=5, shots_file=file)


def test_options_that_no_pass_has_are_refused() -> None:
    with pytest.raises(UsageError, match="--copies: no option of --pass plain"):
        options("plain", of={"copies": 2})
    with pytest.raises(UsageError, match="--pass: 'other' is not known; known: gradient, lowercase"):
        options("other")
