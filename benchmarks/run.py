"""Run benchmark questions, print their tables, add them to the dated record.

python3 benchmarks/run.py all              # every question that today's record lacks
python3 benchmarks/run.py build query      # these
python3 benchmarks/run.py build --quick    # small and once: does it work at all?
"""

from __future__ import annotations

import argparse
import importlib
import traceback

from lab import Findings, Lab, Skip, machine, print_table

QUESTIONS = ["build", "words", "query", "rivals", "memory", "room"]


def answer(name: str, lab: Lab) -> bool:
    """Measure one question; whether it came to an end with right answers."""
    module = importlib.import_module(name)
    print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
    try:
        findings: Findings = module.measure(lab)
    except Skip as reason:
        print(f"skipped: {reason}")
        return False
    print_table(findings.rows)
    for note in findings.notes:
        print(f"note: {note}")
    for check in findings.checks:
        print(f"{'right' if check['holds'] else 'WRONG'}: {check['answer']}: {check['found']}")
    for goal in findings.goals:
        bound = f"at least {goal['at_least']}" if "at_least" in goal else f"at most {goal['at_most']}"
        print(f"{'met' if goal['met'] else 'MISSED'}: {goal['goal']}: {goal['found']} ({bound})")
    lab.write(name, findings)
    lab.forget(name)
    return all(check["holds"] for check in findings.checks)


def main() -> int:
    names = ["all", *QUESTIONS]
    parser = argparse.ArgumentParser(description="Answer benchmark questions.")
    parser.add_argument("questions", nargs="+", choices=names, metavar="QUESTION", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="small inputs, one run each, kept out of the repository")
    parser.add_argument("--repeats", type=int, help="runs of each case (default 5; 1 with --quick)")
    parser.add_argument("--again", action="store_true", help="measure anew what today's record has")
    options = parser.parse_args()
    lab = Lab(quick=options.quick, repeats=options.repeats or (1 if options.quick else 5))
    everything = "all" in options.questions
    print(", ".join(f"{key} {value}" for key, value in machine().items()))
    good = True
    for name in QUESTIONS if everything else options.questions:
        if everything and not options.again and name in lab.recorded()["questions"]:
            print(f"\n{name}: in {lab.record.name} already; --again measures it anew")
            continue
        if options.again:
            lab.forget(name)
        try:
            good &= answer(name, lab)
        except Exception:  # noqa: BLE001 (the other questions still have answers)
            traceback.print_exc()
            good = False
    print(f"\nrecord: {lab.record}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
