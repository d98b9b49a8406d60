"""Presets: every attack as one paper or public implementation computes it, where that differs from the defaults.

Each attack declares what a preset means for it (`ngramscope.attacks.base.Attack.compat`); an attack that declares nothing is
computed with its defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ngramscope.attacks.base import Attack, attacks
from ngramscope.errors import UsageError

__all__ = ["PRESETS", "cannot", "presets", "switches"]

PRESETS: Mapping[str, str] = {
    "paper": "each attack as its own paper writes it",
    "mimir": "iamgroot42/mimir, as meant by its paper (Duan et al. 2024)",
    "mimir-head": "iamgroot42/mimir, its present code, errors included",
    "mink": "swj0419/detect-pretrain-code (Min-K% Prob)",
    "minkpp": "zjysteven/mink-plus-plus (Min-K%++)",
    "recall": "ruoyuxie/recall (ReCaLL)",
    "dcpdd": "zhang-wei-chao/DC-PDD",
    "di": "pratyushmaini/llm_dataset_inference",
    "sok": "computationalprivacy/mia_llms_benchmark",
    "fastmia": "Nikkei/fast-mia",
    "ez-mia": "JetBrains-Research/ez-mia",
    "open-unlearning": "locuslab/open-unlearning",
    "camia-code": "changhongyan123/context_aware_mia; learns directions from all labels, and so leaks",
}
"""What a preset stands for."""


def presets() -> dict[str, str]:
    """All presets with what they stand for; those that only attacks of the user's own declare follow."""
    declared = sorted({name for each in attacks().values() for name in each.compat})
    return {**PRESETS, **{name: "declared by an attack" for name in declared if name not in PRESETS}}


def switches(attack: Attack, preset: str | None) -> dict[str, Any]:
    """The options of `attack` that a preset sets.

    Raises
    ------
    UsageError
        There is no such preset; or a store cannot give what it computes (see `cannot`).
    """
    if preset is None:
        return {}
    if preset not in (known := presets()):
        raise UsageError(f"--compat: {preset!r} is not known; known: {', '.join(known)}")
    if (reason := cannot(attack, preset)) is not None:
        raise UsageError(f"attack {attack.name}: --compat {preset} is not possible: {reason}")
    return dict(attack.compat.get(preset, {}))  # type: ignore[arg-type] # texts have just been refused


def cannot(attack: Attack, preset: str | None) -> str | None:
    """Why a store cannot give what that implementation computes; None if it can."""
    declared = attack.compat.get(preset or "")
    return declared if isinstance(declared, str) else None
