"""Unlearning: ratios of two models, completions of a tiny model, and how alike texts are, against naive code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ngramscope.cli import unlearning as unlearning_command
from ngramscope.cli._run import run as run_here
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.setlevel.likeness import likeness, longest_run, longest_subsequence, words_of
from ngramscope.evaluate.setlevel.unlearning import UnlearningOptions, unlearning
from ngramscope.models.completions import CompletionOptions, prompt_of
from ngramscope.report.completions import completions_page
from tests.conftest import WORDS, read_jsonl, write_jsonl
from tests.unit.test_dataset_inference import table_of

OPTIONS = UnlearningOptions(before="big", after="forgot")


def naive_subsequence(first: list[int], second: list[int]) -> int:
    if not first or not second:
        return 0
    if first[-1] == second[-1]:
        return naive_subsequence(first[:-1], second[:-1]) + 1
    return max(naive_subsequence(first[:-1], second), naive_subsequence(first, second[:-1]))


def test_likeness_is_that_of_naive_code() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        first, second = (random.integers(0, 3, random.integers(1, 8)) for _ in range(2))
        assert longest_subsequence(first, second) == naive_subsequence(first.tolist(), second.tolist())
        length, begin = longest_run(first, second)
        runs = {tuple(second[start:end].tolist()) for start in range(len(second)) for end in range(start, len(second) + 1)}
        assert tuple(first[begin : begin + length].tolist()) in runs
        assert not any(tuple(first[start : start + length + 1].tolist()) in runs for start in range(len(first) - length))


def test_rouge_is_that_of_rouge_score() -> None:
    # rouge-score 0.1.2, rougeL without stemming: precision, recall, F.
    cases = {
        ("The cat sat on the mat, and looked at me.", "On the mat a cat sat; it looked at you and me"): (0.6, 0.5, 6 / 11),
        ("one two three four", "four three two one"): (0.25, 0.25, 0.25),
        ("a b c d e f g", "a x b y c z d e"): (5 / 7, 5 / 8, 2 / 3),
    }
    for (completion, reference), expected in cases.items():
        found = likeness(completion, reference)
        assert (found.precision, found.recall, found.rouge_l) == pytest.approx(expected)
    found = likeness("He said: THE owl, at night!", "that the owl at night hunts")
    assert (found.longest_run, found.run) == (4, "THE owl, at night")
    assert likeness("...", "words") == likeness("", "words")
    assert likeness("", "words").rouge_l is None
    assert likeness("alpha", "beta").rouge_l == 0.0
    assert words_of("Ça va, l'été?") == ["ça", "va", "l", "été"]


def test_chunks_within_the_bound_are_alike() -> None:
    old = np.array([-2.0, -2.0, -2.0, -2.0, -2.0, 0.5, np.nan, -1.0])
    new = np.array([-2.0, -2.2999, -2.3, -2.0 / 1.16, -4.0, -1.0, -1.0, -1.1])
    labels = [1, 1, 1, 1, 1, 1, 1, 0]
    table = table_of(labels, {("min-k", "big", "target"): old, ("min-k", "forgot", "target"): new}, chapter=list("aabbbbbb"))
    report = unlearning(table, UnlearningOptions(before="big", after="forgot", group_by="chapter"))
    assert {each["id"]: each["change"] for each in report["chunks"]} == {
        "d0": "alike", "d1": "alike", "d2": "less_likely", "d3": "more_likely", "d4": "less_likely", "d7": "alike",
    }  # fmt: skip
    assert report["chunks"][0]["id"] == "d0"  # the least changed first
    assert report["counts"] == {"chunks": 8, "compared": 6, "left_out": {"not_below_zero": 1, "undefined_score": 1}}
    found = {(each["group"], each["label"]): each for each in report["groups"]}
    assert found["b", 1]["changed"]["count"] == found["b", 1]["changed"]["of"] == 3
    assert (found["a", 1]["changed"]["value"], found["b", 0]["alike"]) == (0.0, 1)
    assert not any("all chunks have one label" in each for each in report["warnings"])


def test_two_tables_are_matched_by_id() -> None:
    old = table_of([1, 1, 0], {("min-k", "big", "target"): np.array([-1.0, -2.0, -3.0])})
    new = table_of([1, 1, 0], {("min-k", "forgot", "target"): np.array([-3.0, -2.0, -2.0])})
    new = type(new)(new.documents.set_column(0, "id", [['"d2"', '"d1"', '"d9"']]), new.columns, new.header)
    report = unlearning(old, OPTIONS, after=new)
    assert {each["id"]: each["ratio"] for each in report["chunks"]} == {"d1": 1.0, "d2": 1.0}
    assert report["counts"]["left_out"] == {"undefined_score": 1}
    with pytest.raises(UsageError, match="--after: no column 'min-k @ forgot'"):
        unlearning(old, OPTIONS)
    with pytest.raises(UsageError, match="--bound"):
        UnlearningOptions(before="a", after="b", bound=1.0)
    nothing = table_of([1], {("min-k", "big", "target"): np.zeros(1), ("min-k", "forgot", "target"): np.zeros(1)})
    with pytest.raises(InputError, match="not_below_zero"):
        unlearning(nothing, OPTIONS)


def test_the_command_of_ratios(tmp_path: Path) -> None:
    lines = ["id,label,min-k @ big,min-k @ forgot", *(f"c{row},{row % 2},-2,{-2 - row / 10}" for row in range(10))]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    arguments = [str(tmp_path / "scores.csv"), "--before", "big", "--after", "forgot"]
    report = json.loads(CliRunner().invoke(unlearning_command.command, [*arguments, "--json"]).stdout)
    assert [each["changed"]["count"] for each in report["groups"]] == [3, 4]
    shown = CliRunner().invoke(unlearning_command.command, arguments).stdout
    assert "chunks that have changed least" in shown


def test_prompts_end_with_a_word() -> None:
    assert prompt_of("  one two\n three four", 2) == ("  one two", "\n three four")
    assert prompt_of("one two", 2) is None
    with pytest.raises(UsageError, match="--top-p"):
        CompletionOptions(top_p=0)


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model that has learned one text by heart, and a tokenizer of words."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    torch.set_num_threads(1)
    torch.manual_seed(0)
    made = Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=420, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator([text(seed) for seed in range(5)], trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|end|>")
    config = transformers.GPTNeoXConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128,
        max_position_embeddings=128, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    model = transformers.GPTNeoXForCausalLM(config)
    ids = torch.tensor([tokenizer(text(0))["input_ids"]])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(60):
        optimizer.zero_grad()
        model(ids, labels=ids).loss.backward()
        optimizer.step()
    folder = tmp_path_factory.mktemp("model")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def text(seed: int) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, 30))


def complete(tmp_path: Path, model: Path, records: list[dict[str, Any]], name: str = "completions") -> int:
    source, out = write_jsonl(tmp_path / f"{name}-set.jsonl", records), tmp_path / f"{name}.jsonl"
    written = ["--out", str(out), "--html", str(tmp_path / "page.html")]
    options = ["--prompt-words", "10", "--samples", "3", "--max-new-tokens", "20", "--device", "cpu", "-q"]
    options += ["--threads", "1", "--tokenizer", str(model)]  # as of score
    return run_here(["completions", str(source), "--model", str(model), *written, *options])


def test_a_learned_text_is_completed_and_an_unknown_one_is_not(tmp_path: Path, model_folder: Path) -> None:
    records = [{"id": "known", "text": text(0)}, {"id": "unknown", "text": text(1)}, {"id": "short", "text": "one two"}]
    assert complete(tmp_path, model_folder, records) == 0
    rows = read_jsonl(tmp_path / "completions.jsonl")
    runs = {name: [row["longest_run"] for row in rows if row["id"] == name] for name in ("known", "unknown")}
    assert [len(each) for each in runs.values()] == [3, 3]
    assert min(runs["known"]) >= 5 > max(runs["unknown"])
    first = rows[0]
    assert first["prompt"] + first["reference"] == text(0)[: len(first["prompt"]) + len(first["reference"])]
    assert len(first["reference"].split()) == len(first["completion"].split())
    assert first["rouge_l"] == likeness(first["completion"], first["reference"]).rouge_l
    header = json.loads((tmp_path / "completions.jsonl.meta.json").read_text())
    assert header["counts"] == {"completed": 2, "completions": 6, "left_out": {"nothing_after_the_prompt": 1}}
    assert header["model"]["digest"]
    assert "<mark>" in (tmp_path / "page.html").read_text()
    # Other texts of the set, and their order, have no say.
    assert complete(tmp_path, model_folder, records[::-1], "again") == 0
    assert sorted(read_jsonl(tmp_path / "again.jsonl"), key=str) == sorted(rows, key=str)


def test_a_prompt_without_room_is_left_out(tmp_path: Path, model_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert complete(tmp_path, model_folder, [{"id": "long", "text": "unheardofword" * 40 + " " + text(2)}]) == 1
    assert "prompt_too_long" in capsys.readouterr().err
    assert not (tmp_path / "completions.jsonl").exists()


def test_the_page_shows_what_texts_say_and_runs_nothing() -> None:
    row = {"id": "<b>", "prompt": "<script>", "reference": "the owl & the cat", "completion": "<i>the owl & the", "sample": 0}
    row |= {"longest_run": 3, "run": "the owl & the", "rouge_l": None}
    settings = {"samples": 1, "prompt_words": 1}
    header = {"model": {"label": "m"}, "counts": {"completed": 1}, "settings": settings}
    page = completions_page(header, [row])
    assert "&lt;i&gt;<mark>the owl &amp; the</mark>" in page
    assert "<script>" not in page
    assert "<b>" not in page
