"""Paired test: is the public version of each document of a data set more likely to the model than its private versions?

Rastogi, Maini and Pruthi, STAMP Your Content (arXiv 2504.13416), equations 2-4: each document is rephrased several times
alike, one version, drawn at random, is published, the others are kept private; the perplexity of the public version less the
mean of the private ones, over all documents, goes into a one-sided paired t-test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import provenance
from ngramscope.attacks.reading import AttackScores
from ngramscope.checks import check_integer
from ngramscope.evaluate.ranktest import rank, rank_sum_p
from ngramscope.evaluate.twins import Family, families

__all__ = ["PAIRED_VERSION", "differences", "paired", "permutation_p", "t_test"]

PAIRED_VERSION = 1
"""Version of the report."""

Floats = NDArray[np.float64]


def differences(versions: Sequence[Family]) -> Floats:
    """(D,): score of each public version less the mean score of its private versions; positive speaks for membership."""
    return np.array([each.document - each.twins.mean() for each in versions])


def t_test(values: Floats) -> tuple[float, float] | None:
    """Student's t and the one-sided p-value that the mean is above 0; None for fewer than two values or no spread."""
    from scipy import stats

    if len(values) < 2 or np.ptp(values) == 0:
        return None
    found = stats.ttest_1samp(values, 0.0, alternative="greater")
    return float(found.statistic), float(found.pvalue)


def permutation_p(versions: Sequence[Family], permutations: int, seed: int) -> float:
    """Share of draws of the public versions whose mean difference is at least the observed one, which counts as a draw.

    Valid whatever the distribution: if the model has seen none, any version might as well have been the public one. With one
    private version each this flips signs.
    """
    random = np.random.default_rng(seed)
    sums = np.zeros(permutations)
    for each in versions:
        scores = np.append(each.document, each.twins)
        others = (scores.sum() - scores) / len(each.twins)
        sums += (scores - others)[random.integers(0, len(scores), permutations)]
    observed = float(differences(versions).sum())
    # Sums of the same numbers in another order differ in their last digits.
    slack = 1e-9 * max(1.0, abs(observed))
    return (1 + int(np.sum(sums >= observed - slack))) / (permutations + 1)


def paired(read: AttackScores, *, group: str = "group", permutations: int = 9_999, seed: int = 0) -> dict[str, Any]:
    """Test a data set whose documents each have a public version and private ones.

    Parameters
    ----------
    read
        Scores, of perplexity to follow the paper; label 1 is the public version, 0 a private one.
    group
        Column that says of which document a record is a version.
    permutations, seed
        Of the permutation test.

    Returns
    -------
    dict
        Ready for JSON: provenance, ``documents``, ``mean_difference``, ``positive`` (documents whose public version scores
        higher), and the one-sided p-values of ``permutation`` (valid by design), ``t_test`` (the paper's; null with a reason
        if there is none) and ``rank`` (sum of ranks, exact; with one private version each the sign test), and ``counts``.

    Raises
    ------
    UsageError
        An option has no possible value.
    InputError
        There is nothing to test.
    """
    check_integer("--permutations", permutations, 1, 10_000_000)
    check_integer("--seed", seed, 0, 2**63 - 1)
    grouped = families(read, group)
    versions = grouped.families
    values = differences(versions)
    student = t_test(values)
    settings = {
        "attack": read.attack,
        "model": read.model,
        "options": dict(read.settings),
        "group": group,
        "permutations": permutations,
        "seed": seed,
    }
    twins = [len(each.twins) for each in versions]
    return {
        **provenance.stamp("paired", version=PAIRED_VERSION, settings=settings, inputs=[read.source]),
        "documents": len(versions),
        "mean_difference": float(values.mean()),
        "positive": int(np.sum(values > 0)),
        "permutation": {"p": permutation_p(versions, permutations, seed), "smallest": 1 / (permutations + 1)},
        "t_test": {"t": None, "p": None, "df": None, "reason": "too_few_or_no_spread"}
        if student is None
        else {"t": student[0], "p": student[1], "df": len(values) - 1, "reason": None},
        "rank": {"p": rank_sum_p([rank(each) for each in versions], twins)},
        "counts": {"records": grouped.records, "public": len(versions), "private": sum(twins), "left_out": grouped.left_out},
    }
