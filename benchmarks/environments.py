"""One environment for each Python rival, made on first use: pinned, and apart, as their requirements contradict."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lab import Skip, bench_dir

# What the package's own requirements leave open or get wrong is pinned beside it.
REQUIREMENTS = {
    "bloom": ["rbloom==1.5.4", "abloom==1.1.0", "xxhash==4.1.0"],
    # Without these four pins pip's resolver goes back through hundreds of boto releases.
    "dolma": ["dolma==1.2.1", "boto3==1.26.76", "botocore==1.29.76", "aiobotocore==2.5.0", "s3fs==2023.6.0"],
    # spaCy: its English word tokenizer needs it, and the extras lack it.
    "datatrove": ["datatrove[io,processing]==0.10.1", "spacy==3.8.18"],
    "decontaminate": ["decontaminate==0.3.0.post4"],
    "corpus-assay": ["corpus-assay==0.1.0", "datasets==5.2.0", "pyarrow==26.0.1"],
}
# What needs a newer Python than the benchmarks do.
MINIMUM = {"decontaminate": (3, 12), "corpus-assay": (3, 12)}


def candidates(minimum: tuple[int, int]) -> Iterator[str]:
    """Where an interpreter of at least that version may be: this one, then the oldest on PATH and under pyenv."""
    if sys.version_info >= minimum:
        yield sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    major, least = minimum
    for minor in range(least, least + 6):
        name = f"python{major}.{minor}"
        if found := shutil.which(name):
            yield found
        yield from map(str, sorted(pyenv.glob(f"*/bin/{name}")))


def interpreter(name: str) -> tuple[str, str]:
    """Path and version of a Python that `name` runs on; Skip where there is none."""
    minimum = MINIMUM.get(name, (3, 11))
    for candidate in candidates(minimum):
        # It must start: pyenv puts a launcher on PATH for versions that it then refuses to run.
        command = [candidate, "-c", "import sys, ensurepip, venv; print(sys.version)"]
        tried = subprocess.run(command, capture_output=True, text=True, check=False)
        if tried.returncode == 0:
            return candidate, tried.stdout.strip()
    wanted = ".".join(map(str, minimum))
    raise Skip(f"{name} needs Python {wanted} or later: none on PATH, none under pyenv")


def python(name: str) -> Path:
    """The interpreter of the environment `name`; Skip, with the reason, where it cannot be made."""
    requirements = REQUIREMENTS[name]
    base, version = interpreter(name)
    key = hashlib.sha256(" ".join([version, *requirements]).encode()).hexdigest()[:8]
    folder = bench_dir() / "environments" / f"{name}-{key}"
    made = folder / "made"
    if not made.exists():
        print(f"  making the environment of {name} ...", flush=True)
        subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *requirements]
        try:
            done = subprocess.run(pip, capture_output=True, text=True, timeout=900)
        except subprocess.TimeoutExpired:
            raise Skip(f"{name}: pip did not finish in 15 minutes") from None
        if done.returncode:
            raise Skip(f"{name}: pip: {done.stderr.strip().splitlines()[-1]}")
        made.touch()
    return folder / "bin" / "python"


def versions(name: str) -> dict[str, str]:
    """The installed versions of what REQUIREMENTS names; and of Python, where it may be another."""
    listed = subprocess.run(
        [str(python(name)), "-m", "pip", "list", "--format", "json"], capture_output=True, text=True, check=True
    ).stdout
    wanted = {requirement.split("==")[0].split("[")[0] for requirement in REQUIREMENTS[name]}
    found = {item["name"]: item["version"] for item in json.loads(listed) if item["name"] in wanted}
    return found | ({f"python of {name}": interpreter(name)[1].split()[0]} if name in MINIMUM else {})
