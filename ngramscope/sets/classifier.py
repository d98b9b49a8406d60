"""Can two sides be told apart by their words alone? A classifier two-sample test (Lopez-Paz and Oquab, ICLR 2017).

A regularised least-squares classifier on the words and word pairs of the texts, scored out of fold. Its p-value comes from
permuting the labels and fitting again, since the AUCs of overlapping folds vary more than independent scores would. Least
squares, because for one split of the folds all permuted labels are fitted by one factorisation: a thousand refits cost little
more than one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ngramscope.checks import check_integer
from ngramscope.evaluate.auc import column_aucs
from ngramscope.evaluate.groups import units
from ngramscope.evaluate.permute import shuffled

__all__ = ["FOLDS", "MAX_TEXTS", "ClassifierTest", "two_sample_test"]

FOLDS = 5
MAX_TEXTS = 1000
"""Texts taken of each side, at most: the factorisation grows with the cube."""

_RIDGE = 1.0
_WORDS = re.compile(r"\w+|[^\w\s]")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClassifierTest:
    """Result of `two_sample_test`.

    Attributes
    ----------
    auc
        Out of fold, averaged over folds; .5 if the classifier cannot tell the sides apart. None where a side has fewer texts
        than folds.
    p
        Share of the permuted labels (and the given ones) whose AUC is at least as large; None likewise.
    n_first, n_second
        Texts used of each side.
    permutations, folds, seed
        As given.
    null_reason
        Why there is no AUC.
    """

    auc: float | None
    p: float | None
    n_first: int
    n_second: int
    permutations: int
    folds: int
    seed: int
    null_reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def two_sample_test(
    first: Sequence[Any],
    second: Sequence[Any],
    *,
    products: Callable[[Sequence[Any]], Floats] | None = None,
    groups: tuple[Sequence[str | None], Sequence[str | None]] | None = None,
    pairs: tuple[Sequence[int], Sequence[int]] | None = None,
    permutations: int = 200,
    folds: int = FOLDS,
    seed: int = 0,
    max_texts: int = MAX_TEXTS,
) -> ClassifierTest:
    """Test whether the words of two sets of texts differ, or something else of two sets of anything.

    Parameters
    ----------
    first, second
        Texts; of more than `max_texts` a seeded sample is used.
    products
        From what was sampled, first side first, to the inner products of its features, shape (n, n); None takes the words
        and word pairs of texts.
    groups
        For each side, for each text, what has to stay in one fold and keeps its label together; None stands alone.
    pairs
        Or, for texts that were matched with each other, the numbers of their pairs: partners stay in one fold, since a
        classifier would take each for the other's side, and labels are permuted within pairs.
    permutations
        Of the labels; 0 leaves the p-value out.

    Raises
    ------
    UsageError
        Fewer than two folds.
    """
    check_integer("--folds", folds, 2, 100)
    check_integer("--permutations", permutations, 0, 1_000_000)
    random = np.random.default_rng(seed)
    chosen = [_sample(len(texts), max_texts, random) for texts in (first, second)]
    texts = [side[row] for side, rows in zip((first, second), chosen, strict=True) for row in rows]
    labels = np.repeat([1.0, 0.0], [len(rows) for rows in chosen])
    kept = pairs or groups
    names = None if kept is None else [side[row] for side, rows in zip(kept, chosen, strict=True) for row in rows]
    blocks = units([None] * len(texts) if names is None else names)
    sizes = (len(chosen[0]), len(chosen[1]))
    if min(sizes) < folds or len(np.unique(blocks)) < folds:
        reason = "fewer_texts_than_folds" if min(sizes) < folds else "fewer_groups_than_folds"
        return ClassifierTest(None, None, *sizes, permutations, folds, seed, reason)
    fold_of_block = random.permutation(np.arange(blocks.max() + 1) % folds)
    permute = _permuted if pairs is None else shuffled
    candidates = np.column_stack([labels, *(permute(labels, blocks, random) for _ in range(permutations))])
    # On one thread of the linear algebra, so that the machine has no say in the last digit.
    with threadpool_limits(1):
        aucs = _out_of_fold((products or _gram)(texts), candidates, fold_of_block[blocks], folds)
    auc, null = float(aucs[0]), aucs[1:]
    if np.isnan(auc):
        return ClassifierTest(None, None, *sizes, permutations, folds, seed, "a_side_in_no_fold")
    p = float((1 + np.count_nonzero(null >= auc - 1e-12)) / (1 + len(null))) if permutations else None
    return ClassifierTest(auc, p, *sizes, permutations, folds, seed)


def _gram(texts: Sequence[str]) -> Floats:
    """Inner products of the texts' unit vectors of word and word-pair weights (log counts by rarity)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    # Rarity is counted over both sides: it knows no labels, so that permuting them stays exact.
    vectors = TfidfVectorizer(tokenizer=_WORDS.findall, token_pattern=None, ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    try:
        features = vectors.fit_transform(texts)
    except ValueError:  # no word is in two texts
        return np.eye(len(texts))
    gram: Floats = (features @ features.T).toarray()
    return gram


def _out_of_fold(gram: Floats, labels: Floats, fold: NDArray[np.int64], folds: int) -> Floats:
    """AUC of every column of `labels` (texts, columns), averaged over the folds in which both sides are."""
    aucs = np.full((folds, labels.shape[1]), np.nan)
    for number in range(folds):
        test = fold == number
        train = ~test
        centre = labels[train].mean(axis=0)
        kernel = gram[np.ix_(train, train)] + 1.0  # the constant is the intercept
        weights = np.linalg.solve(kernel + _RIDGE * np.eye(len(kernel)), labels[train] - centre)
        aucs[number] = column_aucs((gram[np.ix_(test, train)] + 1.0) @ weights, labels[test])
    present = ~np.isnan(aucs)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(present, aucs, 0.0).sum(axis=0) / present.sum(axis=0)
    return means


def _permuted(labels: Floats, blocks: NDArray[np.int64], random: np.random.Generator) -> Floats:
    """Labels dealt out anew; groups that are on one side stay on one, and only groups of equal size trade labels."""
    if len(np.unique(blocks)) == len(labels):
        return random.permutation(labels)
    permuted = labels.copy()
    sizes = np.bincount(blocks)
    order = np.argsort(blocks, kind="stable")
    members = np.split(order, np.cumsum(sizes)[:-1])
    for size in np.unique(sizes[sizes > 0]):
        of_size = np.flatnonzero(sizes == size)
        for to, origin in zip(of_size, random.permutation(of_size), strict=True):
            permuted[members[to]] = labels[members[origin]]
    return permuted


def _sample(size: int, most: int, random: np.random.Generator) -> NDArray[np.int64]:
    return np.arange(size) if size <= most else np.sort(random.choice(size, most, replace=False))
