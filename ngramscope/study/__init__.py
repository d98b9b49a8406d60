"""Studies: sets, models, attacks and their evaluation as one description, computed step by step. See docs/audit.md."""

from __future__ import annotations

from ngramscope.study.description import ModelPart, SetPart, Study
from ngramscope.study.reading import load_study
from ngramscope.study.run import run_study

__all__ = ["ModelPart", "SetPart", "Study", "load_study", "run_study"]
