"""E03: an index says exactly what it was made from. (Making a set of the candidates is tested with the sets.)"""

from __future__ import annotations

import json
from pathlib import Path

from blake3 import blake3

from ngramscope import Index
from tests.conftest import Cli, read_jsonl
from tests.trials.support import finished


def test_e03_the_index_names_its_files_and_no_others(cli: Cli, trials: Path, tmp_path: Path) -> None:
    shards = sorted((trials / "D" / "shards").glob("part-*.jsonl"))
    used, left = shards[:4], shards[4]
    finished(cli("build-index", *used, "--n", 7, "--name", "four of five", "--filter-fpr", 1e-6, "--out", "index"))
    done = cli("inspect", "index", "--json")
    finished(done)
    facts = json.loads(done.stdout)["indexes"][0]
    assert [each["name"] for each in facts["sources"]] == [path.name for path in used]
    for source, path in zip(facts["sources"], used, strict=True):
        assert source["bytes"] == path.stat().st_size
        assert source["blake3"] == blake3(path.read_bytes()).hexdigest()
        assert source["documents"] == len(read_jsonl(path))
    assert facts["name"] == "four of five"
    assert facts["counts"]["documents"] == sum(len(read_jsonl(path)) for path in used)
    assert facts["sets"][0]["occurrences"] > 0
    assert facts["words"]["mode"] == "uax29"
    table = next(Index.open(tmp_path / "index").overlap_files(left))
    assert table.hits.sum() == 0  # the tool cannot know that they were seen


def test_e03_a_partial_shard_is_visible(cli: Cli, trials: Path, tmp_path: Path) -> None:
    shards = sorted((trials / "D" / "shards").glob("part-*.jsonl"))
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(shards[0].read_bytes()[:-40])
    finished(cli("build-index", cut, shards[1], "--max-bad-records", 1, "--out", "index"), 3)
    done = cli("inspect", "index")
    finished(done)
    assert b"INCOMPLETE" in done.stderr
    assert b"invalid_json" in done.stdout
