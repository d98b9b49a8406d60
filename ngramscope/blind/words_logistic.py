"""Words, weighted by rarity, by logistic regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ngramscope.blind.base import BlindInputs, baseline
from ngramscope.blind.learners import SparseLogistic

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@baseline(
    "words-lr",
    learner=SparseLogistic,
    summary="Bag of words (log counts by rarity), logistic regression.",
    source="Das et al. 2024 (arXiv 2406.16201); Meeus et al. 2024 (arXiv 2406.17975)",
)
def words_logistic(inputs: BlindInputs) -> csr_array:
    """(N, V) rows of unit length; rarity is counted over both sides, which knows no labels."""
    from sklearn.feature_extraction.text import TfidfTransformer

    found: csr_array = TfidfTransformer(sublinear_tf=True).fit_transform(inputs.word_counts)
    return found
