"""Matching: pairs and weights as pure functions against oracles, and the rule that writes a set."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope.cli._run import run as run_here
from ngramscope.errors import InputError, UsageError
from ngramscope.sets import Candidate, OverlapOptions, RecordSource, SetFile, Step, matching
from ngramscope.sets.classifier import two_sample_test
from ngramscope.sets.matched import Matched, MatchOptions, match
from tests.conftest import WORDS, read_jsonl, write_jsonl

INF = float("inf")
PAIRING = {"nearest": matching.nearest, "optimal": matching.optimal}


# Pairs: functions of numbers


def best(reference: np.ndarray, candidates: np.ndarray, caliper: float) -> tuple[int, float]:
    """By trying all: the largest number of pairs within the caliper, and the smallest sum of distances of so many."""
    found = (0, 0.0)
    # None: this row of the reference goes without.
    for choice in itertools.product([None, *range(len(candidates))], repeat=len(reference)):
        taken = [each for each in choice if each is not None]
        if len(set(taken)) < len(taken):
            continue
        gaps = [reference[row] - candidates[each] for row, each in enumerate(choice) if each is not None]
        if all(np.abs(gap).max() <= caliper for gap in gaps):
            total = sum(float(np.sqrt((gap**2).sum())) for gap in gaps)
            found = min(found, (-len(gaps), total))
    return -found[0], found[1]


def greedy(reference: np.ndarray, candidates: np.ndarray, caliper: float, ratio: int) -> list[tuple[int, int]]:
    """By looking at all candidates for each row."""
    left = list(range(len(candidates)))
    pairs = []
    for row, point in enumerate(reference):
        near = [each for each in left if np.abs(candidates[each] - point).max() <= caliper]
        near.sort(key=lambda each: (round(float(((candidates[each] - point) ** 2).sum()), 12), each))
        if len(near) >= ratio:
            pairs += [(row, each) for each in near[:ratio]]
            left = [each for each in left if each not in near[:ratio]]
    return pairs


@pytest.mark.parametrize("seed", range(12))
def test_pairs_are_those_of_oracles_on_tiny_inputs(seed: int) -> None:
    random = np.random.default_rng(seed)
    reference, candidates = random.normal(0.4, 1, (4, 1 + seed % 2)), random.normal(0, 1, (5, 1 + seed % 2))
    caliper = (0.3, 1.0, INF)[seed % 3]
    found = matching.nearest(reference, candidates, caliper=caliper)
    wanted = greedy(reference, candidates, caliper, 1)
    assert list(zip(found.reference.tolist(), found.candidates.tolist(), strict=True)) == wanted
    least = matching.optimal(reference, candidates, caliper=caliper)
    number, total = best(reference, candidates, caliper)
    assert len(least.distance) == number >= len(found.distance)
    assert least.distance.sum() == pytest.approx(total)
    if len(found.distance) == number:
        assert least.distance.sum() <= found.distance.sum() + 1e-12


@pytest.mark.parametrize("ratio", [1, 3])
def test_crowded_places_and_emptied_regions(ratio: int) -> None:
    """Many equal candidates, and a reference where they run out, so that trees are planted anew."""
    random = np.random.default_rng(1)
    reference = random.beta(2, 3, (150, 2))
    candidates = np.round(random.beta(1, 6, (400, 2)), 1)
    found = matching.nearest(reference, candidates, caliper=0.25, ratio=ratio)
    wanted = greedy(reference, candidates, 0.25, ratio)
    assert list(zip(found.reference.tolist(), found.candidates.tolist(), strict=True)) == wanted
    assert len(set(found.candidates.tolist())) == len(found.candidates)
    alone = np.setdiff1d(np.arange(len(reference)), found.reference)
    assert 0 < len(alone) < len(reference)


@pytest.mark.parametrize("method", PAIRING)
def test_pairs_keep_within_the_caliper_and_the_ratio(method: str) -> None:
    random = np.random.default_rng(2)
    reference, candidates = random.normal(0.5, 1, (80, 2)), random.normal(0, 1, (300, 2))
    pairs = PAIRING[method](reference, candidates, caliper=0.3, ratio=2)
    gaps = np.abs(reference[pairs.reference] - candidates[pairs.candidates])
    assert gaps.max() <= 0.3
    assert set(np.bincount(pairs.reference).tolist()) <= {0, 2}
    assert pairs.distance.tolist() == pytest.approx(np.sqrt((gaps**2).sum(axis=1)).tolist())
    assert np.unique(pairs.candidates).size == pairs.candidates.size > 50


def test_who_is_outside() -> None:
    points = np.array([[0.0], [1.0], [5.0]])
    others = np.array([[0.0], [0.0], [0.9]])
    assert matching.outside(points, others, caliper=0.2).tolist() == [False, False, True]
    assert matching.outside(points, others, caliper=0.2, ratio=2).tolist() == [False, True, True]
    assert matching.outside(points, others, caliper=0.2, ratio=4).tolist() == [True, True, True]
    assert matching.outside(points, others[:0], caliper=0.2).tolist() == [True, True, True]


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MAX_CELLS", 99)
    with pytest.raises(UsageError, match=r"--method optimal: 20 x 5 .*domain.*nearest"):
        matching.optimal(np.zeros((10, 1)), np.zeros((5, 1)), caliper=1, ratio=2)


# Weights


def test_weighted_means_are_those_of_the_reference() -> None:
    random = np.random.default_rng(3)
    reference = np.column_stack([random.normal(0.5, 0.8, 1000), random.gamma(2, 1, 1000)])
    candidates = np.column_stack([random.normal(0, 1, 3000), random.gamma(3, 1, 3000)])
    found = matching.odds_weights(reference, candidates)
    assert found.weights.mean() == pytest.approx(1)
    spread = matching.scales(reference, candidates)
    before = (candidates.mean(axis=0) - reference.mean(axis=0)) / spread
    after = (np.average(candidates, axis=0, weights=found.weights) - reference.mean(axis=0)) / spread
    assert np.abs(before).min() > 0.3
    assert np.abs(after).max() < 0.05
    # Not only means: the spread is that of the reference too.
    assert np.cov(candidates[:, 0], aweights=found.weights) == pytest.approx(np.var(reference[:, 0]), rel=0.1)


def test_effective_size_and_trimming() -> None:
    assert matching.effective_size(np.ones(7)) == pytest.approx(7)
    assert matching.effective_size(np.array([3.0, 1.0, 0.0, 0.0])) == pytest.approx(16 / 10)
    random = np.random.default_rng(4)
    reference, candidates = random.normal(1.5, 1, (300, 1)), random.normal(0, 1, (1000, 1))
    whole = matching.odds_weights(reference, candidates)
    cut = matching.odds_weights(reference, candidates, trim=0.9)
    assert whole.trimmed.sum() == 0
    assert cut.trimmed.sum() == 100
    # All that was cut has one weight, the largest; the others keep their proportions.
    assert np.ptp(cut.weights[cut.trimmed]) == 0
    assert cut.weights.max() == cut.weights[cut.trimmed][0]
    rest = ~cut.trimmed
    assert np.ptp(cut.weights[rest] / whole.weights[rest]) == pytest.approx(0, abs=1e-9)
    assert matching.effective_size(cut.weights) > matching.effective_size(whole.weights)
    bounded = matching.odds_weights(reference, candidates, max_weight=2.0)
    assert bounded.trimmed.tolist() == (whole.weights > 2).tolist()


def test_a_constant_covariate_gives_equal_weights() -> None:
    assert matching.odds_weights(np.ones((3, 1)), np.ones((5, 1))).weights.tolist() == [1] * 5


def test_partners_stay_in_one_fold() -> None:
    """Near-twins on two sides: taken for each other's side if they are apart, and labels can be exchanged within pairs only."""
    random = np.random.default_rng(6)
    twins = random.normal(size=(60, 30))
    sides = [list(twins + random.normal(0, 0.01, twins.shape)) for _ in range(2)]
    numbers = list(range(60))

    def products(rows: Sequence[np.ndarray]) -> np.ndarray:
        return np.stack(rows) @ np.stack(rows).T

    apart = two_sample_test(*sides, products=products, permutations=0)
    together = two_sample_test(*sides, products=products, pairs=(numbers, numbers), permutations=99)
    assert (apart.auc or 1) < 0.3
    assert (together.auc or 0) > 0.4
    assert (together.p or 0) > 0.05
    # A small shift within every pair is found, though it is nothing beside the spread.
    moved = [sides[0], [each + 0.1 for each in sides[1]]]
    found = two_sample_test(*moved, products=products, pairs=(numbers, numbers), permutations=99)
    assert (found.p or 1) < 0.05


# The rule


def text(random: np.random.Generator, words: int) -> str:
    return " ".join(random.choice(WORDS, words))


def candidates(seed: int = 0, members: int = 80, nonmembers: int = 320, shift: float = 0.12) -> list[Candidate]:
    """Members overlap more, are longer and younger; a domain each in two, and a third with non-members only."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(members + nonmembers):
        member = number < members
        share = float(np.clip(random.normal(0.3 + shift * member, 0.15), 0, 1))
        made.append(
            Candidate(
                id=f"t{number}",
                text=text(random, max(9, round(random.normal(45 + 6 * member, 10)))),
                label=int(member),
                domain=str(random.choice(["news", "code"] if member else ["news", "code", "talk"])),
                date=86_400.0 * random.normal(16_000 + 400 * member, 700),
                overlap={"7": 1.0 if member else share},
                extra={"overlap_loo": {"7": share}} if member else {},
            )
        )
    return made


def write_set(path: Path, rows: Iterable[Candidate]) -> Path:
    with SetFile(path) as file:
        file.add(rows)
        file.commit(Step("made", {}, [], {}), overlap={"7": {"by": "index", "first": None}})
    return path


Match = Callable[..., tuple[Matched, list[dict[str, Any]]]]


@pytest.fixture
def matched(tmp_path: Path) -> Match:
    """Match in `tmp_path`; the result, and the rows."""

    def run(rows: list[Candidate], *, reference: list[Candidate] | None = None, **options: Any) -> Any:
        source = RecordSource((write_set(tmp_path / "set.jsonl", rows),))
        other = None if reference is None else RecordSource((write_set(tmp_path / "reference.jsonl", reference),))
        with SetFile(tmp_path / "out.jsonl") as file:
            done = match(source, file, MatchOptions(**{"permutations": 20, **options}), reference=other)
        adds_up(done.header["history"][-1]["counts"], rows, reference)
        return done, read_jsonl(tmp_path / "out.jsonl")

    return run


def adds_up(counts: dict[str, Any], rows: list[Candidate], reference: list[Candidate] | None) -> None:
    for each in counts.values():
        assert each["read"] == each["used"] + sum(each["left_out"].values())
    for name, label in (("members", 1), ("nonmembers", 0), ("unlabelled", None)):
        assert counts.get(name, {"read": 0})["read"] == sum(row.label == label for row in rows)
    if reference is not None:
        assert counts["reference"]["read"] == len(reference)


def facts(done: Matched) -> dict[str, Any]:
    found: dict[str, Any] = done.header["history"][-1]["facts"]
    return found


@pytest.mark.parametrize("method", ["nearest", "optimal", "weights"])
def test_a_planted_shift_is_removed(matched: Match, method: str) -> None:
    done, rows = matched(candidates(0, 250, 1000), method=method, on=("overlap", "words", "date"))
    found = facts(done)
    for name in ("overlap_7", "words", "date"):
        assert abs(found["balance"]["before"][name]["smd"]) > 0.5
        assert abs(found["balance"]["after"][name]["smd"]) < 0.1, name
        assert found["balance"]["after"][name]["ks"] < found["balance"]["before"][name]["ks"]
    tests = found["classifiers"]
    assert tests["before"]["covariates"]["auc"] > 0.7
    assert tests["before"]["covariates"]["p"] < 0.05
    assert abs(tests["after"]["covariates"]["auc"] - 0.5) < 0.1
    # The table is that of the rows that were written.
    outside = [row for row in rows if row["label"] == 0]
    weights = [row.get("weight", 1) for row in outside]
    mean = np.average([row["overlap"]["7"] for row in outside], weights=weights)
    assert found["balance"]["after"]["overlap_7"]["nonmembers"]["mean"] == pytest.approx(mean)
    inside = [row["overlap_loo"]["7"] for row in rows if row["label"] == 1]
    assert found["balance"]["after"]["overlap_7"]["members"]["mean"] == pytest.approx(np.mean(inside))
    if method == "weights":
        assert len(outside) == 1000
        assert found["effective_sample_size"] == pytest.approx(sum(weights) ** 2 / sum(each**2 for each in weights))
        assert found["trimmed_share"] == pytest.approx(0.01)
        assert np.mean(weights) == pytest.approx(1, abs=1e-4)
        assert {row["weight"] for row in rows if row["label"] == 1} == {1.0}
    else:
        pairs = {row["pair"]: row for row in rows if row["label"] == 1}
        assert len(pairs) == len(outside) == found["pairs"]
        sd = found["standard_deviations"]["overlap_7"]
        for row in outside:
            assert abs(row["overlap"]["7"] - pairs[row["pair"]]["overlap_loo"]["7"]) <= 0.2 * sd + 1e-12


def test_domains_are_exact(matched: Match) -> None:
    for method in ("nearest", "optimal"):
        done, rows = matched(candidates(), method=method, on=("overlap", "domain"), ratio=2)
        pairs: dict[int, list[str]] = {}
        for row in rows:
            pairs.setdefault(row["pair"], []).append(row["domain"])
        assert all(len(each) == 3 and len(set(each)) == 1 for each in pairs.values())
        counts = done.header["history"][-1]["counts"]
        talk = sum(each.domain == "talk" for each in candidates())
        assert counts["nonmembers"]["left_out"]["domain_not_in_reference"] == talk
    done, rows = matched(candidates(), method="weights", on=("overlap", "domain"))
    shares = {
        label: sum(row["weight"] for row in rows if row["label"] == label and row["domain"] == "news")
        / sum(row["weight"] for row in rows if row["label"] == label)
        for label in (0, 1)
    }
    assert shares[0] == pytest.approx(shares[1], abs=1e-4)
    done, rows = matched(candidates(), on=("domain",))
    assert {row["distance"] for row in rows if row["label"] == 0} == {0.0}


def test_the_order_of_the_records_has_no_say(matched: Match) -> None:
    rows = candidates(members=40, nonmembers=120)
    for method in ("nearest", "optimal", "weights"):
        one, first = matched(rows, method=method)
        other, second = matched(rows[::-1], method=method)
        assert sorted(first, key=lambda row: row["id"]) == sorted(second, key=lambda row: row["id"])
        assert facts(one) == facts(other)
    _, first = matched(rows)
    _, other = matched(rows, seed=1)
    assert {row["id"] for row in first} != {row["id"] for row in other}


def test_a_reference_of_its_own(matched: Match) -> None:
    held_out = [each for each in candidates(seed=9, members=0, nonmembers=100, shift=0) if each.domain != "talk"]
    for each in held_out:
        each.overlap["7"] = min(1.0, (each.overlap["7"] or 0) + 0.1)
    rows = candidates(members=20)
    for each in rows[:20]:
        each.extra.clear()  # members that pass by need no leave-one-out overlap
    done, out = matched(rows, reference=held_out)
    assert sum(row["label"] == 1 for row in out) == 20
    assert {row.get("pair") for row in out if row["label"] == 1} == {None}
    assert abs(facts(done)["balance"]["after"]["overlap_7"]["smd"]) < 0.1
    assert done.header["history"][-1]["counts"]["reference"]["used"] == sum(row["label"] == 0 for row in out)
    assert [each["name"].rsplit("/")[-1] for each in done.header["inputs"]] == ["set.jsonl", "reference.jsonl"]
    for each in held_out[:10]:
        each.label = 1
    with pytest.raises(UsageError, match="leave-one-out"):
        matched(rows, reference=held_out)
    done, _ = matched(rows, reference=held_out, reference_side="nonmembers")
    assert done.header["history"][-1]["counts"]["reference"]["left_out"]["other_side"] == 10


def test_every_text_is_used_or_left_out_for_a_reason(matched: Match) -> None:
    rows = candidates()
    rows[3].label = None
    rows[100].overlap, rows[100].overlap_null = {"7": None}, {"7": "fewer_than_n_words"}
    rows[101].overlap = {}
    rows[102].date, rows[103].date = None, "yesterday"
    rows[104].domain = None
    rows[5].extra["overlap_loo"] = {"7": None}
    rows[5].overlap, rows[5].overlap_null = {"7": None}, {"7": "fewer_than_n_words"}
    rows[105].overlap["7"], rows[105].domain = 1.0, "news"
    done, _ = matched(rows, on=("overlap", "date", "domain"))
    counts = done.header["history"][-1]["counts"]
    assert counts["unlabelled"]["left_out"] == {"unlabelled": 1}
    left = counts["nonmembers"]["left_out"]
    assert {key: left[key] for key in ("fewer_than_n_words", "no_overlap", "no_date", "unknown_date_format", "no_domain")} == {
        "fewer_than_n_words": 1, "no_overlap": 1, "no_date": 1, "unknown_date_format": 1, "no_domain": 1,
    }  # fmt: skip
    assert left["outside_caliper"] >= 1
    assert left["not_chosen"] > 10
    assert counts["members"]["left_out"]["fewer_than_n_words"] == 1


def test_what_remains_is_said(matched: Match) -> None:
    done, _ = matched(candidates(), caliper=INF, ratio=4)
    assert any(each.startswith("overlap_7: ") and "--caliper" in each for each in done.warnings)
    assert any(each.startswith("words: ") and "add words to --on" in each for each in done.warnings)
    assert any("length and what was matched on" in each for each in done.warnings)
    assert done.header["history"][-1]["settings"]["caliper"] is None
    # Words of one side only are no covariate, but the texts tell.
    rows = candidates(shift=0)
    for each in rows[:80]:
        each.text = " ".join(f"my {word}" if number % 2 else word for number, word in enumerate(each.text.split()[:30]))
    done, _ = matched(rows, on=("overlap", "words"))
    assert any("the texts' words still tell" in each for each in done.warnings)
    rows = candidates(shift=0)
    for each in rows:
        each.text = each.text[:80]
    done, _ = matched(rows, on=("overlap", "words"))
    assert not [each for each in done.warnings if "standard deviations" in each or "length" in each]


def test_what_cannot_be_matched(matched: Match) -> None:
    def changed(**values: Any) -> list[Candidate]:
        rows = candidates(members=20, nonmembers=40)
        for each in rows:
            for name, value in values.items():
                setattr(each, name, value(each))
        return rows

    no_share = changed(overlap=lambda each: {"7": None if each.label == 0 else 1.0})
    with pytest.raises(InputError, match="no non-member that could be matched: 40 no_overlap"):
        matched(no_share)
    with pytest.raises(InputError, match="no reference that could be matched: there is none with that label"):
        matched(changed(label=lambda _: 0))
    with pytest.raises(InputError, match=r"no non-member that could be matched: .*--label-key .* import FILES --as nonmember"):
        matched(candidates(members=5, nonmembers=0))
    apart = changed(overlap=lambda each: {"7": 1.0 if each.label else 0.001})
    for each in apart[:20]:
        each.extra = {"overlap_loo": {"7": 0.9 + (each.overlap["7"] or 0) / 20}}
    for method in ("nearest", "optimal"):
        with pytest.raises(InputError, match=r"no non-member within the caliper.*overlap_7 from 0\.95 to 0\.95"):
            matched(apart, method=method)
    with pytest.raises(InputError, match="no common support"):
        matched(apart, method="weights")
    with pytest.raises(InputError, match="no domain is on both sides"):
        matched(changed(domain=lambda each: str(each.label)), on=("domain",))
    plain = changed(extra=lambda _: {})
    with pytest.raises(UsageError, match=r"--tiers 2.*--member-overlap plain"):
        matched(plain)
    with pytest.raises(InputError, match="no non-member within the caliper"):
        matched(plain, member_overlap="plain", caliper=0.01)
    with pytest.raises(UsageError, match="no overlap of 5-grams; say where"):
        matched(candidates(), n=(5,))
    for wrong in ({"on": ("size",)}, {"on": ()}, {"caliper": -1.0}, {"caliper": float("nan")}, {"ratio": 0}, {"trim": 2.0}, {"max_weight": 0.5}, {"seed": -1}):  # fmt: skip
        with pytest.raises(UsageError):
            MatchOptions(**wrong)


def test_overlaps_measured_differently_are_not_compared(tmp_path: Path) -> None:
    rows = candidates(members=5, nonmembers=20)
    write_set(tmp_path / "set.jsonl", rows)
    with SetFile(tmp_path / "other.jsonl") as file:
        file.add(rows[5:])
        file.commit(Step("made", {}, [], {}), overlap={"7": {"by": "scan"}})
    with SetFile(tmp_path / "out.jsonl") as file, pytest.raises(UsageError, match="not measured alike"):
        match(RecordSource((tmp_path / "set.jsonl",)), file, reference=RecordSource((tmp_path / "other.jsonl",)))
    assert not (tmp_path / "out.jsonl").exists()


# The command, with a measurement of its own


def test_command_measures_by_scan_with_leave_one_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(5)
    members = [text(random, 30) for _ in range(30)]
    # Members share nothing with each other beyond chance; of non-members the first half copies from members.
    others = [
        " ".join(members[number % 30].split()[: 12 if number < 30 else 0]) + " " + text(random, 20) for number in range(60)
    ]
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [{"text": each} for each in members])
    rows = [{"id": f"m{number}", "text": each, "label": 1} for number, each in enumerate(members)]
    rows += [{"id": f"n{number}", "text": each, "label": 0} for number, each in enumerate(others)]
    source = write_jsonl(tmp_path / "texts.jsonl", [*rows, {"id": "null", "text": None}])
    out = tmp_path / "out.jsonl"
    arguments = ["sets", "matched", str(source), "--scan", str(corpus), "--n", "3", "--out", str(out), "--permutations", "10"]
    assert run_here([*arguments, "--json"]) == 0
    header = json.loads(capfd.readouterr().out)
    assert header["history"][-1]["counts"]["records"] == {"read": 91, "used": 90, "left_out": {"null_text": 1}}
    made = read_jsonl(out)
    assert {row["label"] for row in made} == {0, 1}
    for row in made:
        assert set(row["overlap"]) == set(row["overlap_loo"]) == {"3"}
        if row["label"] == 1:
            assert (row["overlap"]["3"], row["overlap_loo"]["3"] < 0.5) == (1.0, True)
    # Members look, without themselves, like the half that copied nothing.
    copied = [row for row in made if row["label"] == 0 and int(row["id"][1:]) < 30]
    assert len(copied) < 0.2 * len(made)
    assert header["overlap"]["3"]["by"] == "scan"
    assert run_here(arguments) == 0
    assert "told apart by the texts' words" in capfd.readouterr().err
    for more, said in (
        (["--on", "overlap,size"], "size"),
        (["--out", str(source)], "one of the inputs"),
        (["--reference", "-"], "read twice"),
    ):
        assert run_here([*arguments, *more]) == 2, more
        assert said in capfd.readouterr().err
    corpus.write_text(corpus.read_text() + "no JSON\n")
    assert run_here([*arguments, "--max-bad-records", "1"]) == 3
    assert "corpus.jsonl, line 31" in capfd.readouterr().err
    assert run_here(["sets", "matched", str(source), "--out", str(out)]) == 2
    assert "--index, --scan or --flags" in capfd.readouterr().err
    assert run_here(["sets", "matched", str(source), "--lowercase", "--out", str(out)]) == 2
    assert "--lowercase" in capfd.readouterr().err


def test_flags_do_not_come_along(tmp_path: Path) -> None:
    rows = [
        {"id": str(number), "text": text(np.random.default_rng(number), 15), "label": number % 2, "hits": "10" * 4}
        for number in range(20)
    ]
    source = RecordSource((write_jsonl(tmp_path / "texts.jsonl", rows),))
    with SetFile(tmp_path / "out.jsonl") as file:
        overlap = OverlapOptions(flags=("hits",))
        match(source, file, MatchOptions(member_overlap="plain", permutations=0), overlap=overlap)
    made = read_jsonl(tmp_path / "out.jsonl")
    assert {row["overlap"]["7"] for row in made} == {0.5}
    assert not any("hits" in row for row in made)
