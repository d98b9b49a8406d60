"""EZ-MIA: which way fine-tuning has moved the tokens that the model still gets wrong."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Needs, Scores, attack
from ngramscope.attacks.numbers import Floats
from ngramscope.attacks.pairing import by_reference
from ngramscope.checks import check_choice, check_switch

__all__ = ["ez_mia"]


@attack(
    "ez-mia",
    summary="At tokens the target does not predict: rises of log-probability over the reference against falls.",
    source="Ilić et al. 2026 (EZ-MIA), arXiv 2601.12104, and the authors' code",
    needs=Needs(references=True),
    compat={"paper": {"edge": "member"}, "ez-mia": {"edge": "non-member", "skip_first": True}},
    undefined="no_error_position",
)
def ez_mia(inputs: Inputs, *, edge: str = "undefined", skip_first: bool = False) -> Scores:
    """By reference, (N,), -1 to 1: (P - N) / (P + N); of several references also their ``average``.

    Over the positions where the token is not the target's most likely one, P is the sum of the rises of log-probability from
    the reference to the target, N that of the falls. The paper's score is P / N; this is a strictly increasing function of it,
    so the ranking is the same, and it stays finite where N is 0. Where nothing has moved it is 0. Both models must have the
    same tokenizer; a text that they cut differently is undefined too.

    Parameters
    ----------
    edge
        Texts without such a position: ``undefined``; ``member``: 1, as the paper ranks them; ``non-member``: -1, which the
        authors' code also gives texts with N = 0 or only one position.
    skip_first
        Leave the first scored token out, as that code does.
    """
    check_choice("ez-mia.edge", edge, ("undefined", "member", "non-member"))
    check_switch("ez-mia.skip_first", skip_first)
    errors = inputs.stats()["rank"] > 0

    def imbalance(ours: Floats, theirs: Floats, where: slice) -> float:
        shift = (ours - theirs)[skip_first:][errors[where][skip_first:]]
        rises, falls = shift[shift > 0].sum(), -shift[shift < 0].sum()
        if edge == "non-member" and (len(shift) < 2 or falls == 0):
            return -1.0
        if len(shift) == 0:
            return 1.0 if edge == "member" else np.nan
        return float((rises - falls) / (rises + falls)) if rises + falls else 0.0

    return by_reference(inputs, "ez-mia", imbalance)
