"""C04: damaged index files."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ngramscope import Index, IndexFormatError
from tests.conftest import Cli, clean_environment
from tests.trials.support import build, contents, finished, measured, refused, without_root_powers

HEADER = 4096
PNG = b"\x89PNG\r\n\x1a\n" + bytes(13) + zlib.compress(bytes(1000))


def flip(place: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:place] + bytes([data[place] ^ 0x40]) + data[place + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "ten bytes": lambda data: data[:10],
    "half": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "one byte long": lambda data: data + b"\n",
    "magic": flip(0),
    "version": flip(8),
    "blocks": flip(38),
    "payload size": flip(70),
    "checksum table": lambda data: flip(len(data) - 3)(data),
    "png": lambda _: PNG,
    "text": lambda _: b"this is not an index\n" * 300,
}


@pytest.fixture(params=["exact", "blocked"])
def index(request: pytest.FixtureRequest, trials: Path, tmp_path: Path) -> Path:
    build(tmp_path / "index", trials / "D" / "corpus.jsonl", filter=request.param)
    return tmp_path / "index"


def shard(index: Path) -> Path:
    (path,) = index.glob("*.ngs")
    return path


HARMLESS = {("manifest", "one byte short"), ("manifest", "one byte long")}  # white space at the end of the JSON
CASES = [(which, damage) for which in ("shard", "manifest") for damage in DAMAGES if (which, damage) not in HARMLESS]


@pytest.mark.parametrize(("which", "damage"), CASES)
def test_c04_damage_is_refused_at_once(index: Path, which: str, damage: str) -> None:
    path = shard(index) if which == "shard" else index / "index.json"
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    started = time.perf_counter()
    with pytest.raises(IndexFormatError) as caught:
        Index.open(index)
    assert time.perf_counter() - started < 1
    assert str(path) in str(caught.value)


def test_c04_every_byte_of_the_header_counts(index: Path) -> None:
    path = shard(index)
    whole = path.read_bytes()
    for place in range(128):
        path.write_bytes(flip(place)(whole))
        with pytest.raises(IndexFormatError):
            Index.open(index)


def test_c04_a_changed_manifest_is_refused_or_says_the_same(index: Path) -> None:
    path = index / "index.json"
    whole = path.read_bytes()
    said = json.loads(whole)
    for place in np.random.default_rng(4).integers(len(whole), size=200).tolist():
        path.write_bytes(flip(place)(whole))
        message = ""
        try:
            opened = Index.open(index)
        except IndexFormatError as error:
            message = str(error)
        else:
            assert opened.manifests[0] == said
            continue
        assert str(index) in message


@pytest.mark.parametrize("command", ["inspect", "verify", "overlap"])
def test_c04_every_command_refuses(cli: Cli, trials: Path, index: Path, command: str) -> None:
    path = shard(index)
    path.write_bytes(path.read_bytes()[: HEADER + 100])
    arguments = [trials / "D" / "candidates.jsonl", "--index", index] if command == "overlap" else [index]
    refused(cli(command, *arguments), path, "build the index again")


def test_c04_absurd_sizes_allocate_nothing(index: Path, tmp_path: Path) -> None:
    """Sizes in the manifest that no machine has."""
    good = measured(tmp_path, "inspect", index)
    finished(good.done)
    path = index / "index.json"
    manifest = json.loads(path.read_bytes())
    manifest["sets"][0]["blocks"] = manifest["sets"][0]["shards"][0]["blocks"] = 1 << 60
    manifest["sets"][0]["shards"][0]["bytes"] = 1 << 62
    path.write_text(json.dumps(manifest))
    bad = measured(tmp_path, "inspect", index)
    refused(bad.done, path)
    assert bad.peak_bytes < good.peak_bytes + (16 << 20)


def test_c04_a_flipped_bit_of_the_payload_is_found_by_verify(cli: Cli, index: Path) -> None:
    finished(cli("verify", index))
    path = shard(index)
    path.write_bytes(flip(HEADER + 1000)(path.read_bytes()))
    Index.open(index)  # opening reads headers and checksums, not the payload: docs/index-format.md says so
    refused(cli("verify", index), path, "checksum")
    with pytest.raises(IndexFormatError):
        Index.open(index).verify()


def test_c04_a_folder_in_place_of_a_file_and_a_file_in_place_of_a_folder(cli: Cli, index: Path, tmp_path: Path) -> None:
    path = shard(index)
    data = path.read_bytes()
    path.unlink()
    refused(cli("inspect", index), path)  # missing
    path.mkdir()
    refused(cli("inspect", index), path)
    path.rmdir()
    path.write_bytes(data)
    refused(cli("inspect", path), path)  # an index is a folder
    refused(cli("inspect", tmp_path / "nothing"), "nothing", "build-index")
    (tmp_path / "empty").mkdir()
    refused(cli("inspect", "empty"), "empty", "build-index")


@pytest.mark.parametrize("which", ["shard", "manifest"])
def test_c04_without_permission_it_is_refused(index: Path, which: str) -> None:
    path = shard(index) if which == "shard" else index / "index.json"
    path.chmod(0)
    done = subprocess.run(
        [*without_root_powers(), sys.executable, "-m", "ngramscope", "inspect", str(index)],
        env=clean_environment(), capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    path.chmod(0o600)
    refused(done, path, "denied")


def test_c04_shards_of_another_index_are_refused(trials: Path, index: Path, tmp_path: Path) -> None:
    kind = json.loads((index / "index.json").read_bytes())["sets"][0]["kind"]
    build(tmp_path / "other", trials / "D" / "boilerplate_corpus.jsonl", filter=kind)
    (other,) = (data for name, data in contents(tmp_path / "other").items() if name != "index.json")
    shard(index).write_bytes(other)
    with pytest.raises(IndexFormatError):
        Index.open(index)
