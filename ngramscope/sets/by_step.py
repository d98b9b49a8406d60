"""Members by the step they were seen at, from the packed rows a model was trained on (Duan et al. 2024, A.3.1).

Pythia's rows have 2,049 tokens, 1,024 of them a step, in the order of training. A row holds documents and parts of documents,
with the end-of-text token between them; see docs/sets/by-step.md.
"""

from __future__ import annotations

import heapq
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core
from ngramscope.checks import check_integer, check_optional, check_switch
from ngramscope.corpus.tokens import LoadedTokenizer
from ngramscope.errors import InputError, UsageError
from ngramscope.progress import Step as ProgressStep
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.cut import cut
from ngramscope.sets.packed import PackedRows
from ngramscope.sets.records import RecordSource
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["ByStepOptions", "by_step", "pieces"]

_REPLACEMENT = "\ufffd"
_WORD = re.compile(r"\S+")
Ints = NDArray[np.int64]
Progress = Callable[[_core.Progress | ProgressStep], object]


@dataclass(frozen=True, kw_only=True)
class ByStepOptions:
    """Which documents are taken.

    Parameters
    ----------
    steps
        First and last step, both included; step 0 has the first rows.
    rows_per_step
        Rows of a step: the batch size.
    first_step
        Step of the first row of the files.
    eod_id
        Token that ends a document.
    keep_partial
        Also take documents that the beginning or end of a row cuts, without the word at the cut.
    min_words, max_words
        White-space words: documents with fewer are left out, longer ones cut.
    samples
        So many, chosen by chance; None takes all.
    seed
        Decides which.
    """

    steps: tuple[int, int]
    rows_per_step: int = 1024
    first_step: int = 0
    eod_id: int = 0
    keep_partial: bool = False
    min_words: int = 100
    max_words: int = 200
    samples: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("--rows-per-step", self.rows_per_step, 1, 1 << 40)
        check_integer("--first-step", self.first_step, 0, 1 << 40)
        check_integer("--eod-id", self.eod_id, 0, (1 << 32) - 1)
        check_switch("--keep-partial", self.keep_partial)
        check_integer("--min-words", self.min_words, 1, 1 << 40)
        check_integer("--max-words", self.max_words, self.min_words, 1 << 40)
        check_optional("--samples", self.samples, 1, 1 << 40)
        check_integer("--seed", self.seed, 0, (1 << 63) - 1)
        first, last = self.steps
        if not self.first_step <= first <= last:
            raise UsageError(
                f"--steps: {first}:{last} is not possible; the first step to the last, from {self.first_step} (--first-step) on"
            )


def by_step(
    rows: PackedRows,
    tokenizer: LoadedTokenizer,
    out: Path,
    *,
    options: ByStepOptions,
    nonmembers: RecordSource | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the set of documents seen in a window of steps, and return its header.

    Which documents are sampled depends on their texts and the seed alone.

    Parameters
    ----------
    nonmembers
        A set, or documents, that are joined unchanged as non-members; the same for every window makes a series. Members with
        the text of one of them are left out.
    progress
        Called now and then, on the calling thread.

    Raises
    ------
    InputError
        Rows that are not there (names file and byte); no end-of-text token; fewer documents than asked for.
    """
    known: set[bytes] = set()
    others = Counts()
    before: tuple[dict[str, Any], ...] = ()
    sources: list[dict[str, Any]] = []
    partial = False
    if nonmembers is not None:
        records = nonmembers.open(progress)
        known.update(_digest(each.text) for each in records.candidates() if each.label != MEMBER)
    members = _Members(rows, tokenizer, options, known)
    with SetFile(out) as file:
        for chosen in members.chosen(progress):
            file.add(chosen)
        if nonmembers is not None:
            records = nonmembers.open(progress)
            for batch in records:
                kept = [each for each in batch.candidates if each.label != MEMBER]
                for each in kept:
                    each.label = NONMEMBER
                file.add(kept)
                others.used += len(kept)
                others.left_out["labelled_member"] += len(batch) - len(kept)
            others.left_out.update(records.left_out())
            report = records.report()
            before, sources = records.headers, report["sources"]
            partial = bool(report["bad_records"] or report["bad_files"])
        counts: dict[str, Any] = {"members": members.counts.to_dict()}
        if nonmembers is not None:
            counts["nonmembers"] = others.to_dict()
        settings = {
            **asdict(options),
            "row_tokens": rows.row_tokens,
            "dtype": str(rows.dtype),
            "shard_bytes": rows.shard_bytes,
            "tokenizer": {"name": tokenizer.name, "sha256": tokenizer.sha256},
        }
        del settings["seed"]
        facts = {**members.facts, "partial": partial}
        step = Step("by-step", settings, [*rows.inputs(), *sources], counts, options.seed, facts)
        return file.commit(step, before=before)


def pieces(row: Ints, eod_id: int) -> Iterator[tuple[int, int, bool, bool]]:
    """Documents of a row: first token, token after the last, and whether the row's beginning and its end cut them.

    Whole are those between two end-of-text tokens of the row. What comes before the first may have begun in another row, and
    what comes after the last may go on in another, so they count as cut, even if by chance they are not. Two end-of-text tokens
    in a row have a document without tokens between them.
    """
    ends = np.flatnonzero(row == eod_id).tolist()
    starts = [0, *(end + 1 for end in ends)]
    for number, (start, stop) in enumerate(zip(starts, [*ends, len(row)], strict=True)):
        first, last = number == 0, number == len(ends)
        if start < stop or not (first or last):
            yield start, stop, first, last


class _Members:
    """Documents of the window, counted."""

    def __init__(self, rows: PackedRows, tokenizer: LoadedTokenizer, options: ByStepOptions, nonmembers: set[bytes]) -> None:
        self._rows, self._options = rows, options
        self._tokenizer = tokenizer.tokenizer
        ids = list(self._tokenizer.get_vocab(with_added_tokens=True).values())
        self._vocabulary = np.zeros(1 + max(ids, default=0), dtype=bool)
        self._vocabulary[ids] = True
        self._nonmembers = nonmembers
        self._seen: set[bytes] = set()
        self.counts = Counts()
        self.facts = {"steps": 0, "rows": 0, "rows_without_eod": 0}

    def chosen(self, progress: Progress | None) -> Iterator[Sequence[Candidate]]:
        """The members, in the order of steps."""
        samples = self._options.samples
        if samples is None:
            for found in self._steps(progress):
                self.counts.used += len(found)
                yield found
        else:
            # Those with the smallest digests; the largest of them is on top.
            heap: list[tuple[int, int, Candidate]] = []
            seen = 0
            for found in self._steps(progress):
                for candidate in found:
                    seen += 1
                    entry = (-_rank(candidate.text, self._options.seed), seen, candidate)
                    (heapq.heappush if len(heap) < samples else heapq.heappushpop)(heap, entry)
            self.counts.used = len(heap)
            self.counts.left_out["not_sampled"] += seen - len(heap)
            if len(heap) < samples:
                raise InputError(f"--samples: {samples:,} documents are asked for and {self._found()}")
            yield [candidate for _, _, candidate in sorted(heap, key=lambda entry: entry[1])]
        if not self.counts.used:
            raise InputError(f"--steps: {self._found()}")

    def _steps(self, progress: Progress | None) -> Iterator[list[Candidate]]:
        options = self._options
        first, last = options.steps
        size = options.rows_per_step * self._rows.row_bytes
        began = time.monotonic()
        for step in range(first, last + 1):
            start = (step - options.first_step) * options.rows_per_step
            rows = self._rows.read(start, start + options.rows_per_step)
            yield self._documents(step, start, rows)
            self.facts["steps"] += 1
            if progress is not None:
                done, total = self.facts["steps"] * size, (last - first + 1) * size
                progress(ProgressStep("read", bytes_done=done, bytes_total=total, seconds=time.monotonic() - began))
        if self.facts["rows_without_eod"] == self.facts["rows"] and not options.keep_partial:
            raise InputError(
                f"{self._rows.inputs()[0]['name']}: token {options.eod_id} (--eod-id) is in none of the "
                f"{self.facts['rows']:,} rows, so that no document is known to be whole; some releases, as the deduplicated "
                "Pile in Pythia's order, were made without it: --keep-partial takes parts of rows"
            )

    def _documents(self, step: int, start: int, rows: Ints) -> list[Candidate]:
        """What is left of the documents of one step."""
        options, left_out = self._options, self.counts.left_out
        self.facts["rows"] += len(rows)
        self.facts["rows_without_eod"] += int((~(rows == options.eod_id).any(axis=1)).sum())
        taken = []
        for number, row in enumerate(rows):
            for begin, end, cut_before, cut_after in pieces(row, options.eod_id):
                ids = row[begin:end]
                if (cut_before or cut_after) and not options.keep_partial:
                    left_out["partial"] += 1
                elif not len(ids):
                    left_out["empty"] += 1
                elif ids.min() < 0 or ids.max() >= len(self._vocabulary) or not self._vocabulary[ids].all():
                    left_out["undecodable"] += 1
                else:
                    taken.append((number, begin, ids.tolist(), cut_before, cut_after))
        texts = self._tokenizer.decode_batch([ids for _, _, ids, _, _ in taken], skip_special_tokens=False)
        found = []
        for (number, begin, ids, cut_before, cut_after), text in zip(taken, texts, strict=True):
            if cut_before or cut_after:
                text = _without_cut_words(text, cut_before, cut_after)
            elif _REPLACEMENT in text and self._tokenizer.encode(text, add_special_tokens=False).ids != ids:
                # Bytes that are no text; the character itself would have come back as the same tokens.
                left_out["undecodable"] += 1
                continue
            if len(text.split()) < options.min_words:
                left_out["too_short"] += 1
                continue
            text = cut(text, options.max_words)
            digest = _digest(text)
            if digest in self._nonmembers or digest in self._seen:
                left_out["is_a_nonmember" if digest in self._nonmembers else "exact_duplicate"] += 1
                continue
            self._seen.add(digest)
            found.append(
                Candidate(
                    id=f"step{step}-row{number}-token{begin}",
                    text=text,
                    label=MEMBER,
                    source=self._rows.name(start + number),
                    position=start + number,
                    extra={"step": step, "tokens": len(ids)},
                )
            )
        return found

    def _found(self) -> str:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.counts.left_out.items()) if count)
        first, last = self._options.steps
        return f"{self.counts.used:,} were found in steps {first:,} to {last:,} (left out: {reasons or 'none'})"


def _without_cut_words(text: str, before: bool, after: bool) -> str:
    """`text` without the word that its beginning or end is in the midst of."""
    if before:
        text = text[_end_of_word(text) :].lstrip()
    return text[: len(text) - _end_of_word(text[::-1])] if after else text


def _end_of_word(text: str) -> int:
    match = _WORD.match(text)
    return 0 if match is None else match.end()


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def _rank(text: str, seed: int) -> int:
    """Where `text` stands in the order that the seed makes by chance."""
    return int.from_bytes(blake2b(text.encode(), digest_size=16, key=seed.to_bytes(8, "big")).digest(), "big")
