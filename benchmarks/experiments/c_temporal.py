"""Non-members from after a cutoff (Duan et al. 2024, table 3 and figure 6), and thresholds carried over (table 5).

Members are from before the cutoffs, of five sources; natural non-members too, temporal ones from after them. Blind ceiling and
placebo stand beside.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from study import CUTOFFS, Base, Study, base_rows
from tables import Findings, median, over_seeds, report_of, rows_of

NATURAL, LATE = "natural", "temporal"
THIRDS = ("nearest", "middle", "farthest")
RATES = (0.01, 0.05, 0.1)


def measure(study: Study) -> Findings:
    found = Findings()
    rows = [row for base in study.bases for row in of_seed(base)]
    moved = [row for base in study.bases for row in transfer(base, found)]
    found.rows = over_seeds(rows, ("set", "attack")) + over_seeds(moved, ("thresholds of", "attack", "FPR wanted"))
    late = {name: median(found.rows, "AUC", set=LATE, attack=name) for name in ("loss", "blind ceiling")}
    natural = {name: median(found.rows, "AUC", set=NATURAL, attack=name) for name in late}
    near, far = (
        median(found.rows, "AUC", set=f"{LATE}, {name} third", attack="blind ceiling") for name in (THIRDS[0], THIRDS[-1])
    )
    found.goal("blind ceiling, farthest third above nearest third", found=far - near, at_least=0.0)
    found.goal("loss, temporal above natural", found=late["loss"] - natural["loss"], at_least=0.0)
    rise = median(found.rows, "placebo", set=LATE, attack="loss") - median(found.rows, "placebo", set=NATURAL, attack="loss")
    found.goal("loss on the placebo, temporal above natural", found=rise, at_least=0.0)
    found.goal("blind ceiling, temporal", found=late["blind ceiling"], at_least=late["loss"])
    found.goal("blind ceiling, natural", found=natural["blind ceiling"], at_most=0.55)
    return found


def of_seed(base: Base) -> Iterator[dict[str, object]]:
    """A row for each set and attack."""
    yield from base_rows(base, NATURAL, base.part("natural"))
    yield from base_rows(base, LATE, base.part("late"))
    late, days = base.part("late") & ~base.members, days_after(base)
    edges = np.quantile(days[late], np.linspace(0, 1, len(THIRDS) + 1))
    for number, name in enumerate(THIRDS):
        mine = late & (np.digitize(days, edges[1:-1]) == number)
        for row in base_rows(base, f"{LATE}, {name} third", mine | base.members):
            yield {**row, "days after": float(np.median(days[mine]))}


def days_after(base: Base) -> NDArray[np.float64]:
    """For each document of the base's set how many days after the cutoff of its source it is from."""
    cutoffs = {name.rpartition("/")[2]: np.datetime64(cutoff) for name, cutoff in CUTOFFS.items()}
    documents = base.table.documents
    dates = [np.datetime64(str(each)[:10], "D") for each in documents["date"].to_pylist()]
    return np.array(
        [(day - cutoffs[name]).astype(float) for day, name in zip(dates, documents["domain"].to_pylist(), strict=True)]
    )


def transfer(base: Base, found: Findings) -> Iterator[dict[str, object]]:
    """What thresholds of one set do on the non-members of the other."""
    tables = {NATURAL: rows_of(base.table, base.part("natural")), LATE: rows_of(base.table, base.part("late"))}
    for here, there in ((LATE, NATURAL), (NATURAL, LATE)):
        report = report_of(tables[here], against=tables[there])
        signs = [each.sign_of_shift for each in report.changes if each.attack is None and each.model == "target"]
        found.notes.append(f"seed {base.seed}, {there} against {here}: sign of shift by calibration: {signs}")
        for each in report.transfer:
            if each.model == "target" and each.what == "nonmembers" and each.target_fpr in RATES:
                row = report.row(each.attack, "target")
                (tpr,) = [one for one in row.tprs if one.target == each.target_fpr]
                yield {
                    "thresholds of": here, "attack": each.attack, "FPR wanted": each.target_fpr,
                    "FPR there": tpr.attained_fpr, "FPR on the other set": each.flagged.value, "TPR": tpr.tpr,
                }  # fmt: skip
