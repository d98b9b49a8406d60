"""Word n-gram overlap of texts with a training corpus, fast and exactly right.

>>> import ngramscope
>>> index = ngramscope.Index.build(["corpus.jsonl.zst"], out="my-index", n=7)
>>> index.overlap(["some text"]).to_pandas()
"""

from __future__ import annotations

from ngramscope._core import FORMAT_VERSION, Progress, __version__
from ngramscope.decontaminate import Decontamination, DecontaminationRules
from ngramscope.errors import (
    IndexFormatError,
    InputError,
    MismatchError,
    MissingExtraError,
    NgramscopeError,
    ResourceError,
    UsageError,
)
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
