"""The smallest reference model alone."""

from __future__ import annotations

from ngramscope.attacks.base import Inputs, MissingPassError, Needs, Scores, attack
from ngramscope.attacks.ref import calibrated
from ngramscope.checks import check_choice

__all__ = ["smaller_ref"]


@attack(
    "smaller-ref",
    summary="As ref, with the reference model of fewest parameters.",
    source="Carlini et al. 2021, §5.2; Shi et al. 2024, §4.2",
    needs=Needs(references=True),
    compat={"dcpdd": {"form": "ratio"}, "sok": {"form": "ratio"}},
    undefined="different_text",
)
def smaller_ref(inputs: Inputs, *, form: str = "difference", tokenizers: str = "per-byte") -> Scores:
    """One column, (N,), named after that reference; the options are those of `ngramscope.attacks.ref.ref`.

    Raises
    ------
    MissingPassError
        The store does not say how large the references are.
    """
    check_choice("smaller-ref.form", form, ("difference", "ratio"))
    check_choice("smaller-ref.tokenizers", tokenizers, ("per-byte", "refuse"))
    known = [(each.parameters, each.model, each) for each in inputs.references() if each.parameters is not None]
    if not known:
        raise MissingPassError(f"{inputs.store.path}: no reference's number of parameters is known; score them again")
    _, model, reference = min(known, key=lambda each: each[:2])
    return {model: calibrated(inputs.stored(), reference, form, tokenizers)}
