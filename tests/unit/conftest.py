"""Fixtures of unit tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder for inputs, so that `tmp_path` shows what came out."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder
