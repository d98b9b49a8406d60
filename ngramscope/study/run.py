"""A study from its description to its report."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from ngramscope.index.output import write_whole
from ngramscope.progress import Step
from ngramscope.study.cache import Done, computed, locked
from ngramscope.study.description import Study
from ngramscope.study.drawing import REPORT_FILE, cannot_draw, draw
from ngramscope.study.plan import Plan
from ngramscope.study.reading import STUDY_FILE, study_toml
from ngramscope.study.results import RESULT_FILE, study_result

__all__ = ["run_study"]


def run_study(
    study: Study,
    out: Path,
    *,
    report: bool = True,
    progress: Callable[[Any], None] | None = None,
    tell: Callable[[Done, int, int], object] | None = None,
) -> dict[str, Any]:
    """Compute what is not there yet, write the result, and draw the report.

    Parameters
    ----------
    out
        The study's folder; made, or gone on with. Whatever ends the work, finished steps are kept.
    report
        Whether to draw.
    progress
        Called by steps while they work.
    tell
        Called after each step with it, its number and how many there are.

    Returns
    -------
    dict
        What ``study.json`` holds, see docs/audit.md; beside it ``kept``, names of the steps that were there, and ``report``,
        the page, or None.

    Raises
    ------
    NgramscopeError
        As the steps do. What was finished is kept.
    """
    with locked(out):
        plan = Plan(study, out, progress)
        if report and (reason := cannot_draw()) is not None:
            plan.skipped["report"] = reason
        write_whole(out / STUDY_FILE, study_toml(study, out))
        done: dict[str, Done] = {}
        with closing(plan):
            for number, task in enumerate(plan.tasks, 1):
                if progress is not None:
                    progress(Step(task.name, number, len(plan.tasks)))
                done[task.name] = computed(task, out)
                plan.check(task.name)
                if tell is not None:
                    tell(done[task.name], number, len(plan.tasks))
        result = study_result(study, plan, done)
        write_whole(out / RESULT_FILE, json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        page = None
        if report and "report" not in plan.skipped:
            if progress is not None:
                progress(Step("drawing", len(plan.tasks), len(plan.tasks)))
            page = draw(out)
    return {**result, "kept": [name for name, each in done.items() if each.kept], "report": page and str(out / REPORT_FILE)}
