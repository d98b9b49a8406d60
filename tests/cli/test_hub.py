"""``hf://`` with the hub's own clients, against a hub on this machine."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blake3 import blake3

from tests.conftest import Cli
from tests.hub_server import COMMIT, hub

pytest.importorskip("datasets")

README = b"""---
configs:
- config_name: lines
  data_files: data/train-*.jsonl
- config_name: table
  data_files:
  - split: test
    path: test.parquet
---
"""
TEXTS = [f"alpha beta gamma {number} delta" for number in range(200)]


def files() -> dict[str, bytes]:
    sink = io.BytesIO()
    pq.write_table(pa.table({"text": TEXTS}), sink)
    lines = "".join(json.dumps({"text": each}) + "\n" for each in TEXTS).encode()
    return {
        "README.md": README,
        "data/train-0.jsonl": lines,
        "data/train-1.jsonl": lines[: lines.index(b"\n") + 1],
        "test.parquet": sink.getvalue(),
    }


def test_datasets_of_the_hub_are_read_and_fetched_at_one_commit(cli: Cli, tmp_path: Path) -> None:
    served = files()
    with hub(served) as (address, asked):
        env = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
        done = cli("build-index", "hf://some/set:lines", "--n", 3, "--out", "lines", "--json", env=env)
        assert done.returncode == 0, done.stderr
        sources = {each["name"]: each for each in json.loads(done.stdout)["manifest"]["sources"]}
        at = f"hf://some/set@{COMMIT}"
        assert {name: each["documents"] for name, each in sources.items()} == {
            f"{at}:lines:train/train-0.jsonl": 200,
            f"{at}:lines:train/train-1.jsonl": 1,
        }
        assert sources[f"{at}:lines:train/train-0.jsonl"]["blake3"] == blake3(served["data/train-0.jsonl"]).hexdigest()
        assert all(f"/{COMMIT}/" in path for path in asked if "/resolve/" in path and ".jsonl" in path)

        manifest = tmp_path / "set.toml"
        manifest.write_text(
            'format = 1\nname = "set"\n[corpus]\nkind = "files"\n[splits.test]\nsources = ["hf://some/set:table"]\n'
        )
        done = cli("manifest", "fetch", manifest, "--out", "out", env=env)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "out" / "test" / "test.parquet").read_bytes() == served["test.parquet"]
        assert f'url = "{at}:table:test/test.parquet"' in (tmp_path / "out" / "set.lock.toml").read_text()

        # A path in the repository, as other tools write it.
        done = cli("overlap", "hf://datasets/some/set/test.parquet", "--index", "lines", env=env)
        assert (done.returncode, done.stdout.count(b"\n")) == (0, len(TEXTS)), done.stderr
