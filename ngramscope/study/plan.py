"""The steps of a study, in order, each with the key that says whether it is there already."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ngramscope.attacks.base import PLUGINS, find_attack
from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.base import PLUGINS as BLIND_PLUGINS
from ngramscope.corpus.tokens import TokenCounts
from ngramscope.errors import NgramscopeError, UsageError
from ngramscope.evaluate.columns import check_overlaps, strata_by
from ngramscope.evaluate.prepare import prepare
from ngramscope.evaluate.randomization import assignments
from ngramscope.models.documents import document_table, read_set
from ngramscope.models.passes import find_pass
from ngramscope.models.place import Place
from ngramscope.models.score import texts_of_pass
from ngramscope.models.write import digest, pass_name
from ngramscope.sets.overlaps import open_index
from ngramscope.sets.randomized_files import open_key
from ngramscope.sets.records import RecordSource
from ngramscope.study.cache import Task, kept_step
from ngramscope.study.description import ModelPart, SetPart, Study
from ngramscope.study.evaluating import evaluate_set, evaluate_texts
from ngramscope.study.further import FURTHER, further
from ngramscope.study.inputs import corpus_facts, file_facts, index_facts, model_facts
from ngramscope.study.makers import MAKERS, SET_FILE, make_set
from ngramscope.study.measure import cannot_validate, measure_overlap, shift_rule, validation
from ngramscope.study.reading import table_of
from ngramscope.study.scoring import Models, attack, score

__all__ = ["Plan"]

Progress = Callable[[Any], None]

# What has no say in numbers.
_IDLE = ("threads", "device", "devices", "device_map", "workers", "engine", "ray_address", "batch_tokens", "padding_side")


class Plan:
    """The steps of `study` in the folder `root`.

    Parameters
    ----------
    progress
        Called by the steps while they work.

    Attributes
    ----------
    tasks
        In an order in which each finds what it needs.
    skipped
        Steps that cannot be, and why, by name.
    warnings
        What the user should know of the models.

    Raises
    ------
    InputError
        An input is not there, or what is to be a model, token counts or a key is none.
    """

    def __init__(self, study: Study, root: Path, progress: Progress | None = None) -> None:
        self._study, self._root, self._progress = study, root, progress
        self._settings = table_of(study)
        self._models = Models()
        self.tasks: list[Task] = []
        self.skipped: dict[str, str] = {}
        self.warnings: list[str] = []
        self._keys: dict[str, str] = {}
        self._corpus = self._corpus_facts()
        for part in study.sets:
            self._add_set(part)
        known: dict[str, ModelPart] = {}
        for model in study.models:
            Place.check(model.options.name, model.options.gguf_file, model.options.revision)
            facts = model_facts(model.options.name, model.options.revision)
            self.warnings += _alike(model, facts, known)
            for part in study.sets:
                for kind in study.attacks.kinds(model.role):
                    self._add_pass(part, model, kind, facts)
        attacked = study.sets if any(each.role != "reference" for each in study.models) else ()
        for part in attacked:
            self._add_attacks(part)
        for part in study.evaluated:
            self._add_evaluation(part, attacked=bool(attacked))
            for name in study.further:
                self._add_further(part, name)
        if attacked and study.attacks.token_counts is not None:
            TokenCounts.load(Path(study.attacks.token_counts))

    def check(self, step: str) -> None:
        """Of a set that is there now, or its overlap: look at what later steps would refuse after models were loaded.

        Raises
        ------
        UsageError, InputError
            What these steps say.
        """
        part = next(each for each in self._study.sets if each.name == step.partition("/")[0])
        measuring = f"{part.name}/overlap" in self._keys
        if step == f"{part.name}/set":
            self._check_passes(part)
        elif step != f"{part.name}/overlap":
            return
        if part in self._study.evaluated:
            self._check_columns(part, whole=not measuring or step.endswith("/overlap"))

    def close(self) -> None:
        """Let go of a model that is held."""
        self._models.drop()

    def file(self, part: SetPart | str, *, measured: bool = True) -> Path:
        """The candidates of a set; with their overlaps, if these are measured."""
        name = part if isinstance(part, str) else part.name
        step = "overlap" if measured and f"{name}/overlap" in self._keys else "set"
        return self._root / name / step / SET_FILE

    def store(self, part: SetPart) -> Path:
        """The score store of a set; another one for other candidates."""
        return self._root / part.name / f"store-{self._keys[f'{part.name}/set'][:8]}"

    def passes(self, part: SetPart) -> list[str]:
        """Names of the steps that are passes over a set."""
        return [each.name for each in self.tasks if each.name.startswith(f"{part.name}/passes/")]

    def _add(
        self,
        name: str,
        settings: Mapping[str, Any],
        inputs: Mapping[str, Any],
        work: Callable[[Path], Mapping[str, Any] | None],
    ) -> None:
        task = Task(name, settings, inputs, work)
        self._keys[name] = task.key
        self.tasks.append(task)

    def _upstream(self, *names: str) -> dict[str, str]:
        """Keys of the steps of these names that there are."""
        return {name.split("/", 1)[-1]: self._keys[name] for name in names if name in self._keys}

    def _corpus_facts(self) -> Any:
        overlap = self._study.overlap
        if overlap is None:
            return None
        if overlap.indexes:
            facts = index_facts([str(each) for each in overlap.indexes])
            open_index(overlap)
            return facts
        return corpus_facts([str(each) for each in overlap.scan])

    def _add_set(self, part: SetPart) -> None:
        study, maker = self._study, MAKERS[part.kind]
        table = next(each for each in self._settings["sets"] if each["name"] == part.name)
        settings = {key: value for key, value in table.items() if key not in (*maker.inputs, *_NOT_THE_SET)}
        settings = {"kind": part.kind, **settings, "read": self._settings["read"], "keys": self._settings["keys"]}
        files = (
            {key: file_facts(part.inputs[key], hub=part.kind == "import") for key in part.inputs} if not maker.of_set else {}
        )
        inputs: dict[str, Any] = {**files, **({"of": self._keys[f"{part.of}/set"]} if part.of else {})}
        if part.kind == "thresholded":
            inputs["corpus"], settings["overlap"] = self._corpus, _without(self._settings["overlap"], ("n", "index", "scan"))
        source = self.file(part.of, measured=False) if part.of else None
        self._add(
            f"{part.name}/set", settings, inputs, lambda out: make_set(part, study, source, out / SET_FILE, self._progress)
        )
        own, overlap = self._upstream(f"{part.name}/set"), study.overlap
        if overlap is None:
            return
        measuring = _without(self._settings["overlap"], ("index", "scan"))
        plain = self.file(part, measured=False)
        self._add(
            f"{part.name}/overlap", measuring, {**own, "corpus": self._corpus},
            lambda out: measure_overlap(plain, overlap, out, self._progress),
        )  # fmt: skip
        if part not in study.evaluated:
            return
        if (reason := cannot_validate(study)) is not None:
            self.skipped[f"{part.name}/validation"] = reason
            return
        declared = {**_without(self._settings["validation"], ("reference",)), **vars(shift_rule(study))}
        self._add(
            f"{part.name}/validation", {**_without(measuring, ("n",)), **declared},
            {**own, "corpus": self._corpus, "reference": file_facts(study.validation.reference)},
            lambda out: validation(plain, study, out, self._progress),
        )  # fmt: skip

    def _add_pass(self, part: SetPart, model: ModelPart, kind: str, facts: Any) -> None:
        study, store = self._study, self.store(part)
        options = study.scoring.options(model, kind)
        files = [value for name, value in options.pass_options.items() if find_pass(kind).options[name] in (None, ())]
        names = [name for value in files for name in ([value] if isinstance(value, str) else value)]
        settings = {
            "label": model.label,
            "role": model.role,
            "model": _without(vars(model.options), ("name", "tokenizer")),
            "pass": kind,
            "options": {name: value for name, value in options.pass_options.items() if value not in files},
            "encode": vars(study.scoring.encode),
            "statistics": options.statistics,
        }
        inputs = {
            **self._upstream(f"{part.name}/set"),
            "model": facts,
            "tokenizer": None if model.options.tokenizer is None else model_facts(model.options.tokenizer, None),
            "files": file_facts(names),
        }
        source = self.file(part, measured=False)
        self._add(
            f"{part.name}/passes/{pass_name(model.label, kind, digest([settings, inputs]))}", settings, inputs,
            lambda out: score(source, store, study, model, kind, self._models, out, self._progress),
        )  # fmt: skip

    def _add_attacks(self, part: SetPart) -> None:
        store, passes, attacks = self.store(part), self.passes(part), self._study.attacks
        settings = _without(self._settings["attacks"], ("passes", "token_counts"))
        counts = [] if attacks.token_counts is None else file_facts([attacks.token_counts])
        inputs = {**self._upstream(*passes), "token_counts": counts, "plugins": _plugins(PLUGINS)}
        self._add(
            f"{part.name}/attacks", settings, inputs,
            lambda out: attack(store, [self._root / each for each in passes], attacks, out, self._progress),
        )  # fmt: skip

    def _add_evaluation(self, part: SetPart, *, attacked: bool) -> None:
        study, settings = self._study, self._settings["evaluation"]
        plugins = _plugins(BLIND_PLUGINS)
        own = self._upstream(f"{part.name}/set", f"{part.name}/overlap")
        if not attacked:
            source = self.file(part)
            self._add(
                f"{part.name}/evaluation", settings, {**own, "plugins": plugins},
                lambda out: evaluate_texts(source, study.evaluation, out, self._progress),
            )  # fmt: skip
            return
        others = {option: name for option in ("against", "modified") if (name := getattr(part, option)) is not None}
        compared = {option: self._keys[f"{name}/attacks"] for option, name in others.items()}
        key = part.more.get("key")
        if key is not None:
            open_key(Path(key))
        inputs = {
            **own,
            **self._upstream(f"{part.name}/attacks"),
            **compared,
            "key": None if key is None else file_facts([key]),
            "plugins": plugins,
        }
        folders = {"scores": part.name, **others}
        sources = {option: (self._root / name / "attacks", self.file(name)) for option, name in folders.items()}
        self._add(
            f"{part.name}/evaluation", settings, inputs,
            lambda out: evaluate_set(sources, study.evaluation, key, out, self._progress),
        )  # fmt: skip

    def _add_further(self, part: SetPart, name: str) -> None:
        kind, options, source = FURTHER[name], self._study.further[name], self.file(part)
        inputs = {**self._upstream(f"{part.name}/evaluation"), "plugins": _plugins(BLIND_PLUGINS)}
        self._add(
            f"{part.name}/{kind.step}", self._settings[name], inputs,
            lambda out: further(kind, options, self._root / part.name / "evaluation", source, out, self._progress),
        )  # fmt: skip

    def _check_passes(self, part: SetPart) -> None:
        """Make the texts of the passes that are to be made, as a pass does, and look for what attacks learn from."""
        study = self._study
        steps = [each for each in self.tasks if each.name.startswith(f"{part.name}/passes/")]
        made = dict.fromkeys(each.settings["pass"] for each in steps if kept_step(each, self._root) is None)
        kinds = [each for each in made if find_pass(each).options]
        learning = [each for each in map(find_attack, study.attacks.names) if each.needs.labels or each.needs.nonmembers]
        if not kinds and not (made and learning):
            return
        scored = read_set(RecordSource((self.file(part, measured=False),)))
        labels = [each.label for each in scored.candidates]
        for learner in learning:
            try:
                learner.check_labels(labels)
            except UsageError as error:
                study.refuse(UsageError(f"--attack: {error}"), "attacks", about=f"set {part.name}: ")
        for kind in kinds:
            try:
                texts_of_pass(find_pass(kind), scored, study.scoring.options(study.models[0], kind))
            except NgramscopeError as error:
                if not str(error).startswith("--"):  # it names the file
                    raise
                table = ("attacks",) if str(error).startswith("--pass") else ("scoring", "passes")
                study.refuse(error, *table, about=f"set {part.name}: ")

    def _check_columns(self, part: SetPart, *, whole: bool) -> None:
        """Look for the columns that the evaluation is to use; without `whole` for those that are no overlap."""
        study, options, key = self._study, self._study.evaluation, part.more.get("key")
        if not whole:
            options = replace(options, by=tuple(each for each in options.by if not each.startswith("overlap_")), overlap=())
        # Of several sets some may have what another lacks: there the step is left out.
        asked = study.further if whole and len(study.evaluated) == 1 else {}
        if not (options.by or options.overlap or key or options.group not in (None, "group") or asked):
            return
        table = ScoreTable(document_table(read_set(RecordSource((self.file(part, measured=whole),))).candidates), (), {})
        try:
            data = prepare(table, options.group)
            strata_by(table, data, options)
            check_overlaps(table, data, options)
        except UsageError as error:
            study.refuse(error, "evaluation", about=f"set {part.name}: ")
        for name, given in asked.items():
            try:
                FURTHER[name].check(table, given)
            except UsageError as error:
                study.refuse(error, name, about=f"set {part.name}: ")
        if key is not None:
            try:
                assignments(table, data, open_key(Path(key)), draws=0)
            except NgramscopeError as error:
                study.refuse(error, "sets", part.name, about=f"set {part.name}: ")


_NOT_THE_SET = ("name", "against", "modified", "at", "key")


def _alike(model: ModelPart, facts: Any, known: dict[str, ModelPart]) -> list[str]:
    """What to say of a model that is there as a target too: nothing can be learned by comparing it with itself."""
    other = known.setdefault(digest([facts, model.options.gguf_file]), model)
    if other.role == model.role or "target" not in (model.role, other.role):
        return []
    return [
        f"the {model.role} {model.label} is the same model as the {other.role} {other.label}: compared with itself a model "
        "shows nothing; name another"
    ]


def _plugins(variable: str) -> list[Any]:
    """Facts of the files of the user's own in the folders that an environment variable names."""
    folders = filter(None, os.environ.get(variable, "").split(os.pathsep))
    return file_facts([str(path) for folder in folders for path in sorted(Path(folder).glob("*.py"))])


def _without(settings: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The settings that have a say in numbers, those under `names` left out."""
    return {key: value for key, value in settings.items() if key not in (*names, *_IDLE)}
