"""Studies: descriptions in TOML, what is kept and what is computed anew, the studies of the papers."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope.attacks.table import ScoreTable
from ngramscope.errors import InputError, MismatchError, ResourceError, UsageError
from ngramscope.models.load import ModelOptions
from ngramscope.study import ModelPart, SetPart, Study, load_study, run_study
from ngramscope.study.cache import Done, Task, computed, locked
from ngramscope.study.drawing import study_results
from ngramscope.study.plan import Plan
from ngramscope.study.reading import STUDY_FILE, study_toml
from ngramscope.study.toml import read_toml, to_toml
from tests.conftest import ROOT, WORDS, write_jsonl

QUICK = """
[evaluation]
bootstrap = 0
permutations = 0
[validation]
permutations = 99
resamples = 99
max_texts = 0
describe = [3]
"""


def documents(count: int, seed: int, words: int = 40) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    return [{"id": f"{seed}-{number}", "text": " ".join(random.choice(WORDS, words))} for number in range(count)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Members, non-members, a corpus that has the members, and three small models."""
    pytest.importorskip("torch")
    from tests.tiny_models import tiny

    folder = tmp_path_factory.mktemp("study")
    members = write_jsonl(folder / "members.jsonl", documents(30, 1))
    write_jsonl(folder / "nonmembers.jsonl", documents(30, 2))
    write_jsonl(folder / "corpus.jsonl", [*map(json.loads, members.read_text().splitlines()), *documents(5, 3)])
    for seed, name in enumerate(("target", "reference", "placebo")):
        model = tiny("gpt_neox", seed=seed)
        model.model.save_pretrained(folder / "models" / name)
        model.tokenizer.save_pretrained(folder / "models" / name)
    return folder


DESCRIPTION = f"""
[study]
name = "a small one"
[overlap]
scan = ["corpus.jsonl"]
n = [3]
[attacks]
names = ["loss", "ref"]
{QUICK.replace("permutations = 99", "n = 3" + chr(10) + "permutations = 99")}
[[sets]]
name = "natural"
members = ["members.jsonl"]
nonmembers = ["nonmembers.jsonl"]
min_words = 10
allow_fewer = true
[[models]]
name = "models/target"
threads = 1
[[models]]
name = "models/reference"
threads = 1
role = "reference"
[[models]]
name = "models/placebo"
threads = 1
role = "placebo"
"""


@pytest.fixture(scope="module")
def finished(place: Path) -> tuple[Study, Path, dict[str, Any]]:
    (place / "small.toml").write_text(DESCRIPTION)
    study = load_study(place / "small.toml")
    return study, place / "out", run_study(study, place / "out", report=False)


def numbers(folder: Path) -> Any:
    evaluation = json.loads((folder / "natural" / "evaluation" / "evaluation.json").read_bytes())
    validation = json.loads((folder / "natural" / "validation" / "validation.json").read_bytes())
    return evaluation["rows"], evaluation["overlap"], evaluation["blind"], validation["shift"], validation["p"]


def test_the_description_in_the_folder_gives_the_same_numbers_elsewhere(
    finished: tuple[Study, Path, dict[str, Any]], tmp_path: Path
) -> None:
    study, out, result = finished
    again = load_study(out / STUDY_FILE)
    assert again == study
    second = run_study(again, tmp_path / "second", report=False)
    assert numbers(tmp_path / "second") == numbers(out)
    assert [each["key"] for each in second["steps"]] == [each["key"] for each in result["steps"]]
    assert result["kept"] == []


def test_everything_is_kept_that_is_whole(finished: tuple[Study, Path, dict[str, Any]]) -> None:
    study, out, result = finished
    told: list[Done] = []
    again = run_study(study, out, report=False, tell=lambda done, _number, _steps: told.append(done))
    assert again["kept"] == [each["step"] for each in result["steps"]]
    assert all(each.kept for each in told)
    assert {key: value for key, value in again.items() if key != "kept"} == {k: v for k, v in result.items() if k != "kept"}
    (out / "natural" / "evaluation" / "evaluation.csv").write_text("cut off")
    (pass_file,) = (out / "natural").glob("store-*/placebo.plain.*/pass.json")
    pass_file.unlink()
    before = numbers(out)
    third = run_study(study, out, report=False)
    anew = {each["step"] for each in third["steps"]} - set(third["kept"])
    assert {name.rpartition("/")[2].partition(".")[0] for name in anew} == {"placebo", "evaluation"}
    assert numbers(out) == before


def test_a_result_tells_of_sets_models_and_steps(finished: tuple[Study, Path, dict[str, Any]]) -> None:
    _, out, result = finished
    assert json.loads((out / "study.json").read_bytes())["artefact"] == "study"
    natural = result["sets"]["natural"]
    assert natural["counts"] == {"members": 30, "nonmembers": 30, "unlabelled": 0}
    assert natural["facts"]["evaluation"]["verdict"]["sentences"]
    assert [(each["role"], each["label"]) for each in result["models"]] == [
        ("target", "target"), ("reference", "reference"), ("placebo", "placebo"),
    ]  # fmt: skip
    rows = json.loads((out / "natural" / "evaluation" / "evaluation.json").read_bytes())["rows"]
    assert {each["attack"] for each in rows} == {"loss", "ref.reference"}
    assert all(each["placebos"] for each in rows if each["role"] == "target")
    assert str(out) not in json.dumps(result)


def keys(study: Study, out: Path) -> dict[str, str]:
    """Of the plan, by step; the passes' by model."""
    return {
        each.name.partition("/")[2].rpartition(".")[0] or each.name.partition("/")[2]: each.key
        for each in Plan(study, out).tasks
    }


def changed(study: Study, other: Study, out: Path) -> set[str]:
    first, second = keys(study, out), keys(other, out)
    return {name for name in {*first, *second} if first.get(name) != second.get(name)}


def test_a_changed_setting_computes_only_what_depends_on_it(finished: tuple[Study, Path, dict[str, Any]], place: Path) -> None:
    study, out, result = finished
    (part,) = study.sets
    model = study.models[0]
    assert changed(study, replace(study, name="another name", series="x"), out) == set()
    assert changed(study, replace(study, evaluation=replace(study.evaluation, level=0.9)), out) == {"evaluation"}
    assert changed(study, replace(study, attacks=replace(study.attacks, options={"ref": {"form": "ratio"}})), out) == {
        "attacks", "evaluation",
    }  # fmt: skip
    assert changed(study, replace(study, validation=replace(study.validation, max_texts=7)), out) == {"validation"}
    assert study.overlap is not None
    measured = {"overlap", "validation", "evaluation"}
    assert changed(study, replace(study, overlap=replace(study.overlap, n=(4,))), out) == measured - {"validation"}
    assert changed(study, replace(study, overlap=replace(study.overlap, threads=1)), out) == set()
    assert changed(study, replace(study, overlap=None), out) == measured
    on_another = replace(model, options=replace(model.options, device="cuda:0", threads=3))
    assert changed(study, replace(study, models=(on_another, *study.models[1:])), out) == set()
    more = replace(study, models=(*study.models, ModelPart(options=ModelOptions(str(place / "models" / "target")), label="b")))
    assert changed(study, more, out) == {"passes/b.plain", "attacks", "evaluation"}
    redrawn = replace(part, options=replace(part.options, seed=1))
    assert changed(study, replace(study, sets=(redrawn,)), out) == set(keys(study, out))
    # And so it is done.
    run_study(replace(study, evaluation=replace(study.evaluation, level=0.9)), out, report=False)
    back = run_study(study, out, report=False)
    assert {each["step"] for each in back["steps"]} - set(back["kept"]) == {"natural/evaluation"}
    assert back["steps"] != result["steps"] or numbers(out)


def test_another_content_of_a_file_is_another_input(place: Path, tmp_path: Path) -> None:
    (place / "small.toml").write_text(DESCRIPTION)
    study = load_study(place / "small.toml")
    copy = write_jsonl(tmp_path / "copied.jsonl", map(json.loads, (place / "members.jsonl").read_text().splitlines()))
    (part,) = study.sets
    moved = replace(study, sets=(replace(part, inputs={**part.inputs, "members": (str(copy),)}),))
    assert changed(study, moved, tmp_path) == set()
    copy.write_text(copy.read_text().replace("1-0", "1-zero"))
    assert "set" in changed(study, moved, tmp_path)
    copy.unlink()
    with pytest.raises(InputError, match=r"copied\.jsonl: there is no such file"):
        Plan(moved, tmp_path)


def test_what_is_interrupted_leaves_finished_steps_and_nothing_half_done(tmp_path: Path) -> None:
    def half(out: Path) -> None:
        (out / "part").write_text("half")
        raise KeyboardInterrupt

    first = Task("s/first", {"a": 1}, {}, lambda out: (out / "file").write_text("whole") and None)
    assert not computed(first, tmp_path).kept
    with pytest.raises(KeyboardInterrupt):
        computed(Task("s/second", {}, {}, half), tmp_path)
    assert [each.name for each in (tmp_path / "s").iterdir()] == ["first"]
    assert computed(first, tmp_path).kept
    with pytest.raises(KeyboardInterrupt):  # the old one stays
        computed(Task("s/first", {"a": 2}, {}, half), tmp_path)
    assert (tmp_path / "s" / "first" / "file").read_text() == "whole"
    assert computed(first, tmp_path).kept


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("spans", r"spans\.jsonl: cannot be read: "),
        ("pass", r"target\.plain\.[0-9a-f]+: missing, or without its pass\.json"),
        ("sets", r"study\.json: not as ngramscope audit writes it"),
        ("models", r"study\.json: not as ngramscope audit writes it \(KeyError\('models'\)\)"),
        ("steps", r"study\.json: not as ngramscope audit writes it"),
        ("roles", r"study\.json: not as ngramscope audit writes it"),
    ],
)
def test_a_damaged_study_is_no_report(
    finished: tuple[Study, Path, dict[str, Any]], tmp_path: Path, damage: str, message: str
) -> None:
    folder = tmp_path / "study"
    shutil.copytree(finished[1], folder)
    result = json.loads((folder / "study.json").read_bytes())
    if damage == "spans":
        spans = folder / "natural" / "overlap" / "spans.jsonl"
        spans.write_bytes(b"\xff" * spans.stat().st_size)
    elif damage == "pass":
        next(folder.glob("natural/store-*/target.plain.*/pass.json")).unlink()
    elif damage == "roles":
        result["sets"]["natural"] = {}
    else:
        result |= {"sets": {"sets": {}}, "models": {}, "steps": {"steps": 5}}[damage]
        if damage == "models":
            del result["models"]
    (folder / "study.json").write_text(json.dumps(result))
    with pytest.raises(InputError, match=message):
        study_results(folder)


def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)
    ours, theirs = (f".report-files.{each}.tmp" for each in (os.getpid(), gone.stdout.strip()))
    for name in (ours, theirs, ".mine.1.tmp"):
        (tmp_path / name / "figures").mkdir(parents=True)
    (tmp_path / f".study.json.{gone.stdout.strip()}.tmp").write_text("{")
    with locked(tmp_path):
        assert {each.name for each in tmp_path.iterdir()} == {ours, ".mine.1.tmp", ".lock"}


def test_a_description_that_is_no_utf_8_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b'[study]\nname = "\xe9"\n')
    with pytest.raises(InputError, match=r"a\.toml, line 2: not UTF-8"):
        load_study(tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("config", r"config\.json: missing, so this is no model's folder"),
        ("object", r"config\.json: cannot be read: "),
        ("weights", "a configuration, but no weights"),
        ("cut", r"model\.safetensors: cut off, it is shorter than it says"),
        ("empty", r"model\.safetensors: damaged"),
        ("shard", r"model-2\.safetensors: missing, and model\.safetensors\.index\.json lists it"),
        ("revision", r"is here, and has no revisions \(step1\)"),
    ],
)
def test_a_model_that_is_not_whole_is_refused_before_another_is_asked(
    place: Path, tmp_path: Path, damage: str, message: str
) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(place / "models" / "target", folder)
    config, weights = folder / "config.json", folder / "model.safetensors"
    if damage == "config":
        config.unlink()
    elif damage == "object":
        config.write_text("{")
    elif damage == "weights":
        weights.unlink()
    elif damage == "cut":
        weights.write_bytes(weights.read_bytes()[:-1])
    elif damage == "empty":
        weights.write_bytes(b"")
    elif damage == "shard":
        index = {"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    taken = SetPart(name="s", kind="set", inputs={"set": (str(place / "members.jsonl"),)})
    options = ModelOptions(str(folder), revision="step1" if damage == "revision" else None)
    models = (ModelPart(options=ModelOptions("organisation/never-loaded")), ModelPart(options=options, role="placebo"))
    with pytest.raises(InputError if damage != "revision" else UsageError, match=message):
        Plan(Study(sets=(taken,), models=models), tmp_path / "out")


def test_a_tokenizer_without_vocabulary_is_refused(place: Path, tmp_path: Path) -> None:
    from ngramscope.models.load import load_model

    shutil.copytree(place / "models" / "target", tmp_path / "broken")
    for each in (tmp_path / "broken").glob("tokenizer*"):
        each.unlink()
    with pytest.raises(InputError, match="its tokenizer finds no token in a text"):
        load_model(ModelOptions(str(tmp_path / "broken"), threads=1))


def test_a_model_beside_itself_is_a_warning(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "models" / "target", tmp_path / "copy")
    target, copy = (ModelOptions(str(each)) for each in (place / "models" / "target", tmp_path / "copy"))
    taken = SetPart(name="s", kind="set", inputs={"set": (str(place / "members.jsonl"),)})
    models = (ModelPart(options=target), ModelPart(options=copy, role="placebo"))
    plan = Plan(Study(sets=(taken,), models=models), tmp_path / "out")
    assert plan.warnings == [
        "the placebo copy is the same model as the target target: compared with itself a model shows nothing; name another"
    ]
    assert Plan(Study(sets=(taken,), models=models[:1]), tmp_path / "out").warnings == []


def test_an_index_of_other_lengths_is_refused_before_any_set_is_made(place: Path, tmp_path: Path) -> None:
    from ngramscope.index.open import Index
    from ngramscope.sets.overlaps import OverlapOptions

    Index.build(place / "corpus.jsonl", out=tmp_path / "index", n=5)
    taken = SetPart(name="s", kind="set", inputs={"set": (str(place / "members.jsonl"),)})
    with pytest.raises(MismatchError, match="index: n = 7 was asked for, but the index has n = 5"):
        Plan(Study(sets=(taken,), overlap=OverlapOptions(indexes=(str(tmp_path / "index"),), n=(5, 7))), tmp_path / "out")


def test_a_full_disk_is_named_and_is_not_standard_output(tmp_path: Path) -> None:
    def full(out: Path) -> None:
        (out / "spans.jsonl").write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(ResourceError, match=r"s/overlap: cannot be written: No space left on device; finished steps are kept"):
        computed(Task("s/overlap", {}, {}, full), tmp_path)
    assert list((tmp_path / "s").iterdir()) == []


def test_two_audits_do_not_share_a_folder(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(UsageError, match="another audit is at work"), locked(tmp_path):
        pass


SETS = '[[sets]]\nname = "s"\nset = ["members.jsonl"]\n'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[stuff]\n", 1, "the top has no key 'stuff'; known: study, read, keys, sets"),
        (SETS + "\ncolour = 1\n", 5, r"\[\[sets\]\] has no key 'colour'; known: name, against, modified, at, set, key"),
        ('[[sets]]\nname = "s"\n', 1, "says not what the set is made of; give one of members, nonmembers, set, import"),
        (SETS + "[evaluation]\nbootstrap = 5\n", 5, r"\[evaluation\] bootstrap: at least 100 resamples"),
        (SETS + '[evaluation]\n\n# a remark\nlevel = "high"\n', 7, 'level is "high"; it has to be a number'),
        (SETS + "[evaluation]\nbins = true\n", 5, "bins is true; it has to be a whole number"),
        (SETS + "[overlap]\nindex = []\n", 4, "overlap comes from --index, --scan or --flags; none was given"),
        (SETS + '[attacks]\nnames = ["lose"]\n', 5, r"\[attacks\] names: no attack 'lose'; known: camia"),
        (SETS + '[attacks]\nseed = 1\npasses = ["plane"]\n', 6, r"\[attacks\] passes: 'plane' is not known; known: gradient, "),
        (SETS + '[attacks]\nseed = 1\ncompat = "mimi"\n', 6, r"\[attacks\] compat: 'mimi' is not known; known: paper, "),
        (SETS + '[attacks]\nnames = ["recall"]\ncompat = "sok"\n', 6, r"\[attacks\] compat: sok is not possible for attack recall: it also"),
        (SETS + '[attacks]\nnames = ["dc-pdd"]\n', 5, r"\[attacks\] names: attack dc-pdd: needs the token counts"),
        (SETS + '[attacks]\n[attacks.options.lose]\nk = 1\n', 5, r"\[attacks.options\]: no attack 'lose'; known: camia"),
        (SETS + '[attacks]\n[attacks.options.min-k]\nk_round = "ceil"\nk = 3\n', 7, r"\[attacks.options.min-k\] k: 3 is not possible; "),
        (SETS + '[attacks]\n[attacks.options.min-k]\nk = "a"\n', 6, r"\[attacks.options.min-k\] k: 'a' is not possible; a number"),
        (SETS + '[attacks]\n[attacks.options."min-k++"]\nk_round = 1\n', 6, r"\[attacks.options.min-k\+\+\] k_round: 1 is not known; "),
        (SETS + '[attacks.options.camia-lr]\nsplits = 0\n', 5, r"\[attacks.options.camia-lr\] splits: 0 is not possible; "),
        (SETS + '[attacks]\nseed = -1\n', 5, r"\[attacks\] seed: -1 is not possible"),
        (SETS + '[evaluation]\nbins = 3\nattacks = ["lose"]\n', 6, r"\[evaluation\] attacks: no attack 'lose'; known: camia"),
        (SETS + '[attacks]\nnames = ["loss"]\n[evaluation]\nattacks = ["min-k(k=0.1)"]\n', 7, r"\[evaluation\] attacks: attack min-k is not computed; computed are: loss"),
        (SETS + '[evaluation]\nattacks = ["recall"]\n', 5, r"\[evaluation\] attacks: attack recall needs the pass prefix, which is not made; made are: plain, lowercase"),
        (SETS + "[evaluation]\nfprs = [2.0]\n", 5, r"\[evaluation\] fprs: "),
        (SETS + "[evaluation]\nthresholds = [2.0]\n", 5, r"\[evaluation\] thresholds: overlaps lie between 0 and 1"),
        (SETS + "[scoring]\nworkers = 0\n", 5, r"\[scoring\] workers: 0 is not possible"),
        (SETS + '[scoring]\nengine = "x"\nstatistics = ["y"]\n', 5, r"\[scoring\] engine: 'x' is not known"),
        (SETS + "[scoring.passes]\ncopies = 1\n", 5, r"\[scoring.passes\] copies: 1 is not possible"),
        (SETS + '[attacks]\n[attacks.options.min-k]\nkk = 1\n', 6, r"\[attacks.options.min-k\] has no key 'kk'; known: k, "),
        (SETS + "[scoring.passes]\nshot = 1\n", 5, "has no key 'shot'; known: "),
        (SETS + '[[models]]\nrole = "victim"\nname = "m"\n', 5, r"\[\[models\]\] role: 'victim' is not known; known: target, reference, placebo"),
        (SETS + '[[models]]\nname = "m"\ndtype = "float8"\n', 6, 'it has to be one of "auto", "float32"'),
        (SETS + '[[models]]\nname = "m"\nlabel = "x"\nrevisions = ["a", "b"]\n', 6, "label with several revisions"),
        (SETS + "against = 't'\n", None, "set s: no other set 't' to compare with; known: s"),
        (SETS + SETS, None, "set 's' is there twice"),
        (SETS.replace('"s"', '"a/b"'), 1, "a folder is named after it"),
        (SETS + "[attacks]\nnames = ['ref']\n[[models]]\nname='m'\n", 5, r"\[attacks\] names: attack ref: needs a reference model"),
        ('[[sets]]\nname = "s"\nthresholded = "t"\n', None, "is made from 't', which is no set before it"),
        ("a = \n", None, "not TOML: .*line 1"),
        ("a = " + "[" * 5000 + "]" * 5000, None, "not TOML: values are nested too deeply"),
        ('[[sets]]\nset = ["x"]\n', 1, r"\[\[sets\]\] has no name; a folder"),
        ('[[sets]]\nname = "s"\nmembers = ["x"]\n', 1, r"\[\[sets\]\] has members, but no nonmembers; give both"),
        (SETS.replace('"s"', f'"{"x" * 121}"'), 1, "'xxxxxxxxxxxxxxxxxxxx'...: a folder is named after it; give it a name of at most 120 bytes"),
        (SETS + SETS.replace('"s"', '"S"'), None, "sets 's' and 'S': share a folder where upper and lower case are the same"),
        (SETS + SETS.replace('"s"', '"e\u0301"') + SETS.replace('"s"', '"\u00e9"'), None, "share a folder"),
        (SETS + '[overlap]\nscan = ["x"]\nwords = "odd"\n', 6, r"\[overlap\] words: 'odd' is not known"),
        (SETS + '[[models]]\nname = ""\n', 4, r"\[\[models\]\] has no name"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        load_study(path)
    assert str(caught.value).startswith(f"{path}: " if line is None else f"{path}, line {line}: ")


LATE = """
[[models]]
name = "organisation/never-loaded"
"""
NAMED = 'name = "s"\nset = ["both.jsonl"]\n'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (NAMED + LATE + '[evaluation]\nbins = 3\nby = ["domain", "colour"]\n', 9,
         r"\[evaluation\] by: set s: no column 'colour'; the table has: id, label, domain, .*year"),
        (NAMED + LATE + '[evaluation]\nby = ["nothing"]\n', 8, r"\[evaluation\] by nothing: set s: no document has a value there"),
        (NAMED + LATE + '[evaluation]\nby = ["number"]\n', 8, r"\[evaluation\] by number: set s: 240 categories; at most 200"),
        (NAMED + LATE + '[evaluation]\ngroup = "author"\n', 8, r"\[evaluation\] group: set s: no column 'author'"),
        (NAMED + LATE + "[evaluation]\noverlap = [5]\n", 8, r"\[evaluation\] overlap 5: set s: the table has no column overlap_5"),
        (NAMED + LATE + '[overlap]\nscan = ["both.jsonl"]\nn = [3]\n[evaluation]\noverlap = [5]\n', 11,
         r"\[evaluation\] overlap 5: set s: .*lengths there: 3"),
        (NAMED + LATE + '[overlap]\nscan = ["both.jsonl"]\nn = [3]\n[evaluation]\nby = ["overlap_4"]\n', 11,
         r"\[evaluation\] by: set s: no column 'overlap_4'; .*overlap_3"),
        (NAMED + '[evaluation]\nby = ["colour"]\n', 5, r"\[evaluation\] by: set s: no column 'colour'"),
        (NAMED + LATE + '[attacks]\nnames = ["recall"]\n[scoring.passes]\nshots = 200\n', 10,
         r"\[scoring.passes\] shots 200: set s: the set has 120 different texts"),
        (NAMED + LATE + '[attacks]\nnames = ["neighbourhood"]\n', 8, r"\[attacks\] names neighbours: set s: the set has no column neighbors"),
        (NAMED + LATE + '[attacks]\nnames = ["dc-pdd"]\ntoken_counts = "both.jsonl"\n', None,
         "both.jsonl: cannot be read as token counts"),
        (NAMED.replace("both", "ours") + LATE + '[attacks]\nnames = ["loss", "camia-lr"]\n', 8,
         r"\[attacks\] names: set s: attack camia-lr: learns from members and non-members, and there are no non-members"),
        (NAMED + 'key = "both.jsonl"\n' + LATE, None, "both.jsonl: cannot be read as the key"),
    ],
)  # fmt: skip
def test_what_steps_after_the_models_would_refuse_is_said_before(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    rows = [{**row, "label": number % 2, "number": f"n{number}", "nothing": None, "year": 2000 + number % 9, "domain": "d"}
            for number, row in enumerate(documents(240, 1))]  # fmt: skip
    write_jsonl(tmp_path / "both.jsonl", rows)
    write_jsonl(tmp_path / "ours.jsonl", rows[1::2])
    path = tmp_path / "study.toml"
    path.write_text('[keys]\nfields = ["number", "nothing", "year"]\n[[sets]]\n' + text)
    with pytest.raises(InputError, match=message) as caught:
        run_study(load_study(path), tmp_path / "out", report=False)
    if line is not None:
        assert str(caught.value).startswith(f"{path}, line {line + 2}: ")
    assert not (tmp_path / "out" / "s" / "evaluation").exists()


def test_what_no_later_step_would_refuse_is_not_refused(place: Path, tmp_path: Path) -> None:
    (place / "strata.toml").write_text(DESCRIPTION.replace("[validation]", 'by = ["overlap_3", "domain"]\n[validation]'))
    study = load_study(place / "strata.toml")
    with pytest.raises(InputError, match=r"by domain: set natural: no document has a value"):
        run_study(study, tmp_path / "out", report=False)
    study = replace(
        study, models=(), attacks=replace(study.attacks, names=()), evaluation=replace(study.evaluation, by=("overlap_3",))
    )
    assert run_study(study, tmp_path / "out", report=False)["sets"]["natural"]["facts"]["evaluation"]


def test_every_setting_survives_being_written(place: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "shots.jsonl", documents(2, 9))
    text = f"""
[read]
text_key = "body"
max_bad_records = 3
[overlap]
scan = ["{place}/corpus.jsonl"]
lowercase = true
[scoring]
max_tokens = 64
[scoring.passes]
shots_file = "shots.jsonl"
copies = 3
[attacks]
passes = ["plain", "repeated"]
[evaluation]
group = "none"
by = ["domain"]
[[sets]]
name = "s"
members = ["a*.jsonl"]
nonmembers = ["hf://x/y:z:test"]
near_duplicates = "none"
windows = 2
window_words = 30
modified = "edited"
[[sets]]
name = "edited"
perturbed = "s"
replace = [1, 2]
[[models]]
name = "some/model"
revisions = ["step1", "step2"]
"""
    (tmp_path / "a.toml").write_text(text)
    study = load_study(tmp_path / "a.toml")
    assert study.evaluation.group is None
    assert study.sets[0].options.near_duplicates is None
    assert study.scoring.passes["shots_file"] == str(tmp_path / "shots.jsonl")
    assert study.sets[0].inputs == {"members": (str(tmp_path / "a*.jsonl"),), "nonmembers": ("hf://x/y:z:test",)}
    assert [each.label for each in study.models] == ["some/model@step1", "some/model@step2"]
    assert study.evaluated == (study.sets[0],)
    (tmp_path / "deep").mkdir()
    path = tmp_path / "deep" / "b.toml"
    path.write_text(study_toml(study, path.parent))
    assert load_study(path) == replace(study, name="a")


def test_a_study_has_to_fit_together() -> None:
    with pytest.raises(UsageError, match="a study needs a set"):
        Study(sets=())
    taken = SetPart(name="s", kind="set", inputs={"set": ("x",)})
    reference = ModelPart(options=ModelOptions("m"), role="reference")
    with pytest.raises(UsageError, match="reference models only"):
        Study(sets=(taken,), models=(reference,))
    with pytest.raises(UsageError, match="model 'm' is there twice; give one another label"):
        Study(sets=(taken,), models=(ModelPart(options=ModelOptions("m")), ModelPart(options=ModelOptions("m"))))


@pytest.fixture(scope="module")
def papers() -> Iterator[Any]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import paper_tables

        yield paper_tables
    finally:
        sys.path.pop(0)
        sys.modules.pop("paper_tables", None)


def test_every_study_of_the_papers_can_be_read_and_names_what_there_is(papers: Any, tmp_path: Path) -> None:
    from ngramscope.sets.formats import formats

    entries = papers.entries()
    assert len(entries) > 20
    imported = (
        {format_.name for format_ in formats().values()} if isinstance(formats(), dict) else {each.name for each in formats()}
    )
    assert {"mimir", "wikimia"} <= imported
    mimir = {"arxiv", "dm_mathematics", "github", "hackernews", "pile_cc", "pubmed_central", "wikipedia_(en)", "full_pile", "c4",
             "temporal_arxiv", "temporal_wiki"}  # fmt: skip
    for name, entry in entries.items():
        path = tmp_path / f"{name}.toml"
        path.write_text(to_toml(papers.description(entry)))
        study = load_study(path)
        assert study.attacks.names
        for part in study.sets:
            if part.kind == "import" and "iamgroot42/mimir" in part.inputs["import"]:
                assert part.options.config in mimir
        labels = {each.label for each in study.models}
        for table in entry.get("published", ()):
            assert {row[0] for row in table["rows"]} <= {each.name for each in study.sets}, name
            assert {row[1] for row in table["rows"]} <= labels, name
            assert all(len(row) == 2 + len(table["attacks"]) for row in table["rows"]), name
            assert all(0 <= value <= 1 for row in table["rows"] for value in row[2:] if value != "")
            asked = {each.partition(".")[0] for each in table["attacks"]}
            assert asked <= set(study.attacks.names), name
        for attack in entry.get("published_file", {}).get("attacks", ()):
            assert attack.partition(".")[0] in study.attacks.names, name


def test_published_values_are_found_in_the_released_results(papers: Any, shared: Path) -> None:
    values = {row[:3]: row[3] for row in papers.published(papers.entries()["duan-table-2"], shared / "data")}
    github = ("github", "EleutherAI/pythia-160m-deduped@step99000")
    assert values[(*github, "loss")] == pytest.approx(0.835, abs=0.001)
    assert values[(*github, "zlib")] == pytest.approx(0.872, abs=0.001)
    table = {row[:3]: row[3] for row in papers.published(papers.entries()["shi-table-1-pythia"], shared / "data")}
    assert table["WikiMIA_length32", "pythia-2.8b", "min-k++"] == pytest.approx(0.64)


PAPERS = [each["name"] for each in read_toml(ROOT / "benchmarks" / "paper_tables.toml").data["studies"]]


@pytest.mark.parametrize("name", PAPERS)
def test_every_study_of_the_papers_runs_with_stand_ins(name: str, papers: Any, place: Path, tmp_path: Path) -> None:
    """Its first set, what that is compared with, and a model of each role."""
    texts = [(row, label) for label in (1, 0) for row in documents(20, 10 + label)]
    rows = [{**row, "label": label, "neighbors": [row["text"].upper()]} for row, label in texts]
    candidates = write_jsonl(tmp_path / "candidates.jsonl", rows)
    described = papers.stand_in(papers.entries()[name], str(candidates), str(place / "models" / "target"))
    first, *others = described["sets"]
    beside = [each for each in others if each["name"] in (first.get("against"), first.get("modified"))]
    described["sets"] = [first, *({k: v for k, v in each.items() if k not in ("against", "modified")} for each in beside)]
    roles = {each["role"]: {**each, "threads": 1} for each in reversed(described["models"])}
    described["models"] = list(roles.values())
    described["evaluation"] = {**described.get("evaluation", {}), "bootstrap": 0, "permutations": 0}
    (tmp_path / "stand-in.toml").write_text(to_toml(described))
    study = load_study(tmp_path / "stand-in.toml")
    run_study(study, tmp_path / "out", report=False)
    scores = ScoreTable.open(tmp_path / "out" / first["name"] / "attacks" / "scores.parquet")
    computed_attacks = {each.attack.partition("(")[0].partition(".")[0].partition("@")[0] for each in scores.columns}
    assert computed_attacks >= set(study.attacks.names)


def test_a_study_of_a_paper_runs_with_stand_ins(papers: Any, place: Path, tmp_path: Path) -> None:
    texts = [(row, label) for label in (1, 0) for row in documents(25, 10 + label, words=60)]
    rows = [{**row, "label": label, "neighbors": [row["text"].upper()]} for row, label in texts]
    candidates = write_jsonl(tmp_path / "candidates.jsonl", rows)
    entry = papers.entries()["duan-table-4"]
    described = papers.stand_in(entry, str(candidates), str(place / "models" / "target"))
    first = described["sets"][0]["name"]
    described["sets"] = [each for each in described["sets"] if first in (each["name"], each.get("perturbed"))]
    described["models"][0]["threads"] = 1
    described["sets"][1] |= {"replace": [1], "trials": 1}
    described["evaluation"] = {"bootstrap": 0, "permutations": 0}
    path = tmp_path / "stand-in.toml"
    path.write_text(to_toml(described))
    result = run_study(load_study(path), tmp_path / "out", report=False)
    evaluation = json.loads((tmp_path / "out" / first / "evaluation" / "evaluation.json").read_bytes())
    assert {each["attack"] for each in evaluation["rows"]} >= {
        papers.column_of(each, "mimir") for each in ("loss", "min-k", "zlib")
    }
    assert {each["what"] for each in evaluation["modified"]} == {"originals", "modified"}
    assert "evaluation" not in result["sets"][f"{first} modified"]["folders"]
    row = next(each for each in evaluation["rows"] if each["attack"] == "min-k(k_round=floor)")
    told = {"source": "as measured", "attacks": ["min-k"], "rows": [[first, row["model"], row["auc"]]]}
    _, measured = papers.compare({**entry, "published": [told]}, tmp_path / "out", tmp_path)
    assert measured[3] == measured[4] == f"{row['auc']:.3f}"
    assert measured[-1] == "yes"
