"""Modified members (Duan et al. 2024, table 4): of how many replaced tokens is a member still found?

Tokens are replaced by random ones, in members and, as a control, in non-members; a text with fewer tokens than are to be
replaced is left out. Thresholds are those of the natural set.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from study import Base, Study, attacked, score
from tables import TARGET, Findings, by_hand, median, over_seeds, report_of, rows_of

from ngramscope.attacks.table import ScoreTable
from ngramscope.corpus.tokens import load_tokenizer
from ngramscope.sets import RecordSource, SetFile
from ngramscope.sets.perturb import PerturbOptions, perturb

REPLACED = (1, 5, 25, 100)
RATES = (0.01, 0.1)
ATTACKS = ("loss", "min-k", "min-k++", "zlib")


def measure(study: Study) -> Findings:
    found = Findings()
    found.rows = over_seeds([row for base in study.bases for row in of_seed(base, found)], ("tokens replaced", "attack"))
    for attack in ("loss", "min-k++"):
        aucs = [median(found.rows, "AUC", attack=attack, **{"tokens replaced": each}) for each in (0, *REPLACED)]
        name = f"{attack}: modified members against natural non-members"
        found.goal(f"{name}, largest rise with more replaced", found=float(np.diff(aucs).max()), at_most=0.0)
        found.goal(f"{name}, {REPLACED[-1]} replaced", found=aucs[-1], at_most=0.5)
        both = median(found.rows, "both modified", attack=attack, **{"tokens replaced": REPLACED[-2]})
        found.goal(f"{attack}: both sides modified, {REPLACED[-2]} replaced", found=both, at_least=0.5)
    return found


def of_seed(base: Base, found: Findings) -> Iterator[dict[str, object]]:
    """A row for each number of replaced tokens and attack."""
    natural = rows_of(base.table, base.part("natural"))
    edited = attacked(score(base.study, modified(base), base.run / "store-modified", {TARGET: base.run / "model"}))
    replaced = np.array(edited.documents["replaced"].to_pylist())
    for count in (0, *REPLACED):
        table = natural if count == 0 else rows_of(edited, replaced == count)
        sides = table.labels == 1
        sizes = {"members": int(sides.sum()), "nonmembers": int((~sides).sum())}
        found.check(
            f"seed {base.seed}, {count} replaced: sizes", found=sizes, holds=len(table.labels) > 0.95 * len(natural.labels)
        )
        report = report_of(natural, modified=rows_of(table, sides))
        for attack in ATTACKS:
            theirs, ours = scores_of(natural, attack), scores_of(table, attack)
            both = np.concatenate([ours[sides], theirs[natural.labels == 0]])
            flagged = {
                f"flagged at {100 * each.target_fpr:g} %": each.flagged.value
                for each in report.modified
                if each.attack == attack and each.model == TARGET and each.what == "modified" and each.target_fpr in RATES
            }
            yield {
                "tokens replaced": count, "attack": attack, "AUC": by_hand(both, np.arange(len(both)) < sides.sum()),
                "both modified": by_hand(ours, sides), **flagged,
            }  # fmt: skip


def scores_of(table: ScoreTable, attack: str) -> np.typing.NDArray[np.float64]:
    """Of the target."""
    (found,) = [each.scores for each in table.columns if each.attack == attack and each.model == TARGET]
    return found


def modified(base: Base) -> Path:
    """Both sides of the natural set, with tokens replaced."""
    out = base.set.with_name("modified.jsonl")
    if not out.exists():
        tokenizer = load_tokenizer(str(base.run / "model" / "tokenizer.json"))
        with SetFile(out) as file:
            options = PerturbOptions(replace=REPLACED, side="all", seed=base.seed)
            perturb(RecordSource((base.run / "candidates.jsonl",)), file, options, tokenizer=tokenizer)
    return out
