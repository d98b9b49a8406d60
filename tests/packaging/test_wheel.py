"""The wheel, installed where the checkout is out of sight, does the main job; so does one made from the source archive."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.conftest import ROOT

BUILD_TIMEOUT = 1500
SUPPORTED = ("3.10", "3.11", "3.12", "3.13")
CHECK = """
import json, sys
import ngramscope
index = ngramscope.Index.build(texts=["one two three four"], out="i", n=2)
table = index.overlap(["one two", "two one"])
print(json.dumps([ngramscope.__file__, table.hits.tolist(), sorted(sys.modules.keys() & {"torch", "transformers", "pandas"})]))
"""


def run(*command: str | Path, cwd: Path, timeout: float = 600, **env: str) -> str:
    """Run without what ties to this environment or checkout; returns standard output."""
    dropped = {"PYTHONPATH", "VIRTUAL_ENV", "PIP_CONSTRAINT", "NGRAMSCOPE_INDEX"}
    clean = {key: value for key, value in os.environ.items() if key not in dropped}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env={**clean, **env}, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def target() -> str:
    """One folder for everything cargo compiles, so that a wheel costs a link and not a build."""
    return os.environ.get("CARGO_TARGET_DIR") or str(ROOT / "target")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    maturin = shutil.which("maturin")
    if maturin is None:
        pytest.skip("maturin is not installed; `make test` brings it")
    run(maturin, "build", "--release", "--locked", "--out", folder, cwd=ROOT, timeout=BUILD_TIMEOUT, CARGO_TARGET_DIR=target())
    (path,) = folder.glob("*.whl")
    return path


def environment(python: str | Path, folder: Path, package: Path) -> Path:
    """A new environment with `package` and what it asks for; returns its interpreter."""
    run(python, "-m", "venv", folder / "venv", cwd=folder)
    inside = folder / "venv" / "bin" / "python"
    run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package, cwd=folder)
    return inside


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment that has the wheel."""
    return environment(sys.executable, tmp_path_factory.mktemp("installed"), wheel)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = Parser().parsestr(archive.read(next(name for name in names if name.endswith("METADATA"))).decode())
    assert {name.split("/")[0] for name in names} <= {"ngramscope", next(n for n in names if "dist-info" in n).split("/")[0]}
    for manifest in (ROOT / "data_manifests").glob("*.toml"):
        assert f"ngramscope/data_manifests/{manifest.name}" in names
    for needed in ("ngramscope/py.typed", "ngramscope/_core.pyi", "ngramscope/_core.abi3.so"):
        assert needed in names
    required = [each for each in metadata.get_all("Requires-Dist") or [] if "extra ==" not in each]
    light = {"click", "numpy", "pyarrow", "rensa", "scikit-learn", "scipy", "threadpoolctl", "tomli", "zstandard"}
    assert {re.split(r"[^a-z-]", each)[0] for each in required} == light
    assert all("python" in each for each in required if each.startswith("tomli"))
    assert metadata["Requires-Python"] == ">=3.10"


def test_the_tag_promises_no_older_system_than_the_symbols_need(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        library = archive.read("ngramscope/_core.abi3.so")
    needed = max(tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_(2\.\d+)", library))
    promised = [tuple(map(int, found)) for found in re.findall(r"manylinux_(\d+)_(\d+)", wheel.name)]
    assert "-cp310-abi3-" in wheel.name
    assert promised or "-linux_" in wheel.name, wheel.name
    for each in promised:
        assert each >= needed


def test_the_main_job_runs_from_the_wheel_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    program = installed.parent / "ngramscope"
    run(program, "build-index", "--n", "7", cwd=tmp_path)
    output = run(program, "overlap", ROOT / "examples" / "candidates.jsonl", cwd=tmp_path)
    rows = {row["id"]: row for row in map(json.loads, output.splitlines())}
    assert rows["verbatim"]["overlap"] == 1.0
    assert rows["verbatim"]["index_is_demo"] is True
    file, hits, heavy = json.loads(run(installed, "-c", CHECK, cwd=tmp_path))
    assert not Path(file).is_relative_to(ROOT)
    assert hits == [1, 0]
    assert heavy == []


def test_a_missing_extra_is_one_line_with_the_command(installed: Path, tmp_path: Path) -> None:
    program = installed.parent / "ngramscope"
    candidates = ROOT / "examples" / "candidates.jsonl"
    done = subprocess.run(
        [program, "overlap", candidates, "--plot", "a.png"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    message = "--plot needs matplotlib, which is not installed: pip install 'ngramscope[plot]'"
    assert done.stderr == f"ngramscope: error: {message}\n"


@pytest.mark.parametrize("version", SUPPORTED)
def test_the_wheel_works_on_every_supported_python(version: str, wheel: Path, installed: Path, tmp_path: Path) -> None:
    if version == "{}.{}".format(*sys.version_info[:2]):
        inside = installed
    else:
        python = find_python(version)
        if python is None:
            pytest.skip(f"no Python {version} on this machine")
        inside = environment(python, tmp_path, wheel)
    _, hits, heavy = json.loads(run(inside, "-c", CHECK, cwd=tmp_path))
    assert hits == [1, 0]
    assert heavy == []
    assert "build-index" in run(inside.parent / "ngramscope", "--help", cwd=tmp_path)


def find_python(version: str) -> Path | None:
    """An interpreter of this version on the path or under pyenv, if it really starts."""
    found = shutil.which(f"python{version}")
    places = [Path(found)] if found else []
    roots = [Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")]
    places += sorted(path for root in roots for path in root.glob(f"versions/{version}.*/bin/python"))
    for place in places:
        probe = [place, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(probe, capture_output=True, text=True, timeout=60, check=False)
        if done.stdout.strip() == version:
            return place
    return None


def test_the_source_archive_builds_a_wheel_that_works(tmp_path: Path, installed: Path) -> None:
    maturin = shutil.which("maturin")
    assert maturin is not None
    run(maturin, "sdist", "--out", tmp_path, cwd=ROOT)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    assert {"pyproject.toml", "Cargo.lock", "LICENSE", "README.md", "data_manifests/python-stdlib.toml"} <= names
    assert {"rust/py/build.rs", "rust/py/Cargo.toml", "rust/core/Cargo.toml", "ngramscope/_core.pyi"} <= names
    # pip builds it in an environment of its own, by pyproject.toml alone.
    pip = [installed, "-m", "pip", "--disable-pip-version-check"]
    run(
        *pip,
        "wheel",
        "--quiet",
        "--no-deps",
        "-w",
        tmp_path,
        archive,
        cwd=tmp_path,
        timeout=BUILD_TIMEOUT,
        CARGO_TARGET_DIR=target(),
    )
    (built,) = tmp_path.glob("*.whl")
    run(*pip, "install", "--quiet", "--force-reinstall", "--no-deps", built, cwd=tmp_path)
    file, hits, _ = json.loads(run(installed, "-c", CHECK, cwd=tmp_path))
    assert not Path(file).is_relative_to(ROOT)
    assert hits == [1, 0]
    assert (Path(file).parent / "data_manifests" / "python-stdlib.toml").is_file()
