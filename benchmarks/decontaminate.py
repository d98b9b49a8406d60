"""How fast are texts annotated, against an overlap table of them, and evaluation items found, against what can be installed?

The corpus with a hundred evaluation items put into it, each in the middle of a document, out of some thousands of items
(words of the corpus's domain in an order it does not have). First question: `decontaminate` on one file, with an index and
with the items as reference, beside `overlap` with the same index. Second: the exact scan and `decontaminate` beside three
tools, one core each, every tool with as much corpus as it reads in half a minute.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import corpus
import engine
import environments
from lab import HERE, Findings, Lab, Sample, Skip, bench_dir, ngramscope, spread, timed, warm

N, PLANTED, ITEM_WORDS = 13, 100, 40
PROSE = 0.8  # share of an item's words that are letters only: rulers and addresses are no evaluation items
HOST_CHARACTERS = 2000
EXPECTED, CORPUS_MB, INDEXED_MB = 750_000_000, 500, 125
QUICK_EXPECTED, QUICK_MB = 60_000_000, 20
SIZES = {"decontaminate": 200.0, "corpus-assay": 100.0, "datatrove": 12.0}
QUICK_SIZES = {"decontaminate": 5.0, "corpus-assay": 5.0, "datatrove": 0.5}
ANNOTATING = {"index": (), "reference": (), "reference, no near matches": ("--near", 0)}
SCANS = {"exact scan": (), "exact scan, gpt3 words": ("--words", "gpt3")}
RULES = {
    "decontaminate, default rules": (),
    "decontaminate, one reading": ("--words", "gpt3", "--n", N, "--max-hits", 0, "--near", 0),
}
NOTES = [
    "start-up and the reading of the items are taken off the rivals' seconds, not off ngramscope's; one thread each",
    f"exact scan: any {N}-gram of words; punctuation marks are Unicode words, so addresses and rulers are {N}-grams; gpt3"
    " words are lower-cased, without punctuation; the documents it flags are the three that share most with an item",
    "decontaminate, default rules: the gpt3 preset, two readings of the corpus (n-grams of more than 10 documents do not"
    " count), 13-grams of gpt3 words, and the near-match score; one reading: any such 13-gram, nothing else; both name at"
    " most three items for each of ten matches",
    "decon: 5-grams of cl100k tokens (lower-cased, no punctuation), one in ten looked up, matches grown from there;"
    " flagged from 0.8 of an item's n-grams on, weighted by rarity",
    "corpus-assay: 13-grams of normalised words without stop words; flagged from three of them on, if 0.001 of the text",
    f"datatrove: any {N}-gram of normalised spaCy words; it does not say which item",
]


@dataclass
class Items:
    """The evaluation items, and those of them that are planted: number to text."""

    path: Path
    count: int
    planted: dict[int, str]


def evaluation_set(source: corpus.Corpus) -> Items:
    """Items of words in an order that the corpus does not have, mostly prose; every so many is to be planted."""
    texts = []
    with source.fresh.open(encoding="utf-8") as file:
        for line in file:
            words = json.loads(line)["text"].split()
            for start in range(0, len(words) - ITEM_WORDS + 1, ITEM_WORDS):
                item = words[start : start + ITEM_WORDS]
                if sum(word.strip(".,;:!?()\"'”“’").isalpha() for word in item) >= PROSE * ITEM_WORDS:
                    texts.append(" ".join(item))
    path = bench_dir() / f"{source.path.stem}.items.jsonl"
    path.write_text("".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts)))
    step = len(texts) // PLANTED
    if step < 2:
        raise Skip(f"the corpus has prose for {len(texts)} items only: set NGRAMSCOPE_SHARED")
    return Items(path, len(texts), {number * step: texts[number * step] for number in range(PLANTED)})


def hosted(source: corpus.Corpus, items: Items) -> Iterator[bytes]:
    """Documents, each the beginning of one of the corpus's with an item in its middle; the id says which item."""
    with source.verbatim.open(encoding="utf-8") as file:
        hosts = [json.loads(line)["text"][:HOST_CHARACTERS] for line in file]
    for place, (number, item) in enumerate(items.planted.items()):
        host = hosts[place % len(hosts)]
        middle = max(0, host.find(" ", len(host) // 2))
        text = f"{host[:middle]}\n{item}\n{host[middle:]}"
        yield json.dumps({"id": f"planted-{number}", "text": text}).encode() + b"\n"


def with_items(source: corpus.Corpus, megabytes: float, items: Items) -> Path:
    """The corpus's first megabytes, the documents that have items spread over them; made once."""
    path = bench_dir() / f"{source.path.stem}-planted-{megabytes}.jsonl"
    if not path.exists():
        unfinished = path.with_suffix(".new")
        more, gap = hosted(source, items), megabytes * 1e6 / PLANTED
        with source.path.open("rb") as file, unfinished.open("wb") as out:
            read, next_one = 0, gap / 2
            while read < megabytes * 1e6 and (line := file.readline()):
                read += out.write(line)
                while read >= next_one and (document := next(more, None)):
                    out.write(document)
                    next_one += gap
            out.writelines(more)
        unfinished.rename(path)
    return path


def rows(path: Path) -> Iterator[Sample]:
    """The rows of a table, in JSON Lines."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def answers(items: Items, documents: Iterable[str], named: Iterable[int] | None) -> Sample:
    """What a tool said: which documents hold an item, and which items they hold."""
    flagged = set(documents)
    planted = {f"planted-{number}" for number in items.planted}
    return {
        "planted": len(flagged & planted),
        "clean": len(flagged - planted),
        "absent": None if named is None else len(set(named) - set(items.planted)),
    }


def measure(lab: Lab) -> Findings:
    source = corpus.make(QUICK_MB if lab.quick else CORPUS_MB)
    indexed = corpus.make(INDEXED_MB)
    sizes = QUICK_SIZES if lab.quick else SIZES
    items = evaluation_set(source)
    texts = with_items(source, QUICK_MB if lab.quick else CORPUS_MB, items)
    with texts.open("rb") as file:
        documents = sum(1 for _ in file)
    index = lab.folder("decontaminate-index")
    engine.build(indexed.path, index, "--expected-ngrams", QUICK_EXPECTED if lab.quick else EXPECTED, n=N)

    def run(command: str, known: tuple[str, Path], threads: int, *options: str | int) -> Sample:
        """One of ngramscope's commands on the texts, its table to a file; `known`: what they are compared with."""
        for file in [texts, *index.iterdir()]:
            warm(file)
        table = lab.folder("decontaminate") / "rows.jsonl"
        arguments = [command, texts, *known, *options, "--threads", threads, "--quiet", "--out", table]
        megabytes = texts.stat().st_size * 1e-6
        sample = timed([ngramscope(), *arguments])
        return sample | {"table": str(table), "megabytes": megabytes, "mb_per_s": megabytes / sample["wall"]}

    def totals(sample: Sample) -> Sample:
        """The sums of a table, read a row at a time: processes started from here begin with this one's memory."""
        sums = {"rows": 0, "ngrams": 0, "hits": 0, "planted_with_hits": 0}
        for row in rows(Path(sample["table"])):
            hits = row["hits"] or 0
            sums["rows"] += 1
            sums["ngrams"] += row["ngrams"]
            sums["hits"] += hits
            sums["planted_with_hits"] += hits > 0 and row["id"].startswith("planted-")
        return sample | sums | {"documents": documents}

    def overlap(threads: int) -> Sample:
        return totals(run("overlap", ("--index", index), threads))

    def annotate(what: str, threads: int) -> Sample:
        known = ("--index", index) if what == "index" else ("--reference", items.path)
        return totals(run("decontaminate", known, threads, "--preset", "mimir", *ANNOTATING[what]))

    def decontaminate(*options: str | int) -> Sample:
        sample = run("decontaminate", ("--reference", items.path), 1, *options)
        contaminated, named = [], set()
        for row in rows(Path(sample["table"])):
            if row["contaminated"]:
                contaminated.append(row["id"])
                named |= {item["id"] for match in row["evidence"] for item in match["items"]}
        return sample | answers(items, contaminated, named)

    def scan(*options: str) -> Sample:
        warm(texts)
        table = lab.folder("decontaminate") / "rows.jsonl"
        command = [ngramscope(), "overlap", items.path, "--scan", texts, "--n", N, *options, "--threads", 1, "--quiet"]
        sample = timed([*command, "--out", table]) | {"megabytes": texts.stat().st_size * 1e-6}
        hit = [row for row in rows(table) if row["hits"]]
        sources = (document["id"] for row in hit for document in row["top_sources"])
        whole = sum(row["overlap"] == 1 for row in hit if row["id"] in items.planted)
        return sample | {"whole": whole} | answers(items, sources, (row["id"] for row in hit))

    def rival(environment: str, script: str, *options: str | int | Path) -> Sample:
        part = with_items(source, sizes[environment], items)
        warm(part)
        command = [environments.python(environment), HERE / "rivals" / script, *options, items.path, part]
        sample = timed(command)
        said = json.loads(sample["stdout"].splitlines()[-1])
        figures = {"cpu": said["cpu"], "start_cpu": said["start_cpu"], "megabytes": part.stat().st_size * 1e-6}
        return sample | figures | answers(items, said["documents"], said["items"])

    cases: dict[str, Callable[[], Sample]] = {}
    for threads in (1, 2):
        cases[f"overlap {threads}"] = engine.repeated(overlap, threads)
        for what in ANNOTATING:
            cases[f"annotate, {what} {threads}"] = engine.repeated(annotate, what, threads)
    tools: dict[str, Callable[[], Sample]] = {}
    for name, words in SCANS.items():
        tools[f"ngramscope, {name}"] = engine.repeated(scan, *words)
    for name, rules in RULES.items():
        tools[f"ngramscope, {name}"] = engine.repeated(decontaminate, *rules)
    tools["decon"] = lambda: rival("decontaminate", "decon_detect.py", lab.folder("decontaminate"))
    tools["corpus-assay"] = lambda: rival("corpus-assay", "corpus_assay_scan.py", lab.folder("decontaminate"))
    tools["datatrove"] = lambda: rival("datatrove", "datatrove_loop.py", "scan", N)
    samples = lab.sample("decontaminate", cases | tools)
    for name in ("decontaminate", "decontaminate-index"):
        lab.folder(name).rmdir()

    found = findings(samples, list(tools), len(items.planted))
    found.notes.append(f"{items.count:,} items of {ITEM_WORDS} words, {len(items.planted)} of them planted")
    return found


def findings(samples: dict[str, list[Sample]], tools: list[str], planted: int) -> Findings:
    found = Findings(versions={"ngramscope": engine.version()}, notes=list(NOTES))
    for name in SIZES:
        if samples["decon" if name == "decontaminate" else name]:
            found.versions |= environments.versions(name)
    for name, taken in samples.items():
        if not taken:
            found.rows.append({"case": name, "MB": "skipped"})
            continue
        row: Sample = {"case": name, "MB": taken[0]["megabytes"]}
        if name not in tools:
            row["MB/s"] = spread([s["mb_per_s"] for s in taken])
        row["MB a CPU s"] = spread([s["megabytes"] / s["cpu"] for s in taken])
        if name in tools:
            row["start-up, CPU s"] = spread([s["start_cpu"] for s in taken]) if "start_cpu" in taken[0] else None
        row["peak MiB"] = spread([s["rss"] / 2**20 for s in taken])
        if name in tools:
            row |= {f"of {planted} planted": taken[0]["planted"], "clean flagged": taken[0]["clean"]}
            row["absent items named"] = taken[0]["absent"]
            least = planted if name.startswith("ngramscope") else 0.95 * planted
            every = [s["planted"] for s in taken]
            found.check(f"{name}: planted items are found", found=min(every), holds=min(every) >= least)
        else:
            row["other load"] = spread([s["others"] for s in taken])
        found.rows.append(row)

    for threads in (1, 2):
        for what in ANNOTATING:
            pairs = zip(samples[f"annotate, {what} {threads}"], samples[f"overlap {threads}"], strict=True)
            speed = spread([a["mb_per_s"] / b["mb_per_s"] for a, b in pairs])["median"]
            found.goal(f"annotating against overlap, {what}, {threads} thread(s)", found=speed, at_least=0.8)
    tables = [s for name, taken in samples.items() if name not in tools for s in taken]
    counts = {s["rows"] for s in tables}
    found.check("a row for every document", found=sorted(counts), holds=counts == {samples["overlap 1"][0]["documents"]})
    same = {(s["ngrams"], s["hits"]) for name, taken in samples.items() for s in taken if "index" in name or "overlap" in name}
    found.check("annotating with the index finds what overlap does", found=sorted(same), holds=len(same) == 1)
    least = min(s["planted_with_hits"] for name, taken in samples.items() for s in taken if "reference" in name)
    found.check("annotating with the items finds every planted document", found=least, holds=least == planted)
    whole = min(s["whole"] for name in SCANS for s in samples[f"ngramscope, {name}"])
    found.check("exact scans find the whole of every planted item", found=whole, holds=whole == planted)
    first = samples["overlap 1"][0]
    found.notes.append(f"the index has {first['hits'] / first['ngrams']:.0%} of the texts' n-grams")
    return found
