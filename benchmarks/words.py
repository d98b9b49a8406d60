"""How fast are words cut and hashed, against the unicode-segmentation crate with the same hash?

Runs `cargo bench --bench words` of the core crate: both sides read the same text in turns, medians of 7; it fails when
the words (their number, the XOR and the sum of their hashes) differ.
"""

from __future__ import annotations

import re
import statistics

from lab import REPOSITORY, Findings, Lab, Sample, timed

LINE = re.compile(
    r"(?P<text>\S+) +(?P<mb>[\d.]+) MB +(?P<words>\d+) words +ours +(?P<ours>[\d.]+) MB/s.*?"
    r"peer +(?P<peer>[\d.]+) MB/s +ratio +(?P<ratio>[\d.]+)(?P<differ>.*)"
)
# Made text of scripts that are not Latin; every other line is a real corpus.
OTHER_SCRIPTS = {"Russian", "Greek", "Arabic", "Hebrew", "Hindi", "Korean", "Chinese", "Japanese"}


def bench() -> Sample:
    manifest = REPOSITORY / "rust" / "core" / "Cargo.toml"
    command = ["cargo", "bench", "--locked", "--quiet", "--manifest-path", manifest, "--bench", "words"]
    output = timed(command)["stdout"]
    lines = [found.groupdict() for found in map(LINE.match, output.splitlines()) if found]
    return {"head": output.splitlines()[0], "lines": lines}


def measure(lab: Lab) -> Findings:
    sample = lab.sample("words", {"bench": bench}, repeats=1)["bench"][0]
    found = Findings(versions={"unicode-segmentation": "1.10.1"}, notes=[sample["head"]])
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for line in sample["lines"]:
        ratios[line["text"] in OTHER_SCRIPTS].append(float(line["ratio"]))
        speeds = {"ours MB/s": float(line["ours"]), "unicode-segmentation MB/s": float(line["peer"])}
        ratio = {"faster by": float(line["ratio"])}
        found.rows.append({"text": line["text"], "MB": float(line["mb"]), "words": int(line["words"]), **speeds, **ratio})
    same = [line["text"] for line in sample["lines"] if not line["differ"].strip()]
    found.check("both sides find the same words in", found=same, holds=len(same) == len(sample["lines"]) > 0)
    if ratios[False]:
        found.goal("faster on real corpora, median", found=statistics.median(ratios[False]), at_least=10)
        found.goal("faster on real corpora, worst", found=min(ratios[False]), at_least=10)
    else:
        found.notes.append("no real corpora here: set NGRAMSCOPE_SHARED")
    found.goal("faster on other scripts, worst", found=min(ratios[True]), at_least=3)
    return found
