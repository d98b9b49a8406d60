from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def expected(trials: Path) -> dict[str, Any]:
    """The right answers."""
    answers: dict[str, Any] = json.loads((trials / "expected.json").read_text(encoding="utf-8"))
    return answers
