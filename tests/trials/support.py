"""What holds for every trial: clean refusals, and counts that add up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ngramscope import Index, NgramscopeError
from tests.conftest import clean_environment

Done = subprocess.CompletedProcess[bytes]
BAD_LINES_ALLOWED = 100


def refused(done: Done, *wanted: str | Path, code: int = 1) -> str:
    """Assert one clean message on standard error that has all of `wanted`, nothing on standard output, and the exit code."""
    errors = done.stderr.decode()
    assert done.returncode == code, errors
    for forbidden in ("Traceback", "panicked", "RUST_BACKTRACE", "out of bounds"):
        assert forbidden not in errors
    messages = [line for line in errors.splitlines() if "error:" in line.lower()]
    assert len(messages) == 1, errors
    for each in wanted:
        assert str(each) in messages[0]
    assert done.stdout == b""
    return messages[0]


def finished(done: Done, code: int = 0) -> str:
    """Assert the exit code and return standard error."""
    errors = done.stderr.decode()
    assert done.returncode == code, errors
    assert "Traceback" not in errors
    return errors


def adds_up(manifest: Mapping[str, Any]) -> None:
    """Assert that everything a manifest says was read is used or left out for a reason."""
    counts = manifest["counts"]
    sources = manifest["sources"]
    for each in (counts, *sources):
        assert each["records"] == each["documents"] + sum(each["unusable"].values())
    for field in ("records", "documents"):
        assert counts[field] == sum(each[field] for each in sources)
    reasons = {reason for each in sources for reason in each["unusable"]}
    assert counts["unusable"] == {reason: sum(each["unusable"].get(reason, 0) for each in sources) for reason in reasons}


def build(out: Path, *sources: Path, **options: Any) -> dict[str, Any]:
    """Build an exact index in this process and return its manifest, after checking that its counts add up."""
    Index.build(sources, out=out, **{"filter": "exact", "threads": 2, **options})
    manifest: dict[str, Any] = json.loads((out / "index.json").read_bytes())
    adds_up(manifest)
    return manifest


def refuses(out: Path, *sources: Path, **options: Any) -> str:
    """Assert that building fails with an error of the package, leaves nothing, and return its text."""
    with pytest.raises(NgramscopeError) as caught:
        Index.build(sources, out=out, **{"filter": "exact", "threads": 2, **options})
    assert not out.exists()
    return str(caught.value)


def lenient(records: int = BAD_LINES_ALLOWED, files: int = 0) -> dict[str, int]:
    """Options that go on after bad records and files."""
    return {"max_bad_records": records, "max_bad_files": files}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@dataclass
class Measured:
    """A process that is over."""

    done: Done
    peak_bytes: int
    cpu_seconds: float


_WRAPPER = """
import json, os, resource, subprocess, sys
done = subprocess.run(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([used.ru_maxrss * 1024, used.ru_utime + used.ru_stime], file)
sys.exit(done.returncode)
"""


def measured(folder: Path, *arguments: str | Path) -> Measured:
    """Run the program in `folder` and measure its peak of resident memory and its processor time."""
    note = folder / "usage.json"
    done = subprocess.run(
        [sys.executable, "-c", _WRAPPER, str(note), sys.executable, "-m", "ngramscope", *map(str, arguments)],
        cwd=folder, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    peak, seconds = json.loads(note.read_text())
    note.unlink()
    return Measured(done, peak, seconds)


def without_root_powers() -> list[str]:
    """A prefix for commands that makes file permissions hold for root too; empty for other users."""
    if os.geteuid() != 0:
        return []
    prefix = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    try:
        subprocess.run([*prefix, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("root reads every file, and there is no setpriv that could take that power away")
    return prefix
