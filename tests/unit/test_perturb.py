"""Modified members: what is replaced, what stays, and the link to the original."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from ngramscope.cli._run import run as run_here
from ngramscope.corpus.tokens import LoadedTokenizer, load_tokenizer
from ngramscope.errors import InputError, UsageError
from ngramscope.sets import Candidate, RecordSource, SetFile, Step
from ngramscope.sets.perturb import Perturbed, PerturbOptions, perturb
from ngramscope.sets.records import Keys
from ngramscope.sets.replacing import Tokens, Words
from tests.conftest import WORDS, read_jsonl, write_jsonl

tokenizers = pytest.importorskip("tokenizers")

TEXTS = [
    "The  quick brown fox\njumps over the lazy dog; it wasn't planned, was it?",
    "\tdef f(x):\n\t\treturn  x ** 2  # naïve ∑ — 東京 🦉🦉\n\n\n    print(f(3))\r\n",
    "A line with trailing white space   \n  and one that begins with it, 1234567890 times over.  ",
]


@pytest.fixture(scope="module")
def pythia(shared: Path) -> LoadedTokenizer:
    data = zstandard.ZstdDecompressor().decompress((shared / "data/tokenizers/pythia-20B_tokenizer.json.zst").read_bytes())
    return LoadedTokenizer(tokenizers.Tokenizer.from_buffer(data), "pythia", "0")


@pytest.fixture(scope="module")
def gpt2(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> LoadedTokenizer:
    folder = tmp_path_factory.mktemp("gpt2")
    for name in ("gpt2_vocab.json", "gpt2_merges.txt"):
        packed = (shared / f"data/tokenizers/{name}.zst").read_bytes()
        (folder / name).write_bytes(zstandard.ZstdDecompressor().decompress(packed))
    made = tokenizers.ByteLevelBPETokenizer.from_file(str(folder / "gpt2_vocab.json"), str(folder / "gpt2_merges.txt"))
    return LoadedTokenizer(made._tokenizer, "gpt2", "0")


def trained(kind: str) -> LoadedTokenizer:
    """Tokenizers whose tokens do not cover white space, or mark it otherwise; trained on the spot."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    if kind == "wordpiece":
        made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
        made.decoder = decoders.WordPiece(cleanup=False)
        trainer = trainers.WordPieceTrainer(vocab_size=150, special_tokens=["[UNK]", "[CLS]"], show_progress=False)
    else:
        made = Tokenizer(models.Unigram())
        made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=["<s>"], unk_token="<unk>", show_progress=False)
    made.train_from_iterator([*TEXTS, " ".join(WORDS)] * 20, trainer)
    if kind == "wordpiece":
        made.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 1)])
    return LoadedTokenizer(made, kind, "0")


@pytest.fixture(params=["pythia", "gpt2", "wordpiece", "metaspace"])
def tokenizer(request: pytest.FixtureRequest) -> LoadedTokenizer:
    return trained(request.param) if request.param in ("wordpiece", "metaspace") else request.getfixturevalue(request.param)


def untouched(before: str, after: str, spans: list[tuple[int, int]]) -> bool:
    """Whether `after` is `before` with something else in the place of the spans, one after the other."""
    edges = [0, *(edge for span in spans for edge in span), len(before)]
    pieces = [before[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    if not (after.startswith(pieces[0]) and after.endswith(pieces[-1])):
        return False
    place = 0
    for piece in pieces:
        place = after.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return True


def test_exactly_so_many_tokens_are_replaced_and_the_rest_stays(tokenizer: LoadedTokenizer) -> None:
    unit = Tokens(tokenizer)
    again = 0
    for number, (text, cut) in enumerate(zip(TEXTS, unit.cut(TEXTS), strict=True)):
        ids = tokenizer.tokenizer.encode(text, add_special_tokens=False).ids
        assert list(cut.pieces) == ids
        for count in (1, 3, len(cut.free)):
            random = np.random.default_rng(number)
            replaced = unit.replace(text, cut, count, random)
            assert len(replaced.positions) == len(set(replaced.positions)) == count
            assert set(replaced.positions) <= set(cut.free)
            assert untouched(text, replaced.text, [cut.spans[each] for each in replaced.positions])
            assert "\ufffd" not in replaced.text
            now = tokenizer.tokenizer.encode(replaced.text, add_special_tokens=False).ids
            if replaced.retokenized:
                again += 1
                differ = [place for place, (old, new) in enumerate(zip(ids, now, strict=True)) if old != new]
                assert differ == replaced.positions
    assert again


@pytest.mark.parametrize("name", ["pythia", "gpt2"])
def test_byte_level_tokens_keep_every_byte(name: str, request: pytest.FixtureRequest) -> None:
    """Spans of a byte-level tokenizer leave no gap, so a space goes and comes with its token; parts of a character stay."""
    unit = Tokens(request.getfixturevalue(name))
    for text, cut in zip(TEXTS, unit.cut(TEXTS), strict=True):
        assert {place for start, end in cut.spans for place in range(start, end)} == set(range(len(text)))
        shared = [each for each in range(len(cut.pieces)) if each not in set(cut.free)]
        assert all(any(ord(each) > 127 for each in text[slice(*cut.spans[place])]) for place in shared)
        assert (len(shared) > 0) == ("🦉" in text)


def test_replacements_are_uniform_over_all_tokens_but_special_and_broken_ones() -> None:
    loaded = trained("wordpiece")
    unit = Tokens(loaded)
    facts = unit.facts()["vocabulary"]
    assert facts["ids"] == loaded.tokenizer.get_vocab_size() == facts["special"] + facts["no_text"] + facts["used"]
    assert facts["special"] == 2
    word, cut = next((word, cut) for word in TEXTS[0].lower().split() for cut in unit.cut([word]) if len(cut.pieces) == 1)
    seen = Counter(unit.replace(word, cut, 1, np.random.default_rng(seed)).text for seed in range(4000))
    assert not any("[" in each for each in seen)
    # Tokens with and without the mark of a continued word are one text here.
    texts = Counter(loaded.tokenizer.id_to_token(number).removeprefix("##") for number in unit._ids.tolist())
    wanted = {each: 4000 * count / (facts["used"] - 1) for each, count in texts.items()}
    wanted[word] -= 4000 / (facts["used"] - 1)  # itself
    assert set(seen) <= set(wanted)
    chi = sum((seen[each] - expected) ** 2 / expected for each, expected in wanted.items() if expected)
    assert not seen[word] or wanted[word]
    assert chi < len(wanted) + 4 * np.sqrt(2 * len(wanted))


def test_pieces_of_characters_and_special_tokens_are_not_drawn(pythia: LoadedTokenizer) -> None:
    unit = Tokens(pythia)
    facts = unit.facts()["vocabulary"]
    # Most bytes from 0x80 on are no characters, and some tokens are several such bytes.
    assert 100 < facts["no_text"] < 1000
    assert facts["special"] >= 2
    drawn = set(unit._ids.tolist())
    assert pythia.tokenizer.token_to_id("<|endoftext|>") not in drawn
    (cut,) = unit.cut(["ab<|endoftext|>cd"])
    assert [cut.pieces[each] for each in cut.free] != list(cut.pieces)
    assert "<|endoftext|>" in unit.replace("ab<|endoftext|>cd", cut, len(cut.free), np.random.default_rng(0)).text


def test_words() -> None:
    unit = Words(["one", "two", "three", "two"])
    text = "  one\n\ttwo  two  "
    (cut,) = unit.cut([text])
    replaced = unit.replace(text, cut, 2, np.random.default_rng(0))
    old, new = text.split(), replaced.text.split()
    assert [place for place in range(3) if old[place] != new[place]] == replaced.positions
    assert set(new) <= {"one", "two", "three"}
    assert untouched(text, replaced.text, [cut.spans[each] for each in replaced.positions])
    with pytest.raises(InputError, match="fewer than two"):
        Words(["one", "one"])


# The rule

Perturb = Callable[..., tuple[Perturbed, list[dict[str, Any]]]]


@pytest.fixture
def perturbed(tmp_path: Path) -> Perturb:
    def run(rows: list[dict[str, Any]], paraphrases: list[dict[str, Any]] | None = None, **options: Any) -> Any:
        source = RecordSource((write_jsonl(tmp_path / "texts.jsonl", rows),), keys=Keys(fields=("more",)))
        other = None if paraphrases is None else RecordSource((write_jsonl(tmp_path / "paraphrases.jsonl", paraphrases),))
        loaded = options.pop("tokenizer", None)
        with SetFile(tmp_path / "out.jsonl") as file:
            done = perturb(source, file, PerturbOptions(**options), tokenizer=loaded, paraphrases=other)
        for each in done.header["history"][-1]["counts"].values():
            assert each["read"] == each["used"] + sum(each["left_out"].values())
        return done, read_jsonl(tmp_path / "out.jsonl")

    return run


def records(count: int = 30, words: int = 30) -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    return [
        {
            "id": number if number % 2 else f"d{number}",
            "text": " ".join(random.choice(WORDS, words)),
            "label": int(number % 3 > 0),
            "domain": "greek",
            "date": "2020",
            "more": number,
        }
        for number in range(count)
    ]


def counts(done: Perturbed) -> dict[str, Any]:
    found: dict[str, Any] = done.header["history"][-1]["counts"]
    return found


@pytest.mark.parametrize("by", ["words", "tokens"])
def test_rows_are_linked_to_their_originals(perturbed: Perturb, by: str) -> None:
    loaded = trained("wordpiece") if by == "tokens" else None
    texts = records()
    done, rows = perturbed(texts, tokenizer=loaded, replace=(10, 1), trials=2)
    members = [(place, each) for place, each in enumerate(texts) if each["label"]]
    assert len(rows) == len(members) * 4
    for number, row in enumerate(rows):
        place, original = members[number // 4]
        count, trial = ((1, 0), (1, 1), (10, 0), (10, 1))[number % 4]
        assert (row["original"], row["original_position"], row["position"]) == (original["id"], place, place)
        assert row["original_source"] == row["source"]
        assert (row["replaced"], row["trial"], row["modified"]) == (count, trial, True)
        assert row["modification"] == f"replaced_{by}"
        assert (row["label"], row["domain"], row["date"], row["more"]) == (1, "greek", "2020", place)
        assert row["group"] == str(original["id"])
        assert row["overlap"] == {}
        if by == "words":
            pairs = zip(row["text"].split(), original["text"].split(), strict=True)
            assert sum(one != other for one, other in pairs) == count
    assert len({row["id"] for row in rows}) == len(rows)
    assert counts(done)["members"]["used"] == counts(done)["replace_10"]["used"] == len(members)
    assert counts(done)["nonmembers"]["left_out"] == {"other_side": len(texts) - len(members)}
    facts = done.header["history"][-1]
    assert facts["settings"]["unit"] == by
    if by == "tokens":
        assert facts["facts"]["retokenized"] == {
            "yes": sum(row["retokenized"] for row in rows), "no": sum(not row["retokenized"] for row in rows),
        }  # fmt: skip


def test_seeds_and_trials(perturbed: Perturb) -> None:
    def by_id(rows: list[dict[str, Any]]) -> dict[str, str]:
        return {row["id"]: row["text"] for row in rows}

    options = {"replace": (5,), "trials": 3}
    _, first = perturbed(records(), **options)
    _, again = perturbed(records()[::-1], **options)
    assert by_id(first) == by_id(again)
    _, other = perturbed(records(), seed=1, **options)
    assert sum(by_id(first)[key] == text for key, text in by_id(other).items()) == 0
    for number in range(0, len(first), 3):
        assert len({row["text"] for row in first[number : number + 3]}) == 3


def test_texts_too_short_are_left_out(perturbed: Perturb) -> None:
    texts = records(9, words=5) + records(9, words=12)[1:]
    for number, each in enumerate(texts):
        each["id"] = number
    done, rows = perturbed(texts, replace=(5, 6, 13), side="all")
    assert counts(done)["replace_5"] == {"read": 17, "used": 17, "left_out": {}}
    assert counts(done)["replace_6"]["left_out"] == {"fewer_words_than_replacements": 9}
    assert counts(done)["replace_13"] == {"read": 17, "used": 0, "left_out": {"fewer_words_than_replacements": 17}}
    assert len(rows) == 17 + 8
    with pytest.raises(InputError, match="17 fewer_words_than_replacements"):
        perturbed(texts, replace=(13,), side="all")


def test_paraphrases_of_another_file(perturbed: Perturb) -> None:
    texts = [*records(4), {"id": None, "text": "no id here", "label": 1}]
    said = [
        {"id": "d2", "text": "another way"},
        {"id": 1, "text": "in other words"},
        {"id": "1", "text": "or so"},
        {"id": "unknown", "text": "of nothing"},
        {"text": "of nobody"},
        {"id": "d0", "text": "of a non-member"},
        {"id": "d2", "text": texts[2]["text"]},
    ]
    done, rows = perturbed(texts, said)
    assert [(row["text"], row["original"], row["trial"], row["original_position"], row["position"]) for row in rows] == [
        ("another way", "d2", 0, 2, 0),
        ("in other words", 1, 0, 1, 1),
        ("or so", 1, 1, 1, 2),
    ]
    assert [row["group"] for row in rows] == ["d2", "1", "1"]
    assert {(row["label"], row["domain"], row["modification"], row["replaced"]) for row in rows} == {
        (1, "greek", "paraphrase", None)
    }
    assert counts(done)["paraphrases"]["left_out"] == {"no_id": 1, "no_original": 2, "same_as_original": 1}
    assert [each["name"].rsplit("/")[-1] for each in done.header["inputs"]] == ["texts.jsonl", "paraphrases.jsonl"]
    with pytest.raises(InputError, match=r"texts.jsonl, record 4: a second original with the id 1"):
        perturbed([*texts[:3], {**texts[1]}], said)


def test_paraphrases_of_the_records_and_originals_kept(perturbed: Perturb) -> None:
    texts = records(6)
    texts[1]["other"], texts[2]["other"] = ["one", "two", " ", texts[1]["text"]], "three"
    texts[4]["group"] = "book"
    done, rows = perturbed(texts, paraphrase_key="other", keep_originals=True, replace=(1,))
    assert [(row["text"], row["trial"]) for row in rows if row["modification"] == "paraphrase"] == [
        ("one", 0), ("two", 1), ("three", 0),
    ]  # fmt: skip
    assert counts(done)["paraphrases"] == {
        "read": 7, "used": 3, "left_out": {"empty_paraphrase": 1, "same_as_original": 1, "no_paraphrase": 2},
    }  # fmt: skip
    originals = [row for row in rows if not row["modified"]]
    assert [row["text"] for row in originals] == [each["text"] for each in texts if each["label"]]
    # A text and all that was made of it stay together.
    for row in rows:
        if row["modified"]:
            assert row["group"] == next(each["group"] for each in originals if each["id"] == row["original"])
    assert originals[2]["group"] == "book"
    assert not any("other" in row for row in rows)
    texts[2]["other"] = 5
    with pytest.raises(InputError, match=r"texts.jsonl, record 3: other holds no paraphrase"):
        perturbed(texts, paraphrase_key="other")


def test_measured_overlap_is_not_that_of_the_modified_text(tmp_path: Path) -> None:
    with SetFile(tmp_path / "set.jsonl") as file:
        extra = {"overlap_loo": {"7": 0.1}, "weight": 2.0, "mine": 1}
        file.add([Candidate("a", " ".join(WORDS), 1, overlap={"7": 0.5}, source="there", position=3, extra=extra)])
        file.commit(Step("made", {}, [], {}), overlap={"7": {"by": "index"}})
    for keep in (False, True):
        with SetFile(tmp_path / "out.jsonl") as file:
            options = PerturbOptions(replace=(1,), keep_originals=keep)
            done = perturb(RecordSource((tmp_path / "set.jsonl",)), file, options)
        *originals, row = read_jsonl(tmp_path / "out.jsonl")
        assert (row["overlap"], "overlap_loo" in row, "weight" in row, row["mine"]) == ({}, False, False, 1)
        assert (row["original_source"], row["original_position"]) == ("there", 3)
        assert [each["overlap"] for each in originals] == [{"7": 0.5}] * keep
        assert done.header["overlap"] == ({"7": {"by": "index"}} if keep else {})
        assert [step["rule"] for step in done.header["history"]] == ["made", "perturb"]


def test_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trained("wordpiece").tokenizer.save(str(tmp_path / "tokenizer.json"))
    texts, out = str(write_jsonl(tmp_path / "texts.jsonl", records(9))), str(tmp_path / "out.jsonl")
    plain = ["sets", "perturb", texts, "--replace", "2", "--out", out]
    assert run_here([*plain, "--tokenizer", str(tmp_path), "--json"]) == 0
    header = json.loads(capfd.readouterr().out)
    loaded = load_tokenizer(str(tmp_path))
    assert header["settings"]["tokenizer"] == {"name": "tokenizer.json", "sha256": loaded.sha256}
    assert (header["rule"], header["counts"]["members"], header["seed"]) == ("perturb", 6, 0)
    assert run_here(plain) == 0
    assert "replace_2: 6 of 6" in capfd.readouterr().err
    bad = write_jsonl(tmp_path / "bad.jsonl", records(3))
    bad.write_text(bad.read_text() + "no JSON\n")
    assert run_here(["sets", "perturb", str(bad), "--replace", "1", "--out", out, "--max-bad-records", "1"]) == 3
    assert "bad.jsonl, line 4" in capfd.readouterr().err
    for arguments, said, code in (
        (["sets", "perturb", texts, "--out", out], "nothing to do", 2),
        ([*plain, "--unit", "tokens"], "--tokenizer", 2),
        ([*plain[:3], *plain[5:], "--tokenizer", str(tmp_path / "tokenizer.json")], "--replace N", 2),
        ([*plain, "--replace", "0"], "--replace", 2),
        ([*plain[:-1], texts], "one of the inputs", 2),
        (["sets", "perturb", "-", "--replace", "1", "--out", out], "standard input", 2),
        ([*plain, "--label", "absent"], "--label-key", 1),
        ([*plain, "--tokenizer", str(tmp_path / "texts.jsonl")], "not a tokenizer", 1),
    ):
        assert run_here(arguments) == code, arguments
        assert said in capfd.readouterr().err
    for seed in (-1, 1 << 63):
        with pytest.raises(UsageError, match="--seed"):
            PerturbOptions(replace=(1,), seed=seed)
    with pytest.raises(UsageError, match="--trials"):
        PerturbOptions(replace=(1,), trials=0)
