"""B01, B02, B04, B06: scripts without spaces, code points, kinds of space, short documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope import Index, MismatchError, OverlapTable
from ngramscope.index.explain import explain_text
from ngramscope.index.options import WordRule
from tests import reference
from tests.conftest import ROOT, Cli, read_jsonl
from tests.trials.support import build, finished

SPACES = ["double_spaces", "tabs_newlines", "nbsp", "narrow_nbsp", "ideographic_space"]


def texts(path: Path) -> dict[str, str]:
    return {row["id"]: row["text"] for row in read_jsonl(path)}


def score(index: Path, path: Path) -> dict[str, Any]:
    (table,) = Index.open(index).overlap_files(path)
    return {name: row for name, row in zip(table.id, rows(table), strict=True) if row["n"] == 7}


def rows(table: OverlapTable) -> list[dict[str, Any]]:
    names = ("n", "words", "ngrams", "hits", "overlap", "distinct_ngrams", "distinct_hits", "distinct_overlap", "null_reason")
    return [
        dict(zip(names, values, strict=True)) for values in zip(*(getattr(table, name).tolist() for name in names), strict=True)
    ]


def test_b01_one_long_word_is_null_and_never_clean(cli: Cli, trials: Path, tmp_path: Path) -> None:
    build(tmp_path / "index", trials / "B01" / "corpus.jsonl", words="whitespace")
    done = cli("overlap", trials / "B01" / "candidates.jsonl", "--index", "index", "--json")
    finished(done)
    for row in read_jsonl(done.stdout.decode("utf-8")):
        assert (row["words"], row["ngrams"], row["overlap"], row["overlap_corrected"]) == (1, 0, None, None)
        assert row["null_reason"] == "fewer_than_n_words"
    summary = json.loads(done.stderr)
    assert summary["by_n"][0]["null"] == {"fewer_than_n_words": 4}
    assert (summary["by_n"][0]["scored"], summary["by_n"][0]["mean"]) == (0, None)
    assert any("EMPTY" in warning for warning in summary["warnings"])


def test_b01_unicode_words_find_the_copies(trials: Path, tmp_path: Path) -> None:
    manifest = build(tmp_path / "index", trials / "B01" / "corpus.jsonl")
    assert (manifest["words"]["mode"], manifest["words"]["unicode"]) == ("uax29", "15.0.0")  # the unit is named in the index
    found = score(tmp_path / "index", trials / "B01" / "candidates.jsonl")
    assert found["ja-copy"]["overlap"] == 1.0
    assert found["th-copy"]["overlap"] == 1.0
    longer = found["zh-one-char-more"]
    assert longer["hits"] == longer["ngrams"] - 1
    half = found["zh-half"]
    assert 0.2 < half["overlap"] < 0.8


def test_b02_forms_are_kept_apart_unless_normalised(trials: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    corpus, candidate = (trials / "B02" / name for name in ("corpus_nfc.jsonl", "candidate_nfd.jsonl"))
    build(tmp_path / "nfc", corpus, normalize="nfc")
    assert score(tmp_path / "nfc", candidate)["d"]["overlap"] == expected["B02"]["nfd_against_nfc_7gram_fraction"]
    build(tmp_path / "none", corpus)
    assert score(tmp_path / "none", candidate)["d"]["overlap"] == 0.0
    manual = (ROOT / "docs" / "words.md").read_text(encoding="utf-8")
    assert "--normalize" in manual  # the default is stated there


def test_b02_compatibility_forms_are_equal_under_nfkc_only(trials: Path, tmp_path: Path) -> None:
    forms = texts(trials / "B02" / "compat_forms.jsonl")
    plain, compat = (reference.whitespace_words(forms[name]) for name in ("plain", "k"))
    apart = reference.overlap(compat, reference.known_ngrams([plain], 7), 7).overlap
    assert apart == 2 / 8  # in the middle there is a run of eight plain words
    for normalize, overlap in (("nfkc", 1.0), ("nfc", apart), ("none", apart)):
        index = Index.build(texts=[forms["plain"]], out=tmp_path / normalize, filter="exact", normalize=normalize, threads=1)
        assert index.overlap([forms["k"], forms["plain"]]).overlap.tolist() == [overlap, 1.0]
    with pytest.raises(MismatchError, match=r"uax29 \(.*uax29 nfkc"):
        Index.open([tmp_path / "none", tmp_path / "nfkc"])


def base_index(folder: Path, trials: Path, **options: Any) -> Index:
    base = texts(trials / "B04" / "variants.jsonl")["base"]
    return Index.build(texts=[base], out=folder, filter="exact", threads=1, **options)


def test_b04_every_white_space_separates_words(trials: Path, tmp_path: Path) -> None:
    base_index(tmp_path / "index", trials, words="whitespace")
    found = score(tmp_path / "index", trials / "B04" / "variants.jsonl")
    for name in ("base", *SPACES):
        assert (found[name]["words"], found[name]["ngrams"], found[name]["overlap"]) == (15, 9, 1.0), name


def test_b04_unicode_words_follow_the_standard_at_the_narrow_no_break_space(trials: Path, tmp_path: Path) -> None:
    """U+202F has Word_Break=ExtendNumLet: by the standard it joins the letters at its sides."""
    base_index(tmp_path / "index", trials)
    found = score(tmp_path / "index", trials / "B04" / "variants.jsonl")
    for name in set(SPACES) - {"narrow_nbsp"}:
        assert (found[name]["words"], found[name]["overlap"]) == (15, 1.0), name
    assert (found["narrow_nbsp"]["words"], found["narrow_nbsp"]["null_reason"]) == (1, "fewer_than_n_words")


def test_b04_case_and_punctuation_follow_the_rule_of_the_index(trials: Path, tmp_path: Path) -> None:
    variants = trials / "B04" / "variants.jsonl"
    rules: dict[str, tuple[dict[str, Any], float, int]] = {
        # Overlap of the upper-cased text, hits of the text with a comma after its fourth word and a full stop at its end.
        # In `whitespace` "stood," and "years." are other words, in `uax29` "," and "." are words of their own.
        "whitespace": ({"words": "whitespace"}, 0.0, 4),
        "whitespace-lower": ({"words": "whitespace", "lowercase": True}, 1.0, 4),
        "uax29": ({}, 0.0, 5),
        "uax29-lower": ({"lowercase": True}, 1.0, 5),
        "gpt3": ({"words": "gpt3"}, 1.0, 9),
    }
    for name, (options, upper, commas) in rules.items():
        base_index(tmp_path / name, trials, **options)
        found = score(tmp_path / name, variants)
        assert (found["upper"]["overlap"], found["commas"]["hits"]) == (upper, commas), name


@pytest.mark.parametrize("words", ["whitespace", "uax29", "gpt3"])
def test_b04_words_are_not_glued_together(trials: Path, expected: dict[str, Any], tmp_path: Path, words: str) -> None:
    right = expected["B04"]["joins_candidate_7gram"]
    build(tmp_path / "index", trials / "B04" / "joins_corpus.jsonl", words=words)
    found = score(tmp_path / "index", trials / "B04" / "joins_candidate.jsonl")["j"]
    assert (found["hits"], found["ngrams"], found["overlap"]) == (right["hits"], right["total"], right["fraction"])
    assert (found["distinct_hits"], found["distinct_ngrams"]) == (right["distinct_hits"], right["distinct_total"])


@pytest.mark.parametrize("kind", [{"filter": "exact"}, {"filter": "blocked", "filter_fpr": 1e-6}], ids=["exact", "blocked"])
@pytest.mark.parametrize("words", ["whitespace", "uax29"])
def test_b06_short_documents_and_borders(
    trials: Path, expected: dict[str, Any], tmp_path: Path, words: str, kind: dict[str, Any]
) -> None:
    build(tmp_path / "index", trials / "B06" / "corpus.jsonl", n=[7, 13], words=words, **kind)
    candidates = trials / "B06" / "candidates.jsonl"
    (table,) = Index.open(tmp_path / "index").overlap_files(candidates)
    found = {(name, row["n"]): row for name, row in zip(table.id, rows(table), strict=True)}
    assert set(found) == {(name, n) for name in expected["B06"] for n in (7, 13)}
    for (name, n), row in found.items():
        right = expected["B06"][name][str(n)]
        if (name, words) == ("dots", "uax29"):
            # Punctuation marks are words by the standard; the expected values count white-space words.
            assert len(explain_text(texts(candidates)["dots"], WordRule(), [n])["words"]) == 11
            assert (row["ngrams"], row["hits"]) == (max(0, 11 - n + 1), 0)
            continue
        assert (row["ngrams"], row["hits"]) == (right["total"], right["hits"]), name
        assert (row["distinct_ngrams"], row["distinct_hits"]) == (right["distinct_total"], right["distinct_hits"]), name
        if right["fraction"] is None:
            assert np.isnan(row["overlap"])
            assert row["null_reason"] == "fewer_than_n_words"
        else:
            assert (row["overlap"], row["distinct_overlap"], row["null_reason"]) == (
                right["fraction"],
                right["distinct_fraction"],
                None,
            )


def test_b06_null_rows_stay_out_of_averages(cli: Cli, trials: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    build(tmp_path / "index", trials / "B06" / "corpus.jsonl", n=[7, 13], words="whitespace")
    done = cli("overlap", trials / "B06" / "candidates.jsonl", "--index", "index", "--json")
    finished(done)
    summary = json.loads(done.stderr)
    for facts in summary["by_n"]:
        shares = [each[str(facts["n"])]["fraction"] for each in expected["B06"].values()]
        known = [share for share in shares if share is not None]
        assert facts["scored"] == len(known)
        assert facts["null"] == {"fewer_than_n_words": len(shares) - len(known)}
        assert facts["mean"] == pytest.approx(sum(known) / len(known))
        assert sum(facts["histogram"]["counts"]) == len(known)
    assert summary["documents"] == len(expected["B06"])
