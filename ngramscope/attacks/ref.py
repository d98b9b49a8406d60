"""Likelihood under the target, calibrated by that under reference models."""

from __future__ import annotations

from ngramscope.attacks.base import Inputs, Needs, Scores, attack
from ngramscope.attacks.numbers import Floats, quotient
from ngramscope.attacks.pairing import likelihoods, with_average
from ngramscope.checks import check_choice
from ngramscope.models.store import StoredPass

__all__ = ["calibrated", "ref"]


@attack(
    "ref",
    summary="Log-likelihood under the target minus that under each reference model, and the average.",
    source="Carlini et al. 2021, §5.2; Duan et al. 2024, §2, A.4, A.5",
    needs=Needs(references=True),
    compat={
        "dcpdd": {"form": "ratio"},
        "sok": {"form": "ratio"},
        "di": "it divides a mean loss by the perplexity of the reference, two units",
    },
    undefined="different_text",
)
def ref(inputs: Inputs, *, form: str = "difference", tokenizers: str = "per-byte") -> Scores:
    """By reference, (N,): how much more likely the text is under the target; of several references also the ``average``.

    Parameters
    ----------
    form
        ``difference``: log-likelihood minus that of the reference. ``ratio``: minus the loss over that of the reference.
    tokenizers
        ``per-byte``: a reference with another tokenizer is compared per byte of text, one with the same per token.
        ``refuse``: such a reference is an error.
    """
    check_choice("ref.form", form, ("difference", "ratio"))
    check_choice("ref.tokenizers", tokenizers, ("per-byte", "refuse"))
    target = inputs.stored()
    return with_average({each.model: calibrated(target, each, form, tokenizers) for each in inputs.references()})


def calibrated(target: StoredPass, reference: StoredPass, form: str, tokenizers: str) -> Floats:
    """(N,): see `ref`."""
    ours, theirs = likelihoods(target, reference, tokenizers)
    return ours - theirs if form == "difference" else -quotient(ours, theirs)
