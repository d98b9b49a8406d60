"""What every artefact on disk carries: format, versions, settings, digests of the inputs."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

from ngramscope._core import __version__

__all__ = ["stamp"]


def stamp(artefact: str, *, version: int, settings: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The provenance of one artefact, ready for JSON.

    Parameters
    ----------
    artefact
        Kind of artefact, as ``overlap-table``.
    version
        Version of that kind's format; readers refuse those they do not know.
    settings
        Every option that had a say in the content.
    inputs
        Name, size and digest of each input.
    """
    return {
        "artefact": artefact,
        "format_version": version,
        "ngramscope": __version__,
        "python": platform.python_version(),
        "settings": dict(settings),
        "inputs": [dict(each) for each in inputs],
    }
