"""Completions of the beginnings of texts, compared with how the texts go on. (Shi et al. 2024, section 7: story completion)"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ngramscope import provenance
from ngramscope.errors import InputError
from ngramscope.evaluate.setlevel.likeness import likeness
from ngramscope.index.output import TableFile, TableWriter
from ngramscope.models.completions import CompletionOptions, complete, prompt_of
from ngramscope.models.encode import EncodeOptions, Encoder
from ngramscope.models.load import LoadedModel
from ngramscope.progress import Step
from ngramscope.sets.base import Candidate
from ngramscope.sets.records import RecordSource
from ngramscope.sizes import format_reasons

__all__ = ["COMPLETIONS_VERSION", "write_completions"]

COMPLETIONS_VERSION = 1
"""Version of the rows and of their header."""

SHORT, LONG = "nothing_after_the_prompt", "prompt_too_long"
"""Why a text is left out."""

_WORD = re.compile(r"\S+")


def write_completions(
    source: RecordSource,
    out: Path,
    loaded: LoadedModel,
    options: CompletionOptions | None = None,
    *,
    progress: Callable[[Step], object] | None = None,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Complete every text of a set and write a JSON Lines file, one row a completion.

    Parameters
    ----------
    out
        Ends in ``.jsonl``, ``.jsonl.gz`` or ``.jsonl.zst``.
    progress
        Called after every text.

    Returns
    -------
    dict, list
        The header, which stands in ``OUT.meta.json``, and the rows.

    Raises
    ------
    InputError
        No text could be completed.
    """
    options = options or CompletionOptions()
    encoder = Encoder(loaded, EncodeOptions())
    records = source.open()
    left_out: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    completed = 0
    with TableFile(out, {".jsonl": _JsonLines}, with_source=True) as file:
        for candidate in records.candidates():
            parts = prompt_of(candidate.text, options.prompt_words)
            found = None if parts is None else complete(loaded, parts[0], options, encoder)
            if parts is None or found is None:
                left_out[SHORT if parts is None else LONG] += 1
            else:
                completed += 1
                for row in _rows(candidate, parts, found):
                    file.write(row)
                    rows.append(row)
            if progress is not None:
                progress(Step("score", documents=completed + sum(left_out.values())))
        report = records.report()
        left_out.update({reason: count for reason, count in report["unusable"].items() if count})
        if not rows:
            raise InputError(
                f"no text could be completed ({format_reasons(left_out)}); give a smaller --prompt-words or --max-new-tokens"
            )
        header = {
            **provenance.stamp(
                "completions", version=COMPLETIONS_VERSION, settings=asdict(options), inputs=list(report["sources"])
            ),
            "model": loaded.facts(),
            "counts": {"completed": completed, "completions": len(rows), "left_out": dict(sorted(left_out.items()))},
        }
        file.commit(header)
    return header, rows


class _JsonLines(TableWriter[Mapping[str, Any]]):
    def write(self, table: Mapping[str, Any]) -> None:
        self._stream.write((json.dumps(table, ensure_ascii=False) + "\n").encode("utf-8", "replace"))

    def close(self, provenance: Mapping[str, Any]) -> None:
        pass


def _rows(candidate: Candidate, parts: tuple[str, str], completions: list[str]) -> Iterator[dict[str, Any]]:
    """One a completion, which is compared with as much of the text's own continuation as it has words."""
    for sample, completion in enumerate(completions):
        reference = _as_long(parts[1], completion)
        yield {
            "id": candidate.id, "label": candidate.label, "group": candidate.group, "sample": sample, "prompt": parts[0],
            "reference": reference, "completion": completion, **asdict(likeness(completion, reference)),
        }  # fmt: skip


def _as_long(rest: str, completion: str) -> str:
    """As many words of `rest` as `completion` has, at least one."""
    count = max(1, len(completion.split()))
    ends = [match.end() for match in _WORD.finditer(rest)]
    return rest if len(ends) <= count else rest[: ends[count - 1]]
