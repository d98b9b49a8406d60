"""Words, counted, by naive Bayes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ngramscope.blind.base import BlindInputs, baseline
from ngramscope.blind.learners import NaiveBayes

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@baseline(
    "words-nb",
    learner=NaiveBayes,
    summary="Bag of words, multinomial naive Bayes.",
    source="Chang et al. 2024 (CAMIA), §5; Das et al. 2024 (arXiv 2406.16201)",
)
def words_naive_bayes(inputs: BlindInputs) -> csr_array:
    """(N, V) counts."""
    return inputs.word_counts
