"""ReCaLL: how the likelihood of a text changes after non-members."""

from __future__ import annotations

from ngramscope.attacks.base import Inputs, Needs, Scores, attack
from ngramscope.attacks.numbers import Floats, mean_log_prob, quotient
from ngramscope.attacks.pairing import common_means
from ngramscope.checks import check_choice

__all__ = ["TOKENS", "conditional", "recall"]

TOKENS = ("common", "all")
"""Which tokens the two means are over."""


@attack(
    "recall",
    summary="Log-likelihood of the text after non-member shots, divided by that without.",
    source="Xie et al. 2024 (ReCaLL)",
    needs=Needs(passes=("plain", "prefix"), nonmembers=True),
    compat={
        "recall": {"tokens": "all"},
        "mimir": {"tokens": "all"},
        "mimir-head": {"tokens": "all"},
        "sok": "it also counts the loss of the shots, which no pass scores",
    },
    undefined="zero_loss",
)
def recall(inputs: Inputs, *, tokens: str = "common") -> Scores:
    """(N,): LL(x | shots) / LL(x), means over tokens; NaN where LL(x) is 0. Without shots it is 1.

    Parameters
    ----------
    tokens
        ``common``: both means are over the same tokens. ``all``: the mean after the shots has the text's first token too, which
        without a start token is not scored alone; so do public implementations.
    """
    check_choice("recall.tokens", tokens, TOKENS)
    return quotient(*conditional(inputs, "prefix", tokens))


def conditional(inputs: Inputs, kind: str, tokens: str) -> tuple[Floats, Floats]:
    """(N,) twice: mean log-probability of the text in the pass `kind`, and in the plain pass."""
    given, plain = inputs.stats(kind), inputs.stats()
    return common_means(given, plain) if tokens == "common" else (mean_log_prob(given), mean_log_prob(plain))
