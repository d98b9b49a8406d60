"""What every question needs: where things are, timed processes, repeated samples, the record."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
Sample = dict[str, Any]


class Skip(Exception):  # noqa: N818 (no error: a reason)
    """A case cannot run here; the message says why, and the table shows it."""


def bench_dir() -> Path:
    """Folder for corpora, environments and indexes, outside the repository: tens of gigabytes."""
    folder = Path(os.environ.get("NGRAMSCOPE_BENCH_DIR") or Path(tempfile.gettempdir()) / "ngramscope-bench")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def shared_data() -> Path | None:
    """The folder of real texts, where this machine has it."""
    root = Path(os.environ.get("NGRAMSCOPE_SHARED") or REPOSITORY.parent / "shared")
    return root / "data" if (root / "data").is_dir() else None


def ngramscope() -> str:
    """The command under test: NGRAMSCOPE_CLI, the checkout's environment, or the one on PATH."""
    local = REPOSITORY / ".venv" / "bin" / "ngramscope"
    found = os.environ.get("NGRAMSCOPE_CLI") or (str(local) if local.exists() else shutil.which("ngramscope"))
    if not found:
        raise Skip("no ngramscope command: run `make build`, or set NGRAMSCOPE_CLI")
    return found


def ngramscope_python() -> str:
    """The interpreter beside that command, for what only the Python API offers."""
    return str(Path(ngramscope()).parent / "python")


def rival(name: str) -> str:
    """Path of a program of rivals/, built when its sources are newer."""
    target = os.environ.get("CARGO_TARGET_DIR") or str(bench_dir() / "target")
    manifest = HERE / "rivals" / "Cargo.toml"
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", str(manifest)]
    subprocess.run(command, check=True, env={**os.environ, "CARGO_TARGET_DIR": target})
    return str(Path(target) / "release" / name)


def _busy_seconds() -> float:
    """Processor seconds the whole machine has spent working since it started."""
    fields = [float(value) for value in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    idle = fields[3] + fields[4]
    return (sum(fields[:8]) - idle) / os.sysconf("SC_CLK_TCK")


def timed(command: Sequence[object], env: Mapping[str, str] | None = None) -> Sample:
    """Run a command: wall and processor seconds, peak resident bytes, output, how busy the rest of the machine was."""
    busy, started = _busy_seconds(), time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **(env or {})},
        )
        assert process.stdout is not None
        chunks: list[bytes] = []
        reader = threading.Thread(target=lambda: chunks.append(process.stdout.read()))  # type: ignore[union-attr]
        reader.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        reader.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    cpu = usage.ru_utime + usage.ru_stime
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\nexit {process.returncode}\n{text[-2000:]}")
    return {
        "wall": wall,
        "cpu": cpu,
        "system": usage.ru_stime,
        "rss": usage.ru_maxrss * 1024,
        "others": max(0.0, (_busy_seconds() - busy - cpu) / wall),
        "stdout": b"".join(chunks).decode(errors="replace"),
        "stderr": text,
    }


def printed(command: Sequence[object]) -> Sample:
    """Run a program that times itself: the JSON it prints."""
    result: Sample = json.loads(timed(command)["stdout"])
    return result


def warm(path: Path) -> None:
    """Read a file once, so that it lies in the page cache."""
    buffer = bytearray(8 << 20)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def cool(path: Path) -> None:
    """Drop a file (or a folder's files) from the page cache."""
    for file in [path] if path.is_file() else sorted(path.iterdir()):
        handle = os.open(file, os.O_RDONLY)
        try:
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, least and greatest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}


def processor() -> str:
    """A short name that tells processor generations apart (virtual machines often report only the maker)."""
    text = Path("/proc/cpuinfo").read_text()
    name = re.search(r"model name\s*: (.*)", text)
    numbers = [re.search(rf"{key}\s*: (\d+)", text) for key in ("cpu family", "model")]
    parts = [name[1] if name else platform.machine()] + [found[1] for found in numbers if found]
    return re.sub(r"[^a-z0-9]+", "-", " ".join(parts).lower()).strip("-")


def machine() -> Sample:
    """What the figures depend on."""
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    caches = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"))
    pages = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "caches": [path.read_text().strip() for path in caches],
        "memory_gib": round(int(memory[1]) / 2**20, 1) if memory else None,
        "kernel": platform.release(),
        "huge_pages": pages.read_text().strip() if pages.exists() else None,
        "python": platform.python_version(),
        "rustc": subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip(),
    }


@dataclass
class Findings:
    """What a question found: rows of a table, checked answers, goals met or missed."""

    rows: list[Sample] = field(default_factory=list)
    checks: list[Sample] = field(default_factory=list)
    goals: list[Sample] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def check(self, answer: str, *, found: Any, holds: bool) -> None:
        """A fast wrong answer is worth nothing: every figure stands beside what was checked."""
        self.checks.append({"answer": answer, "found": found, "holds": holds})

    def goal(self, goal: str, *, found: float, at_least: float | None = None, at_most: float | None = None) -> None:
        """A stated goal and the figure that meets it or does not."""
        met = (at_least is None or found >= at_least) and (at_most is None or found <= at_most)
        bound = {"at_least": at_least} if at_most is None else {"at_most": at_most}
        self.goals.append({"goal": goal, "found": round(found, 4), **bound, "met": met})


@dataclass
class Lab:
    """One run of the benchmarks: its size, its samples so far, its record."""

    quick: bool = False
    repeats: int = 5
    date: str = field(default_factory=lambda: dt.datetime.now(dt.timezone.utc).date().isoformat())

    @property
    def progress(self) -> Path:
        """Samples of questions not finished yet."""
        return bench_dir() / f"progress-{self.date}{'-quick' if self.quick else ''}.json"

    @property
    def record(self) -> Path:
        """The dated record; quick runs keep theirs out of the repository."""
        name = f"{self.date}-{processor()}.json"
        return bench_dir() / f"quick-{name}" if self.quick else HERE / "record" / name

    def folder(self, name: str) -> Path:
        """An empty folder for one case's output."""
        path = bench_dir() / "out" / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def sample(
        self, question: str, cases: Mapping[str, Callable[[], Sample]], repeats: int | None = None
    ) -> dict[str, list[Sample]]:
        """Every case `repeats` times (default: the lab's), in alternation, so that a busy minute hits all alike.

        Samples are kept on disk: a run that was stopped goes on where it was. A case that raises Skip has no samples.
        """
        progress: dict[str, list[Sample]] = json.loads(self.progress.read_text()) if self.progress.exists() else {}
        skipped: dict[str, str] = {}
        repeats = repeats or self.repeats
        for turn in range(repeats):
            for name, run in cases.items():
                taken = progress.setdefault(f"{question}/{name}", [])
                if len(taken) > turn or name in skipped:
                    continue
                print(f"  {question} {name} {turn + 1}/{repeats} ...", flush=True)
                try:
                    taken.append({key: value for key, value in run().items() if key not in ("stdout", "stderr")})
                except Skip as reason:
                    skipped[name] = str(reason)
                    print(f"  {question} {name}: skipped: {reason}", flush=True)
                self.progress.write_text(json.dumps(progress))
        return {name: progress[f"{question}/{name}"] for name in cases}

    def taken(self, question: str, case: str) -> list[Sample]:
        """The samples of a case so far."""
        samples: list[Sample] = json.loads(self.progress.read_text())[f"{question}/{case}"]
        return samples

    def forget(self, question: str) -> None:
        """Drop the samples of a question that is finished, or is to be measured anew."""
        if self.progress.exists():
            progress = json.loads(self.progress.read_text())
            kept = {name: taken for name, taken in progress.items() if not name.startswith(f"{question}/")}
            self.progress.write_text(json.dumps(kept))

    def recorded(self) -> Sample:
        """The record so far."""
        if self.record.exists():
            loaded: Sample = json.loads(self.record.read_text())
            return loaded
        return {"date": self.date, "machine": machine(), "questions": {}}

    def write(self, question: str, findings: Findings) -> None:
        """Add a question's findings to the record."""
        record = self.recorded()
        record["questions"][question] = vars(findings)
        self.record.parent.mkdir(parents=True, exist_ok=True)
        self.record.write_text(json.dumps(record, indent=1) + "\n")


def figure(value: Any) -> str:
    """A value as tables show it: three significant digits."""
    if isinstance(value, dict) and "median" in value:
        return f"{figure(value['median'])} ({figure(value['min'])}-{figure(value['max'])})"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)


def print_table(rows: Sequence[Sample]) -> None:
    """Rows as a table with aligned columns; a missing value is blank."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [columns] + [[figure(row.get(name)) for name in columns] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
