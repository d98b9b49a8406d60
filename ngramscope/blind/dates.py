r"""Years that a text mentions, also those of ``\cite`` keys: old texts do not mention new ones."""

from __future__ import annotations

import re

import numpy as np

from ngramscope.blind.base import BlindInputs, Floats, baseline
from ngramscope.blind.learners import NumberLogistic

# A year that stands alone or in a date: 2023, 2023-05-01, 20230501, May 1st, 2023; not part of a longer number.
_YEAR = re.compile(r"(?<![0-9])(1[5-9][0-9]{2}|20[0-9]{2})(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01]))?(?![0-9])")
_CITE = re.compile(r"\\(?:[a-zA-Z]*cite[a-zA-Z]*)\*?(?:\[[^\]]*\])*\{([^}]*)\}")
_KEY_YEAR = re.compile(r"(?<![0-9.])(1[5-9][0-9]{2}|20[0-9]{2}|[0-9]{2})(?![0-9]|\.[0-9])")  # no arXiv number
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{2,4}|"
    r"(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.? [0-9]{1,4}"
)
_PIVOT = 50


@baseline(
    "dates",
    learner=NumberLogistic,
    summary=r"Years in the text and in \cite keys: latest, earliest, mean, how many; and how many dates.",
    source="Das et al. 2024 (arXiv 2406.16201), date detection",
)
def dates(inputs: BlindInputs) -> Floats:
    r"""(N, 8): latest, earliest and mean year, how many; latest and mean of ``\cite`` keys, how many; dates. No year: NaN."""
    return np.array([_features(each) for each in inputs.texts], dtype=np.float64).reshape(len(inputs), 8)


def _features(text: str) -> list[float]:
    cited = years_cited(text)
    plain = years(_CITE.sub(" ", text))
    latest, earliest, mean = (max(plain), min(plain), float(np.mean(plain))) if plain else (np.nan, np.nan, np.nan)
    cited_latest, cited_mean = (max(cited), float(np.mean(cited))) if cited else (np.nan, np.nan)
    return [latest, earliest, mean, len(plain), cited_latest, cited_mean, len(cited), len(_DATE.findall(text))]


def years(text: str) -> list[int]:
    """Years from 1500 to 2099 that a text mentions, in order."""
    return [int(each) for each in _YEAR.findall(text)]


def years_cited(text: str) -> list[int]:
    r"""Years in the keys of LaTeX's ``\cite`` commands; of two digits (``smith:99``) in 1951 to 2050."""
    found = [int(year) for keys in _CITE.findall(text) for year in _KEY_YEAR.findall(keys)]
    return [each if each > 99 else each + (1900 if each > _PIVOT else 2000) for each in found]
