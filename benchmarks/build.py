"""How fast does build-index read a corpus, against a model of the published scheme and the machine's limit?

One plain JSON Lines file of over 2 GB in the page cache; --expected-ngrams for a filter of over 4 GiB, and the default
sizing pass; one and two threads. Time is the whole process, from its start to the renamed index, less the sync to disk.
The model sets bits in a classic filter of the same bytes; it is timed on a part of the corpus, after its filter is
allocated and touched, and it writes nothing: all in its favour.
"""

from __future__ import annotations

import corpus
import engine
from lab import Findings, Lab, Sample, printed, rival, spread, warm

EXPECTED = 3_000_000_000
CORPUS_MB, MODEL_MB = 2200, 15
QUICK = {"expected": 60_000_000, "corpus": 125, "model": 14, "bytes": 256 << 20}


def measure(lab: Lab) -> Findings:
    source = corpus.make(QUICK["corpus"] if lab.quick else CORPUS_MB)
    expected = QUICK["expected"] if lab.quick else EXPECTED
    limits, model = rival("limits"), rival("model")

    def ours(threads: int, *options: str | int) -> Sample:
        warm(source.path)
        out = lab.folder("build")
        sample = engine.build(source.path, out, "--threads", threads, *options)
        if "answers" not in answers:
            held_out = {"verbatim": source.verbatim, "fresh": source.fresh}
            answers["answers"] = {name: engine.shares(path, out) for name, path in held_out.items()}
        sample["answers"] = answers["answers"]
        lab.folder("build")
        return sample

    def theirs(threads: int, *options: str) -> Sample:
        size = lab.taken("build", "ours 1")[0]["filter_bytes"]  # the same bytes
        command = [model, "--file", source.path, "--bytes", size, "--expected", expected, "--threads", threads]
        command += ["--limit-mb", QUICK["model"] if lab.quick else MODEL_MB * threads]
        return printed([*command, "--score", source.verbatim, *options])

    def limit(threads: int) -> Sample:
        size = QUICK["bytes"] if lab.quick else 4 << 30
        return printed([limits, "--threads", threads, "--bytes", size])

    answers: dict[str, Sample] = {}
    sized = ("--expected-ngrams", expected)
    cases = {
        "ours 1": lambda: ours(1, *sized),
        "model 1": lambda: theirs(1),
        "limit 1": lambda: limit(1),
        "ours 2": lambda: ours(2, *sized),
        "model 2": lambda: theirs(2),
        "limit 2": lambda: limit(2),
        "ours, sizing pass 1": lambda: ours(1),
        "model in huge pages 1": lambda: theirs(1, "--huge-pages"),
    }
    samples = lab.sample("build", cases)
    return findings(samples, source.megabytes, source.bytes)


def findings(samples: dict[str, list[Sample]], megabytes: float, size: int) -> Findings:
    found = Findings(versions={"ngramscope": engine.version(), "unicode-segmentation": "1.10.1", "ahash": "0.8.12"})
    for name, taken in samples.items():
        row: Sample = {"case": name}
        if name.startswith("limit"):
            row["line updates M/s"] = spread([s["line_updates_per_s"] * 1e-6 for s in taken])
            row["grouped M/s"] = spread([s["grouped_line_updates_per_s"] * 1e-6 for s in taken])
        else:
            row["MB/s"] = spread([s["mb_per_s"] for s in taken])
            row["MB a CPU s"] = spread([s["mb_per_cpu_s"] for s in taken])
            inserting = [s["seconds"]["insert"] if isinstance(s["seconds"], dict) else s["seconds"] for s in taken]
            rates = [s["ngrams"] * 1e-6 / seconds for s, seconds in zip(taken, inserting, strict=True)]
            row["M n-grams/s inserting"] = spread(rates)
        if name.startswith("ours"):
            for phase in ("count", "insert", "write", "sync"):
                row[f"{phase} s"] = spread([s["seconds"][phase] for s in taken])
            row["other load"] = spread([s["others"] for s in taken])
        found.rows.append(row)

    def ratio(above: str, below: str, key: str) -> float:
        """Median of the ratios of runs made one after the other."""
        pairs = zip(samples[above], samples[below], strict=True)
        return spread([a[key] / b[key] for a, b in pairs])["median"]

    for threads in (1, 2):
        speed = ratio(f"ours {threads}", f"model {threads}", "mb_per_s")
        found.goal(f"speed over the model, {threads} thread(s), wall", found=speed, at_least=25)
        speed = ratio(f"ours {threads}", f"model {threads}", "mb_per_cpu_s")
        found.goal(f"speed over the model, {threads} thread(s), MB a CPU second", found=speed, at_least=25)
    for key in ("mb_per_s", "mb_per_cpu_s"):
        speed = ratio("ours, sizing pass 1", "model 1", key)
        found.goal(f"with the sizing pass, 1 thread, {key.replace('_', ' ')}", found=speed, at_least=15)
    found.goal("one to two threads", found=ratio("ours 2", "ours 1", "mb_per_s"), at_least=1.7)
    found.goal("filter of at least 4 GiB", found=samples["ours 1"][0]["filter_bytes"] / 2**30, at_least=4)
    found.goal("corpus of at least 2 GB", found=size * 1e-9, at_least=2)
    for threads in (1, 2):
        pairs = list(zip(samples[f"ours {threads}"], samples[f"limit {threads}"], strict=True))
        for kind in ("line_updates_per_s", "grouped_line_updates_per_s"):
            share = spread([a["ngrams_per_s"] / b[kind] for a, b in pairs])["median"]
            limit = kind.replace("_", " ")
            found.notes.append(f"{threads} thread(s): inserting reaches {share:.0%} of the machine's {limit}")
    memory = ratio("ours 1", "model in huge pages 1", "mb_per_s")
    found.notes.append(f"against the model in huge pages, which the published tool does not ask for: {memory:.1f}x")

    ours, model = samples["ours 1"][0], samples["model 1"][0]
    verbatim, fresh = ours["answers"]["verbatim"], ours["answers"]["fresh"]
    found.check("every n-gram of documents of the corpus is found", found=verbatim["min"], holds=verbatim["min"] == 1.0)
    found.check("documents in a new word order are not found", found=fresh["mean"], holds=fresh["mean"] < 0.1)
    least = model["score"]["min_share"]
    found.check("the model finds its documents too", found=least, holds=least == 1.0)
    same = verbatim["ngrams"] == model["score"]["ngrams"]
    found.check("both count the same n-grams in them", found=[verbatim["ngrams"], model["score"]["ngrams"]], holds=same)
    read = {round(s["megabytes"], 3) for name in samples if name.startswith("ours") for s in samples[name]}
    found.check("every build read the whole corpus", found=sorted(read), holds=read == {round(megabytes, 3)})
    counts = {s["ngrams"] for name in samples if name.startswith("ours") for s in samples[name]}
    found.check("every build counted the same n-grams", found=sorted(counts), holds=len(counts) == 1)
    return found
