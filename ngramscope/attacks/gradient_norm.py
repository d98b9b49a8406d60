"""The norm of the gradient of the loss."""

from __future__ import annotations

from ngramscope.attacks.base import Inputs, MissingPassError, Needs, Scores, attack
from ngramscope.checks import check_choice

__all__ = ["gradient_norm"]


@attack(
    "gradient-norm",
    summary="Minus the norm of the gradient of the loss: members pull less.",
    source="Duan et al. 2024, A.4 (gradient norm)",
    needs=Needs(passes=("gradient",)),
    compat={"mimir-head": {"member": "larger"}},
)
def gradient_norm(inputs: Inputs, *, aggregate: str = "mean", norm: str = "inf", member: str = "smaller") -> Scores:
    """(N,): minus the norm of the gradient.

    Parameters
    ----------
    aggregate
        ``mean`` of the norms of each parameter tensor, or ``global``: of all parameters together.
    norm
        ``1``, ``2`` or ``inf``.
    member
        ``smaller``; or ``larger``, the sign of MIMIR's present code, by mistake.
    """
    check_choice("gradient-norm.aggregate", aggregate, ("mean", "global"))
    check_choice("gradient-norm.norm", str(norm), ("1", "2", "inf"))
    check_choice("gradient-norm.member", member, ("smaller", "larger"))
    name = f"gradient_{aggregate}_{norm}"
    scalars = inputs.stats("gradient").scalars
    if name not in scalars:
        raise MissingPassError(f"attack gradient-norm: {inputs.stored('gradient').path} has {', '.join(scalars)}; no {name}")
    return -scalars[name] if member == "smaller" else scalars[name]
