"""Randomised insertion: balance, seeds, what the training run sees, drawing again; and Hubble's insertions."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from ngramscope.errors import InputError, UsageError
from ngramscope.sets import Candidate, Keys, RecordSource
from ngramscope.sets.design import Chance, Design, arm_weights, controlled_rounding
from ngramscope.sets.hubble import hubble
from ngramscope.sets.mixing import places
from ngramscope.sets.randomize import RandomizeFiles, RandomizeOptions, randomize
from ngramscope.sets.randomized_files import open_key, positions_path, redraw
from ngramscope.sets.spool import Spool
from tests.conftest import read_jsonl, write_jsonl

SEED = 987654321


def candidates(count: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(count)
    return [
        {
            "id": f"original-{number}",
            "text": f"text {number} " + "word " * int(random.integers(1, 60)),
            "domain": ["news", "code", "law"][number % 3 if number % 7 else 0],
            "twin": number // 2,
        }
        for number in range(count)
    ]


def files(folder: Path, *, mixed: bool = False) -> RandomizeFiles:
    for name in ("train", "private"):
        (folder / name).mkdir(exist_ok=True, parents=True)
    return RandomizeFiles(
        insertions=folder / "train" / "insertions.jsonl",
        heldout=folder / "private" / "heldout.jsonl",
        key=folder / "private" / "key.jsonl",
        out=folder / "private" / "set.jsonl",
        mixed=folder / "train" / "mixed" if mixed else None,
    )


def run(
    folder: Path, rows: list[dict[str, Any]], *, mix: Path | None = None, mixed: bool = False, **options: Any
) -> RandomizeFiles:
    where = files(folder, mixed=mixed)
    source = RecordSource((write_jsonl(folder / "candidates.jsonl", rows),))
    corpus = None if mix is None else RecordSource((mix,))
    randomize(source, where, options=RandomizeOptions(**{"seed": SEED, **options}), mix=corpus)
    return where


@pytest.mark.parametrize("weights", [(1,) * 6, (5, 1, 1, 1, 1, 1), (50, 10, 13, 7, 11, 9), (2, 1), (1,)])
def test_rounding_keeps_margins_within_one_and_expectations(weights: tuple[int, ...]) -> None:
    sizes = np.random.default_rng(len(weights)).integers(1, 15, 7)
    exact = np.outer(sizes, weights) / sum(weights)
    draws = np.array([controlled_rounding(sizes, weights, Chance(1, number)) for number in range(300)])
    assert (draws.sum(axis=2) == sizes).all()
    assert (np.abs(draws - exact) < 1 - 1e-9).all()
    assert (np.abs(draws.sum(axis=1) - exact.sum(axis=0)) < 1 - 1e-9).all()
    part = exact % 1
    error = np.sqrt(part * (1 - part) / len(draws))
    assert (np.abs(draws.mean(axis=0) - exact) <= 4.5 * error + 1e-9).all()


def test_shares_are_exact() -> None:
    assert arm_weights((), 3) == (1, 1, 1)
    assert arm_weights((".5", "0.1", "0.4"), 3) == (5, 1, 4)
    assert arm_weights((2, "1/3", 0.5), 3) == (12, 2, 3)
    for shares, message in (
        (("1", "2"), "2 shares for 3 arms"),
        (("1", "0", "1"), "above 0"),
        (("a", "1", "1"), "not numbers"),
        (("nan", "1", "1"), "not numbers"),
        (("0.3333333", "0.3333333", "0.3333334"), "too fine"),
    ):
        with pytest.raises(UsageError, match=f"--shares: .*{message}"):
            arm_weights(shares, 3)


@pytest.mark.parametrize("shares", [(), ("5", "1", "1", "1", "1", "1")])
def test_arms_are_balanced_in_blocks(tmp_path: Path, shares: tuple[str, ...]) -> None:
    rows = candidates(301)
    where = run(tmp_path, rows, block=("domain", "length"), length_bins=3, shares=shares)
    key = open_key(where.key)
    share = np.array([int(each) for each in shares] or [1] * 6) / (10 if shares else 6)
    assert len(key.arms) == 301
    described = key.header["block_sizes"]
    assert len(described) == 9
    by_id = {row["insert_id"]: row for row in read_jsonl(where.key)}
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in read_jsonl(where.out):
        found[by_id[row["insert_id"]]["block"]].append(row)
    for block, members in found.items():
        assert {row["domain"] for row in members} == {described[block]["domain"]}
        lengths = [len(row["text"].split()) for row in members]
        assert [min(lengths), max(lengths)] == described[block]["words"]
        assert len(members) == described[block]["size"]
        arms = np.bincount([row["arm"] for row in members], minlength=6)
        assert (np.abs(arms - share * len(members)) < 1).all()
    for domain in ("news", "code", "law"):
        bins = sorted((each["words"], each["size"]) for each in described if each["domain"] == domain)
        assert max(size for _, size in bins) - min(size for _, size in bins) <= 1
        assert all(one[0][1] <= other[0][0] for one, other in itertools.pairwise(bins))
    assert (np.abs(np.bincount(key.arms) - share * 301) < 1).all()


def test_every_copy_is_inserted_and_the_files_agree(tmp_path: Path) -> None:
    rows = candidates(120)
    where = run(tmp_path, rows, documents=5000)
    texts = {row["id"]: row["text"] for row in rows}
    chosen = read_jsonl(where.out)
    assert {row["id"]: row["text"] for row in chosen} == texts
    assert Counter(row["copies"] for row in chosen) == dict.fromkeys((0, 1, 2, 4, 8, 16), 20)
    assert all(row["label"] == (row["copies"] > 0) for row in chosen)
    assert all((0, 1, 2, 4, 8, 16)[row["arm"]] == row["copies"] == len(row["insert_positions"]) for row in chosen)

    inserted = read_jsonl(where.insertions)
    positions = [int(line) for line in positions_path(where.insertions).read_text().splitlines()]
    assert len(inserted) == len(positions) == 20 * 31
    assert positions == sorted(set(positions))
    assert positions[0] >= 0
    assert positions[-1] < 5000 + len(inserted)
    at: dict[str, list[int]] = defaultdict(list)
    for row, position in zip(inserted, positions, strict=True):
        at[row["text"]].append(position)
    assert {row["text"]: row["insert_positions"] for row in chosen if row["copies"]} == at
    held = read_jsonl(where.heldout)
    assert sorted(row["text"] for row in held) == sorted(row["text"] for row in chosen if not row["copies"])
    assert {row["text"]: row["id"] for row in [*held, *inserted]} == {row["text"]: row["insert_id"] for row in chosen}

    header = json.loads(Path(f"{where.key}.meta.json").read_text())
    for name, path in (
        ("insertions", where.insertions),
        ("positions", positions_path(where.insertions)),
        ("heldout", where.heldout),
    ):
        assert header["sha256"][name] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert json.loads(Path(f"{path}.meta.json").read_text())["sha256"] == header["sha256"][name]


def test_the_training_run_sees_neither_seed_nor_arm(tmp_path: Path) -> None:
    rows = candidates(60)
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [f"document {number}" for number in range(50)])
    where = run(tmp_path, rows, mix=corpus, mixed=True)
    key = where.key.read_bytes() + Path(f"{where.key}.meta.json").read_bytes()
    assert str(SEED).encode() in key
    seen = [path for path in (tmp_path / "train").rglob("*") if path.is_file()]
    assert len(seen) == 6
    for path in seen:
        data = path.read_bytes()
        data = zstandard.ZstdDecompressor().stream_reader(data).read() if path.suffix == ".zst" else data
        for secret in (str(SEED).encode(), b'"arm', b'"seed', b'"label', b'"block', b"original-", b"candidates.jsonl"):
            assert secret not in data, path
    assert {tuple(row) for row in read_jsonl(where.insertions)} == {("id", "text")}
    # The opaque id tells no more than the text does: it is the same with another seed.
    again = run(tmp_path / "again", rows, seed=SEED + 1)
    ids = {row["text"]: row["id"] for row in read_jsonl(where.insertions)}
    others = {row["text"]: row["id"] for row in read_jsonl(again.insertions)}
    assert ids.keys() != others.keys()
    assert all(ids[text] == others[text] for text in ids.keys() & others.keys())


def test_a_draw_depends_on_content_options_and_seed_and_not_on_order(tmp_path: Path) -> None:
    rows = candidates(90)
    wanted = run(tmp_path / "a", rows, block=("length",))
    reverse = run(tmp_path / "b", rows[::-1], block=("length",))
    for name in ("insertions", "heldout"):
        assert getattr(wanted, name).read_bytes() == getattr(reverse, name).read_bytes()

    def arms(where: RandomizeFiles) -> dict[str, Any]:
        return {row["id"]: (row["arm"], row["insert_positions"]) for row in read_jsonl(where.out)}

    assert arms(wanted) == arms(reverse)
    assert arms(wanted) != arms(run(tmp_path / "c", rows, block=("length",), seed=SEED + 1))
    unknown = [run(tmp_path / name, rows, seed=None) for name in "de"]
    assert arms(unknown[0]) != arms(unknown[1])
    # A seed that was drawn is in the key, and gives the same again.
    seed = open_key(unknown[0].key).design.seed
    assert arms(run(tmp_path / "f", rows, seed=seed)) == arms(unknown[0])


def test_redraw_gives_the_draw_that_was_made_and_others_from_the_same_design(tmp_path: Path) -> None:
    where = run(tmp_path, candidates(47), block=("domain",), shares=("4", "1", "1", "2", "1", "1"))
    key = open_key(where.key)
    made = {row["insert_id"]: row["copies"] for row in read_jsonl(where.out)}
    assert redraw(where.key, 1, first=0)[0].tolist() == [made[each] for each in key.insert_ids]
    draws = redraw(key, 1000)
    assert draws.shape == (1000, 47)
    assert len(np.unique(draws, axis=0)) == 1000
    assert np.array_equal(draws[5:7], redraw(key, 2, first=6))
    share = np.array([4, 1, 1, 2, 1, 1]) / 10
    for arm, copies in enumerate(key.design.copies):
        is_arm = draws == copies
        # Each unit has its share of each arm ...
        assert np.abs(is_arm.mean(axis=0) - share[arm]).max() < 4.5 * np.sqrt(share[arm] * (1 - share[arm]) / 1000)
        # ... and each draw has each block's counts within one of it, as the one that was made.
        for block in range(key.design.blocks.max() + 1):
            inside = key.design.blocks == block
            for counts in (is_arm[:, inside].sum(axis=1), (key.arms[inside] == arm).sum()):
                assert (np.abs(counts - share[arm] * inside.sum()) < 1).all()
    # Two units are as often together as the fixed counts have it: slightly less than if they were drawn apart.
    first, second = np.flatnonzero(key.design.blocks == 0)[:2]
    size = int((key.design.blocks == 0).sum())
    together = ((draws[:, first] == 0) & (draws[:, second] == 0)).mean()
    low, high = int(np.floor(0.4 * size)), int(np.ceil(0.4 * size))
    chance = high - 0.4 * size if high > low else 1.0
    wanted = sum(p * k * (k - 1) / (size * (size - 1)) for k, p in ((low, chance), (high, 1 - chance)))
    assert abs(together - wanted) < 4.5 * np.sqrt(wanted * (1 - wanted) / 1000)


def test_of_twins_one_is_inserted_and_the_other_held_out(tmp_path: Path) -> None:
    rows = candidates(80)
    rows[10]["twin"] = None
    rows[21]["twin"] = 14  # with 28 and 29: three; 20 is left alone; so is 11
    where = run(tmp_path, rows, pairs="twin", block=("domain",), copies=(0, 1, 4))
    header = json.loads(Path(f"{where.out}.meta.json").read_text())
    assert header["history"][0]["counts"]["candidates"]["left_out"] == {"more_than_two_twins": 3, "no_pair": 1, "no_twin": 2}
    twins = defaultdict(list)
    for row in read_jsonl(where.out):
        twins[row["twin"]].append(row["copies"])
    assert len(twins) == 37
    assert all(min(pair) == 0 and max(pair) in (1, 4) and len(pair) == 2 for pair in twins.values())
    assert abs(sum(1 in pair for pair in twins.values()) - 18.5) < 1
    assert {row["twin"] for row in read_jsonl(where.out)} == set(twins)
    key = open_key(where.key)
    draws = redraw(key, 1500)
    assert key.design.pairs is not None
    one, other = draws[:, key.design.pairs[:, 0]], draws[:, key.design.pairs[:, 1]]
    assert ((one == 0) != (other == 0)).all()
    assert np.abs((one == 0).mean(axis=0) - 0.5).max() < 4.5 * 0.5 / np.sqrt(1500)
    assert np.abs(((one == 4) | (other == 4)).mean(axis=0) - 0.5).max() < 4.5 * 0.5 / np.sqrt(1500)
    with pytest.raises(UsageError, match="--shares: 3 shares for 2 arms"):
        RandomizeOptions(pairs="twin", copies=(0, 1, 4), shares=(1, 1, 1))


def test_texts_that_occur_twice_or_in_the_corpus_are_left_out_by_content(tmp_path: Path) -> None:
    rows = [*candidates(40), {"id": "again", "text": candidates(40)[3]["text"], "domain": "zoo"}]
    corpus = write_jsonl(tmp_path / "corpus.jsonl", ["a", candidates(40)[8]["text"], "b", candidates(40)[9]["text"]])
    sets = []
    for name, order in (("a", rows), ("b", rows[::-1])):
        where = run(tmp_path / name, order, mix=corpus, copies=(0, 2))
        header = json.loads(Path(f"{where.out}.meta.json").read_text())
        counts = header["history"][0]["counts"]["candidates"]
        assert counts == {"read": 41, "used": 38, "left_out": {"exact_duplicate": 1, "in_the_corpus": 2}}
        assert header["history"][0]["facts"]["positions"] == {"count": "documents", "of": 4 + 2 * 19}
        sets.append({row["id"]: row["copies"] for row in read_jsonl(where.out)})
    assert sets[0].keys() == sets[1].keys()


def test_the_mixed_corpus_has_each_copy_at_its_place(tmp_path: Path) -> None:
    documents = [f"document {number} é" for number in range(130)]
    corpus = write_jsonl(tmp_path / "corpus.jsonl", documents)
    where = run(tmp_path, candidates(30), mix=corpus, mixed=True, copies=(0, 1, 3))
    assert where.mixed is not None
    (part,) = where.mixed.glob("*.zst")
    mixed = [json.loads(line) for line in zstandard.ZstdDecompressor().stream_reader(part.read_bytes()).read().splitlines()]
    assert {tuple(row) for row in mixed} == {("text",)}
    inserted = [row["text"] for row in read_jsonl(where.insertions)]
    positions = [int(line) for line in positions_path(where.insertions).read_text().splitlines()]
    assert [mixed[place]["text"] for place in positions] == inserted
    assert [row["text"] for place, row in enumerate(mixed) if place not in set(positions)] == documents
    assert json.loads((where.mixed / "mixed.json").read_text())["documents"] == 130 + len(inserted)
    with pytest.raises(UsageError, match=r"--write-mixed: .* is not empty"):
        run(tmp_path, candidates(30), mix=corpus, mixed=True)


def test_a_mixed_corpus_in_several_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ngramscope.sets.mixing._PART", 40)
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [f"document {number}" for number in range(60)])
    where = run(tmp_path, candidates(20), mix=corpus, mixed=True, copies=(0, 2))  # 80 records: two parts that are full
    assert where.mixed is not None
    parts = [zstandard.ZstdDecompressor().stream_reader(part.read_bytes()).read() for part in sorted(where.mixed.glob("*.zst"))]
    assert [part.count(b"\n") for part in parts] == [40, 40]
    texts = [json.loads(line)["text"] for line in b"".join(parts).splitlines()]
    assert [text for text in texts if text.startswith("document")] == [f"document {number}" for number in range(60)]


@pytest.mark.parametrize(("count", "size"), [(0, 0), (0, 9), (1, 1), (7, 7), (5, 100), (100, 7), (1000, 10**15)])
def test_places_are_spread_evenly(count: int, size: int) -> None:
    found = places(count, size, Chance(3)).tolist()
    assert found == sorted(found)
    assert len(found) == count
    assert all(0 <= place < size for place in found)
    if count <= size:
        assert len(set(found)) == count
    elif count:
        assert set(Counter(found).values()) <= {count // size, count // size + 1}


def test_every_unit_is_as_likely_at_every_place() -> None:
    # Of 6 copies in 12 places: each place is hit half of the time.
    hits = np.zeros(12)
    for number in range(2000):
        hits[places(6, 12, Chance(number))] += 1
    assert np.abs(hits / 2000 - 0.5).max() < 4.5 * 0.5 / np.sqrt(2000)


def test_steps_are_positions_too(tmp_path: Path) -> None:
    where = run(tmp_path, candidates(30), steps=7, copies=(0, 1, 3))
    positions = [int(line) for line in positions_path(where.insertions).read_text().splitlines()]
    assert set(positions) == set(range(7))
    assert max(Counter(positions).values()) - min(Counter(positions).values()) <= 1
    alone = run(tmp_path / "alone", candidates(30), copies=(0, 1, 3))
    lines = positions_path(alone.insertions).read_text().splitlines()
    assert lines == [str(number) for number in range(40)]


def test_what_cannot_be_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    where = files(tmp_path)
    for option in ("key", "out", "heldout"):
        with pytest.raises(UsageError, match=f"--{option}: .* the folder of --insertions goes to the training run"):
            RandomizeFiles(**{**vars(where), option: tmp_path / "train" / "x.jsonl"})
        with pytest.raises(UsageError, match=f"--{option}: .* the folder --write-mixed goes"):
            RandomizeFiles(**{**vars(where), "mixed": tmp_path / "m", option: tmp_path / "m" / "x.jsonl"})
    with pytest.raises(UsageError, match="three different files"):
        RandomizeFiles(**{**vars(where), "key": where.out})
    for copies in ((1, 2), (0,), (0, 2, 1), (0, 1, 1), ()):
        with pytest.raises(UsageError, match="--copies"):
            RandomizeOptions(copies=copies)
    with pytest.raises(UsageError, match="--steps and --mix: positions count in one of them"):
        run(tmp_path, candidates(20), steps=3, mix=write_jsonl(tmp_path / "c.jsonl", ["a"]))
    with pytest.raises(UsageError, match="--write-mixed: needs --mix"):
        run(tmp_path, candidates(20), mixed=True)
    with pytest.raises(InputError, match=r"2 candidates for 6 arms; .*\(left out: 1 exact_duplicate\)"):
        run(tmp_path, [*candidates(2), candidates(2)[0]])
    with pytest.raises(InputError, match="0 pairs for 5 arms"):
        run(tmp_path, candidates(20), pairs="none")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.parent != tmp_path]


def test_a_key_is_checked_when_it_is_opened(tmp_path: Path) -> None:
    where = run(tmp_path, candidates(24))
    rows = read_jsonl(where.key)
    first, second = (next(number for number, row in enumerate(rows) if row["arm"] == arm) for arm in (0, 5))
    rows[first]["arm"], rows[second]["arm"] = 5, 0
    write_jsonl(where.key, rows)
    with pytest.raises(InputError, match=r"key\.jsonl: damaged: the arms are not those"):
        open_key(where.key)
    with pytest.raises(InputError, match=r"set\.jsonl: not the key"):
        open_key(where.out)
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read"):
        redraw(tmp_path / "none.jsonl", 3)


@pytest.mark.parametrize("ending", [".jsonl.gz", ".jsonl.zst"])
def test_compressed_keys_are_read(tmp_path: Path, ending: str) -> None:
    plain = open_key(run(tmp_path / "plain", candidates(24)).key)
    where = files(tmp_path)
    where = RandomizeFiles(**{**vars(where), "key": where.key.with_name("key" + ending)})
    source = RecordSource((write_jsonl(tmp_path / "candidates.jsonl", candidates(24)),))
    randomize(source, where, options=RandomizeOptions(seed=SEED))
    assert np.array_equal(open_key(where.key).arms, plain.arms)


def test_draws_are_the_same_on_every_machine() -> None:
    # Raw Philox output: pinned, so that an old key can be drawn again with a new numpy.
    design = Design((0, 1, 2), (1, 1, 1), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1]), 7)
    assert Chance(7, 0, 0).raw(2).tolist() == [5974991736472108391, 11294052303502853060]
    assert design.draw().tolist() == [0, 2, 1, 0, 0, 2, 1, 2, 1]


def test_candidates_come_back_from_disk_as_they_were(tmp_path: Path) -> None:
    known = Candidate("é", "a\n🦉", 0, "d", "g", 2.5, {"7": None}, {"7": "short"}, "s", 3)
    known.extra = {"extra": [1], "arm": None}
    with contextlib.closing(Spool(tmp_path)) as spool:
        spool.add([Candidate(1, "first"), known])
        assert [spool.candidate(number) for number in (1, 0)] == [known, Candidate(1, "first")]
        assert json.loads(spool.text(1)) == known.text
        assert len(spool) == 2
    assert not list(tmp_path.iterdir())


def test_hubble_rows_become_a_set(tmp_path: Path) -> None:
    rows = [
        {"text": "never", "duplicates": 0, "meta": "{}"},
        {"text": "often", "duplicates": 256, "meta": '{"x": 1}'},
        {"text": "once", "duplicates": "1"},
        {"text": "four", "duplicates": 4.0},
        {"text": "unknown", "duplicates": None},
        {"text": None, "duplicates": 1},
    ]
    source = RecordSource((write_jsonl(tmp_path / "rows.jsonl", rows),), keys=Keys(fields=("meta",)))
    header = hubble(source, tmp_path / "set.jsonl")
    found = [(row["text"], row["label"], row["copies"], row["meta"]) for row in read_jsonl(tmp_path / "set.jsonl")]
    assert found == [("never", 0, 0, "{}"), ("often", 1, 256, '{"x": 1}'), ("once", 1, 1, None), ("four", 1, 4, None)]
    step = header["history"][0]
    assert step["counts"]["records"] == {"read": 6, "used": 4, "left_out": {"no_count": 1, "null_text": 1}}
    assert step["facts"]["texts_by_copies"] == {"0": 1, "1": 1, "4": 1, "256": 1}
    for bad in (-1, 1.5, "many", True, [1]):
        write_jsonl(tmp_path / "rows.jsonl", [rows[0], {"text": "x", "duplicates": bad}])
        with pytest.raises(InputError, match=r"rows\.jsonl, record 2: duplicates: .* is no number of insertions"):
            hubble(RecordSource((tmp_path / "rows.jsonl",)), tmp_path / "bad.jsonl")
    with pytest.raises(InputError, match=r"no record has a count under 'n'; --duplicates names the key"):
        hubble(RecordSource((write_jsonl(tmp_path / "rows.jsonl", rows[:2]),)), tmp_path / "bad.jsonl", duplicates_key="n")
    assert not (tmp_path / "bad.jsonl").exists()
