"""``ngramscope sets decontaminated``."""

from __future__ import annotations

from ngramscope.cli.sets._thresholded import filter_command

__all__ = ["command"]


@filter_command("decontaminated", "Leave out non-members that are largely in the training data.")
def command() -> None:
    """Leave out the non-members in FILES that are copies, or nearly, of training data.

    FILES are documents, or sets. By default a non-member stays if less than 0.8 of its first 200 13-grams are in the training
    data, as in MIMIR's split ngram_13_0.8. Documents without a label are taken for non-members. Members pass, with their
    leave-one-out overlap where it is known. A document without overlap (too short, no flags) is left out, under its reason.
    The header of the set says how the filter shifted it. docs/sets/thresholded.md has the rules.

    \b
    Example:
      ngramscope sets decontaminated candidates.jsonl --index my-index --out clean.jsonl
      ngramscope sets decontaminated natural.jsonl --scan corpus/*.jsonl.zst --out clean.jsonl
    """
