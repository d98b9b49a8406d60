"""Documents of a set as data of a page: a few numbers of each at once, texts in packed pieces for when they are asked for."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from ngramscope.attacks.table import ScoreTable
from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.splits import seed_of
from ngramscope.report.view import View
from ngramscope.sets.base import Candidate
from ngramscope.sets.records import RecordSource

__all__ = ["PIECE", "explorer"]

PIECE = 200
"""Documents a packed piece."""

_TOKENS = 8
_COLUMNS = 8
_MATCHED, _PLAIN = 1, 0


def explorer(view: View) -> str:
    """The explorer of a set, with its data: safe HTML; empty without scores."""
    table = view.results.scores
    if table is None or not len(table.labels):
        return ""
    name = view.named("documents")
    data = {"ids": view.ids, "label": [None if np.isnan(each) else int(each) for each in table.labels], **_numbers(view, table)}
    pieces = list(_pieces(view, len(table.labels)))
    data["piece"] = PIECE if pieces else None
    html = [f'<div class="explorer" id="{escape(name)}-explorer" data-source="{escape(name)}-data"></div>',
            f'<script type="application/json" id="{escape(name)}-data">{_script(data)}</script>']  # fmt: skip
    html += [
        f'<script type="text/plain" id="{escape(name)}-data-{number}">{piece}</script>' for number, piece in enumerate(pieces)
    ]
    return "\n".join(html)


def _script(data: Any) -> str:
    """JSON that cannot end the script that it stands in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _numbers(view: View, table: ScoreTable) -> dict[str, Any]:
    columns: list[dict[str, Any]] = []
    for column in table.documents.column_names:
        parts = column.removeprefix("overlap_").removeprefix("loo_")
        if column.startswith("overlap_") and parts.isdigit():
            kind = ", leave-one-out" if column.startswith("overlap_loo_") else ""
            values = np.array(
                [np.nan if each is None else each for each in table.documents[column].to_pylist()], dtype=np.float64
            )
            if np.isfinite(values).any():
                columns.append({"name": f"overlap {parts}{kind}", "values": _short(values)})
    shown = [(attack, model) for model in view.targets[:1] for attack in view.shown(model)]
    for attack, model in shown:
        found = next((each for each in table.columns if (seed_of(each.attack)[0], each.model) == (attack, model)), None)
        if found is not None:
            columns.append({"name": attack, "values": _short(found.scores), "attack": True})
    found_domains = table.documents["domain"].to_pylist() if "domain" in table.documents.column_names else []
    domains = sorted({str(each) for each in found_domains if each is not None})
    place = {each: number for number, each in enumerate(domains)}
    return {
        "columns": columns[: _COLUMNS + 2],
        "domains": domains,
        "domain": [None if each is None else place[str(each)] for each in found_domains] if len(domains) > 1 else [],
    }


def _short(values: Floats) -> list[float | None]:
    return [float(f"{each:.4g}") if np.isfinite(each) else None for each in values.tolist()]


def candidates(view: View) -> list[Candidate]:
    """The candidates of the score table's rows; none if their file is not at hand, or has others."""
    path, table = view.results.candidates, view.results.scores
    if path is None or table is None or not path.is_file():
        return []
    found = list(RecordSource((str(path),)).open().candidates())
    known = table.documents["id"].to_pylist() if "id" in table.documents.column_names else []
    same = len(found) == len(known) and all(
        given in (None, json.dumps(each.id, ensure_ascii=False)) for given, each in zip(known, found, strict=True)
    )
    return found if same else []


def _pieces(view: View, count: int) -> Iterator[str]:
    """Texts in segments, and surprising tokens, `PIECE` documents each: JSON, deflated, in base 64."""
    texts = candidates(view) if view.characters else []
    tokens = _surprising(view)
    if not texts and not tokens:
        return
    for start in range(0, count, PIECE):
        rows = range(start, min(start + PIECE, count))
        piece = [
            {"text": _segments(view, row, texts[row].text) if texts else None, "tokens": tokens.get(row, [])} for row in rows
        ]
        packed = zlib.compress(json.dumps(piece, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"), 9)
        yield base64.b64encode(packed).decode()


def _segments(view: View, row: int, text: str) -> list[Any]:
    """Alternating pieces of the text, each with whether the corpus has it; and the number of characters that were cut."""
    spans = view.results.spans[row] if view.results.spans is not None and row < len(view.results.spans) else ()
    end, at, found = min(len(text), view.characters), 0, list[Any]()
    for first, last in merged(spans):
        if first >= end:
            break
        if first > at:
            found.append([_PLAIN, text[at:first]])
        found.append([_MATCHED, text[max(first, at) : min(last, end)]])
        at = min(last, end)
    if at < end:
        found.append([_PLAIN, text[at:end]])
    return [found, len(text) - end]


def merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that touch joined."""
    found: list[tuple[int, int]] = []
    for start, end in sorted((int(start), int(end)) for start, end in spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif end > start:
            found.append((start, end))
    return found


def _surprising(view: View) -> dict[int, list[list[Any]]]:
    """By row the tokens with the highest loss under the first target model: text, loss, how many were more likely, position."""
    stored = next(iter(view.stored("plain", "target")), None)
    if stored is None or view.results.scores is None or len(stored.stats) > 2 * len(view.results.scores.labels):
        return {}
    stats = stored.stats
    log_prob, ids = stats["log_prob"], stats["token_id"]
    ranks = stats.columns.get("rank")
    chosen: list[tuple[int, int, int]] = []
    for row, start, end in zip(stats.rows.tolist(), stats.offsets[:-1].tolist(), stats.offsets[1:].tolist(), strict=True):
        part = log_prob[start:end]
        count = min(_TOKENS, len(part))
        if not count:
            continue
        lowest = np.argpartition(part, count - 1)[:count]
        chosen += [(row, start + int(each), int(each)) for each in lowest[np.argsort(part[lowest], kind="stable")]]
    texts = _texts(view, sorted({int(ids[place]) for _, place, _ in chosen}))
    found: dict[int, list[list[Any]]] = {}
    for row, place, position in chosen:
        token = int(ids[place])
        rank = None if ranks is None else int(ranks[place])
        found.setdefault(row, []).append(
            [texts.get(token, f"id {token}"), round(-float(log_prob[place]), 2), rank, position + 1]
        )
    return found


def _texts(view: View, ids: Sequence[int]) -> dict[int, str]:
    return {} if view.results.tokens is None or not ids else dict(zip(ids, view.results.tokens(ids), strict=True))
