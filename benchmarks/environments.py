"""One environment for each Python rival, made on first use: pinned, and apart, as their requirements contradict."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from lab import Skip, bench_dir

# What the package's own requirements leave open or get wrong is pinned beside it.
REQUIREMENTS = {
    "bloom": ["rbloom==1.5.4", "abloom==1.1.0", "xxhash==4.1.0"],
    # Without these four pins pip's resolver goes back through hundreds of boto releases.
    "dolma": ["dolma==1.2.1", "boto3==1.26.76", "botocore==1.29.76", "aiobotocore==2.5.0", "s3fs==2023.6.0"],
    # spaCy: its English word tokenizer needs it, and the extras lack it.
    "datatrove": ["datatrove[io,processing]==0.10.1", "spacy==3.8.18"],
}


def python(name: str) -> Path:
    """The interpreter of the environment `name`; Skip with pip's words where it cannot be made."""
    requirements = REQUIREMENTS[name]
    key = hashlib.sha256(" ".join([sys.version, *requirements]).encode()).hexdigest()[:8]
    folder = bench_dir() / "environments" / f"{name}-{key}"
    made = folder / "made"
    if not made.exists():
        print(f"  making the environment of {name} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
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
    """The installed versions of what REQUIREMENTS names."""
    listed = subprocess.run(
        [str(python(name)), "-m", "pip", "list", "--format", "json"], capture_output=True, text=True, check=True
    ).stdout
    wanted = {requirement.split("==")[0].split("[")[0] for requirement in REQUIREMENTS[name]}
    return {item["name"]: item["version"] for item in json.loads(listed) if item["name"] in wanted}
