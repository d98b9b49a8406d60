"""``ngramscope sets thresholded``."""

from __future__ import annotations

from ngramscope.cli.sets._thresholded import filter_command

__all__ = ["command"]


@filter_command("thresholded", "Keep non-members whose overlap with the training data is low.")
def command() -> None:
    """Keep the non-members in FILES of whose n-grams a low share is in the training data.

    FILES are documents, or sets. By default a non-member stays if less than 0.2 of its first 200 7-grams are in the training
    data, as in MIMIR's split ngram_7_0.2. Documents without a label are taken for non-members. Members pass, with their
    leave-one-out overlap where it is known. A document without overlap (too short, no flags) is left out, under its reason.
    The header of the set says how the filter shifted it. docs/sets/thresholded.md has the rules.

    \b
    Example:
      ngramscope sets thresholded candidates.jsonl --index my-index --out low.jsonl
      ngramscope sets thresholded natural.jsonl --scan corpus/*.jsonl.zst --n 7 --max-overlap 0.2 --out low.jsonl
      ngramscope sets thresholded bff.jsonl --flags shard0 --flags shard1 --preset ngram_7_0.2 --out low.jsonl
    """
