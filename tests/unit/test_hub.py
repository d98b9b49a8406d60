"""``hf://`` datasets and the folders that `datasets` writes; local folders stand for the hub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ngramscope import Index
from ngramscope.corpus import hub, remote
from ngramscope.errors import InputError, UsageError

datasets = pytest.importorskip("datasets")

ROWS = [
    {"id": number, "text": f"alpha beta gamma {number} delta", "meta": {"set": "a" if number % 2 else "b"}}
    for number in range(2500)
]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Two configs: `plain` of JSON Lines (train in two files, test), `nested` of one JSON array."""
    folder = tmp_path / "greek"
    for config in ("plain", "nested"):
        (folder / config).mkdir(parents=True)
    _json_lines(folder / "plain" / "train-0.jsonl", ROWS[:1500])
    _json_lines(folder / "plain" / "train-1.jsonl", ROWS[1500:])
    _json_lines(folder / "plain" / "test.jsonl", ROWS[:10])
    (folder / "nested" / "all.json").write_text(json.dumps(ROWS), encoding="utf-8")
    (folder / "README.md").write_text(
        "---\nconfigs:\n"
        "- config_name: plain\n  data_files:\n  - split: train\n    path: plain/train-*.jsonl\n  - split: test\n    path: plain/test.jsonl\n"
        "- config_name: nested\n  data_files: nested/all.json\n---\n",
        encoding="utf-8",
    )
    return folder


def _json_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def build(folder: Path, source: str, **options: Any) -> Index:
    return Index.build(source, out=folder / "index", n=3, filter="exact", force=True, **options)


def test_a_split_of_json_lines_is_read_file_by_file(tmp_path: Path, dataset: Path) -> None:
    index = build(tmp_path, f"hf://{dataset}:plain:train")
    sources = {each["name"]: each["documents"] for each in index.manifests[0]["sources"]}
    assert sources == {
        "hf://greek:plain:train/train-0.jsonl": 1500,
        "hf://greek:plain:train/train-1.jsonl": 1000,
    }


def test_anything_else_is_streamed_through_datasets(tmp_path: Path, dataset: Path) -> None:
    index = build(tmp_path, f"hf://{dataset}:nested:train")
    (source,) = index.manifests[0]["sources"]
    assert (source["name"], source["documents"]) == ("hf://greek:nested:train", len(ROWS))
    assert source["blake3"]
    again = build(tmp_path, f"hf://{dataset}:nested:train")
    assert again.manifests == index.manifests
    # A nested column, and the same n-grams as from the files.
    plain = Index.build(f"hf://{dataset}:plain:train", out=tmp_path / "plain", n=3, filter="exact")
    counts = [[keys["occurrences"] for keys in each.manifests[0]["sets"]] for each in (index, plain)]
    assert counts[0] == counts[1]
    assert build(tmp_path, f"hf://{dataset}:nested:train", text_key="meta.set").manifests[0]["counts"]["words"] == len(ROWS)


def test_fields_of_candidates_come_along(tmp_path: Path, dataset: Path) -> None:
    from ngramscope.index.options import ReadOptions

    index = build(tmp_path, f"hf://{dataset}:plain:test")
    for config in ("plain", "nested"):
        tables = list(index.overlap_files(f"hf://{dataset}:{config}:train", read=ReadOptions(fields=("meta.set",))))
        sets = [each for table in tables for each in table.fields["meta.set"]]
        assert sets == [json.dumps(row["meta"]["set"]) for row in ROWS]
        assert [each for table in tables for each in table.id] == [row["id"] for row in ROWS]


def test_a_parquet_dataset(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    pq.write_table(pa.Table.from_pylist(ROWS), folder / "train-00000-of-00001.parquet")
    (source,) = remote.find(f"hf://{folder}")
    assert source.ranges
    index = build(tmp_path, f"hf://{folder}")
    assert index.manifests[0]["counts"]["documents"] == len(ROWS)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hf://{}", r"has the configs (plain, nested|nested, plain); name one"),
        ("hf://{}:plain", r"has the splits train, test; name one, as hf://.*:plain:train"),
        ("hf://{}:other:train", "has no config 'other'"),
        ("hf://{}:plain:other", "has no split 'other'; it has train, test"),
        ("hf://{}:a:b:c", "not the name of a dataset"),
        ("hf://:train", "not the name of a dataset"),
    ],
)
def test_a_name_that_leaves_something_open_is_refused_with_the_choices(dataset: Path, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        remote.find(name.format(dataset))


def test_one_part_is_a_config_if_there_is_one_else_a_split(tmp_path: Path, dataset: Path) -> None:
    assert [each.name for each in remote.find(f"hf://{dataset}:nested")] == ["hf://greek:nested:train"]
    folder = tmp_path / "simple"
    folder.mkdir()
    _json_lines(folder / "train.jsonl", ROWS[:3])
    _json_lines(folder / "test.jsonl", ROWS[:2])
    assert [each.name for each in remote.find(f"hf://{folder}:test")] == ["hf://simple:default:test/test.jsonl"]


def test_a_dataset_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"hf://{tmp_path}/no: "):
        remote.find(f"hf://{tmp_path}/no")


def test_names_of_datasets_are_taken_apart() -> None:
    for name, wanted in [
        ("hf://a/b", ("a/b", None, ())),
        ("hf://a/b@v1:c:d", ("a/b", "v1", ("c", "d"))),
        ("hf://a/b::d", ("a/b", None, ("", "d"))),
    ]:
        parsed = hub.DatasetName.parse(name)
        assert (parsed.path, parsed.revision, parsed.parts) == wanted


def test_a_path_in_a_repository_is_left_to_its_file_system(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("ngramscope.corpus.storage.find", lambda url: asked.append(url) or [])
    assert remote.find("hf://datasets/some/set/data/*.parquet") == []
    assert asked == ["hf://datasets/some/set/data/*.parquet"]


def test_what_a_stream_raises_is_told(tmp_path: Path, dataset: Path) -> None:
    (source,) = remote.find(f"hf://{dataset}:nested")
    (dataset / "nested" / "all.json").write_text("[{", encoding="utf-8")
    transfer = source.stream()
    with pytest.raises(InputError, match=r"\w"):
        while transfer.next(10.0):
            pass


def test_folders_that_datasets_wrote(tmp_path: Path) -> None:
    table = datasets.Dataset.from_list(ROWS)
    table.save_to_disk(tmp_path / "one", num_shards=2)
    datasets.DatasetDict({"train": table, "test": table.select(range(10))}).save_to_disk(tmp_path / "both")
    loaded = datasets.load_from_disk(tmp_path / "one")
    loaded.map(lambda row: {"text": row["text"] + " more"})  # leaves its cache beside the data
    assert list((tmp_path / "one").glob("cache-*.arrow"))
    for name, documents in (("one", [1250, 1250]), ("both", [10, 2500])):
        sources = build(tmp_path, str(tmp_path / name)).manifests[0]["sources"]
        assert sorted(each["documents"] for each in sources) == documents
        assert all(each["name"].endswith(".arrow") for each in sources)
