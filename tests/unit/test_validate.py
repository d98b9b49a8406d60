"""The verdict: planted shifts, none, too little to tell; and what a report counts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope import Index
from ngramscope.errors import InputError, UsageError
from ngramscope.index.build import build_index
from ngramscope.index.options import BuildOptions, ReadOptions, WordRule
from ngramscope.report.validation import to_text
from ngramscope.sets import Candidate, OverlapOptions, RecordSource, SetFile, Step
from ngramscope.sets.validate import HIGHER, LOWER, REPRESENTATIVE, UNKNOWN, Judgement, ShiftRule, judge, validate
from tests.conftest import write_jsonl

QUICK = ShiftRule(permutations=199, resamples=199)
N = 7


def sample(seed: int, size: int, mean: float = 0.2, sd: float = 0.1) -> np.typing.NDArray[np.float64]:
    """Values with exactly this mean and spread, so that a planted shift is what it is called."""
    values = np.random.default_rng(seed).gamma(2.0, 1.0, size)
    return (values - values.mean()) / values.std(ddof=1) * sd + mean


def test_planted_shifts_are_called_by_their_direction() -> None:
    reference = sample(1, 200)
    lower, higher = (judge(sample(2, 200, mean), reference, QUICK) for mean in (0.15, 0.25))
    assert (lower.verdict, higher.verdict) == (LOWER, HIGHER)
    assert lower.shift == pytest.approx(-0.05)
    assert lower.interval is not None
    assert lower.interval[0] < -0.05 < lower.interval[1] < 0
    assert lower.p == 0.005
    swapped = judge(reference, sample(2, 200, 0.15), QUICK)
    assert (swapped.verdict, swapped.shift) == (HIGHER, pytest.approx(0.05))


def test_no_shift_is_representative_only_if_there_is_enough() -> None:
    many = judge(sample(1, 2000), sample(2, 2000), QUICK)
    assert (many.verdict, many.rejected) == (REPRESENTATIVE, False)
    few = judge(sample(1, 30), sample(2, 30), QUICK)
    assert (few.verdict, few.reason) == (UNKNOWN, "interval_too_wide")
    assert few.detectable is not None
    assert few.detectable > 0.05


@pytest.mark.parametrize(
    ("shift", "verdict", "reason"), [(0.008, REPRESENTATIVE, None), (0.017, UNKNOWN, "significant_but_small")]
)
def test_what_is_significant_but_too_small_to_matter(shift: float, verdict: str, reason: str | None) -> None:
    found = judge(sample(1, 2000, 0.2 + shift), sample(2, 2000), QUICK)
    assert found.rejected
    assert (found.verdict, found.reason) == (verdict, reason)
    # The same shift matters to whoever says so.
    assert judge(sample(1, 2000, 0.2 + shift), sample(2, 2000), replace(QUICK, min_shift=0.005)).verdict == HIGHER


def test_too_few_and_nothing_to_see() -> None:
    few = judge(sample(1, 9, 0.9), sample(2, 500), QUICK)
    assert (few.verdict, few.reason, few.p, few.texts) == (UNKNOWN, "too_few_texts", None, (9, 500))
    groups = judge(sample(1, 90, 0.9), sample(2, 500), QUICK, (np.arange(90) // 10, None))
    assert (groups.verdict, groups.reason, groups.units) == (UNKNOWN, "too_few_texts", (9, 500))
    empty = judge([], sample(2, 500), QUICK)
    assert (empty.reason, empty.shift) == ("too_few_texts", None)
    flat = judge([0.0] * 50, [0.0] * 60, QUICK)
    assert (flat.verdict, flat.reason) == (UNKNOWN, "no_variation")


def test_where_all_overlaps_are_small_a_part_of_them_matters() -> None:
    # Two points can never be lost where there are not so many.
    low, reference = sample(1, 2000, 0.008, 0.01), sample(2, 2000, 0.016, 0.02)
    found = judge(low, reference, QUICK)
    assert (found.verdict, found.least) == (LOWER, pytest.approx(0.004))
    assert judge(low, reference, replace(QUICK, min_ratio=1.0)).verdict == REPRESENTATIVE
    assert judge(sample(1, 300, 0.3), sample(2, 300, 0.2), QUICK).least == 0.02


def follows(found: Judgement, rule: ShiftRule) -> str:
    """The documented logic, on the numbers that are told."""
    assert found.shift is not None
    assert found.p is not None
    assert found.interval is not None
    assert found.least is not None
    if found.p <= rule.alpha and abs(found.shift) >= found.least:
        return HIGHER if found.shift > 0 else LOWER
    return REPRESENTATIVE if max(map(abs, found.interval)) < found.least else UNKNOWN


def test_verdicts_follow_from_the_numbers() -> None:
    verdicts = set()
    for seed in range(30):
        size, shift = 50 * 2 ** (seed % 5), 0.012 * (seed % 7 - 3)
        found = judge(sample(seed, size, 0.2 + shift), sample(seed + 100, size), QUICK)
        assert found.verdict == follows(found, QUICK)
        verdicts.add(found.verdict)
    assert verdicts == {REPRESENTATIVE, LOWER, HIGHER, UNKNOWN}


@pytest.mark.parametrize("windows", [1, 5])
def test_false_alarms_on_random_splits_of_one_corpus(windows: int) -> None:
    # Overlaps as they are: many at 0, a long tail. With windows, those of a book have much in common.
    random = np.random.default_rng(8)
    books = np.where(random.random(120) < 0.3, 0.0, random.beta(1, 5, 120))
    pool = np.repeat(books, windows) * random.uniform(0.8, 1.2, 120 * windows)
    groups = np.repeat(np.arange(120), windows)
    rejected = called = 0
    for seed in range(100):
        ours = (np.random.default_rng(seed).permutation(120) < 40)[groups]
        rule = replace(QUICK, seed=seed, resamples=99)
        found = judge(pool[ours], pool[~ours], rule, (groups[ours], groups[~ours]))
        rejected += bool(found.rejected)
        called += found.verdict in (LOWER, HIGHER)
    assert called <= rejected <= 12  # 5 expected; more than 12 once in a thousand


def test_a_detectable_shift_is_called_in_four_of_five_cases() -> None:
    random = np.random.default_rng(3)
    first = judge(random.gamma(2, 0.07, 150), random.gamma(2, 0.07, 150), replace(QUICK, resamples=999))
    assert first.detectable is not None
    called = 0
    for _ in range(150):
        shifted = random.gamma(2, 0.07, 150) + first.detectable
        called += judge(shifted, random.gamma(2, 0.07, 150), replace(QUICK, resamples=99)).verdict == HIGHER
    assert 0.68 <= called / 150 <= 0.91  # .8 plus or minus three and a half standard errors


WORDS = [f"w{number}" for number in range(80)]


@dataclass
class World:
    """A corpus whose documents are made of passages that others have too, and what was left out of it."""

    folder: Path
    texts: Callable[[int, int, float], list[str]]

    def file(self, name: str, records: list[Any]) -> Path:
        return write_jsonl(self.folder / name, records)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("validate")
    chance = random.Random(1)
    passages = [" ".join(chance.choices(WORDS, k=12)) for _ in range(150)]

    def texts(seed: int, count: int, share: float) -> list[str]:
        own = random.Random(seed)
        return [
            " ".join(own.choice(passages) if own.random() < share else " ".join(own.choices(WORDS, k=12)) for _ in range(10))
            for _ in range(count)
        ]

    made = World(folder, texts)
    corpus = made.file("corpus.jsonl", texts(1, 300, 0.5))
    for tiers in (1, 2):
        Index.build(corpus, out=folder / f"index-{tiers}", n=[3, N], filter="exact", tiers=tiers, threads=1)
    made.file("heldout.jsonl", [{"id": f"h{each}", "text": text, "date": 2015} for each, text in enumerate(texts(2, 120, 0.5))])
    return made


def run(
    world: World, candidates: Path, *, by: str = "index-1", reference: str | None = "heldout.jsonl", **options: Any
) -> dict[str, Any]:
    overlap = (
        OverlapOptions(scan=(world.folder / "corpus.jsonl",), n=(3,))
        if by == "scan"
        else OverlapOptions(indexes=(world.folder / by,), threads=1)
    )
    options = {"rule": QUICK, "max_texts": 0, **options}
    source = None if reference is None else RecordSource((world.folder / reference,))
    return validate(RecordSource((candidates,)), overlap, source, **options)


def test_a_report_says_what_the_files_say(world: World) -> None:
    texts = world.texts(3, 100, 0.3)
    report = run(world, world.file("lower.jsonl", texts), max_texts=50)
    index = Index.open(world.folder / "index-1")
    heldout = [json.loads(line)["text"] for line in (world.folder / "heldout.jsonl").read_text().splitlines()]
    for quantity in report["quantities"][:2]:
        ours, theirs = (index.overlap(each, n=[quantity["n"]]).overlap for each in (texts, heldout))
        assert quantity["candidates"]["mean"] == pytest.approx(ours.mean())
        assert quantity["reference"]["mean"] == pytest.approx(theirs.mean())
        assert quantity["statistics"]["mean_shift"]["value"] == pytest.approx(ours.mean() - theirs.mean())
        assert sum(quantity["histogram"]["candidates"]) == 100
    assert report["verdict"] == LOWER
    declared = next(each for each in report["quantities"] if each["n"] == N)["statistics"]["mean_shift"]
    assert declared["declared"]
    assert "p_holm" not in declared
    assert (declared["value"], declared["p"], declared["interval"]) == (report["shift"], report["p"], report["interval"])
    assert report["declared"] == {**QUICK.declared()}
    assert report["counts"]["candidates"] == {"read": 100, "used": 100, "left_out": {}}
    assert [each["side"] for each in report["inputs"]] == ["candidates", "reference"]
    assert all(len(each["blake3"]) == 64 for each in report["inputs"])
    assert (report["artefact"], report["format_version"], report["seed"]) == ("validation", 1, 0)
    # Three quantities have statistics (no date on one side), with five tests each; one is declared; words and classifier.
    assert report["tests_described"] == 3 * 5 - 1 + 2
    assert report["quantities"][3]["null_reason"] == "fewer_than_two_texts"
    assert report["quantities"][3]["candidates"]["null"] == {"no_date": 100}
    assert report["classifier"]["n_first"] == report["vocabulary"]["texts"][0] == 50


def test_other_verdicts_on_files(world: World) -> None:
    assert run(world, world.file("higher.jsonl", world.texts(4, 100, 0.7)))["verdict"] == HIGHER
    alike = run(world, world.file("alike.jsonl", world.texts(5, 120, 0.5)))
    assert not alike["rejected"]
    assert (
        run(world, world.folder / "alike.jsonl", rule=replace(QUICK, min_shift=0.2, min_ratio=1.0))["verdict"] == REPRESENTATIVE
    )


def test_the_same_seed_gives_the_same_numbers_whatever_the_order(world: World) -> None:
    records = [
        {"id": each, "text": text, "group": f"g{each // 2}" if each < 60 else None, "date": f"2018-{1 + each % 12:02}"}
        for each, text in enumerate(world.texts(6, 90, 0.4))
    ]
    first = run(world, world.file("ordered.jsonl", records), max_texts=30)
    chance = random.Random(2)
    chance.shuffle(records)
    halves = [world.file(f"half-{number}.jsonl", records[number * 45 : number * 45 + 45]) for number in (0, 1)]
    overlap = OverlapOptions(indexes=(world.folder / "index-1",), threads=2)
    reference = RecordSource((world.folder / "heldout.jsonl",))
    second = validate(RecordSource(tuple(halves)), overlap, reference, rule=QUICK, max_texts=30)
    for report in (first, second):
        del report["inputs"], report["overlap"]
    assert first == second
    other = run(world, world.folder / "ordered.jsonl", max_texts=30, rule=replace(QUICK, seed=1))
    assert other["interval"] != first["interval"]
    assert other["shift"] == pytest.approx(first["shift"])
    assert first["units"] == [60, 120]


def test_what_has_no_overlap_is_counted_and_left_out(world: World) -> None:
    texts = world.texts(3, 40, 0.3)
    records = [
        *({"text": each} for each in texts),
        {"text": "w1 w2 w3"},
        {"text": ""},
        {"text": None},
        {"text": texts[0], "label": 1},
    ]
    report = run(world, world.file("nulls.jsonl", records))
    assert report["counts"]["candidates"] == {"read": 44, "used": 42, "left_out": {"member": 1, "null_text": 1}}
    by_n = {each["n"]: each["candidates"] for each in report["quantities"] if each["n"]}
    assert (by_n[3]["n"], by_n[3]["null"]) == (41, {"fewer_than_n_words": 1})
    assert (by_n[N]["n"], by_n[N]["null"]) == (40, {"fewer_than_n_words": 2})
    assert report["texts"] == [40, 120]
    alone = run(world, world.file("alone.jsonl", texts))
    assert report["shift"] == pytest.approx(alone["shift"])
    json.loads(json.dumps(report, allow_nan=False))


def test_members_with_their_own_document_left_out(world: World) -> None:
    members = [json.loads(line)["text"] for line in (world.folder / "corpus.jsonl").read_text().splitlines()]
    labelled = [
        *({"text": each, "label": "member"} for each in members[:100]),
        *({"text": each, "label": 0} for each in world.texts(7, 100, 0.5)),
        {"text": members[0]},
    ]
    file = world.file("labelled.jsonl", labelled)
    scanned, indexed = (run(world, file, by=by, reference=None) for by in ("scan", "index-2"))
    for report in (scanned, indexed):
        assert report["declared"]["leave_one_out"]
        assert report["counts"]["candidates"] == {"read": 101, "used": 100, "left_out": {"no_label": 1}}
        assert report["counts"]["reference"] == {"read": 100, "used": 100, "left_out": {}}
        # Left out, a member overlaps as a non-member does; counted, it would be found whole.
        assert abs(report["shift"]) < 0.05
    assert scanned["shift"] == indexed["shift"]
    # The same by two files; and what goes wrong when members are taken for a held-out sample.
    world.file("members.jsonl", members[:100])
    nonmembers = world.file("nonmembers.jsonl", labelled[100:200])
    apart = run(world, nonmembers, by="scan", reference="members.jsonl", rule=replace(QUICK, leave_one_out=True))
    assert apart["shift"] == pytest.approx(scanned["shift"])
    wrong = run(world, nonmembers, reference="members.jsonl")
    assert wrong["verdict"] == LOWER
    assert "--leave-one-out" in wrong["warnings"][0]


@pytest.mark.parametrize("by", ["scan", "index-1"])
def test_a_candidate_set_against_documents(world: World, by: str) -> None:
    texts = world.texts(8, 40, 0.3)
    with SetFile(world.folder / "set.jsonl") as file:
        file.add(Candidate(id=each, text=text, label=each % 2) for each, text in enumerate(texts))
        file.commit(Step("test", {}, [], {}))
    report = run(world, world.folder / "set.jsonl", by=by)
    assert report["counts"]["candidates"] == {"read": 40, "used": 20, "left_out": {"member": 20}}
    documents = run(world, world.file("documents.jsonl", texts[::2]), by=by)
    assert report["shift"] == pytest.approx(documents["shift"])


def test_what_cannot_be_compared(world: World, tmp_path: Path) -> None:
    file = world.file("some.jsonl", world.texts(3, 20, 0.3))
    for options, said in (
        ({"reference": None}, "needs --scan, or an index that was built with --tiers 2"),
        ({"reference": None, "by": "index-2"}, "20 no_label left out"),
        ({"rule": replace(QUICK, n=5)}, "3, 7 words, not of 5"),
        ({"by": "scan", "reference": "some.jsonl"}, "named for both sides"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=said):
            run(world, file, **options)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(file.read_bytes())
    with pytest.raises(InputError, match="same content"):
        run(world, copy, reference="some.jsonl")
    both = run(world, world.file("both.jsonl", [*world.texts(3, 20, 0.3), *world.texts(2, 5, 0.5)]))
    assert both["warnings"] == ["5 texts are among the candidates and in the reference"]
    for values in (
        {"alpha": 0},
        {"alpha": 0.001, "permutations": 199},
        {"min_shift": -1},
        {"min_ratio": 0},
        {"permutations": 1},
    ):
        with pytest.raises(UsageError):
            replace(QUICK, **values)


def test_a_demonstration_index_is_refused(world: World, tmp_path: Path) -> None:
    build = BuildOptions(read=ReadOptions(), rule=WordRule(), n=(N,), filter="exact", demo=True)
    build_index([world.folder / "corpus.jsonl"], tmp_path / "demo", build)
    file = world.file("some.jsonl", world.texts(3, 20, 0.3))
    options = OverlapOptions(indexes=(tmp_path / "demo",))
    reference = RecordSource((world.file("others.jsonl", world.texts(9, 20, 0.3)),))
    with pytest.raises(UsageError, match="--accept-demo"):
        validate(RecordSource((file,)), options, reference, rule=QUICK)
    report = validate(RecordSource((file,)), replace(options, accept_demo=True), reference, rule=QUICK, max_texts=0)
    assert "DEMONSTRATION" in report["warnings"][0]


def test_flags_of_the_records(world: World) -> None:
    chance = np.random.default_rng(5)
    for name, share in (("flagged", 0.2), ("flagged-reference", 0.6)):
        rows = [{"text": "a b", "hits": (chance.random(50) < share).tolist()} for _ in range(30)]
        world.file(f"{name}.jsonl", [*rows, {"text": "no flags"}])
    sources = [RecordSource((world.folder / f"{name}.jsonl",)) for name in ("flagged", "flagged-reference")]
    report = validate(sources[0], OverlapOptions(flags=("hits",)), sources[1], rule=QUICK, max_texts=0)
    assert report["verdict"] == LOWER
    assert report["quantities"][0]["candidates"]["null"] == {"no_flags": 1}
    assert "\noverlap: by flags hits\n" in to_text(report)
    with pytest.raises(UsageError, match="--describe"):
        validate(sources[0], OverlapOptions(flags=("hits",), n=(5,)), sources[1], rule=QUICK)
