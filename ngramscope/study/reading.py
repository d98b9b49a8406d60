"""Studies from TOML files, and to them; names of files are relative to the file that names them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ngramscope.attacks.base import find_attack
from ngramscope.corpus.manifest import find_manifest, manifest_and_split
from ngramscope.corpus.remote import is_remote
from ngramscope.errors import NgramscopeError
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.index.options import ReadOptions, WordRule
from ngramscope.models.encode import EncodeOptions
from ngramscope.models.load import ModelOptions
from ngramscope.models.passes import check_passes, pass_kinds
from ngramscope.sets.overlaps import OverlapOptions
from ngramscope.sets.records import Keys
from ngramscope.sets.verdict import ShiftRule
from ngramscope.study.description import AttackPart, ModelPart, ScoringPart, SetPart, Study, ValidationPart
from ngramscope.study.further import FURTHER
from ngramscope.study.makers import MAKERS, Maker
from ngramscope.study.toml import NONE, Table, read_toml, to_toml

__all__ = ["STUDY_FILE", "load_study", "study_toml", "table_of"]

STUDY_FILE = "study.toml"
"""Name of the description in a study's folder."""

Paths = tuple[str, ...]

_TOP = ("study", "read", "keys", "sets", "overlap", "validation", "models", "scoring", "attacks", "evaluation", *FURTHER)
_OF_SET = ("name", "against", "modified", "at")
_OVERLAP = {"index": "indexes", "scan": "scan", "flags": "flags", "n": "n", "own_share": "own_share", "own_cap": "own_cap",
            "accept_demo": "accept_demo", "threads": "threads"}  # fmt: skip
_SCORING = ("batch_tokens", "padding_side", "statistics", "workers", "devices", "engine", "ray_address")
# Who a domain is read by, and what is carried along, is said under [keys].
_READ = tuple(each.name for each in fields(ReadOptions) if each.name not in ("fields", "domain_key"))


def load_study(path: str | os.PathLike[str]) -> Study:
    """Read a description.

    Raises
    ------
    InputError
        It cannot be read, or something in it cannot be: names file and line, and for keys that are not known those that are.
    """
    top = read_toml(Path(path))
    top.check(_TOP)
    base = Path(path).parent
    head, attacks = top.table("study"), top.table("attacks")
    head.check(("name", "series"))
    models = [model for each in top.tables("models") for model in _models(each, base)]
    try:
        return Study(
            name=head.get("name", str, Path(path).stem),
            series=head.get("series", str),
            read=_whole(top.table("read"), ReadOptions, _READ),
            keys=_whole(top.table("keys"), Keys),
            sets=tuple(_set(each, base) for each in top.tables("sets")),
            overlap=_overlap(top.table("overlap"), base) if "overlap" in top.data else None,
            validation=_validation(top.table("validation"), base),
            models=tuple(models),
            scoring=_scoring(top.table("scoring"), base),
            attacks=_attacks(attacks, base),
            evaluation=_whole(top.table("evaluation"), EvaluationOptions),
            further={name: _further(top.table(name), name) for name in FURTHER if name in top.data},
            source=top,
        )
    except NgramscopeError as error:
        if str(error).startswith(str(path)):
            raise
        top.refuse(str(error))


def study_toml(study: Study, folder: Path) -> str:
    """The description with every setting, for a file in `folder`."""
    return to_toml(table_of(study, lambda name: _relative(name, folder)))


def table_of(study: Study, named: Any = lambda name: name) -> dict[str, Any]:
    """A study as nested mappings, as in TOML; `named` is applied to every name that may be a file's."""
    validation = study.validation
    return {
        "study": {"name": study.name, "series": study.series},
        "read": _values(study.read, _READ),
        "keys": _values(study.keys),
        "overlap": None if study.overlap is None else _overlap_table(study.overlap, named),
        "validation": {
            **({} if validation.rule is None else _values(validation.rule)),
            "reference": [named(each) for each in validation.reference],
            "describe": validation.describe,
            "max_texts": validation.max_texts,
        },
        "scoring": {
            **_values(study.scoring, _SCORING),
            **_values(study.scoring.encode),
            "passes": {name: _named_option(name, value, named) for name, value in study.scoring.passes.items()},
        },
        "attacks": {
            **_values(study.attacks, ("names", "passes", "compat", "seed")),
            "token_counts": None if study.attacks.token_counts is None else named(study.attacks.token_counts),
            "options": study.attacks.options,
        },
        "evaluation": _values(study.evaluation),
        **{name: _values(options) for name, options in study.further.items()},
        "sets": [_set_table(each, named) for each in study.sets],
        "models": [
            {
                **_values(each.options),
                "name": named(each.options.name),
                "tokenizer": None if each.options.tokenizer is None else named(each.options.tokenizer),
                "role": each.role,
                "label": each.label,
            }
            for each in study.models
        ],
    }


def _whole(table: Table, kind: type[Any], names: Sequence[str] | None = None) -> Any:
    names = [each.name for each in fields(kind)] if names is None else names
    table.check(names)
    return table.make(kind, {name: name for name in names})


def _further(table: Table, name: str) -> Any:
    kind = FURTHER[name]
    names = [each.name for each in fields(kind.options)]
    table.check(names)
    missing = [
        each.name for each in fields(kind.options) if each.default is dataclasses.MISSING and each.name not in table.data
    ]
    if missing:
        table.refuse(f"[{name}] needs {missing[0]}")
    others = {key: value for key, value in kind.defaults.items() if key not in table.data}
    return table.make(kind.options, {each: each for each in names}, **others)


def _set(table: Table, base: Path) -> SetPart:
    kind = next((name for name, maker in MAKERS.items() if any(key in table.data for key in maker.inputs)), None)
    if kind is None:
        sources = ", ".join(key for maker in MAKERS.values() for key in maker.inputs)
        table.refuse(f"[[sets]] says not what the set is made of; give one of {sources}")
    maker = MAKERS[kind]
    options = [each.name for each in fields(maker.options) if each.name not in maker.left_out]
    table.check((*_OF_SET, *maker.inputs, *maker.more, *options))
    if "name" not in table.data:
        table.refuse("[[sets]] has no name; a folder is named after it")
    inputs = {key: _input(table, key, maker, base) for key in maker.inputs if key in table.data}
    if len(inputs) < len(maker.inputs):
        table.refuse(f"[[sets]] has {', '.join(inputs)}, but no {', '.join(set(maker.inputs) - set(inputs))}; give both")
    more = {key: table.get(key, str) for key in maker.more if key in table.data}
    return table.make(
        SetPart,
        {key: key for key in _OF_SET},
        kind=kind,
        inputs=inputs,
        options=table.make(maker.options, {name: name for name in options}),
        more={key: _place(value, base, hub=key != "key") if key in maker.files else value for key, value in more.items()},
    )


def _input(table: Table, key: str, maker: Maker, base: Path) -> Paths:
    value: str | Paths = table.get(key, str | Paths)
    names = (value,) if isinstance(value, str) else value
    if not names:
        table.refuse(f"{key} is empty", key)
    return names if maker.of_set else tuple(_place(each, base, hub=key == "import") for each in names)


def _set_table(part: SetPart, named: Any) -> dict[str, Any]:
    maker = MAKERS[part.kind]
    options = [each.name for each in fields(maker.options) if each.name not in maker.left_out]
    return {
        "name": part.name,
        **{key: part.inputs[key][0] if maker.of_set else list(map(named, part.inputs[key])) for key in part.inputs},
        **{key: named(value) if key in maker.files else value for key, value in part.more.items()},
        **_values(part.options, options),
        "against": part.against,
        "modified": part.modified,
        "at": part.at,
    }


def _overlap(table: Table, base: Path) -> OverlapOptions:
    rule = tuple(each.name for each in fields(WordRule))
    table.check((*_OVERLAP, *rule))
    asked = any(name in table.data for name in rule)
    paths = {
        field: tuple(_place(each, base) for each in table.get(key, tuple[str, ...], ()))
        for key, field in (("index", "indexes"), ("scan", "scan"))
    }
    others = {key: field for key, field in _OVERLAP.items() if field not in paths}
    return table.make(OverlapOptions, others, **paths, rule=table.make(WordRule) if asked else None)


def _overlap_table(options: OverlapOptions, named: Any) -> dict[str, Any]:
    values = _values(options, tuple(_OVERLAP.values()))
    found = {key: values[field] for key, field in _OVERLAP.items()}
    found |= {key: [named(os.fspath(each)) for each in found[key]] or None for key in ("index", "scan")}
    return {**found, **({} if options.rule is None else _values(options.rule))}


def _validation(table: Table, base: Path) -> ValidationPart:
    rule = [each.name for each in fields(ShiftRule)]
    table.check((*rule, "reference", "describe", "max_texts"))
    reference = tuple(_place(each, base) for each in table.get("reference", tuple[str, ...], ()))
    return table.make(
        ValidationPart,
        {"describe": "describe", "max_texts": "max_texts"},
        rule=table.make(ShiftRule, {name: name for name in rule}) if set(rule) & set(table.data) else None,
        reference=reference,
    )


def _models(table: Table, base: Path) -> list[ModelPart]:
    options = [each.name for each in fields(ModelOptions)]
    table.check((*options, "role", "label", "revisions"))
    if table.data.get("name", "") == "":
        table.refuse("[[models]] has no name; give a name on the hub, a folder, or a .gguf file")
    model = table.make(ModelOptions, {name: name for name in options})
    tokenizer = None if model.tokenizer is None else _place(model.tokenizer, base, hub=True)
    model = replace(model, name=_place(model.name, base, hub=True), tokenizer=tokenizer)
    revisions = table.get("revisions", tuple[str, ...])
    if revisions is not None and model.revision is not None:
        table.refuse("revision and revisions; give one of them", "revisions")
    if revisions == ():
        table.refuse("revisions is empty; leave it out for the newest one", "revisions")
    chosen = [model] if revisions is None else [replace(model, revision=each) for each in revisions]
    label = table.get("label", str, "")
    if label and len(chosen) > 1:
        table.refuse("label with several revisions: each is called NAME@REVISION; leave it out", "label")
    return [table.make(ModelPart, {"role": "role"}, options=each, label=label) for each in chosen]


def _scoring(table: Table, base: Path) -> ScoringPart:
    encode = [each.name for each in fields(EncodeOptions)]
    table.check((*_SCORING, *encode, "passes"))
    passes = table.table("passes")
    known = {name: default for kind in pass_kinds().values() for name, default in kind.options.items()}
    passes.check(known)
    given = {}
    for name in passes.data:
        default = known[name]
        hint = tuple[str, ...] if isinstance(default, tuple) else str if default is None else type(default)
        given[name] = _named_option(name, passes.get(name, hint), lambda each: _place(each, base))
    try:
        check_passes(given)
    except NgramscopeError as error:
        passes.refuse_option(error)
    return table.make(
        ScoringPart,
        {name: name for name in _SCORING},
        encode=table.make(EncodeOptions, {name: name for name in encode}),
        passes=given,
    )


def _named_option(name: str, value: Any, named: Any) -> Any:
    """An option of a pass; the default of one that names files is None, or a tuple."""
    default = next(kind.options[name] for kind in pass_kinds().values() if name in kind.options)
    if default is None:
        return named(value)
    return [named(each) for each in value] if isinstance(default, tuple) else value


def _attacks(table: Table, base: Path) -> AttackPart:
    keys = ("names", "passes", "compat", "seed")
    table.check((*keys, "token_counts", "options"))
    counts = table.get("token_counts", str)
    given: dict[str, dict[str, Any]] = {}
    options = table.table("options")
    for name in options.data:
        try:
            known = find_attack(name)
        except NgramscopeError as error:
            options.refuse(f"{options.name}: {error}", name)
        mine = options.table(name)
        mine.check(known.options)
        given[name] = {option: mine.get(option, Any) for option in mine.data}
        for option, value in given[name].items():
            try:
                known.check({option: value})
            except NgramscopeError as error:
                why = str(error).removeprefix(f"{name}.").removeprefix(f"{option}: ")
                mine.refuse(f"{mine.name} {option}: {why}", option)
    return table.make(
        AttackPart,
        {key: key for key in keys},
        token_counts=None if counts is None else _place(counts, base),
        options=given,
    )


def _values(made: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
    """The fields of a dataclass, as TOML can have them: None where it is not the default is the text `NONE`."""
    found = {}
    for each in fields(made):
        if names is not None and each.name not in names:
            continue
        value = getattr(made, each.name)
        has_default = each.default is not dataclasses.MISSING and each.default is not None
        found[each.name] = NONE if value is None and has_default else value
    return found


def _place(name: str, base: Path, *, hub: bool = False) -> str:
    """A name in a file of the folder `base`; with `hub`, what is not there may be a name on the hub."""
    if is_remote(name) or Path(name).is_absolute() or name == "-":
        return name
    place = os.path.normpath(base / name)
    if hub and not os.path.lexists(place):
        return name
    if not os.path.lexists(place) and (manifest := manifest_and_split(name)) is not None and _bundled(manifest[0]):
        return name
    return place


def _bundled(name: str) -> bool:
    try:
        find_manifest(name)
    except NgramscopeError:
        return False
    return True


def _relative(name: str, folder: Path) -> str:
    """The name of a file for a description in `folder`; other names as they are."""
    local = manifest_and_split(name)
    path = Path(name if local is None else local[0])
    if is_remote(name) or path.is_absolute() or not (any(each in name for each in "*?[{") or os.path.lexists(path)):
        return name
    return os.path.relpath(name, folder)
