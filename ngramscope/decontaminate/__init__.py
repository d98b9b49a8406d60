"""Texts that share n-grams with a reference: found, cut, or left out."""

from ngramscope.decontaminate.rules import PRESETS, DecontaminationRules
from ngramscope.decontaminate.run import Decontamination, DecontaminationSummary

__all__ = ["PRESETS", "Decontamination", "DecontaminationRules", "DecontaminationSummary"]
