"""Run experiments with known truth, print their tables, add them to the dated record.

    python benchmarks/experiments/run.py all                    # those that today's record lacks (hours)
    python benchmarks/experiments/run.py a b --seeds 3          # these
    python benchmarks/experiments/run.py b --quick              # small models that show nothing: does it still work?

a to h are the experiments of docs/experiments.md; v counts how often verdicts err; t runs every attack on three models.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import time

from study import Study
from tables import Skip, print_table

EXPERIMENTS = {
    "a": "a_epochs",
    "b": "b_thresholded",
    "c": "c_temporal",
    "d": "d_matched",
    "e": "e_modified",
    "f": "f_camia",
    "g": "g_smollm2",
    "h": "h_duplicates",
    "t": "t_all_attacks",
    "v": "v_verdicts",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="+", choices=[*EXPERIMENTS, "all"], metavar="EXPERIMENT")
    parser.add_argument("--seeds", type=int, default=3, help="models of each kind, with members of their own [3]")
    parser.add_argument("--quick", action="store_true", help="small models; the record goes to the benchmarks' folder")
    asked = parser.parse_args()
    study = Study(asked.seeds, quick=asked.quick)
    done = study.recorded()["questions"]
    names = asked.experiments
    if "all" in names:
        names = [name for name, module in EXPERIMENTS.items() if module not in done]
    right = True
    for name in names:
        right = answer(EXPERIMENTS[name], study) and right
    print(f"record: {study.record}")
    return 0 if right else 1


def answer(name: str, study: Study) -> bool:
    """Run one; whether it came to an end with right answers."""
    module = importlib.import_module(name)
    print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
    started = time.process_time()
    try:
        found = module.measure(study)
    except Skip as reason:
        print(f"skipped: {reason}")
        return False
    found.notes.append(f"{time.process_time() - started:,.0f} s of processor time, without what was there from before")
    print_table(found.rows)
    for note in found.notes:
        print(f"note: {note}")
    for check in found.checks:
        print(f"{'right' if check['holds'] else 'WRONG'}: {check['answer']}: {check['found']}")
    for goal in found.goals:
        bound = f"at least {goal['at_least']}" if "at_least" in goal else f"at most {goal['at_most']}"
        print(f"{'seen' if goal['met'] else 'NOT SEEN'}: {goal['goal']}: {goal['found']} ({bound})")
    study.write(name, found)
    return all(check["holds"] for check in found.checks)


if __name__ == "__main__":
    sys.exit(main())
