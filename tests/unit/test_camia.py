"""CAMIA's signals against numbers worked out elsewhere, and against the definitions."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ngramscope.attacks.base import MissingPassError, find_attack
from ngramscope.attacks.camia import signals
from ngramscope.attacks.camia.copies import find_copies
from ngramscope.attacks.camia.entropy import approximate_entropies
from ngramscope.attacks.camia.features import DIRECTIONS, GROUPS, REPEATED, SIGNALS, directions, own_heads, text_signals
from ngramscope.attacks.camia.lempel_ziv import lempel_ziv, lz78_phrases, lzw_phrases, symbols
from ngramscope.errors import UsageError
from tests.conftest import ROOT
from tests.score_stores import Pass, inputs_of

A = np.array([-0.1, -2.3, -0.05, -4, -1.2, -0.7, -3.1, -0.02, -0.9, -1.6, -0.3])
IDS = np.array([5, 7, 5, 9, 9, 3, 5, 8, 2, 7, 1, 4], dtype=np.int32)

Floats = np.typing.NDArray[np.float64]


def test_signals_of_the_public_code() -> None:
    assert signals.loss(A, None, "code") == pytest.approx(-1.397)
    assert signals.perplexity(A, None, "code") == pytest.approx(4.043052597)
    assert [signals.below(A, each) for each in (1, 2, 3)] == pytest.approx([0.545455, 0.727273, 0.818182], abs=1e-6)
    assert signals.below_mean(A, None, "code") == 6
    assert signals.below_previous(A, None, "code") == pytest.approx(0.6)
    assert signals.slope(A[:-1], "code") == pytest.approx(-0.002121212, abs=1e-9)
    assert signals.diversity(IDS, None, "code") == pytest.approx(0.636364, abs=1e-6)


def test_signals_of_the_paper() -> None:
    assert signals.loss(A, None, "paper") == pytest.approx(1.297272727)
    assert signals.perplexity(A, None, "paper") == pytest.approx(3.659303129)
    assert signals.below_mean(A, None, "paper") == pytest.approx(0.636364, abs=1e-6)
    assert signals.slope(A, "paper") == pytest.approx(-0.048272727, abs=1e-9)
    assert signals.diversity(IDS, None, "paper") == pytest.approx(0.666667, abs=1e-6)
    # The first token counts; six of the other ten are at most the mean of those before.
    assert signals.below_previous(A, None, "paper") == pytest.approx(7 / 11)


def test_cuts_take_the_first_tokens() -> None:
    assert signals.loss(A, 3, "paper") == pytest.approx(2.45 / 3)
    assert signals.loss(A, 3, "code") == pytest.approx(-2.45 / 3)
    # The threshold is the mean of the whole text in the paper, of the cut in the code.
    assert signals.below_mean(A, 4, "paper") == 0.5
    assert signals.below_mean(np.array([-1.0, -2.0, -9.0]), 2, "paper") == 1
    assert signals.below_mean(np.array([-1.0, -2.0, -9.0]), 2, "code") == 1
    assert signals.below_mean(np.array([-2.0, -2.0, -2.0]), None, "paper") == 1
    assert signals.below_mean(np.array([-2.0, -2.0, -2.0]), None, "code") == 0


def test_slope_is_that_of_least_squares() -> None:
    x = -np.random.default_rng(0).exponential(2, 97)
    assert signals.slope(x, "code") == pytest.approx(np.polyfit(range(97), x, 1)[0])


@pytest.mark.parametrize("convention", ["paper", "code"])
def test_too_short_is_undefined(convention: signals.Convention) -> None:
    for name in ("loss", "perplexity", "below_mean", "below_previous"):
        assert math.isnan(getattr(signals, name)(A[:0], None, convention))
    assert math.isnan(signals.below(A[:0], 1))
    assert math.isnan(signals.slope(A[:1], convention))
    assert math.isnan(signals.diversity(IDS[:0], None, convention))
    assert math.isnan(lempel_ziv(A[:0], 3, convention))


@pytest.mark.parametrize(
    ("bins", "sequence", "phrases", "share"),
    [(3, "21202202212", 6, 0.545455), (4, "31302303323", 6, 0.545455), (5, "42403414334", 7, 0.636364)],
)
def test_lempel_ziv_of_the_public_code(bins: int, sequence: str, phrases: int, share: float) -> None:
    found = symbols(A, bins, "code").tolist()
    assert "".join(map(str, found)) == sequence
    assert lz78_phrases(found) == phrases
    assert lempel_ziv(A, bins, "code") == pytest.approx(share, abs=1e-6)


def test_lempel_ziv_phrases() -> None:
    assert lz78_phrases([1, 0, 0, 1, 1, 1]) == 4  # 1, 0, 01, 11
    assert lz78_phrases([0, 0, 0]) == 2  # 0, 00
    assert lzw_phrases([0, 1, 0, 1, 0, 1, 0]) == 4  # 0, 1, 01, 010
    assert lzw_phrases([7]) == 1
    assert symbols(A, 4, "paper").tolist() == [0, 2, 0, 3, 1, 0, 3, 0, 0, 1, 0]
    assert symbols(np.array([-1.0, -1.0]), 4, "paper").tolist() == [0, 0]
    assert lempel_ziv(A, 4, "paper") == lzw_phrases([0, 2, 0, 3, 1, 0, 3, 0, 0, 1, 0])


def entropy_in_words(x: Floats, m: int, r: float) -> float:
    def phi(size: int) -> float:
        patterns = np.lib.stride_tricks.sliding_window_view(x, size)
        return float(np.mean(np.log(np.mean(cdist(patterns, patterns, "chebyshev") <= r, axis=1))))

    return phi(m) - phi(m + 1)


def test_approximate_entropy() -> None:
    r = 0.8 * A.std()
    assert approximate_entropies(A, [11], 2, r) == pytest.approx([0.514418480])
    assert abs(approximate_entropies(A, [11], 8, r)[0]) == pytest.approx(0.287682072)


@pytest.mark.parametrize("m", [1, 2, 3, 5, 8])
def test_approximate_entropy_is_that_of_the_definition(m: int) -> None:
    random = np.random.default_rng(m)
    # Steps of a quarter: many differences are exactly r.
    x = np.round(random.normal(0, 0.4, 600) * 4) / 4
    lengths = [40, 500, 600, 1000]
    expected = [entropy_in_words(x[:length], m, 0.75) for length in lengths]
    assert approximate_entropies(x, lengths, m, 0.75) == pytest.approx(expected)


def test_approximate_entropy_of_too_few_values() -> None:
    assert np.isnan(approximate_entropies(A, [9, 10], 8, 0.8)).tolist() == [True, False]
    assert np.isnan(approximate_entropies(A[:0], [9], 8, 0.8)).all()


def ids(text: str) -> Any:
    return np.array([ord(each) for each in text], dtype=np.int32)


def test_copies_are_found_by_ids() -> None:
    # The first token changes where text follows text; the last merges with the space.
    found = find_copies(ids("abcdef"), ids("abcdef Abcdef Abcdef Abcdef"), "paper", own_head=0)
    assert (found.start, found.length, found.starts) == (1, 5, (1, 8, 15))
    found = find_copies(ids("abcdef"), ids("abcde#abcde#abcde#abcdef"), "paper", own_head=0)
    assert (found.start, found.length, found.starts) == (0, 5, (0, 6, 12))


def test_copies_of_a_text_that_repeats_itself_do_not_overlap() -> None:
    found = find_copies(ids("aaaa"), ids("a" * 24), "paper", own_head=0)
    assert found.starts == (0, 4, 8)


def test_copies_that_a_context_cuts_off() -> None:
    found = find_copies(ids("abcdef"), ids("abcdef abcdef ab"), "paper", own_head=0)
    assert found.starts == (0, 7)
    # Half of a text may be left out, no more.
    assert find_copies(ids("abcdef"), ids("xxxdefxxxdefxxxdef"), "paper", own_head=0).length == 3
    assert find_copies(ids("abcdef"), ids("xxxxefxxxxefxxxxef"), "paper", own_head=0).starts == ()


def test_copies_of_the_public_code() -> None:
    # Two tokens are left out, the last two matches ignored; the text's own first token is scored only after a start token.
    again = "abcdef Abcdef Abcdef Abcdef Abcdef Abcdef"
    found = find_copies(ids("abcdef"), ids(again), "code", own_head=0)
    assert (found.start, found.length, found.starts) == (2, 4, (2, 9, 16))
    found = find_copies(ids("bcdef"), ids(again[1:]), "code", own_head=1)
    assert (found.start, found.length, found.starts) == (1, 4, (1, 8, 15))
    assert find_copies(ids("abcdef"), ids(again[: 6 + 7 + 7]), "code", own_head=0).starts == (2,)


def test_there_are_75_signals_in_11_groups() -> None:
    assert len({each.name for each in SIGNALS}) == len(SIGNALS) == 75
    assert tuple(dict.fromkeys(each.group for each in SIGNALS)) == GROUPS
    assert len(GROUPS) == 11
    for group in GROUPS:
        found = [each for each in SIGNALS if each.group == group]
        assert len(found) == (9 if group in REPEATED else 3)


def test_the_documented_directions_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "camia.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \|.*\| (lower|higher) \|", text, re.MULTILINE)
    assert {group: 1 if way == "higher" else -1 for group, way in rows} == dict(DIRECTIONS)
    assert [group for group, _ in rows] == list(GROUPS)
    assert (directions("paper") == [DIRECTIONS[each.group] for each in SIGNALS]).all()


def expected_signals(
    x: Floats, own: Floats, copies: list[Floats], again: Floats, convention: signals.Convention
) -> dict[str, float]:
    """The signals by the formulas in words; `x` is shorter than 200 tokens."""
    code = convention == "code"
    cuts: dict[str, Any] = {"all": slice(None, -1) if code else slice(None), "200": slice(200), "300": slice(300)}
    whole = len(set(own.tolist())) / len(own)

    def loss(values: Floats, name: str) -> float:
        return float(values[cuts[name]].mean()) * (1 if code else -1)

    def diversity(name: str) -> float:
        part = own[cuts[name]]
        return len(set(part.tolist())) / len(part)

    def of(group: str, name: str, values: Floats) -> float:
        if group == "loss":
            return loss(values, name)
        if group == "ppl":
            return math.exp(-float(values[cuts[name]].mean()))
        if group in ("cal-loss", "cal-ppl"):
            return of(group[4:], name, values) / (diversity(name) if code else whole)
        if group == "below":
            return float(np.mean(values >= -int(name)))
        if group == "below-mean":
            part = values[cuts[name]]
            return float(np.sum(part > part.mean())) if code else float(np.mean(part >= values.mean()))
        return lempel_ziv(values, int(name), convention)

    found = {}
    for each in SIGNALS:
        group, name = each.group, each.configuration
        if group == "diversity":
            value = diversity(name)
        elif group == "slope":
            value = float(np.polyfit(range(len(again)), again, 1)[0]) * (1 if code else -1)
        elif group == "apen":
            value = entropy_in_words(again, 8, 0.8 * (again.std() if code else 1))
            value = abs(value) if code else value
        elif group == "below-previous":
            value = signals.below_previous(x, None, convention)
        elif each.repetition:
            value = of(group, name, copies[0]) - of(group, name, copies[each.repetition])
        else:
            value = of(group, name, x)
        found[each.name] = value
    return found


@pytest.mark.parametrize("convention", ["paper", "code"])
def test_all_signals_of_a_text(convention: signals.Convention) -> None:
    random = np.random.default_rng(1)
    own = random.integers(0, 12, 20).astype(np.int32)
    again_ids = np.concatenate([own] * 6)[1:]
    again = -random.exponential(2, len(again_ids))
    x = again[:19]
    skip = 1 if convention == "code" else 0  # the code leaves out one more token than is not scored
    copies = [again[start + skip : start + 19] for start in (0, 20, 40)]
    found = text_signals(x, own[1:], again, again_ids, head=own[:1], convention=convention)
    expected = expected_signals(x, own, copies, again, convention)
    assert dict(zip((each.name for each in SIGNALS), found.tolist(), strict=True)) == pytest.approx(expected)


def test_a_long_text_is_not_repeated() -> None:
    random = np.random.default_rng(2)
    x, again = -random.exponential(2, 700), -random.exponential(2, 1200)
    number = np.arange(700, dtype=np.int32)
    found = text_signals(x, number, again, np.arange(1200, dtype=np.int32), head=None, convention="paper")
    values = dict(zip((each.name for each in SIGNALS), found.tolist(), strict=True))
    assert values["slope-600"] == pytest.approx(signals.slope(x[:600], "paper"))
    assert values["slope-800"] == pytest.approx(signals.slope(again[:800], "paper"))
    assert values["apen-600"] == pytest.approx(approximate_entropies(x, [600], 8, 0.8)[0])
    assert values["apen-1000"] == pytest.approx(approximate_entropies(again, [1000], 8, 0.8)[0])
    assert math.isnan(values["loss-all-rep2"])


def test_values_that_are_not_finite_are_undefined() -> None:
    x = np.where(np.arange(11) == 4, -np.inf, A)
    none = text_signals(x, IDS[1:], A, IDS[1:], head=IDS[:1], convention="paper")
    assert np.isnan(none).all()
    some = text_signals(A, IDS[1:], x, IDS[1:], head=IDS[:1], convention="paper")
    defined = [each.name for each, value in zip(SIGNALS, some, strict=True) if not math.isnan(value)]
    assert "loss-all" in defined
    assert "slope-600" not in defined


def passes(texts: list[Any], seed: int = 0) -> tuple[Pass, Pass]:
    """A plain and a repeated pass of texts of ids, with random log-probabilities and no start token."""
    random = np.random.default_rng(seed)
    repeated = [np.concatenate([each] * 6) if len(each) else each for each in texts]
    again = [-random.exponential(2, max(0, len(each) - 1)) for each in repeated]
    once = [values[: max(0, len(text) - 1)] for values, text in zip(again, texts, strict=True)]
    heads = [text[:1].tolist() for text in texts]

    def make(kind: str, values: list[Any], all_ids: list[Any]) -> Pass:
        columns = {"token_id": [each[1:] for each in all_ids], "log_prob": values}
        return Pass(columns, kind=kind, head=heads, tokens_total=[len(each) for each in all_ids])

    return make("plain", once, texts), make("repeated", again, repeated)


def test_the_attack_gives_a_column_a_signal(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    texts = [random.integers(0, 50, size).astype(np.int32) for size in (30, 1, 40, 8)]
    inputs = inputs_of(tmp_path / "store", *passes(texts))
    found = find_attack("camia").score(inputs)
    assert list(found) == [f"camia.{each.name}" for each in SIGNALS]
    plain, again = inputs.stats(), inputs.stats("repeated")
    stacked = np.array(list(found.values())).T
    assert np.isnan(stacked[1]).all()
    for row in (0, 2, 3):
        by_hand = text_signals(
            list(plain.each("log_prob"))[row].astype(float), texts[row][1:],
            list(again.each("log_prob"))[row].astype(float), np.concatenate([texts[row]] * 6)[1:],
            head=texts[row][:1], convention="paper",
        )  # fmt: skip
        assert stacked[row] == pytest.approx(by_hand * directions("paper"))
        assert not np.isnan(stacked[row]).any()
    # Higher = member, whoever computes it.
    code = find_attack("camia").score(inputs, convention="code")
    assert code["camia.loss-200"] == pytest.approx(found["camia.loss-200"], nan_ok=True)
    assert code["camia.slope-600"] == pytest.approx(found["camia.slope-600"], nan_ok=True)
    with pytest.raises(UsageError, match="known: paper, code"):
        find_attack("camia").score(inputs, convention="other")


def test_the_repeated_pass_is_asked_for(tmp_path: Path) -> None:
    plain, _ = passes([np.arange(9, dtype=np.int32)])
    with pytest.raises(MissingPassError, match="--pass repeated"):
        find_attack("camia").score(inputs_of(tmp_path / "store", plain))


def test_a_start_token_is_no_token_of_the_text(tmp_path: Path) -> None:
    columns = {"token_id": [[1, 2, 2], [3, 4, 5]], "log_prob": [[-1.0] * 3] * 2}

    def heads(name: str, **fields: Any) -> bool:
        return own_heads(inputs_of(tmp_path / name, Pass(columns, **fields)).stats())

    assert heads("own", head=[[7], [8]], tokens_total=[4, 4])
    assert not heads("start", head=[[7], [7]], tokens_total=[3, 3])
    # All are cut: a start token is the same everywhere.
    assert heads("own-cut", head=[[7], [8]], tokens_total=[90, 90], truncated=[True, True])
    assert not heads("start-cut", head=[[7], [7]], tokens_total=[90, 90], truncated=[True, True])
