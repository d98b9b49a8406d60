"""Studies of paper_tables.toml: list them, write one as a description for ``ngramscope audit``, run it, compare with the paper.

python benchmarks/paper_tables.py list
python benchmarks/paper_tables.py write duan-table-1 --out duan-table-1.toml
python benchmarks/paper_tables.py run duan-table-1 --out results/duan-table-1
python benchmarks/paper_tables.py compare duan-table-1 results/duan-table-1 [--shared ../shared/data]
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ngramscope.attacks.base import find_attack
from ngramscope.attacks.compat import switches
from ngramscope.study import load_study, run_study
from ngramscope.study.toml import read_toml, to_toml

TABLES = Path(__file__).with_name("paper_tables.toml")
PARTS = ("study", "read", "keys", "overlap", "validation", "scoring", "attacks", "evaluation")


def entries(path: Path = TABLES) -> dict[str, dict[str, Any]]:
    """The studies by name."""
    return {each["name"]: each for each in read_toml(path).data["studies"]}


def description(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What ``ngramscope audit`` reads, with everything that is repeated."""
    head = {"name": entry["source"], **entry.get("study", {})}
    parts = {name: entry[name] for name in PARTS if name in entry and name != "study"}
    sets, models = ([each for table in entry.get(key, ()) for each in _repeated(table)] for key in ("sets", "models"))
    return {"study": head, **parts, "sets": sets, "models": models}


def stand_in(entry: Mapping[str, Any], candidates: str, model: str) -> dict[str, Any]:
    """The same study of `candidates` (with a column ``neighbors``) and of one small model under every name, to try it out."""
    found = {**description(entry), "keys": {"fields": ["neighbors"]}}
    for each in found["sets"]:
        if "perturbed" in each:
            each.pop("tokenizer", None)
            continue
        for key in ("import", "split", "config", "members", "nonmembers", "per_domain", "allow_fewer"):
            each.pop(key, None)
        each["set"] = [candidates]
    models = []
    for each in found["models"]:
        revisions = each.get("revisions") or [each.get("revision")]
        for revision in revisions:
            label = each.get("label") or each["name"] + (f"@{revision}" if revision else "")
            models.append({"name": model, "label": label, "role": each.get("role", "target")})
    return {**found, "models": models}


def published(entry: Mapping[str, Any], shared: Path) -> Iterator[tuple[str, str, str, float]]:
    """Set, model, attack and AUC: of the entry's own rows, and of the file that it names, if that is there."""
    for table in entry.get("published", ()):
        for name, model, *values in table["rows"]:
            yield from (
                (name, model, attack, value) for attack, value in zip(table["attacks"], values, strict=True) if value != ""
            )
    source = entry.get("published_file")
    if source is None or not (shared / source["path"]).exists():
        return
    known = {(row["dataset"], row["target"], row["attack"]): row["roc_auc"] for row in _rows(shared / source["path"])}
    found = description(entry)
    for part, model in itertools.product(found["sets"], found["models"]):
        # Result files have the names of models without the revision, a slash as an underscore.
        names = {model["name"].replace("/", "_"), model.get("label")}
        label = model.get("label") or model["name"] + (f"@{model['revision']}" if "revision" in model else "")
        for attack, theirs in source["attacks"].items():
            keys = itertools.product([source["dataset"].format(set=part["name"])], names, theirs)
            value = next((known[key] for key in keys if key in known), None)
            if value is not None and model.get("role", "target") == "target":
                yield part["name"], label, attack, float(value)


def compare(entry: Mapping[str, Any], folder: Path, shared: Path) -> Iterator[list[str]]:
    """Rows of a table: what was published, what was measured, and whether the former lies in the interval of the latter."""
    yield ["set", "model", "attack", "published", "measured", "interval", "within"]
    for name, model, attack, value in published(entry, shared):
        path = folder / name / "evaluation" / "evaluation.json"
        rows = json.loads(path.read_bytes())["rows"] if path.exists() else []
        column = column_of(attack, entry["attacks"].get("compat"))
        row = next((each for each in rows if each["attack"] == column and each["model"] == model), None)
        if row is None or row["auc"] is None:
            yield [name, model, attack, f"{value:.3f}", "-", "-", "-"]
            continue
        low, high = row["interval"] or (row["auc"], row["auc"])
        within = "yes" if low <= value <= high else "no"
        yield [name, model, attack, f"{value:.3f}", f"{row['auc']:.3f}", f"[{low:.3f}, {high:.3f}]", within]


def column_of(attack: str, compat: str | None) -> str:
    """What tables call an attack, or one signal of it, under a preset."""
    name, dot, signal = attack.partition(".")
    found = find_attack(name)
    changed = {option: value for option, value in switches(found, compat).items() if value != found.options[option]}
    told = ", ".join(f"{option}={value}" for option, value in changed.items())
    return f"{name}{f'({told})' if told else ''}{dot}{signal}"


def main(arguments: list[str] | None = None) -> int:
    """Do as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    for name, words in (("write", "--out"), ("run", "--out"), ("compare", "folder")):
        command = commands.add_parser(name)
        command.add_argument("name", choices=sorted(entries()))
        command.add_argument(words, type=Path, **({"required": True} if words.startswith("-") else {}))
    shared = Path(os.environ.get("NGRAMSCOPE_SHARED", "../shared")) / "data"
    commands.choices["compare"].add_argument("--shared", type=Path, default=shared)
    given = parser.parse_args(arguments)
    if given.command == "list":
        for name, entry in entries().items():
            print(f"{name}: {entry['source']}" + (f"\n    first: {entry['needs']}" if "needs" in entry else ""))
        return 0
    entry = entries()[given.name]
    if given.command == "compare":
        print("\n".join("\t".join(row) for row in compare(entry, given.folder, given.shared)))
        return 0
    path = given.out if given.command == "write" else given.out.with_suffix(".toml")
    path.write_text(f"# {entry['source']}\n{to_toml(description(entry))}", encoding="utf-8")
    if given.command == "run":
        run_study(
            load_study(path),
            given.out,
            tell=lambda done, number, steps: print(f"{number}/{steps} {done.name}", file=sys.stderr),
        )
    return 0


def _repeated(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    values = dict(table.get("each", {}))
    rest = {key: value for key, value in table.items() if key != "each"}
    for chosen in itertools.product(*values.values()):
        yield {key: _filled(value, dict(zip(values, chosen, strict=True))) for key, value in rest.items()}


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for key, text in names.items():
            value = value.replace(f"{{{key}}}", text)
        return value
    return [_filled(each, names) for each in value] if isinstance(value, list) else value


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Published results; AUCs of CSV files are in percent."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield {
                    "dataset": row["dataset"], "target": row["model"], "attack": row["method"],
                    "roc_auc": float(row["auroc"].rstrip("%")) / 100,
                }  # fmt: skip
        return
    import zstandard

    with zstandard.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


if __name__ == "__main__":
    raise SystemExit(main())
