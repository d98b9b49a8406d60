"""Neighbours of texts: the same but for a few tokens, which a masked language model has chosen.

``single``, one token swapped: Mattern et al., Membership Inference Attacks against Language Models via Neighbourhood
Comparison, ACL 2023 Findings, section 2.2. ``random``, a share of them swapped: Duan et al., Do Membership Inference Attacks
Work on Large Language Models?, COLM 2024, A.4. The file and how it is continued: docs/neighbours.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ngramscope import provenance
from ngramscope.checks import check_choice, check_integer
from ngramscope.errors import InputError, UsageError
from ngramscope.index.output import TableFile
from ngramscope.models.neighbour_file import (
    ARTEFACT,
    NEIGHBOURS_VERSION,
    Finished,
    Lines,
    Neighbours,
    neighbour_row,
    text_digest,
)
from ngramscope.progress import Step
from ngramscope.sets.records import RecordSource
from ngramscope.sets.seeds import draw

if TYPE_CHECKING:
    from ngramscope.models.masked import MaskedModel

__all__ = ["STRATEGIES", "NeighbourOptions", "find_neighbours", "write_neighbours"]

STRATEGIES = ("random", "single")
"""How neighbours are put together of what could stand in the place of each token."""

Swap = tuple[int, int]
"""The number of a token in the text, and the token that takes its place."""


@dataclass(frozen=True, kw_only=True)
class NeighbourOptions:
    """How neighbours are found.

    Parameters
    ----------
    count
        Neighbours of a text; there are fewer where no more can be found.
    strategy
        ``random``: each of `trials` swaps a random `share` of the tokens for the best candidates; those with the largest sum of
        weights are kept. ``single``: swaps of one token, those with the largest weights.
    share
        Of the tokens, rounded down, at least one; for ``random``.
    trials
        See `strategy`.
    top_k
        Candidates for a token are among so many most likely ones, the token itself included.
    dropout
        Of the token's embedding.
    seed
        With a text, decides its neighbours.
    """

    count: int = 25
    strategy: str = "random"
    share: float = 0.05
    trials: int = 1000
    top_k: int = 6
    dropout: float = 0.7
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("--count", self.count, 1, 100_000)
        check_choice("--strategy", self.strategy, STRATEGIES)
        check_integer("--trials", self.trials, self.count if self.strategy == "random" else 1, 10_000_000)
        check_integer("--top-k", self.top_k, 2, 1_000_000)
        if not 0 < self.share <= 1:
            raise UsageError(f"--share: {self.share!r} is not possible; a share of the tokens, above 0 and at most 1")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"--dropout: {self.dropout!r} is not possible; at least 0 and below 1")


def find_neighbours(text: str, model: MaskedModel, options: NeighbourOptions) -> Neighbours:
    """Neighbours of a text. Only the characters of swapped tokens change; text, seed and options decide."""
    (cut,) = model.cut([text])
    if not cut.free:
        return Neighbours([], [], "no_token")
    random = np.random.default_rng(draw(options.seed, text))
    found = {
        position: candidates
        for position, candidates in model.alternatives(cut, random, top_k=options.top_k, dropout=options.dropout)
        if candidates
    }
    if not found:
        return Neighbours([], [], "no_candidate")
    ranked: list[tuple[float, tuple[Swap, ...]]]
    if options.strategy == "single":
        ranked = sorted((-weight, ((at, token),)) for at, candidates in found.items() for token, weight in candidates)
    else:
        ranked = _random_swaps(found, len(cut.pieces), options, random)
    texts: dict[str, float] = {text: 0.0}  # a swap may leave the text as it is, two may give the same one
    for negative, swaps in ranked:
        made = model.tokens.put(text, cut, [at for at, _ in swaps], [token for _, token in swaps]).text
        texts.setdefault(made, -negative)
        if len(texts) > options.count:
            break
    del texts[text]
    return Neighbours(list(texts), list(texts.values()), None if texts else "no_candidate")


def _random_swaps(
    found: Mapping[int, list[tuple[int, float]]], tokens: int, options: NeighbourOptions, random: np.random.Generator
) -> list[tuple[float, tuple[Swap, ...]]]:
    """Distinct random sets of swaps for the best candidate of each, with their weights below zero; the best first."""
    places = np.array(list(found))
    best = np.array([candidates[0][1] for candidates in found.values()])
    swaps = min(len(places), max(1, int(options.share * tokens)))
    drawn = {tuple(sorted(random.choice(len(places), swaps, replace=False).tolist())) for _ in range(options.trials)}
    ranked = sorted((-float(best[list(each)].sum()), each) for each in drawn)
    return [(weight, tuple((int(places[at]), found[int(places[at])][0][0]) for at in each)) for weight, each in ranked]


def write_neighbours(
    source: RecordSource,
    out: Path,
    model: MaskedModel,
    options: NeighbourOptions,
    *,
    progress: Callable[[Any], None] | None = None,
) -> dict[str, Any]:
    """Write the neighbours of all texts of `source`, and return the header.

    Texts that `out` has neighbours of already, by the same model and options, or that a run that was stopped has left in
    ``OUT.partial``, are not looked at again.

    Parameters
    ----------
    source
        A candidate set, or documents.
    out
        Ends in ``.jsonl``.
    progress
        Called now and then, on the calling thread.

    Raises
    ------
    UsageError
        `out` is not the name of such a file.
    InputError
        There is no text; a file that cannot be used.
    """
    if out.suffix != ".jsonl":
        raise UsageError(f"--out: {out}: not a name for neighbours; write FILE.jsonl")
    records = source.open(progress)
    candidates = list(records.candidates())
    report = records.report()
    if not candidates:
        raise InputError(f"{records.names[0]}: no text")
    settings = {"model": model.facts, **asdict(options)}
    size = sum(len(each.text) for each in candidates)
    done = 0
    null: Counter[str] = Counter()
    fewer = reused = 0
    with TableFile(out, {".jsonl": Lines}, with_source=False) as file, Finished(out, settings) as finished:
        for row, candidate in enumerate(candidates):
            digest = text_digest(candidate.text)
            found = finished.get(digest)
            if found is None:
                found = find_neighbours(candidate.text, model, options)
                finished.add(digest, found)
            else:
                reused += 1
            if found.null_reason is not None:
                null[found.null_reason] += 1
            fewer += 0 < len(found.texts) < options.count
            file.write([neighbour_row(row, candidate.id, digest, found)])
            done += len(candidate.text)
            if progress is not None:
                progress(Step("finding neighbours", documents=row + 1, bytes_done=done, bytes_total=size))
        header = provenance.stamp(ARTEFACT, version=NEIGHBOURS_VERSION, settings=settings, inputs=report["sources"])
        header["counts"] = {
            "texts": len(candidates), "fewer_than_asked": fewer, "null": dict(sorted(null.items())), "reused": reused,
            "unusable": report["unusable"],
        }  # fmt: skip
        header["partial"] = bool(report["bad_records"] or report["bad_files"])
        file.commit(header)
        finished.remove()
    return header
