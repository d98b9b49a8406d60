"""The report of `unlearning` for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ngramscope.evaluate.plain import share, table
from ngramscope.evaluate.setlevel.unlearning import ALIKE, LESS, MORE
from ngramscope.sizes import counted

__all__ = ["to_text"]


def to_text(report: Mapping[str, Any], top: int = 20) -> str:
    """Tables in plain text; of the chunks the `top` that have changed least."""
    counts, settings = report["counts"], report["settings"]
    lines = [
        f"{counted(counts['compared'], 'chunk')}; {settings['attack']} of {settings['after']} over that of "
        f"{settings['before']}",
        "",
        *table(
            ["group", "label", "chunks", "median ratio", "less likely", "more likely", "alike", "changed"],
            [
                [
                    each["group"], "-" if each["label"] is None else str(each["label"]), str(each["chunks"]),
                    f"{each['median_ratio']:.3f}", *(str(each[name]) for name in (LESS, MORE, ALIKE)),
                    share(each["changed"]["value"], (each["changed"]["low"], each["changed"]["high"])),
                ]
                for each in report["groups"]
            ],
        ),
        f"changed: ratio outside (1/{settings['bound']:g}, {settings['bound']:g}). Alike chunks are about as likely to the "
        "unlearned model as before.",
    ]  # fmt: skip
    if top:
        lines += ["", "chunks that have changed least"]
        lines += table(
            ["id", "group", "before", "after", "ratio"],
            [
                [str(each["id"]), each["group"], f"{each['before']:.4f}", f"{each['after']:.4f}", f"{each['ratio']:.3f}"]
                for each in report["chunks"][:top]
            ],
        )
    return "\n".join(lines)
