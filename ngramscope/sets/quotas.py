"""How many documents of each side and domain a sample takes, and which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.sets.base import side

__all__ = ["Quotas", "allot"]

Integers = NDArray[np.int64]
_SHOWN = 20


class Quotas:
    """Quotas of a stratified sample; exactly one of `per_domain` and `total`.

    Parameters
    ----------
    domains
        Names; None is that of documents without one.
    domain, member
        Of each document: the number of its domain, whether it is a member; shape (documents,).
    labels
        The sides that there shall be.
    per_domain
        Documents of each side and domain.
    total
        Documents of each side. A domain's part is in proportion to the smaller of its two sides, so that the sides have the
        same domains in the same proportions; what is left by rounding down goes to the largest remainders.

    Attributes
    ----------
    short
        Sides and domains of which there is less than asked for; with `total`, sides, and what they have in common.
    """

    def __init__(
        self,
        domains: Sequence[str | None],
        domain: NDArray[np.integer[Any]],
        member: NDArray[np.bool_],
        labels: Sequence[int],
        *,
        per_domain: int | None,
        total: int | None,
    ) -> None:
        names = domains or [None]
        by_name = sorted(range(len(names)), key=lambda number: names[number] or "")
        self._names = [names[number] or "" for number in by_name]
        self._domain = np.argsort(by_name)[domain]
        self._member = member
        self._found = {label: np.bincount(self._domain[member == bool(label)], minlength=len(names)) for label in labels}
        if total is None:
            self._option = f"--per-domain {per_domain}"
            self._asked = np.full(len(names), per_domain)
            self.short = [each for label in labels for each in self._shortage(label)]
        else:
            self._option = f"--total {total}"
            common = np.min(list(self._found.values()), axis=0)
            self._asked = allot(total, common)
            there = int(common.sum())
            lacking = labels if there < total else ()
            self.short = [{"side": side(label), "domain": None, "asked": total, "found": there} for label in lacking]

    def complaint(self) -> str:
        """What is missing, for an error."""
        if self.short[0]["domain"] is None:
            sides = (f"{side(label)}: {counts.sum():,}{self._by_domain(counts)}" for label, counts in self._found.items())
            found = f"{'; '.join(sides)}; {self.short[0]['found']:,} of each side, domain by domain"
        else:
            shown = [f"{each['side']}{_of(each['domain'])}: {each['found']:,}" for each in self.short[:_SHOWN]]
            found = ", ".join(shown) + _more(len(self.short))
        return f"{self._option}: too few documents; found {found}{self._apart()}"

    def _apart(self) -> str:
        if len(self._found) < 2 or (np.min(list(self._found.values()), axis=0) > 0).any():
            return ""
        return " (no domain has documents on both sides: to draw without domains, give a --domain-key that no record has)"

    def _by_domain(self, counts: Integers) -> str:
        if self._names == [""]:
            return ""
        shown = [f"{name or '(none)'} {count:,}" for name, count in zip(self._names, counts.tolist(), strict=True)]
        return f" ({', '.join(shown[:_SHOWN])}{_more(len(shown))})"

    def take(self, draw: NDArray[np.uint64]) -> Integers:
        """The documents that are taken: of each side and domain those with the smallest `draw`.

        They come members first, then by the name of the domain, then by `draw`.
        """
        order = np.lexsort((draw, self._domain, ~self._member))
        stratum = self._domain[order] + len(self._names) * ~self._member[order]
        starts = np.searchsorted(stratum, stratum)
        chosen: Integers = order[np.arange(len(order)) - starts < self._asked[self._domain[order]]]
        return chosen

    def to_dict(self) -> dict[str, Any]:
        """For each domain and side, how many there are and how many are asked for."""
        return {
            name: {
                side(label): {"found": int(counts[number]), "asked": int(self._asked[number])}
                for label, counts in self._found.items()
            }
            for number, name in enumerate(self._names)
        }

    def _shortage(self, label: int) -> list[dict[str, Any]]:
        rows = zip(self._names, self._asked.tolist(), self._found[label].tolist(), strict=True)
        return [
            {"side": side(label), "domain": name, "asked": asked, "found": found}
            for name, asked, found in rows
            if found < asked
        ]


def _of(domain: str) -> str:
    return f" of {domain}" if domain else ""


def _more(count: int) -> str:
    return f" and {count - _SHOWN:,} more" if count > _SHOWN else ""


def allot(total: int, sizes: Integers) -> Integers:
    """Deal `total` out in proportion to `sizes` (k,), by largest remainders; all of them where they do not suffice."""
    there = int(sizes.sum())
    if total >= there:
        return sizes
    parts, rest = np.divmod(sizes * total, there)
    parts[np.argsort(-rest, kind="stable")[: total - int(parts.sum())]] += 1
    return parts
