"""Trials of group E about sets: the same seed gives the same set."""

from __future__ import annotations

from pathlib import Path

from ngramscope.sets.sample import SampleOptions, sample
from tests.conftest import Cli, read_jsonl
from tests.trials.support import finished, refused


def test_e04_the_same_seed_gives_the_same_set(cli: Cli, trials: Path, tmp_path: Path) -> None:
    corpus, candidates = trials / "D" / "corpus.jsonl", trials / "D" / "candidates.jsonl"
    # Each side in two files, in order and reversed; a member's text is among the candidates.
    halves = {}
    for name, path in (("members", corpus), ("nonmembers", candidates)):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        if name == "nonmembers":
            lines.append(corpus.read_text(encoding="utf-8").splitlines(keepends=True)[7])
        halves[name] = [tmp_path / f"{name}-{number}.jsonl" for number in range(2)]
        for number, half in enumerate(halves[name]):
            half.write_text("".join(lines[number::2]), encoding="utf-8")

    def ids(**options: int) -> list[list[str]]:
        sample(tmp_path / "set.jsonl", **halves, options=SampleOptions(min_words=5, per_domain=5, **options))
        rows = read_jsonl(tmp_path / "set.jsonl")
        sides = [[row for row in rows if row["label"] == label] for label in (1, 0)]
        assert [len(each) for each in sides] == [5, 5]
        assert not {row["text"] for row in sides[0]} & {row["text"] for row in sides[1]}
        return [[row["id"] for row in each] for each in sides]

    first = ids(threads=1)
    assert ids(threads=8) == first
    for half in (*halves["members"], *halves["nonmembers"]):
        half.write_text("".join(reversed(half.read_text(encoding="utf-8").splitlines(keepends=True))), encoding="utf-8")
    for each in halves.values():
        each.reverse()
    assert ids(threads=8) == first
    assert ids(seed=1) != first

    # Whatever is drawn, what both sides have is no non-member: "copy" and the added text are in the corpus.
    options = SampleOptions(min_words=5, per_domain=500, allow_fewer=True)
    header = sample(tmp_path / "all.jsonl", **halves, options=options)
    rows = read_jsonl(tmp_path / "all.jsonl")
    members = {row["text"] for row in rows if row["label"] == 1}
    nonmembers = [row for row in rows if row["label"] == 0]
    assert len(members) == 50
    assert not members & {row["text"] for row in nonmembers}
    assert not {row["id"] for row in nonmembers} & {"copy", "c-07"}
    for side in ("members", "nonmembers"):
        lengths = [len(row["text"].split()) for row in rows if row["label"] == (side == "members")]
        told = header["balance"]["covariates"]["words"][side]
        assert told["n"] == len(lengths)
        assert abs(told["mean"] - sum(lengths) / len(lengths)) < 1e-9

    counts = header["counts"]
    done = cli("sets", "sample", "--members", corpus, "--nonmembers", candidates, "--min-words", "5", "--per-domain", "500",
               "--out", "none.jsonl")  # fmt: skip
    refused(done, "--per-domain 500", f"members: {counts['members']}", f"nonmembers: {counts['nonmembers']}", "--allow-fewer")
    assert not list(tmp_path.glob("*none*"))

    done = cli("sets", "sample", "--members", corpus, "--nonmembers", candidates, "--min-words", "5", "--per-domain", "5",
               "--out", "some.jsonl")  # fmt: skip
    words = next(line for line in finished(done).splitlines() if line.startswith("words"))
    assert words.count("(n 5)") == 2
