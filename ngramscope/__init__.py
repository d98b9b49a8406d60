"""Word n-gram overlap of texts with a training corpus, fast and exactly right.

>>> import ngramscope
>>> index = ngramscope.Index.build(["corpus.jsonl.zst"], out="my-index", n=7)
>>> index.overlap(["some text"]).to_pandas()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    from ngramscope._core import FORMAT_VERSION, Progress, __version__
except ModuleNotFoundError as error:
    if error.name != "ngramscope._core":
        raise
    raise ImportError(
        f"{__path__[0]} has no compiled core: in a clone `make build` compiles it; "
        "an installed ngramscope is found from any other folder",
        name=error.name,
    ) from None
from ngramscope.errors import (
    IndexFormatError,
    InputError,
    MismatchError,
    MissingExtraError,
    NgramscopeError,
    ResourceError,
    UsageError,
)

if TYPE_CHECKING:
    from ngramscope.decontaminate import Decontamination, DecontaminationRules
    from ngramscope.index import (
        BuildReport,
        Index,
        OverlapStream,
        OverlapTable,
        QueryOptions,
        ReadOptions,
        Scan,
        ScanOptions,
        WordRule,
    )

__all__ = [
    "FORMAT_VERSION",
    "BuildReport",
    "Decontamination",
    "DecontaminationRules",
    "Index",
    "IndexFormatError",
    "InputError",
    "MismatchError",
    "MissingExtraError",
    "NgramscopeError",
    "OverlapStream",
    "OverlapTable",
    "Progress",
    "QueryOptions",
    "ReadOptions",
    "ResourceError",
    "Scan",
    "ScanOptions",
    "UsageError",
    "WordRule",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """What takes long to load is loaded when it is asked for, so that the program can be interrupted meanwhile."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "ngramscope.decontaminate" if name.startswith("Decontamination") else "ngramscope.index"
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
