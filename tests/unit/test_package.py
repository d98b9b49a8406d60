"""The package as it is imported."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import ngramscope


def test_a_clone_that_is_not_built_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "ngramscope").mkdir()
    shutil.copy(Path(ngramscope.__file__), tmp_path / "ngramscope")
    done = subprocess.run([sys.executable, "-c", "import ngramscope"], cwd=tmp_path, env={}, capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: {tmp_path.resolve() / 'ngramscope'} has no compiled core: in a clone `make build`")
