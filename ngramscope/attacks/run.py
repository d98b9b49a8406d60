"""Attacks on the models of a store, as one table."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.base import Attack, Inputs, MissingPassError, attacks, find_attack
from ngramscope.attacks.compat import cannot, presets, switches
from ngramscope.attacks.loss import loss
from ngramscope.attacks.loss_tail import loss_tail
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.corpus.tokens import TokenCounts
from ngramscope.errors import UsageError
from ngramscope.models.stats import MissingStatisticError
from ngramscope.models.store import ScoreStore, StoredPass
from ngramscope.progress import Step

__all__ = ["NOT_FINITE", "NO_SHOT", "NO_TEXT", "SHOT", "check_options", "run_attacks"]

SHOT = "shot"
"""Null reason: the candidate stands in the prefix of the others."""

NO_SHOT = "no_shot"
"""Null reason: the pass puts shots before texts, and not one fits before this text."""

NO_TEXT = "no_text"
"""Null reason: the pass has no text for the candidate, as one without neighbours."""

NOT_FINITE = "not_finite"
"""Null reason: the score is infinite."""


@dataclass(frozen=True)
class _Plan:
    """An attack with its options; several of one attack differ in them."""

    attack: Attack
    options: Mapping[str, Any]

    def column(self, signal: str) -> str:
        """Name of a column, as ``min-k(k=0.1)`` or ``ref(form=ratio).NAME``: options that are not the defaults."""
        defaults = self.attack.options
        changed = ", ".join(f"{name}={value}" for name, value in self.options.items() if value != defaults[name])
        return f"{self.attack.name}{f'({changed})' if changed else ''}{signal.removeprefix(self.attack.name)}"


def run_attacks(
    store: ScoreStore,
    names: Sequence[str] = (),
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    compat: str | None = None,
    token_counts: Path | None = None,
    seed: int = 0,
    progress: Callable[[Step], object] | None = None,
) -> ScoreTable:
    """Compute attacks on every target and placebo model of a store.

    Parameters
    ----------
    names
        Attacks; none: all. One that was not asked for by name and cannot be computed is skipped, and `header` says why.
    options
        By name of an attack, values of its options. One that the attack sweeps over is then not swept.
    compat
        A preset, see `ngramscope.attacks.compat`; `options` override it.
    token_counts
        File of ``ngramscope token-counts``, made with the tokenizer of the models.
    seed
        Of splits that learning attacks learn on.
    progress
        Called before each attack.

    Returns
    -------
    ScoreTable
        Its header has ``settings`` (every attack's options, the preset and what it switches), ``set`` (digest of the texts and
        the files that they were read from), ``skipped``, ``loss_tail``
        (by model; see `ngramscope.attacks.loss_tail`), ``undefined`` (how many scores, by column and reason), ``warnings``.

    Raises
    ------
    UsageError
        An attack, option or preset that is not known; one asked for by name that cannot be computed; no model to attack.
    InputError
        The store or the token counts are damaged.
    """
    options = options or {}
    chosen = [find_attack(each) for each in dict.fromkeys(names)] if names else list(attacks().values())
    check_options(options, chosen, compat)
    counts = None if token_counts is None else TokenCounts.load(token_counts)
    roles = {each.model: role for role in ("placebo", "target") for each in store.passes if each.role == role}
    if not roles:
        raise UsageError(f"{store.path}: no target or placebo model; ngramscope score SET --model MODEL --out {store.path}")
    models = sorted(roles, key=lambda model: (roles[model] != "target", model))
    frequencies = None if counts is None else counts.counts
    inputs = {model: Inputs(store, model, frequencies, seed) for model in models}
    columns: dict[str, list[ScoreColumn]] = {model: [] for model in models}
    skipped: list[dict[str, str | None]] = []
    done: list[_Plan] = []
    for number, attack in enumerate(chosen):
        if progress is not None:
            progress(Step("attack", pass_number=number + 1, passes=len(chosen)))
        if not names and (reason := cannot(attack, compat)) is not None:
            skipped.append({"attack": attack.name, "model": None, "reason": f"--compat {compat}: {reason}"})
            continue
        asked = options.get(attack.name, {})
        plans = list(_plans(attack, {**switches(attack, compat), **asked}, asked))
        computed = False
        for model in models:
            try:
                columns[model] += [column for plan in plans for column in _columns(plan, inputs[model], roles[model])]
                computed = True
            except MissingPassError as error:
                if names:
                    raise
                skipped.append({"attack": attack.name, "model": model, "reason": str(error)})
        done += plans if computed else []
    table = [column for model in models for column in columns[model]]
    settings = {
        "attacks": [{"attack": plan.attack.name, "options": dict(plan.options)} for plan in done],
        "compat": _preset(done, compat),
        "seed": seed,
    }
    files = [_file(store.path / "store.json"), *(_file(each.path / "pass.json", each) for each in store.passes)]
    files += [] if token_counts is None else [_file(token_counts)]
    header = {
        **provenance.stamp("score-table", version=SCORES_VERSION, settings=settings, inputs=files),
        "set": _set(store),
        "skipped": skipped,
        "undefined": {each.name: dict(Counter(filter(None, each.reasons))) for each in table if any(each.reasons)},
        "loss_tail": {model: _tail(each) for model, each in inputs.items()},
        "warnings": [] if counts is None else _other_tokenizer(counts, store, models),
    }
    return ScoreTable(store.documents, tuple(table), header)


def _plans(attack: Attack, changed: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[_Plan]:
    """The attack itself and its sweep; of equal ones one, and nothing is swept that was asked for."""
    seen = []
    for swept in ({}, *attack.sweep):
        resolved = attack.check({**changed, **swept})
        if not set(swept) & set(asked) and resolved not in seen:
            seen.append(resolved)
            yield _Plan(attack, resolved)


def _columns(plan: _Plan, inputs: Inputs, role: str) -> list[ScoreColumn]:
    scores = plan.attack.score(inputs, **plan.options)
    unfit, reasons = _reasons(plan.attack, inputs)
    columns = []
    for signal, values in scores.items():
        finite = np.isfinite(values)
        finite[list(unfit)] = False
        why = [
            None if fine else reasons[row] or (NOT_FINITE if np.isinf(value) else plan.attack.undefined)
            for row, (fine, value) in enumerate(zip(finite.tolist(), values.tolist(), strict=True))
        ]
        values = np.where(finite, values, np.nan)
        columns.append(ScoreColumn(plan.column(signal), inputs.model, role, values, why, plan.options))
    return columns


def _reasons(attack: Attack, inputs: Inputs) -> tuple[frozenset[int], list[str | None]]:
    """Candidates that are shots, or have none, in a pass which the attack reads; and for each why there is no score."""
    passes = [inputs.stored(kind) for kind in attack.needs.passes]
    if attack.needs.references:
        passes += [each for kind in attack.needs.passes for each in inputs.references(kind)]
    shots: frozenset[int] = frozenset().union(*(each.shots for each in passes))
    reasons: list[str | None] = [None] * len(inputs)
    for stats in (each.stats for each in reversed(passes)):
        with_tokens = np.zeros(len(inputs), dtype=bool)
        with_tokens[stats.rows[[reason is None for reason in stats.null_reasons]]] = True
        said = {row: reason for row, reason in zip(stats.rows.tolist(), stats.null_reasons, strict=True) if reason is not None}
        for row in np.flatnonzero(~with_tokens).tolist():
            reasons[row] = said.get(row, NO_TEXT)
    without = frozenset(row for each in passes for row in _without_shots(each))
    for rows, reason in ((without, NO_SHOT), (shots, SHOT)):
        for row in rows:
            reasons[row] = reason
    return shots | without, reasons


def _without_shots(stored: StoredPass) -> list[int]:
    """Candidates that no shot fits before, in a pass with shots."""
    shots = stored.stats.scalars.get("shots")
    if shots is None or not stored.header["settings"].get("options", {}).get("shots"):
        return []
    found: list[int] = stored.stats.rows[shots == 0].tolist()
    return found


def _tail(inputs: Inputs) -> list[dict[str, Any]]:
    try:
        return loss_tail(np.asarray(loss(inputs)), inputs.labels)
    except (MissingPassError, MissingStatisticError):
        return []


def check_options(options: Mapping[str, Mapping[str, Any]], chosen: Sequence[Attack], compat: str | None) -> None:
    """Refuse options of attacks and a preset that `run_attacks` could not compute with.

    Raises
    ------
    UsageError
        An attack, option or preset that is not known, a value that is not possible, or options of an attack not chosen.
    """
    known = {each.name: each for each in chosen}
    for name, values in options.items():
        if name not in known:
            find_attack(name)
            raise UsageError(f"attack {name}: has options, but is not computed; ask for it too")
        known[name].check(values)
    if compat is not None and compat not in presets():
        raise UsageError(f"--compat: {compat!r} is not known; known: {', '.join(presets())}")


def _preset(plans: Sequence[_Plan], compat: str | None) -> dict[str, Any] | None:
    """What a preset stands for, and what it has switched."""
    if compat is None:
        return None
    switched = {plan.attack.name: switches(plan.attack, compat) for plan in plans}
    return {
        "preset": compat,
        "stands_for": presets()[compat],
        "switches": {name: values for name, values in switched.items() if values},
    }


def _set(store: ScoreStore) -> dict[str, Any]:
    """What texts the scores are of: with it they can be found again."""
    digest = store.header.get("set", {}).get("texts_sha256")
    return {"texts_sha256": digest, "inputs": store.header["inputs"]}


def _other_tokenizer(counts: TokenCounts, store: ScoreStore, models: Sequence[str]) -> list[str]:
    tokenizer = counts.header["settings"]["tokenizer"]
    known = {each.model: each.tokenizer for each in store.passes}
    return [
        f"the token counts are of the tokenizer {tokenizer['name']}, and that of {model} has other rules; check that both cut "
        "texts alike"
        for model in models
        if None not in (known[model], tokenizer.get("digest")) and known[model] != tokenizer["digest"]
    ]


def _file(path: Path, stored: StoredPass | None = None) -> dict[str, Any]:
    data = path.read_bytes()
    facts = {"name": path.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return (
        facts
        if stored is None
        else {**facts, "name": f"{stored.path.name}/{path.name}", "kind": stored.kind, "model": stored.model}
    )
