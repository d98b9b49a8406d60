"""What a blind baseline is, and the registry that finds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import UsageError
from ngramscope.plugins import load_modules

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["PLUGINS", "Baseline", "BlindInputs", "Learner", "NoFeaturesError", "baseline", "baselines"]

PLUGINS = "NGRAMSCOPE_BLIND"
"""Environment variable: folders with further baselines, separated as in PATH."""

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]
Rows = NDArray[np.int64]


class NoFeaturesError(Exception):
    """The set has nothing that this baseline could learn from; the argument is a code of why."""


@dataclass(frozen=True)
class BlindInputs:
    """What baselines are functions of: texts, in an order that does not depend on that of the file, and never their labels.

    Attributes
    ----------
    texts
        N texts.
    overlaps
        By n, (N,): overlap with the training corpus, a document's own n-grams left out; NaN where there is none.
    tokens
        (N,): tokens of each text; None if they are not known.
    no_overlap
        Code of why `overlaps` is empty.
    """

    texts: Sequence[str]
    overlaps: Mapping[str, Floats] = field(default_factory=dict)
    tokens: Floats | None = None
    no_overlap: str = "no_overlap"

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Rows) -> BlindInputs:
        """The inputs of these documents."""
        return replace(
            self,
            texts=[self.texts[row] for row in rows.tolist()],
            overlaps={n: each[rows] for n, each in self.overlaps.items()},
            tokens=None if self.tokens is None else self.tokens[rows],
        )

    @cached_property
    def word_counts(self) -> csr_array:
        """(N, V): counts of the words and marks that two texts or more have, the 20,000 most frequent, in lower case.

        Raises
        ------
        NoFeaturesError
            No word is in two texts.
        """
        from sklearn.feature_extraction.text import CountVectorizer

        return vectorized(CountVectorizer(token_pattern=WORD, min_df=2, max_features=MAX_FEATURES), self.texts)


WORD = r"(?u)\w+|[^\w\s]"
"""A word, or a mark."""

MAX_FEATURES = 20_000
"""Words, or character n-grams, at most: the most frequent ones."""


def vectorized(vectorizer: Any, texts: Sequence[str]) -> csr_array:
    """(N, V) features of texts by a vectorizer of scikit-learn.

    Raises
    ------
    NoFeaturesError
        Nothing is in two texts.
    """
    try:
        found: csr_array = vectorizer.fit_transform(texts)
    except ValueError as error:  # the vocabulary is empty
        raise NoFeaturesError("nothing_in_two_texts") from error
    return found


class Learner(Protocol):
    """What learns labels from features: for many choices of labels at once, since permuted labels are learned too."""

    def __init__(self, features: Any) -> None:
        """Compute once what does not depend on labels."""

    def scores(self, labels: Labels, train: Rows, test: Rows) -> NDArray[Any]:
        """(len(test), P): scores, higher = member, by what ``labels[train]`` taught, for each column of labels (N, P)."""


@dataclass(frozen=True)
class Baseline:
    """A blind baseline.

    Attributes
    ----------
    name
        As in tables.
    features
        ``features(inputs)`` gives what the learner reads, a row a text, in their order; labels are not to be had. It may
        raise `NoFeaturesError`.
    learner
        Class of the learner.
    summary, source
        One line for people; paper and section.
    """

    name: str
    features: Callable[[BlindInputs], Any]
    learner: Callable[[Any], Learner]
    summary: str
    source: str


_registry: dict[str, Baseline] = {}


def baseline(
    name: str, *, learner: Callable[[Any], Learner], summary: str, source: str
) -> Callable[[Callable[[BlindInputs], Any]], Callable[[BlindInputs], Any]]:
    """Register a function of `BlindInputs`, which gives features, as a baseline."""

    def register(function: Callable[[BlindInputs], Any]) -> Callable[[BlindInputs], Any]:
        known = _registry.get(name)
        if known is not None and known.features.__module__ != function.__module__:
            raise UsageError(f"blind baseline {name!r} is there twice: {known.features.__module__} and {function.__module__}")
        _registry[name] = Baseline(name, function, learner, summary, source)
        return function

    return register


def baselines() -> Mapping[str, Baseline]:
    """All baselines by name, those of `PLUGINS` included."""
    load_modules(__package__ or "ngramscope.blind", PLUGINS)
    return MappingProxyType(dict(sorted(_registry.items())))
