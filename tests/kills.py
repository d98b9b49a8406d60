"""Builds that are killed at random moments and continued, until the index is there."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import clean_environment

__all__ = ["build_with_kills", "command", "kill_when", "seconds_of"]


def command(sources: Sequence[Path], out: Path, *options: str) -> list[str]:
    """The command line of a build."""
    return [sys.executable, "-m", "ngramscope", "build-index", *map(str, sources), "--out", str(out), *options]


def seconds_of(arguments: Sequence[str]) -> float:
    """Run a command that has to succeed; how long it took."""
    started = time.perf_counter()
    done = subprocess.run(arguments, env=clean_environment(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return time.perf_counter() - started


def _run_for(arguments: Sequence[str], seconds: float | None) -> str | None:
    """Run a build with ``--resume``; its standard error, or None if it was killed after so many seconds."""
    process = subprocess.Popen(
        [*arguments, "--resume"], env=clean_environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        _, errors = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), errors.decode()
    return errors.decode() if process.returncode == 0 else None


def kill_when(arguments: Sequence[str], out: Path, state: bytes) -> None:
    """Kill a build with ``--resume`` as soon as the state on the disk has `state` in it; once more if it was over before."""
    partial = out.with_name(f"{out.name}.partial")
    for _ in range(20):
        process = subprocess.Popen(
            [*arguments, "--resume"], env=clean_environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None:
            with contextlib.suppress(FileNotFoundError):
                if state in (partial / "state.json").read_bytes():
                    break
            time.sleep(0.002)
        process.kill()
        process.wait()
        if (partial / "state.json").exists() and not (out / "index.json").exists():
            return
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(partial, ignore_errors=True)
    raise AssertionError(f"no build could be killed with {state!r} in its state")


def build_with_kills(arguments: Sequence[str], out: Path, seconds: float, dice: random.Random, most: int) -> int:
    """Run a build, kill it at a random moment within `seconds`, and run it again, until it is complete.

    After `most` kills it is left to end. Returns how many there were.
    """
    kills = 0
    partial = out.with_name(f"{out.name}.partial")
    while True:
        if _run_for(arguments, dice.uniform(0, seconds) if kills < most else None) is not None:
            assert not partial.exists()
            return kills
        kills += 1
        if (out / "index.json").exists() and not (partial / "state.json").exists():
            return kills  # it was complete, and had only to end
