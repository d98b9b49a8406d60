"""Masked language models: weights against one pass a position, neighbours, their file, replacements in sets."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope.cli._run import run as run_here
from ngramscope.errors import InputError, UsageError
from ngramscope.models import neighbours
from ngramscope.models.masked import MaskedModel, MaskedTokens
from ngramscope.models.neighbour_file import Neighbours, read_neighbours, text_digest
from ngramscope.models.neighbours import NeighbourOptions, find_neighbours, write_neighbours
from ngramscope.sets import Candidate, RecordSource, SetFile
from ngramscope.sets.perturb import PerturbOptions, perturb
from ngramscope.sets.seeds import draw
from tests.conftest import WORDS, read_jsonl, write_jsonl

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

ODD = "  Alpha  beta,\n\tgamma delta;  epsilon alpha — beta 🦉🦉 gamma\r\n\n"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def texts(count: int, words: int, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, words)) for _ in range(count)]


def make(kind: str, folder: Path) -> Path:
    """A tiny masked model with random weights, and a tokenizer trained on the words of these tests."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    if kind == "bert":
        made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
        made.decoder = decoders.WordPiece()
        trainer: Any = trainers.WordPieceTrainer(vocab_size=120, special_tokens=SPECIAL, show_progress=False)
    else:
        made = Tokenizer(models.BPE())
        made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(texts(50, 40), trainer)
    made.post_processor = processors.RobertaProcessing(("[SEP]", 3), ("[CLS]", 2), add_prefix_space=False)
    if kind == "bert":
        made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64, **names)
    sizes |= {"vocab_size": len(tokenizer), "max_position_embeddings": 66}
    if kind == "bert":
        model: Any = transformers.BertForMaskedLM(transformers.BertConfig(initializer_range=0.5, **sizes))
    else:
        model = transformers.RobertaForMaskedLM(transformers.RobertaConfig(pad_token_id=0, initializer_range=0.5, **sizes))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make("bert", tmp_path_factory.mktemp("mlm") / "tiny-bert")


@pytest.fixture(scope="module")
def bert(folder: Path) -> MaskedModel:
    return MaskedModel(str(folder))


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> MaskedModel:
    return MaskedModel(str(make("roberta", tmp_path_factory.mktemp("mlm") / "tiny-roberta")), batch_size=5)


@pytest.fixture(params=["bert", "roberta"])
def model(request: pytest.FixtureRequest) -> MaskedModel:
    found: MaskedModel = request.getfixturevalue(request.param)
    return found


def naive(masked: MaskedModel, ids: list[int], position: int, kept: Any, dropout: float) -> Any:
    """Probabilities at one position of a short text, its embedding dropped out; one whole forward pass for it."""
    whole = torch.tensor([[2, *ids, 3]])
    embeddings = masked._model.get_input_embeddings()(whole).detach().clone()
    embeddings[0, position + 1] *= torch.tensor(kept, dtype=torch.float32) / (1 - dropout)
    with torch.no_grad():
        return masked._model(inputs_embeds=embeddings).logits[0, position + 1].double().softmax(0).numpy()


@pytest.mark.parametrize("dropout", [0.0, 0.7])
def test_weights_are_those_of_one_pass_a_position(model: MaskedModel, dropout: float) -> None:
    for text in (ODD, texts(1, 12)[0]):
        (cut,) = model.cut([text])
        found = dict(model.alternatives(cut, np.random.default_rng(3), top_k=6, dropout=dropout))
        assert list(found) == list(cut.free)
        random = np.random.default_rng(3)
        for position, candidates in found.items():
            p = naive(model, list(cut.pieces), position, random.random(32) >= dropout, dropout)
            own = cut.pieces[position]
            begins = {token: text[0] == " " for token, text in model.tokens.texts.items() if text.strip()}
            ranked = [int(token) for token in np.argsort(-p) if begins.get(int(token)) == begins[own]][:6]
            wanted = [(token, p[token] / (1 - p[own])) for token in ranked if token != own]
            assert [token for token, _ in candidates] == [token for token, _ in wanted]
            assert [w for _, w in candidates] == pytest.approx([w for _, w in wanted], rel=1e-4)


def test_a_certain_token_weighs_what_the_paper_says(bert: MaskedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    (cut,) = bert.cut(["alpha"])
    own = cut.pieces[0]

    def sure(_embeddings: Any, at: Any) -> Any:
        logits = torch.full((len(at), len(bert._known)), -30.0)  # all others together are lost beside 1
        logits[:, own] = 0
        return logits

    monkeypatch.setattr(bert, "_logits", sure)
    ((_, candidates),) = bert.alternatives(cut, np.random.default_rng(0), top_k=6, dropout=0.7)
    assert [weight for _, weight in candidates] == pytest.approx([math.exp(-30) / 0.1] * 5, rel=1e-3)


def test_results_do_not_depend_on_the_batch(folder: Path, bert: MaskedModel) -> None:
    text = texts(1, 150)[0]  # longer than the model can see
    (cut,) = bert.cut([text])
    assert len(cut.pieces) > 2 * bert.window
    one = dict(MaskedModel(str(folder), batch_size=1).alternatives(cut, np.random.default_rng(0), top_k=6, dropout=0.7))
    many = dict(MaskedModel(str(folder), batch_size=100).alternatives(cut, np.random.default_rng(0), top_k=6, dropout=0.7))
    assert list(one) == list(many) == list(range(len(cut.pieces)))
    for position, candidates in one.items():
        assert [w for _, w in candidates] == pytest.approx([w for _, w in many[position]], rel=1e-4)


def changed(before: str, after: str) -> int | None:
    """How many words differ; None if anything else does."""
    old, new = re.split(r"(\s+)", before), re.split(r"(\s+)", after)
    if len(old) != len(new) or old[1::2] != new[1::2]:
        return None
    return sum(a != b for a, b in zip(old[::2], new[::2], strict=True))


@pytest.mark.parametrize("share", [0.02, 0.05, 0.3])
def test_random_swaps_change_so_many_words_and_nothing_else(model: MaskedModel, share: float) -> None:
    for text in (ODD, *texts(2, 60)):
        (cut,) = model.cut([text])
        swaps = max(1, int(share * len(cut.pieces)))
        found = find_neighbours(text, model, NeighbourOptions(share=share, trials=300))
        assert len(found.texts) == len(set(found.texts)) == len(found.weights)
        assert len(found.texts) == 25 or (swaps == 1 and len(found.texts) == len(cut.free))
        assert found.weights == sorted(found.weights, reverse=True)
        for each in found.texts:
            words = changed(text, each)
            assert words is not None
            assert 1 <= words <= swaps
        # Two tokens of one word may be swapped.
        assert text == ODD or max(changed(text, each) or 0 for each in found.texts) == swaps


def test_random_swaps_that_are_kept_have_the_largest_sums(bert: MaskedModel) -> None:
    text = texts(1, 10)[0]
    (cut,) = bert.cut([text])
    options = NeighbourOptions(share=2.5 / len(cut.pieces), trials=5000, count=7, seed=4)
    best = bert.alternatives(cut, np.random.default_rng(draw(4, text)), top_k=6, dropout=0.7)
    weights = [candidates[0][1] for _, candidates in best]
    pairs = sorted((a + b for number, a in enumerate(weights) for b in weights[:number]), reverse=True)
    found = find_neighbours(text, bert, options)
    assert found.weights == pytest.approx(pairs[:7])
    assert all(changed(text, each) in (1, 2) for each in found.texts)


def test_single_swaps(model: MaskedModel) -> None:
    for text in texts(2, 40):
        found = find_neighbours(text, model, NeighbourOptions(strategy="single", count=50))
        assert [changed(text, each) for each in found.texts] == [1] * 50
        assert found.weights == sorted(found.weights, reverse=True)
        (cut,) = model.cut([text])
        candidates = model.alternatives(cut, np.random.default_rng(draw(0, text)), top_k=6, dropout=0.7)
        weights = sorted((weight for _, some in candidates for _, weight in some), reverse=True)
        assert found.weights[0] == pytest.approx(weights[0])
        assert set(found.weights) <= set(weights)


def test_seed_and_text_decide(bert: MaskedModel) -> None:
    one, two = texts(2, 40)
    first = find_neighbours(one, bert, NeighbourOptions())
    find_neighbours(two, bert, NeighbourOptions())
    assert find_neighbours(one, bert, NeighbourOptions()) == first
    assert set(find_neighbours(one, bert, NeighbourOptions(seed=1)).texts).isdisjoint(first.texts)


@pytest.mark.parametrize("text", ["", "  \n", "🦉🦉"])
def test_texts_without_a_token_to_swap(bert: MaskedModel, text: str) -> None:
    assert find_neighbours(text, bert, NeighbourOptions()) == Neighbours([], [], "no_token")


# The file

Write = Callable[..., dict[str, Any]]


@pytest.fixture
def write(bert: MaskedModel, tmp_path: Path) -> Write:
    def run(given: list[Any], **options: Any) -> dict[str, Any]:
        source = RecordSource((write_jsonl(tmp_path / "texts.jsonl", given),))
        return write_neighbours(source, tmp_path / "n.jsonl", bert, NeighbourOptions(count=3, trials=20, **options))

    return run


def test_rows_and_provenance(write: Write, bert: MaskedModel, tmp_path: Path) -> None:
    given = [*texts(3, 20), "🦉"]
    header = write(given, seed=5)
    rows = read_jsonl(tmp_path / "n.jsonl")
    for number, (row, text) in enumerate(zip(rows, given, strict=True)):
        assert (row["row"], row["id"], row["sha256"]) == (number, f"d{number}", text_digest(text))
        found = find_neighbours(text, bert, NeighbourOptions(count=3, trials=20, seed=5))
        assert Neighbours(row["neighbours"], row["weights"], row["null_reason"]) == found
    assert json.loads((tmp_path / "n.jsonl.meta.json").read_text()) == header
    assert (header["artefact"], header["settings"]["seed"], header["settings"]["count"]) == ("neighbours", 5, 3)
    model = header["settings"]["model"]
    assert (model["name"], len(model["sha256"]), model["window"]) == ("tiny-bert", 64, 62)
    assert str(tmp_path.parent) not in json.dumps(model)
    assert header["inputs"][0]["name"].endswith("texts.jsonl")
    assert header["counts"]["texts"] == 4
    assert header["counts"]["null"] == {"no_token": 1}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["n.jsonl", "n.jsonl.meta.json", "texts.jsonl"]


def test_a_stopped_run_goes_on_and_a_longer_set_costs_its_new_texts(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = texts(6, 15)
    write(given)
    wanted = (tmp_path / "n.jsonl").read_bytes()
    for path in tmp_path.glob("n.jsonl*"):
        path.unlink()
    calls: list[str] = []

    def counted(text: str, *rest: Any) -> Neighbours:
        calls.append(text)
        if len(calls) == stop_at:
            raise KeyboardInterrupt
        return find_neighbours(text, *rest)

    monkeypatch.setattr(neighbours, "find_neighbours", counted)
    stop_at = 4
    with pytest.raises(KeyboardInterrupt):
        write(given)
    assert [each.name for each in tmp_path.glob("n.jsonl*")] == ["n.jsonl.partial"]
    with (tmp_path / "n.jsonl.partial").open("ab") as file:
        file.write(b'{"row": -1, "id": null, "sha256": "cut in the mid')
    stop_at = 0
    calls.clear()
    assert write(given)["counts"]["reused"] == 3
    assert calls == given[3:]
    assert (tmp_path / "n.jsonl").read_bytes() == wanted
    calls.clear()
    more = [texts(1, 15, seed=9)[0], *given[::-1]]
    assert write(more)["counts"]["reused"] == 6
    assert calls == more[:1]
    assert [row["sha256"] for row in read_jsonl(tmp_path / "n.jsonl")] == [text_digest(each) for each in more]
    calls.clear()
    assert write(more, seed=1)["counts"]["reused"] == 0
    assert calls == more


def test_another_program_s_file_is_not_replaced(write: Write, tmp_path: Path) -> None:
    (tmp_path / "n.jsonl.partial").write_text("mine\n")
    with pytest.raises(UsageError, match=r"n\.jsonl\.partial"):
        write(texts(1, 10))
    assert (tmp_path / "n.jsonl.partial").read_text() == "mine\n"


def test_neighbours_of_other_texts_are_refused(write: Write, tmp_path: Path) -> None:
    given, path = texts(3, 20), tmp_path / "n.jsonl"
    write(given)
    candidates = [Candidate(f"d{number}", text) for number, text in enumerate(given)]
    rows = read_jsonl(path)
    assert list(read_neighbours(path, candidates)) == [row["neighbours"] for row in rows]
    wrong: list[tuple[list[Candidate], str]] = [
        (candidates[:2], "more texts"),
        ([*candidates, Candidate("d3", "alpha")], "fewer texts"),
        (candidates[::-1], "line 1: neighbours of another text"),
        ([*candidates[:2], Candidate("d2", "beta")], "line 3: neighbours of another text"),
        ([candidates[0], Candidate("other", given[1]), candidates[2]], "line 2: neighbours of another text"),
    ]
    for others, message in wrong:
        with pytest.raises(InputError, match=message):
            list(read_neighbours(path, others))
    path.write_text(path.read_text().replace('"row": 1,', '"row": 1'))
    with pytest.raises(InputError, match="line 2: damaged"):
        list(read_neighbours(path, candidates))
    (tmp_path / "n.jsonl.meta.json").write_text("{}")
    with pytest.raises(InputError, match="not the header"):
        list(read_neighbours(path, candidates))


def test_options_and_models_that_cannot_be(folder: Path, write: Write, tmp_path: Path) -> None:
    for options in ({"share": 0.0}, {"dropout": 1.0}, {"trials": 3}, {"strategy": "best"}, {"count": 0}, {"top_k": 1}):
        with pytest.raises(UsageError, match=f"--{next(iter(options)).replace('_', '-')}"):
            NeighbourOptions(**options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no text"):
        write([{"id": 1, "text": ""}][:0])
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="no masked language model"):
        MaskedModel(str(tmp_path / "none"))
    with pytest.raises(UsageError, match="--device"):
        MaskedModel(str(folder), device="abacus")


# Modified members


def test_replacements_by_a_masked_model(model: MaskedModel, tmp_path: Path) -> None:
    given = [{"id": f"d{number}", "text": text, "label": 1} for number, text in enumerate(texts(4, 40))]
    source = RecordSource((write_jsonl(tmp_path / "texts.jsonl", given),))
    unit = MaskedTokens(model)
    made = []
    for _ in range(2):
        with SetFile(tmp_path / "out.jsonl") as file:
            done = perturb(source, file, PerturbOptions(replace=(1,), replace_share=(0.05, 0.2), trials=2), unit=unit)
        made.append((tmp_path / "out.jsonl").read_bytes())
    assert made[0] == made[1]
    rows = read_jsonl(tmp_path / "out.jsonl")
    assert [row["id"].split(":", 1)[1] for row in rows[:6]] == ["r1:0", "r1:1", "r5%:0", "r5%:1", "r20%:0", "r20%:1"]
    for row in rows:
        original = next(each["text"] for each in given if each["id"] == row["original"])
        (cut,) = model.cut([original])
        share = {"r1": 0.0, "r5%": 0.05, "r20%": 0.2}[row["id"].split(":")[1]]
        assert row["replaced"] == max(1, int(share * len(cut.pieces)))
        words = changed(original, row["text"])
        assert words is not None
        assert 1 <= words <= row["replaced"]
        assert row["modification"] == "replaced_by_model"
    settings = done.header["settings"]
    assert settings["masked_model"] == model.facts
    assert settings["replace_share"] == (0.05, 0.2)
    assert done.header["history"][-1]["counts"]["replace_5%"] == {"read": 4, "used": 4, "left_out": {}}
    assert sum(done.header["history"][-1]["facts"]["retokenized"].values()) == len(rows)


def test_fills_are_the_most_likely_others(model: MaskedModel) -> None:
    (cut,) = model.cut(texts(1, 12))
    positions = list(cut.free)[1:8:2]
    ids = [4 if place in positions else token for place, token in enumerate(cut.pieces)]
    with torch.no_grad():
        logits = model._model(torch.tensor([[2, *ids, 3]])).logits[0, 1:-1].double()
    for position, found in zip(positions, model.fills(cut, positions, 10), strict=True):
        own = cut.pieces[position]
        kinds = {token: text.startswith(" ") for token, text in model.tokens.texts.items() if text.strip()}
        others = [token for token in kinds if kinds[token] == kinds[own] and token != own]
        ranked = sorted(others, key=lambda token: -float(logits[position, token]))[:10]
        assert [token for token, _ in found] == ranked
        assert [p for _, p in found] == pytest.approx(logits[position, ranked].softmax(0).tolist(), rel=1e-4)


def test_shares_of_words(tmp_path: Path) -> None:
    source = RecordSource((write_jsonl(tmp_path / "texts.jsonl", [{"text": texts(1, 59)[0], "label": 1}]),))
    with SetFile(tmp_path / "out.jsonl") as file:
        perturb(source, file, PerturbOptions(replace_share=(0.05,)))
    (row,) = read_jsonl(tmp_path / "out.jsonl")
    assert (row["replaced"], changed(texts(1, 59)[0], row["text"])) == (2, 2)
    for share in (0.0, 1.0):
        with pytest.raises(UsageError, match="--replace-share"):
            PerturbOptions(replace_share=(share,))


# Commands


def test_commands(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = str(write_jsonl(tmp_path / "texts.jsonl", [{"id": 1, "text": texts(1, 30)[0], "label": 1}]))
    out = str(tmp_path / "n.jsonl")
    find = ["neighbours", given, "--model", str(folder), "--count", "4", "--out", out]
    assert run_here([*find, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["counts"]["texts"] == 1
    assert run_here(find) == 0
    assert capfd.readouterr().err == f"neighbours of 1 text, 1 found before; wrote {out}\n"
    assert len(read_jsonl(Path(out))[0]["neighbours"]) == 4
    assert run_here([*find[:-1], str(tmp_path / "n.csv")]) == 2
    made = str(tmp_path / "out.jsonl")
    modify = ["sets", "perturb", given, "--masked-model", str(folder), "--out", made]
    assert run_here([*modify, "--replace-share", "0.05", "--trials", "2"]) == 0
    assert [row["modification"] for row in read_jsonl(Path(made))] == ["replaced_by_model"] * 2
    for bad in ([], ["--replace", "1", "--tokenizer", "x"], ["--replace", "1", "--unit", "words"]):
        assert run_here([*modify, *bad]) == 2
        assert "--masked-model" in capfd.readouterr().err
