"""Run benchmark questions, print their tables, add them to the dated record.

python3 benchmarks/run.py all              # every question that today's record lacks
python3 benchmarks/run.py build query      # these
python3 benchmarks/run.py build --quick    # small and once: does it work at all?
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys

from lab import Findings, Lab, Skip, machine, print_table

QUESTIONS = [
    "build",
    "words",
    "query",
    "scan",
    "decontaminate",
    "cluster",
    "rivals",
    "setlevel",
    "memory",
    "room",
    "synthetic",
    "predict",
    "scale",
    "candidates",
    "validation",
    "dated",
    "evaluate",
    "blind",
    "score",
    "suite",
    "associated",
    "verdict",
]


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


def alone(name: str, lab: Lab, arguments: list[str], asked: list[str], *, skip: bool) -> bool:
    """Answer a question in a process of its own: a process's peak memory is never below that of the one it comes from."""
    if skip and name in lab.recorded()["questions"]:
        print(f"\n{name}: in {lab.record.name} already; --again measures it anew", flush=True)
        return True
    options = [argument for argument in arguments if argument not in asked]
    return subprocess.run([sys.executable, __file__, name, *options], check=False).returncode == 0


def main() -> int:
    choices = ["all", *QUESTIONS]
    parser = argparse.ArgumentParser(description="Answer benchmark questions.")
    parser.add_argument("questions", nargs="+", choices=choices, metavar="QUESTION", help=", ".join(choices))
    parser.add_argument("--quick", action="store_true", help="small inputs, one run each, kept out of the repository")
    parser.add_argument("--repeats", type=int, help="runs of each case (default 5; 1 with --quick)")
    parser.add_argument("--again", action="store_true", help="measure anew what today's record has")
    options = parser.parse_args()
    lab = Lab(quick=options.quick, repeats=options.repeats or (1 if options.quick else 5))
    everything = "all" in options.questions
    names = QUESTIONS if everything else options.questions
    good = True
    if len(names) > 1:
        skip = everything and not options.again
        for name in names:
            good &= alone(name, lab, sys.argv[1:], options.questions, skip=skip)
    else:
        if options.again:
            lab.forget(names[0])
        print(", ".join(f"{key} {value}" for key, value in machine().items()))
        good = answer(names[0], lab)
    print(f"\nrecord: {lab.record}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
