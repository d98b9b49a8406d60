"""What an evaluation shows: the rule as a table of cases, its words, and inference over the draws of a design."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ngramscope.cli.evaluate import command
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.delong import Comparison
from ngramscope.evaluate.evidence import (
    BOTH,
    CODES,
    MEMBERSHIP,
    NOT_IDENTIFIABLE,
    NOTHING,
    SHIFT,
    AttackEvidence,
    BlindEvidence,
    Evidence,
    PlaceboEvidence,
    evidence_of,
)
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.prepare import prepare
from ngramscope.evaluate.randomization import assignments, randomization_p
from ngramscope.evaluate.run import evaluate
from ngramscope.evaluate.text import to_text
from ngramscope.evaluate.verdict import Verdict, VerdictRule, decide
from ngramscope.evaluate.verdict_words import _TITLES
from ngramscope.evaluate.writers import write
from ngramscope.sets.design import Design
from ngramscope.sets.randomize import RandomizeFiles, RandomizeOptions, randomize
from ngramscope.sets.randomized_files import Key, open_key
from ngramscope.sets.records import RecordSource
from tests.conftest import WORDS, read_jsonl, write_jsonl
from tests.scoring import score_table

QUICK = EvaluationOptions(bootstrap=0)

NO_TEXT, SOME_TEXT, TEXT = BlindEvidence(0.5, (0.45, 0.55), 0.6), BlindEvidence(0.54, None, 0.1), BlindEvidence(0.7, None, 0.01)
SAME, ABOVE = Comparison(0.01, -0.03, 0.05, 0.6), Comparison(0.1, 0.06, 0.14, 0.0001)


def attack(name: str = "loss", auc: float = 0.6, p: float | None = 0.0001, **more: Any) -> AttackEvidence:
    return AttackEvidence(f"{name} @ m", auc, (auc - 0.04, auc + 0.04), p, 300, 300, 0.566, **more)


def placebo(difference: Comparison, p: float = 0.5, auc: float = 0.5) -> tuple[PlaceboEvidence, ...]:
    return (PlaceboEvidence("old", auc, p, difference),)


FOUND, NONE, GAINED = attack(), attack(auc=0.51, p=0.6), attack(gain=0.03, gain_p=0.01)
CASES: list[tuple[str, Evidence, str, str]] = [
    ("no attack", Evidence((), NO_TEXT), NOTHING, "no_attack"),
    ("no attack, shift", Evidence((), TEXT), SHIFT, "no_attack"),
    ("no signal", Evidence((NONE,), NO_TEXT), NOTHING, "no_signal"),
    ("no signal, blind not run", Evidence((NONE,)), NOTHING, "no_signal"),
    ("no signal, shift", Evidence((NONE,), TEXT), SHIFT, "no_signal"),
    ("no signal, placebo sees a shift", Evidence((replace(NONE, placebos=placebo(SAME, 0.001, 0.6)),)), SHIFT, "no_signal"),
    ("below a half is no signal", Evidence((attack(auc=0.4, p=1e-9),), NO_TEXT), NOTHING, "no_signal"),
    ("randomised", Evidence((FOUND,), NO_TEXT, randomised=True), MEMBERSHIP, "randomised"),
    ("randomised, blind not run", Evidence((FOUND,), randomised=True), MEMBERSHIP, "randomised"),
    ("randomised, shift", Evidence((FOUND,), TEXT, randomised=True), BOTH, "randomised"),
    ("randomised, no signal", Evidence((NONE,), NO_TEXT, randomised=True), NOTHING, "no_signal"),
    (
        "randomised: a placebo that does as well does not matter",
        Evidence((replace(FOUND, placebos=placebo(SAME)),), NO_TEXT, randomised=True), MEMBERSHIP, "randomised",
    ),
    ("no shift, gain", Evidence((GAINED,), NO_TEXT), MEMBERSHIP, "no_shift"),
    ("no shift, gain not known", Evidence((FOUND,), NO_TEXT), MEMBERSHIP, "no_shift"),
    (
        "not above the ceiling",
        Evidence((replace(GAINED, over_blind=SAME),), replace(NO_TEXT, auc=0.55)), NOT_IDENTIFIABLE, "no_gain_over_blind",
    ),
    ("above the ceiling", Evidence((replace(GAINED, over_blind=ABOVE),), replace(NO_TEXT, auc=0.55)), MEMBERSHIP, "no_shift"),
    ("a ceiling below a half", Evidence((replace(GAINED, over_blind=SAME),), replace(NO_TEXT, auc=0.45)), MEMBERSHIP, "no_shift"),
    (
        "with a placebo the ceiling need not be exceeded",
        Evidence((replace(GAINED, over_blind=SAME, placebos=placebo(ABOVE)),), TEXT), BOTH, "beyond_placebo",
    ),
    ("no gain", Evidence((replace(GAINED, gain_p=0.3),), NO_TEXT), NOT_IDENTIFIABLE, "no_gain_over_blind"),
    ("a gain below 0", Evidence((replace(GAINED, gain=-0.01),), NO_TEXT), NOT_IDENTIFIABLE, "no_gain_over_blind"),
    ("shift not excluded", Evidence((GAINED,), SOME_TEXT), NOT_IDENTIFIABLE, "shift_not_excluded"),
    ("shift, no placebo", Evidence((GAINED,), TEXT), NOT_IDENTIFIABLE, "no_placebo"),
    ("neither blind nor placebo", Evidence((FOUND,)), NOT_IDENTIFIABLE, "no_blind_baseline"),
    ("beyond placebo", Evidence((replace(GAINED, placebos=placebo(ABOVE)),), NO_TEXT), MEMBERSHIP, "beyond_placebo"),
    ("beyond placebo, shift", Evidence((replace(GAINED, placebos=placebo(ABOVE)),), TEXT), BOTH, "beyond_placebo"),
    (
        "beyond placebo, which sees a shift that text does not show",
        Evidence((replace(GAINED, placebos=placebo(ABOVE, 0.001, 0.55)),), NO_TEXT), BOTH, "beyond_placebo",
    ),
    ("beyond placebo, blind not run", Evidence((replace(FOUND, placebos=placebo(ABOVE)),)), MEMBERSHIP, "beyond_placebo"),
    ("as a placebo, shift", Evidence((replace(GAINED, placebos=placebo(SAME)),), TEXT), SHIFT, "not_beyond_placebo"),
    ("as a placebo", Evidence((replace(GAINED, placebos=placebo(SAME)),), NO_TEXT), NOT_IDENTIFIABLE, "not_beyond_placebo"),
    (
        "beyond one placebo and not the other",
        Evidence((replace(GAINED, placebos=placebo(ABOVE) + placebo(SAME)),), TEXT), SHIFT, "not_beyond_placebo",
    ),
    (
        "beyond a placebo, but no gain over text",
        Evidence((replace(GAINED, gain_p=0.5, placebos=placebo(ABOVE)),), TEXT), SHIFT, "not_beyond_placebo",
    ),
    (
        "the attack that goes beyond has no placebo to be compared with",
        Evidence((replace(FOUND, placebos=placebo(SAME)), attack("zlib")), TEXT), SHIFT, "not_beyond_placebo",
    ),
    ("separated", Evidence((attack(auc=1.0, p=None),), NO_TEXT), MEMBERSHIP, "no_shift"),
    ("all tied", Evidence((attack(auc=0.5, p=None),), NO_TEXT), NOTHING, "no_signal"),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "code", "because"), [each[1:] for each in CASES], ids=[each[0] for each in CASES])
def test_the_rule(evidence: Evidence, code: str, because: str) -> None:
    found = decide(evidence)
    assert (found.code, found.because) == (code, because)
    assert found.sentences
    assert all(each.endswith(".") for each in found.sentences)
    text = " ".join(found.sentences)
    assert "explained" not in text
    assert "proves" not in text


def test_every_code_has_cases_and_a_title() -> None:
    assert {each[2] for each in CASES} == set(CODES) == set(_TITLES)


def test_shift_and_membership_needs_a_placebo_or_randomised_membership() -> None:
    chance = random.Random(0)
    for _ in range(500):
        p, gain_p, blind_p = (chance.choice([0.0001, 0.04, 0.1, 0.5]) for _ in range(3))
        more = {"gain": chance.choice([-0.01, 0.02]), "gain_p": gain_p} if chance.random() < 0.7 else {}
        found = decide(Evidence((attack(auc=chance.choice([0.4, 0.6]), p=p, **more),), BlindEvidence(0.6, None, blind_p)))
        assert found.code != BOTH
        if blind_p <= 0.05:
            assert found.code in (SHIFT, NOT_IDENTIFIABLE)


def test_attacks_are_corrected_together() -> None:
    many = tuple(attack(f"a{number}", p=0.02) for number in range(3))
    assert decide(Evidence(many[:1], NO_TEXT)).code == MEMBERSHIP
    found = decide(Evidence(many, NO_TEXT))
    assert found.code == NOTHING
    assert list(found.decided["signal"].values()) == pytest.approx([0.06] * 3)
    assert decide(Evidence(many, NO_TEXT), VerdictRule(alpha=0.1)).code == MEMBERSHIP
    # Of tests that see no membership, too: half of the level is theirs, half the ceiling's.
    seen = tuple(attack(f"a{n}", auc=0.5, p=0.9, placebos=placebo(SAME, p=0.02)) for n in range(3))
    assert decide(Evidence(seen[:1], NO_TEXT)).code == SHIFT
    assert decide(Evidence(seen, NO_TEXT)).code == NOTHING


def test_many_attacks_on_placebos_do_not_drown_the_blind_ceiling() -> None:
    many = tuple(attack(f"a{number}", auc=0.5, p=0.9, placebos=placebo(SAME, p=0.5)) for number in range(30))
    assert decide(Evidence(many, replace(TEXT, p=1 / 201))).code == SHIFT
    assert decide(Evidence(many, replace(TEXT, p=0.03))).code == NOTHING
    assert decide(Evidence(tuple(replace(each, placebos=()) for each in many), replace(TEXT, p=0.03))).code == SHIFT


def test_the_order_of_attacks_and_placebos_does_not_matter() -> None:
    attacks = (
        replace(GAINED, placebos=(*placebo(ABOVE), PlaceboEvidence("older", 0.52, 0.2, Comparison(0.08, 0.04, 0.12, 0.001)))),
        attack("zlib", p=0.03, placebos=placebo(SAME)),
        attack("min-k", auc=0.6, p=0.0001, placebos=placebo(ABOVE)),
    )
    first = decide(Evidence(attacks, TEXT))
    for order in itertools.permutations(attacks):
        turned = tuple(replace(each, placebos=each.placebos[::-1]) for each in order)
        found = decide(Evidence(turned, TEXT))
        assert (found.code, found.because, found.decided) == (first.code, first.because, first.decided)
        assert sorted(found.sentences) == sorted(first.sentences)


def test_words_say_what_is_not_known() -> None:
    nothing = " ".join(decide(Evidence((NONE,), NO_TEXT)).sentences)
    assert "cannot tell members from non-members" in nothing
    assert "no evidence of privacy" in nothing
    assert "An AUC of 0.566 would have been told from .5 in 80 % of studies" in nothing
    assert "nothing is known" in " ".join(decide(Evidence((NONE,))).sentences)
    shift = decide(Evidence((replace(GAINED, placebos=placebo(SAME)),), TEXT))
    assert shift.decided["detectable_difference"] == pytest.approx(0.04 * 2.8 / 1.96)
    assert "An AUC 0.057 above that on the placebo would have been found" in " ".join(shift.sentences)
    assert "not excluded: there is no placebo" in " ".join(decide(Evidence((GAINED,), NO_TEXT)).sentences)
    both = " ".join(decide(Evidence((replace(GAINED, placebos=placebo(ABOVE)),), TEXT)).sentences)
    assert "different texts" in both
    assert "nothing of a single document" in both


# From reports


def a_report(*, shift: float = 0.0, effect: float = 0.0, **more: Any) -> Verdict:
    chance = np.random.default_rng(0)
    labels = np.repeat([1, 0], 300)
    text = chance.normal(size=600) + shift * labels
    scores = {"loss": text + 0.3 * chance.normal(size=600) + effect * labels, "loss @ old @ placebo": text}
    report = evaluate(score_table(labels, {**scores, **more}), QUICK)
    assert report.verdict is not None
    return report.verdict


def test_reports_have_a_verdict_of_their_attacks_and_placebos() -> None:
    assert a_report().code == NOTHING
    assert a_report(effect=0.5).code == MEMBERSHIP
    assert a_report(shift=0.5).code == SHIFT
    assert a_report(shift=0.5, effect=0.5).code == BOTH
    found = a_report(effect=0.5).evidence.attacks
    assert [(each.name, [p.model for p in each.placebos]) for each in found] == [("loss @ m", ["old"])]
    assert found[0].placebos[0].p is not None


def test_learned_attacks_count_where_they_did_not_learn() -> None:
    labels = np.repeat([1, 0], 50)
    kept = np.arange(100) % 3 > 0
    scores = {"loss": np.random.default_rng(0).normal(size=100) + labels, "lr@1": np.where(kept, labels + 0.0, np.nan)}
    report = evaluate(score_table(labels, scores), QUICK)
    found = evidence_of(report.rows)
    assert [(each.name, each.n1 + each.n0) for each in found.attacks] == [("loss @ m", 100), ("lr @ m", kept.sum())]
    gained = evidence_of(report.rows, NO_TEXT, {"loss @ m": (0.1, 0.01, ABOVE)}).attacks
    assert [(each.gain, each.gain_p, each.over_blind) for each in gained] == [(0.1, 0.01, ABOVE), (None, None, None)]


def test_files_and_text_have_the_verdict(tmp_path: Path) -> None:
    labels = np.repeat([1, 0], 60)
    report = evaluate(score_table(labels, {"loss": np.random.default_rng(0).normal(size=120)}), QUICK)
    for ending in ("json", "csv", "tex"):
        write(tmp_path / f"report.{ending}", report)
    assert json.loads((tmp_path / "report.json").read_text())["verdict"]["code"] == NOTHING
    assert "verdict,,,,,,,verdict,,,,,,,,,,,,nothing_detectable; no_signal" in (tmp_path / "report.csv").read_text()
    assert "% Verdict: nothing detectable." in (tmp_path / "report.tex").read_text()
    assert "verdict: nothing detectable\n  These attacks cannot tell" in to_text(report)


# Randomised membership


def test_p_values_are_the_share_of_draws_as_far_from_a_half() -> None:
    chance = np.random.default_rng(1)
    scores = np.round(chance.normal(size=7), 1)
    scores[3] = np.nan
    drawn = np.array([[each in ones for each in range(7)] for ones in itertools.combinations(range(7), 3)])
    chance.shuffle(drawn)

    def auc(members: Any) -> float:
        ours, others = scores[members & ~np.isnan(scores)], scores[~members & ~np.isnan(scores)]
        won = (ours[:, None] > others) + 0.5 * (ours[:, None] == others)
        return float(won.mean())

    far = np.array([abs(auc(each) - 0.5) for each in drawn])
    assert randomization_p([scores], drawn) == pytest.approx((far >= far[0] - 1e-12).mean())
    assert randomization_p([scores, scores], drawn) == randomization_p([scores], drawn)


def test_false_alarms_are_as_rare_as_said() -> None:
    """Draws of a blocked design whose blocks have scores of their own: over draws, p is uniform."""
    chance = np.random.default_rng(0)
    blocks = np.repeat(np.arange(4), 10)
    alarms = 0
    for seed in range(200):
        design = Design((0, 1), (1, 1), blocks, seed)
        scores = chance.normal(size=40) + 2 * blocks
        alarms += randomization_p([scores], np.stack([design.draw(number) > 0 for number in range(100)])) <= 0.05
    assert alarms <= 16


@pytest.fixture
def experiment(tmp_path: Path) -> tuple[Key, list[dict[str, Any]], Path]:
    chance = random.Random(0)
    texts = write_jsonl(tmp_path / "texts.jsonl", [" ".join(chance.choices(WORDS, k=12)) for _ in range(60)])
    (tmp_path / "train").mkdir()
    private = {name: tmp_path / f"{name}.jsonl" for name in ("heldout", "key", "out")}
    randomize(
        RecordSource((texts,)),
        RandomizeFiles(insertions=tmp_path / "train" / "insertions.jsonl", **private),
        options=RandomizeOptions(copies=(0, 1), seed=7),
    )
    return open_key(private["key"]), read_jsonl(private["out"]), private["key"]


def test_a_randomised_set_is_judged_by_its_key(experiment: tuple[Key, list[dict[str, Any]], Path], tmp_path: Path) -> None:
    key, rows, path = experiment
    chance = np.random.default_rng(0)
    labels = np.array([row["label"] for row in rows])
    ids = [row["insert_id"] for row in rows]
    scores = {"loss": chance.normal(size=60) + 1.2 * labels, "noise": chance.normal(size=60)}
    table = score_table(labels, scores, insert_id=ids)
    report = evaluate(table, QUICK, key=key)
    assert report.verdict is not None
    assert (report.verdict.code, report.verdict.because) == (MEMBERSHIP, "randomised")
    drawn = assignments(table, prepare(table), key)
    assert drawn.shape == (2000, 60)
    by_name = {each.name: each.p for each in report.verdict.evidence.attacks}
    data = prepare(table)
    assert by_name["loss @ m"] == randomization_p([data.scores[0]], drawn)
    assert (by_name["noise @ m"] or 0) > 0.05
    # From a file, by the command.
    lines = [f"{label},{one},{two},{name}" for label, one, two, name in zip(labels, *scores.values(), ids, strict=True)]
    (tmp_path / "scores.csv").write_text("\n".join(["label,loss,noise,insert_id", *lines]))
    arguments = [str(tmp_path / "scores.csv"), "--key", str(path), "--bootstrap", "0", "--json", "--quiet"]
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    found = json.loads(done.stdout)
    assert found["verdict"]["because"] == "randomised"
    assert [each["option"] for each in found["inputs"]] == ["scores", "key"]


def test_tables_that_do_not_go_with_the_key_are_refused(experiment: tuple[Key, list[dict[str, Any]], Path]) -> None:
    key, rows, _ = experiment
    labels = np.array([row["label"] for row in rows])
    ids = [row["insert_id"] for row in rows]
    scores = {"loss": np.arange(60.0)}
    with pytest.raises(UsageError, match="no column insert_id"):
        evaluate(score_table(labels, scores), QUICK, key=key)
    with pytest.raises(InputError, match="is not in this key"):
        evaluate(score_table(labels, scores, insert_id=["other", *ids[1:]]), QUICK, key=key)
    with pytest.raises(InputError, match="another label than the key drew"):
        evaluate(score_table(1 - labels, scores, insert_id=ids), QUICK, key=key)
