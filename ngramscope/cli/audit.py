"""``ngramscope audit``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand, GreedyOption
from ngramscope.cli._options import TEXT, console_options, group, read_options
from ngramscope.cli.sets._options import key_options
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.index.output import check_place
from ngramscope.sets.records import Keys

if TYPE_CHECKING:
    from ngramscope.models.load import ModelOptions
    from ngramscope.study import ModelPart, Study
    from ngramscope.study.cache import Done

__all__ = ["command"]


def _values(**values: Any) -> dict[str, Any]:
    return values


_set_options = group(
    "sets",
    _values,
    [
        click.option("--members", cls=GreedyOption, metavar="FILES...", help="Documents that were in the training data."),
        click.option("--nonmembers", cls=GreedyOption, metavar="FILES...", help="Documents that were not."),
        click.option(
            "--set", "taken", cls=GreedyOption, metavar="FILES...",
            help="Instead: candidates that say what they are, taken as they are.",
        ),
        click.option(
            "--per-domain", type=int, metavar="N", help="Members, and non-members, of each domain at most.  [default: 1000]"
        ),
        click.option("--min-words", type=int, metavar="N", help="Leave out documents of fewer words.  [default: 100]"),
        click.option("--max-words", type=int, metavar="N", help="Cut documents at the end of word N.  [default: 200]"),
    ],
)  # fmt: skip

_corpus_options = group(
    "corpus",
    _values,
    [
        click.option(
            "--index", multiple=True, metavar="DIR", help="An index of the training corpus; several: found in any of them."
        ),
        click.option(
            "--scan", cls=GreedyOption, metavar="CORPUS...",
            help="Read the training corpus instead: exact, and with leave-one-out overlap.",
        ),
        click.option("--n", type=int, multiple=True, metavar="N", help="Length of the n-grams; repeatable."),
        click.option("--accept-demo", is_flag=True, help="Take an index of the demonstration corpus."),
        click.option(
            "--heldout", cls=GreedyOption, metavar="FILES...",
            help="A random sample that was left out of the corpus, to validate the non-members by. Default: the members, by "
            "leave-one-out overlap.",
        ),
    ],
)  # fmt: skip

_model_options = group(
    "models",
    _values,
    [
        click.option(
            "--model", "target", multiple=True, type=TEXT, metavar="MODEL[@REVISION]",
            help="A model under audit: a name on the hub, a folder, or a .gguf file; repeatable.",
        ),
        click.option(
            "--reference", multiple=True, type=TEXT, metavar="MODEL[@REVISION]", help="A model to calibrate by; repeatable."
        ),
        click.option(
            "--placebo", multiple=True, type=TEXT, metavar="MODEL[@REVISION]",
            help="A model that cannot have seen either side; repeatable.",
        ),
        click.option("--trust-remote-code", is_flag=True, help="Let code that comes with a model run."),
        click.option("--max-tokens", type=int, metavar="N", help="Tokens of a window. Default: as many as the model can see."),
    ],
)  # fmt: skip

_attack_options = group(
    "attacks",
    _values,
    [
        click.option(
            "--attack", "names", multiple=True, type=TEXT, metavar="NAME",
            help="Compute this attack; repeatable. Default: all that passes plain and lowercase suffice for.",
        ),
        click.option(
            "--pass", "passes", multiple=True, type=TEXT, metavar="KIND",
            help="Make this pass over the texts, and all attacks that it suffices for; repeatable.",
        ),
        click.option("--compat", type=TEXT, metavar="PRESET", help="Compute every attack as a paper or public code does."),
        click.option("--token-counts", metavar="FILE", help="Token counts of a corpus, for dc-pdd."),
        click.option(
            "--group-by", type=TEXT, metavar="COLUMN",
            help="Evaluate whole sets of documents too, as setmi does: those of one value, or of a period (date:month).",
        ),
        click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of samples, splits and resamples."),
    ],
)  # fmt: skip

_machine_options = group(
    "machine",
    _values,
    [
        click.option(
            "--device", "devices", multiple=True, type=TEXT, metavar="DEVICE", help="cpu, cuda, cuda:N or mps; repeatable."
        ),
        click.option("--workers", type=int, metavar="N", help="Processes, each with the model."),
        click.option("--batch-tokens", type=int, metavar="N", help="Tokens of a batch. Default: by the device."),
    ],
)  # fmt: skip


@click.command("audit", cls=GreedyCommand, short_help="The whole path in one: sets, overlap, models, attacks, report.")
@click.argument("study", required=False, metavar="[STUDY.toml]")
@_set_options
@_corpus_options
@_model_options
@_attack_options
@_machine_options
@click.option("--name", type=TEXT, metavar="NAME", help="Title of the study.")
@click.option(
    "--out", type=TEXT, metavar="DIR",
    help="Folder of the study: a new one, or that of an earlier run, to go on with. Default: that of STUDY.toml if it lies in "
    "one, else its name.",
)  # fmt: skip
@click.option(
    "--report/--no-report",
    default=True,
    show_default=True,
    help="Draw the report at the end; ngramscope report draws it later.",
)
@key_options
@read_options
@console_options("Print the result as one JSON object on standard output.")
def command(study: str | None, out: str | None, machine: dict[str, Any], report: bool, console: Console, **given: Any) -> int:
    """Audit what models have seen: from files of members and non-members to a report, in one command.

    Candidates are drawn, their overlap with the training corpus is measured, the non-members are validated, models score them,
    attacks are computed and evaluated beside what text alone and placebo models reach. Without a model, all that needs
    none is done. Every step is kept: the same command goes on where it was, and another setting computes only what depends on
    it. The study's folder has its description, study.toml; ngramscope audit study.toml reruns it. docs/audit.md has the rules.

    \b
    Example:
      ngramscope audit --members train/ --nonmembers heldout/ --scan corpus/ --out study
      ngramscope audit --members in.jsonl --nonmembers out.jsonl --index my-index --model EleutherAI/pythia-160m-deduped \\
        --reference gpt2 --placebo EleutherAI/pythia-160m-deduped@step0 --out study
      ngramscope audit study/study.toml
    """
    from ngramscope.study import load_study, run_study

    if out == "":
        raise UsageError("--out: '' is not possible; name the folder of the study")
    if study is not None:
        _alone(given)
        described = load_study(study)
        folder = Path(out) if out is not None else _folder(Path(study))
    else:
        described = _described(**given)
        if out is None:
            raise UsageError("--out: not given; name the folder of the study")
        folder = Path(out)
    check_place_of(folder)
    asked = {name: value for name, value in machine.items() if value not in (None, ())}
    described = dataclasses.replace(described, scoring=dataclasses.replace(described.scoring, **asked))
    with console.open():
        try:
            result = run_study(
                described, folder, report=report, progress=console.progress, tell=lambda *step: _tell(console, *step)
            )
        except UsageError:  # says itself what to do
            raise
        except BaseException:
            if any(folder.glob("*/*/step.json")):
                console.say(f"the study is unfinished; the same command goes on with the finished steps in {folder}")
            raise
        if console.as_json:
            console.result(result)
        else:
            _show(result, folder, console)
    return _exit.PARTIAL if result["partial"] else 0


def check_place_of(folder: Path) -> None:
    """Refuse what cannot be the folder of a study."""
    if folder.exists() and not folder.is_dir():
        check_place(folder / "study.json", "--out")
        raise UsageError(f"--out: {folder} is a file; name a folder")
    if not folder.absolute().parent.is_dir():
        raise UsageError(f"--out: {folder}: there is no folder {folder.absolute().parent}")


def _alone(given: Mapping[str, Any]) -> None:
    """A described study takes its settings from the description."""
    context = click.get_current_context()
    free = {"study", "out", "report", "devices", "workers", "batch_tokens", "as_json", "quiet", "verbose"}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name not in free and source is not None and source.name == "COMMANDLINE":
            raise UsageError(
                f"{parameter.opts[0]}: the description says that; change it there, or leave {given and 'STUDY.toml'} out"
            )


def _folder(path: Path) -> Path:
    if (path.parent / "study.json").exists() or any(path.parent.glob("*/*/step.json")):
        return path.parent
    return Path(path.stem)


def _described(
    sets: dict[str, Any],
    corpus: dict[str, Any],
    models: dict[str, Any],
    attacks: dict[str, Any],
    name: str | None,
    keys: Keys,
    read: ReadOptions,
) -> Study:
    """The study that the command line describes."""
    from ngramscope.evaluate.options import EvaluationOptions
    from ngramscope.evaluate.setlevel.setmi import SetMiOptions
    from ngramscope.models.encode import EncodeOptions
    from ngramscope.sets.overlaps import OverlapOptions
    from ngramscope.study.description import AttackPart, ScoringPart, Study, ValidationPart

    seed, group_by = attacks.pop("seed"), attacks.pop("group_by")
    whole_sets = {} if group_by is None else {"setmi": SetMiOptions(group_by=group_by, curves=True, seed=seed)}
    overlap = None
    if corpus["index"] or corpus["scan"]:
        overlap = OverlapOptions(indexes=corpus["index"], scan=corpus["scan"], n=corpus["n"], accept_demo=corpus["accept_demo"])
    elif corpus["n"] or corpus["heldout"]:
        option = "--n" if corpus["n"] else "--heldout"
        raise UsageError(f"{option}: says how overlap is looked at; name the training corpus with --index or --scan")
    return Study(
        name=name or "study",
        read=read,
        keys=keys,
        sets=(_set(sets, seed),),
        overlap=overlap,
        validation=ValidationPart(reference=corpus["heldout"]),
        models=_models(models),
        scoring=ScoringPart(encode=EncodeOptions(max_tokens=models["max_tokens"])),
        attacks=AttackPart(**attacks, seed=seed),
        # Of so many attacks one may lack scores of nearly all texts, which is no reason to leave these out for all. And of all
        # attacks there are thousands of pairs.
        evaluation=EvaluationOptions(seed=seed, missing="per-attack", pairs=bool(attacks["names"])),
        further=whole_sets,
    )


def _set(sets: dict[str, Any], seed: int) -> Any:
    from ngramscope.sets.sample import SampleOptions
    from ngramscope.study.description import SetPart

    sample = {key: value for key in ("per_domain", "min_words", "max_words") if (value := sets[key]) is not None}
    if sets["taken"]:
        if sets["members"] or sets["nonmembers"] or sample:
            raise UsageError("--set: is taken as it is; leave --members, --nonmembers and what cuts and draws them out")
        return SetPart(name="set", kind="set", inputs={"set": sets["taken"]})
    if not (sets["members"] and sets["nonmembers"]):
        raise UsageError("give --members and --nonmembers, or --set, or the description of a study")
    inputs = {key: sets[key] for key in ("members", "nonmembers")}
    return SetPart(name="natural", kind="sample", inputs=inputs, options=SampleOptions(allow_fewer=True, seed=seed, **sample))


def _models(models: dict[str, Any]) -> tuple[ModelPart, ...]:
    """Those of the command line; of two folders with one name each is called by its path."""
    from ngramscope.models.load import ModelOptions
    from ngramscope.study.description import ModelPart

    found: list[ModelPart] = []
    for role in ("target", "reference", "placebo"):
        for given in models[role]:
            name, at, revision = (given, "", "") if Path(given).exists() else given.rpartition("@")
            name, revision = (name, revision) if at else (given, "")
            options = ModelOptions(name, revision=revision or None, trust_remote_code=models["trust_remote_code"])
            if role != "target" and (same := next((each for each in found if _same(each.options, options)), None)) is not None:
                raise UsageError(
                    f"--{role}: {given} is the model that --{same.role.replace('target', 'model')} names; name another"
                )
            found.append(ModelPart(options=options, role=role))
    labels = [each.label for each in found]
    return tuple(
        dataclasses.replace(each, label=each.options.name)
        if labels.count(each.label) > 1 and not each.options.revision
        else each
        for each in found
    )


def _same(one: ModelOptions, other: ModelOptions) -> bool:
    """Whether two models are one by their names."""
    places = [Path(each.name).expanduser().resolve() for each in (one, other)]
    return (one.name == other.name or (places[0] == places[1] and places[0].exists())) and one.revision == other.revision


def _tell(console: Console, done: Done, number: int, steps: int) -> None:
    how = "kept" if done.kept else f"done in {done.seconds:.1f} s"
    console.say(f"[{number}/{steps}] {done.name}: {how}")


def _show(result: Mapping[str, Any], folder: Path, console: Console) -> None:
    from ngramscope.evaluate.verdict_words import title_of

    for step, reason in result["skipped"].items():
        console.say(f"no {step}: {reason}")
    for name, each in result["sets"].items():
        for warning in each["warnings"]:
            console.warn(f"{name}: {warning}")
    for name, each in result["sets"].items():
        verdict = each["facts"].get("evaluation", {}).get("verdict")
        if verdict is not None:
            console.say(f"{name}: {title_of(verdict['code'], verdict.get('because', ''))}. {' '.join(verdict['sentences'])}")
    console.say(f"wrote {result['report'] or folder}")
