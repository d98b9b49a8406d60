"""Where the numbers come from."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from ngramscope.report.parts import Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View

__all__ = ["provenance"]

_DROPPED = ("settings", "inputs", "artefact", "format_version", "ngramscope", "python")


@section("provenance", "Provenance", place=950)
def provenance(view: View) -> Section:
    """Artefacts with their versions and seeds, inputs with their digests, models, settings."""
    results = view.results
    headers = {
        "evaluation": results.evaluation,
        "score table": None if results.scores is None else results.scores.header,
        "score store": None if results.store is None else results.store.header,
        "validation": results.validation,
        "sets of documents": results.setmi,
        "suspect data sets": results.dataset_inference,
        "jumps at the cutoff": results.rdd,
        "candidate set": results.header,
    }
    known = {name: each for name, each in headers.items() if each}
    if not known:
        return Section(missing="No artefact with a header is there.")
    rows: list[list[Any]] = [
        [name, each.get("format_version"), each.get("ngramscope"), each.get("python"), _seed(each)]
        for name, each in known.items()
    ]
    columns = heads("artefact", "format version:count", "ngramscope", "Python", "seed")
    tables = [Table(view.named("artefacts"), "What the report is made from.", columns, rows)]
    files: list[list[Any]] = []
    for name, each in known.items():
        for given in each.get("inputs") or ():
            digest = given.get("sha256") or given.get("blake3") or given.get("digest")
            files.append([name, given.get("name"), given.get("bytes"), None if digest is None else str(digest)])
    if files:
        columns = heads("of", "file", "bytes:count", "digest")
        tables.append(Table(view.named("inputs"), "Inputs.", columns, files, folded=len(files) > 12))
    models = [_model(each) for each in results.store.passes] if results.store is not None else []
    if models:
        columns = heads(
            "model", "role", "pass", "parameters:count", "revision or commit", "type", "texts:count", "without a score"
        )
        tables.append(Table(view.named("models"), "Models and passes.", columns, models))
    settings = {name: each["settings"] for name, each in known.items() if each.get("settings")}
    text = json.dumps(settings, indent=1, ensure_ascii=False, default=str)
    html = f"<details><summary>All settings</summary><pre>{escape(text)}</pre></details>" if settings else ""
    return Section([], tables, html=html)


def _seed(header: Any) -> str | None:
    found = header.get("seed", (header.get("settings") or {}).get("seed"))
    return None if found is None else str(found)


def _model(stored: Any) -> list[Any]:
    model, counts = stored.header["model"], stored.header["counts"]
    missing = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in (counts.get("null") or {}).items())
    return [stored.model, stored.role, stored.kind, stored.parameters, model.get("commit") or model.get("revision"),
            model.get("dtype"), counts.get("texts"), missing or "none"]  # fmt: skip
