"""What a pass over candidates found, in numbers: counts, quartiles, a histogram, and what has to be said about the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.index.options import DOMAIN
from ngramscope.index.table import OverlapTable, plain_text
from ngramscope.sizes import counted, format_count

__all__ = ["BINS", "Summary", "index_facts", "index_warnings", "to_text"]

BINS = 10
"""Bins of the histogram, each [a, b) but the last, which holds 1 too."""

_BAR = 40
_DOMAINS = 30


class Summary:
    """Collects tables and says what was in them. Holds 8 bytes (16 with leave-one-out) for each scored (document, n).

    Parameters
    ----------
    manifests
        Of the indexes that were asked.
    filter_fpr
        For each n, their combined false-positive rate.
    domains
        Also sum up by domain, which the tables then have.
    """

    def __init__(
        self, manifests: Sequence[Mapping[str, Any]], filter_fpr: Mapping[int, float], *, domains: bool = False
    ) -> None:
        self._manifests = manifests
        self._filter_fpr = dict(filter_fpr)
        self._values: dict[tuple[int, int], list[NDArray[np.float64]]] = {}
        self._corrected: dict[int, float] = dict.fromkeys(filter_fpr, 0.0)
        self._nulls: dict[int, Counter[str]] = {n: Counter() for n in filter_fpr}
        self._ngrams: Counter[int] = Counter()
        self._hits: Counter[int] = Counter()
        self._loo: dict[int, list[NDArray[np.float64]]] = {n: [] for n in filter_fpr}
        self._with_own: Counter[int] = Counter()
        self._domains: dict[int, dict[str | None, _Domain]] | None = {n: {} for n in filter_fpr} if domains else None
        self.rows = 0
        self.sources: tuple[str, ...] = ()

    @property
    def lengths(self) -> tuple[int, ...]:
        """The n, ascending."""
        return tuple(sorted(self._filter_fpr))

    def add(self, table: OverlapTable) -> None:
        """Count the rows of `table`."""
        self.rows += len(table)
        self.sources = table.sources
        null = np.array([each is not None for each in table.null_reason], dtype=bool)
        for n in self._nulls:
            here = table.n == n
            self._nulls[n].update(table.null_reason[here & null].tolist())
            self._ngrams[n] += int(table.ngrams[here].sum())
            self._hits[n] += int(table.hits[here].sum())
            own = table.in_corpus if table.own_documents is None else table.own_documents
            if table.loo_overlap is not None and own is not None:
                self._loo[n].append(table.loo_overlap[here & ~null])
                self._with_own[n] += int(np.count_nonzero(own[here]))
            scored = here & ~null
            if self._domains is not None:
                _add_domains(self._domains[n], table.fields[DOMAIN], here, scored, table.overlap)
            self._corrected[n] += float(table.overlap_corrected[scored].sum())
            for source in np.unique(table.source[scored]).tolist():
                self._values.setdefault((source, n), []).append(table.overlap[scored & (table.source == source)])

    def values(self, n: int, source: int | None = None) -> NDArray[np.float64]:
        """The overlaps for `n`, of one source or of all, without the undefined ones; shape (scored,)."""
        chunks = [
            chunk
            for (each, length), list_of in self._values.items()
            if length == n and source in (None, each)
            for chunk in list_of
        ]
        return np.concatenate(chunks) if chunks else np.empty(0)

    def to_dict(self, *, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The summary for machines; `inputs` is the reader's report on the candidate files."""
        documents = self.rows // max(1, len(self._nulls))
        return {
            "documents": documents,
            "by_n": [self._by_n(n) for n in sorted(self._nulls)],
            "indexes": [index_facts(each) for each in self._manifests],
            "index_is_demo": any(each["demo"] for each in self._manifests),
            "warnings": index_warnings(self._manifests),
            "inputs": inputs,
        }

    def _by_n(self, n: int) -> dict[str, Any]:
        values = self.values(n)
        scored = len(values)
        quartiles = np.quantile(values, [0.25, 0.5, 0.75]).tolist() if scored else [None] * 3
        counts, edges = np.histogram(values, bins=BINS, range=(0, 1))
        ngrams = self._ngrams[n]
        return {
            "n": n,
            "scored": scored,
            "null": dict(sorted(self._nulls[n].items())),
            "ngrams": ngrams,
            "hits": self._hits[n],
            "overlap_of_all_ngrams": self._hits[n] / ngrams if ngrams else None,
            "mean": float(values.mean()) if scored else None,
            "mean_corrected": self._corrected[n] / scored if scored else None,
            "quartile_1": quartiles[0],
            "median": quartiles[1],
            "quartile_3": quartiles[2],
            "with_hits": int(np.count_nonzero(values)),
            **self._leave_one_out(n),
            **self._by_domain(n),
            "filter_fpr": self._filter_fpr[n],
            "histogram": {"edges": [round(edge, 6) for edge in edges.tolist()], "counts": counts.tolist()},
        }

    def _leave_one_out(self, n: int) -> dict[str, Any]:
        """Of a scan, or of an index with two tiers: what remains when no document counts as evidence for itself."""
        if not self._loo[n]:
            return {}
        values = np.concatenate(self._loo[n])
        return {
            "leave_one_out": {
                "mean": float(values.mean()) if len(values) else None,
                "median": float(np.median(values)) if len(values) else None,
                "with_own_document": self._with_own[n],
            }
        }

    def _by_domain(self, n: int) -> dict[str, Any]:
        if self._domains is None:
            return {}
        domains = sorted(self._domains[n].items(), key=lambda item: (item[0] is None, item[0]))
        return {
            "by_domain": [
                {
                    "domain": name,
                    "documents": each.documents,
                    "scored": each.scored,
                    "mean": each.overlap / each.scored if each.scored else None,
                }
                for name, each in domains
            ]
        }


@dataclass
class _Domain:
    documents: int = 0
    scored: int = 0
    overlap: float = 0.0


def _add_domains(
    domains: dict[str | None, _Domain],
    names: NDArray[np.object_],
    here: NDArray[np.bool_],
    scored: NDArray[np.bool_],
    overlap: NDArray[np.float64],
) -> None:
    for name in set(names[here].tolist()):
        mine = names == name
        domain = domains.setdefault(plain_text(name), _Domain())
        domain.documents += int(np.count_nonzero(here & mine))
        domain.scored += int(np.count_nonzero(scored & mine))
        domain.overlap += float(overlap[scored & mine].sum())


def to_text(summary: Mapping[str, Any]) -> str:
    """The summary of `Summary.to_dict` for people, without the warnings."""
    lines: list[str] = []
    for facts in summary["by_n"]:
        null = sum(facts["null"].values())
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in facts["null"].items())
        without = f"; {null:,} without overlap ({reasons})" if null else ""
        lines.append(f"n = {facts['n']}: {facts['scored']:,} of {counted(summary['documents'], 'document')} scored{without}")
        if facts["scored"]:
            lines.append(
                f"  overlap: mean {facts['mean']:.4f} (corrected {_number(facts['mean_corrected'])}), "
                f"median {facts['median']:.4f}, quartiles {facts['quartile_1']:.4f} to {facts['quartile_3']:.4f}"
            )
            lines.append(
                f"  n-grams: {format_count(facts['hits'])} of {format_count(facts['ngrams'])} found; "
                f"{counted(facts['with_hits'], 'document')} with at least one"
            )
        if facts["scored"] and "leave_one_out" in facts:
            loo = facts["leave_one_out"]
            lines.append(
                f"  leave-one-out: mean {loo['mean']:.4f}, median {loo['median']:.4f}; "
                f"{counted(loo['with_own_document'], 'candidate')} with a document of their own in the corpus"
            )
        for domain in facts.get("by_domain", ())[:_DOMAINS]:
            name = "no domain" if domain["domain"] is None else domain["domain"]
            mean = "undefined" if domain["mean"] is None else f"{domain['mean']:.4f}"
            lines.append(f"  {name}: mean {mean} of {counted(domain['scored'], 'document')}")
        if len(facts.get("by_domain", ())) > _DOMAINS:
            lines.append(f"  ... and {len(facts['by_domain']) - _DOMAINS:,} more domains; --json has them all")
        lines.append(f"  {_false_hits(facts['filter_fpr'])}")
        if facts["scored"]:
            lines.extend(_bars(facts["histogram"]["edges"], facts["histogram"]["counts"]))
    return "\n".join(lines)


def index_facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a score report says of an index."""
    return {
        "name": manifest["name"],
        "content_id": manifest["content_id"],
        "words": manifest["words"],
        "documents": manifest["counts"]["documents"],
        "tiers": manifest["tiers"],
        "demo": manifest["demo"],
        "partial": manifest["partial"],
        "sets": [
            {key: each[key] for key in ("n", "kind", "distinct", "target_rate", "rate", "fill", "overfull")}
            for each in manifest["sets"]
        ],
    }


def index_warnings(manifests: Iterable[Mapping[str, Any]]) -> list[str]:
    """What a reader of any number from these indexes has to know."""
    warnings = []
    manifests = list(manifests)
    there = {(each["part"]["part"], each["part"]["of"]) for each in manifests if "part" in each}
    for manifest in manifests:
        label = manifest["name"] or manifest["content_id"][:16]
        if manifest["demo"]:
            warnings.append(
                f"index {label} is the DEMONSTRATION corpus (Python's standard library): its overlap says nothing about "
                "any training corpus; build an index of yours with: ngramscope build-index FILES"
            )
        if manifest["partial"]:
            warnings.append(
                f"index {label} is INCOMPLETE: some inputs were left out when it was built, so true overlap may be higher; "
                "ngramscope inspect lists them"
            )
        if "part" in manifest:
            part, of = manifest["part"]["part"], manifest["part"]["of"]
            if any((each, of) not in there for each in range(1, of + 1)):
                warnings.append(
                    f"index {label} is PART {part} of {of}: without the others true overlap may be higher; merge or name all"
                )
        for keys in manifest["sets"]:
            if keys["occurrences"] == 0:
                warnings.append(
                    f"index {label} is EMPTY for n = {keys['n']}: it holds no n-gram, so every overlap with it is 0"
                )
            if keys["overfull"]:
                warnings.append(
                    f"index {label} is OVER-FULL for n = {keys['n']}: {keys['fill']:.3f} of its bits are set, and "
                    f"{keys['rate']:.4g} of absent n-grams count as found, not {keys['target_rate']:.4g}"
                )
    return warnings


def _bars(edges: Sequence[float], counts: Sequence[int]) -> list[str]:
    top = max(counts)
    width = len(f"{top:,}")
    last = len(counts) - 1
    return [
        f"  [{edges[place]:.1f}, {edges[place + 1]:.1f}{']' if place == last else ')'} {count:>{width},} "
        f"{'█' * max(round(count / top * _BAR), 1 if count else 0)}".rstrip()
        for place, count in enumerate(counts)
    ]


def _number(value: float) -> str:
    return "undefined" if value != value else f"{value:.4f}"


def _false_hits(rate: float) -> str:
    return f"a false hit for one absent n-gram in {format_count(1 / rate)} (rate {rate:.4g})" if rate > 0 else "no false hits"
