"""What is particular to single benchmarks: names, parts, neighbours, groups, shards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ngramscope.errors import InputError, UsageError
from ngramscope.sets import Candidate, RecordSource, open_header
from ngramscope.sets.formats import ExportOptions, export_set, import_set
from tests.formats import (
    bff,
    bff_row,
    bookmia,
    candidates,
    lines,
    mimir,
    parquet,
    set_of,
    taken,
    tection,
    wikimia_hard,
)


def test_a_mimir_folder_is_written_as_it_was_read(data: Path, tmp_path: Path) -> None:
    cache = data / "cache_100_200_2_512"
    for side, neighbors, texts in (("train", "train_neighbors", ["a", "b"]), ("test", "test_neighbors", ["x", "y"])):
        lines(cache / side / "pile_cc_ngram_13_0.8.jsonl", texts)
        lines(
            cache / neighbors / "pile_cc_ngram_13_0.8_neighbors_2_bert_in_place_swap.jsonl",
            [[[f"{text}1", f"{text}2"]] for text in texts],
        )
    path = tmp_path / "set.jsonl"
    import_set([cache], path)
    assert [each.extra for each in candidates(path)] == [{"neighbors": [f"{text}1", f"{text}2"]} for text in "abxy"]
    stamp = export_set(path, tmp_path / "out", "mimir")
    assert "neighbors" not in stamp["lost"]
    before = {each.relative_to(data): each.read_bytes() for each in data.rglob("*.jsonl")}
    after = {each.relative_to(tmp_path / "out"): each.read_bytes() for each in (tmp_path / "out").rglob("*.jsonl")}
    assert after == before
    # Without knowing how neighbours were made their files have no name.
    other = set_of(
        tmp_path / "other.jsonl", [Candidate("a", "x", 1, "c4", extra={"neighbors": ["y"]})], {"min_words": 5, "max_words": 9}
    )
    stamp = export_set(other, tmp_path / "other", "mimir", options=ExportOptions(max_tokens=512))
    assert stamp["lost"]["neighbors"] == 1
    assert (tmp_path / "other" / "cache_5_9_1_512" / "train" / "c4.jsonl").read_text() == '"x"\n'


def test_names_of_mimir_are_normalised(data: Path, tmp_path: Path) -> None:
    cache = data / "cache_100_200_1000_512"
    for side in ("train", "test"):
        lines(cache / side / "the_pile_pubmed_central_ngram_13_<0.8_truncated.jsonl", [side])
        lines(cache / side / "the_pile_temporal_arxiv_2020_08.jsonl", [side])
        lines(cache / side / "the_pile_full_pile.jsonl", [side])
    for config, split in (
        ("PubMed Central", "ngram_13_<0.8_truncated"),
        ("pubmed_central", None),
        ("temporal_arxiv", "2020_08"),
        ("full_pile", "none"),
    ):
        rows = taken(tmp_path, data, config=config, split=split)
        assert [(each.text, each.label) for each in rows] == [("train", 1), ("test", 0)]
    with pytest.raises(
        UsageError, match="--config: the inputs hold several parts; name one of full_pile, pubmed_central, temp"
    ):
        taken(tmp_path, data)
    with pytest.raises(UsageError, match=r"--split: there is no ngram_7_0\.2; name one of ngram_13_0\.8, or all"):
        taken(tmp_path, data, config="pubmed_central", split="ngram_7_0.2")
    assert {each.domain for each in taken(tmp_path, data, config="all")} == {"pubmed_central", "temporal_arxiv", "full_pile"}


@pytest.mark.parametrize(
    ("neighbors", "message"),
    [
        ([["n"]], "fewer lines than there are texts"),
        ([["n"], ["n"], ["n"]], "line 3: more lines than"),
        ([["n"], "n"], "line 2: no list of neighbours for each of 1 texts"),
        ([["n"], [["n"], ["n"]]], "line 2: no list of neighbours for each of 1 texts"),
    ],
)
def test_neighbours_that_do_not_fit(data: Path, tmp_path: Path, neighbors: list[Any], message: str) -> None:
    for side in ("train", "test"):
        lines(data / side / "c4.jsonl", ["a", "b"])
    lines(data / "train_neighbors" / "c4_neighbors_1_bert.jsonl", neighbors)
    with pytest.raises(InputError, match=message):
        taken(tmp_path, data)
    assert len(taken(tmp_path, data, neighbors=False)) == 4


def test_a_side_of_mimir_that_is_missing(data: Path, tmp_path: Path) -> None:
    lines(data / "cache_1_2_3_4" / "train" / "c4.jsonl", ["a"])
    with pytest.raises(InputError, match="c4 has no file in the folder test"):
        taken(tmp_path, data)


def test_half_a_surrogate_pair_is_read_as_the_core_reads_it(data: Path, tmp_path: Path) -> None:
    for side in ("train", "test"):
        lines(data / side / "c4.jsonl", ["half \ud83d, whole \ud83e\udd89"])
    lines(data / "records.jsonl", [{"text": "half \ud83d, whole \ud83e\udd89", "tag": ["half \ud83d"]}])
    assert {each.text for each in taken(tmp_path, data / "train", data / "test")} == {"half \ufffd, whole \U0001f989"}
    (row,) = taken(tmp_path, data / "records.jsonl", fields=("tag",))
    assert (row.text, row.extra) == ("half \ufffd, whole \U0001f989", {"tag": ["half \ufffd"]})


def test_pieces_of_a_document_stay_together(data: Path, tmp_path: Path) -> None:
    rows = taken(tmp_path, mimir(data).input, config="wikipedia_(en)")
    assert [each.group for each in rows[1:4]] == [
        None,
        "wikipedia_(en)_ngram_13_0.8/member/2",
        "wikipedia_(en)_ngram_13_0.8/member/2",
    ]
    assert [each.position for each in rows] == [0, 1, 2, 2, 0, 1]


def test_perturbed_copies_become_neighbours(data: Path, tmp_path: Path) -> None:
    name = "WikiMIA_length32_paraphrased"
    lines(data / f"{name}.jsonl", [{"input": "a", "label": 1}, {"input": None, "label": 1}, {"input": "c", "label": 0}])
    copies = [{"input": f"{text}{number}", "label": 0} for text in "abc" for number in range(2)]
    parquet(data / f"{name}_perturbed-00000-of-00001.parquet", {"input": [row["input"] for row in copies]})
    rows = taken(tmp_path, data)
    assert [(each.text, each.extra) for each in rows] == [
        ("a", {"neighbors": ["a0", "a1"]}),
        ("c", {"neighbors": ["c0", "c1"]}),
    ]
    header = open_header(tmp_path / "taken.jsonl")
    assert header["history"][0]["counts"]["texts"]["left_out"] == {"null_text": 1}
    assert [each.extra for each in taken(tmp_path, data, neighbors=False)] == [{}, {}]
    lines(data / f"{name}_perturbed-00000-of-00001.parquet", copies[:5])
    with pytest.raises(InputError, match="5 perturbed copies of 3 texts"):
        taken(tmp_path, data)


def test_splits_are_in_names_of_folders_too(data: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    splits = {
        name: datasets.Dataset.from_list([{"input": f"{name} {side}", "label": side} for side in (1, 0)])
        for name in ("WikiMIA_length32", "WikiMIA_length64")
    }
    datasets.DatasetDict(splits).save_to_disk(data / "saved")
    rows = taken(tmp_path, data / "saved", split="WikiMIA_length64")
    assert [(each.text, each.label) for each in rows] == [("WikiMIA_length64 1", 1), ("WikiMIA_length64 0", 0)]
    assert len(taken(tmp_path, data / "saved", split="all")) == 4
    with pytest.raises(UsageError, match="name one of WikiMIA_length32, WikiMIA_length64"):
        taken(tmp_path, data / "saved")


def test_a_config_and_split_that_datasets_makes(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = data / "wiki"
    folder.mkdir()
    # One JSON array: it comes record by record, as an Arrow stream.
    (folder / "test.json").write_text(json.dumps([{"input": "a", "label": 1}, {"input": "b", "label": 0}]), encoding="utf-8")
    lines(folder / "train.jsonl", [{"input": "c", "label": 1}])
    for split, texts in (("test", ["a", "b"]), ("train", ["c"])):
        import_set([f"hf://{folder}:{split}"], tmp_path / "set.jsonl")
        rows = candidates(tmp_path / "set.jsonl")
        assert [each.text for each in rows] == texts
        assert str(rows[0].source).startswith("hf://wiki")


def test_versions_of_an_article_books_and_works_are_groups(data: Path, tmp_path: Path) -> None:
    for maker, groups in ((wikimia_hard, ["A", "A"]), (bookmia, ["Emma", "New"]), (tection, ["Emma", "Nova"])):
        folder = data / maker.__name__
        folder.mkdir()
        assert [each.group for each in taken(tmp_path, maker(folder).input)] == groups
    assert candidates(tmp_path / "taken.jsonl")[1].extra == {"paraphrases": ["real", "p1", "p3"]}


def test_texts_that_are_files(data: Path, tmp_path: Path) -> None:
    for side in ("member", "nonmember"):
        for number in range(3):
            path = data / "arxiv1m" / side / f"{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{side}\n{number}\n", encoding="utf-8")
    rows = taken(tmp_path, data)
    assert [(each.id, each.text, each.label, each.domain) for each in rows[:4]] == [
        ("member/0.txt", "member\n0\n", 1, "arxiv1m"),
        ("member/1.txt", "member\n1\n", 1, "arxiv1m"),
        ("member/2.txt", "member\n2\n", 1, "arxiv1m"),
        ("nonmember/0.txt", "nonmember\n0\n", 0, "arxiv1m"),
    ]


def test_flags_of_shards_are_or_ed_and_thresholds_can_take_them(data: Path, tmp_path: Path) -> None:
    from ngramscope.sets import OverlapOptions, Overlaps

    example = bff(data)
    import_set([example.input], tmp_path / "set.jsonl")
    assert [each.extra for each in candidates(tmp_path / "set.jsonl")] == [{"ngram_inclusion": "101"}, {"ngram_inclusion": "0"}]
    settings = open_header(tmp_path / "set.jsonl")["history"][0]["settings"]
    assert (settings["shards"], settings["n"]) == (2, 7)
    shares = [
        share
        for _, measured in Overlaps(RecordSource((tmp_path / "set.jsonl",)), OverlapOptions(flags=("ngram_inclusion",)))
        for share in measured[7].overlap
    ]
    assert shares == [2 / 3, 0.0]


def test_shards_that_do_not_fit(data: Path, tmp_path: Path) -> None:
    zero, one = data / "0" / "a.jsonl", data / "1" / "a.jsonl"
    lines(zero, [bff_row("x", [True]), bff_row("y", [True])])
    lines(one, [bff_row("x", [True]), bff_row("z", [True])])
    with pytest.raises(InputError, match="line 2: another text than in"):
        taken(tmp_path, zero, one)
    lines(one, [bff_row("x", [True])])
    with pytest.raises(InputError, match="different numbers of texts"):
        taken(tmp_path, data)
    lines(zero, [{**bff_row("x", [True]), "bff_contained_ngram_count_before_dedupe": 3}])
    with pytest.raises(InputError, match="is 3, but 1 flags are true"):
        taken(tmp_path, data)
    with pytest.raises(InputError, match="begins with the same text as"):
        taken(tmp_path, lines(data / "p.jsonl", [bff_row("x", [])]), lines(data / "q.jsonl", [bff_row("x", [])]), config="all")
