"""A chunk through a model: its texts to the rows of a file."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ngramscope.models.chunks import Chunk, Unit
from ngramscope.models.drift import batch_drift
from ngramscope.models.encode import Encoded, Encoder
from ngramscope.models.forward import MODEL_RETURNED_NAN, Forward, TextStats
from ngramscope.models.gradients import GRADIENT_NORMS, gradient_norms
from ngramscope.models.load import LoadedModel
from ngramscope.models.passes import PassKind, Shots
from ngramscope.models.store import chunk_schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Prefixes", "Runner"]

_DRIFT_TEXTS = 16


class Prefixes:
    """Shots as tokens: all of them, or as many as leave room for a text.

    Parameters
    ----------
    shots
        Joined without anything between them, as ReCaLL's code does. The first are taken, so that all prefixes start alike.
    """

    def __init__(self, encoder: Encoder, shots: Shots | None) -> None:
        texts = () if shots is None else shots.texts
        self.ids = [encoder.prefix("".join(texts[:count])) for count in range(len(texts) + 1)]

    def fitting(self, text: Encoded) -> int:
        """How many shots can stand before `text` so that none of its tokens is lost."""
        room = text.window - len(text.ids) - (0 if text.starts else len(text.head))
        return next((count for count in range(len(self.ids) - 1, 0, -1) if len(self.ids[count]) <= room), 0)

    def __getitem__(self, shots: int) -> Sequence[int] | None:
        """The ids of that many; None for none: then a text is scored as in the plain pass."""
        return self.ids[shots] if shots else None


class Runner:
    """Scores chunks of one pass.

    Parameters
    ----------
    batch_tokens, padding_side
        See `Forward`.
    tell
        Called with every text that is through.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        kind: PassKind,
        statistics: Sequence[str],
        prefixes: Prefixes,
        *,
        batch_tokens: int | None,
        padding_side: Any,
        tell: Callable[[Unit], object],
    ) -> None:
        self._loaded = loaded
        self._kind = kind
        self._statistics = statistics
        self._prefixes = prefixes
        self._tell = tell
        self._forward = Forward(loaded, statistics, batch_tokens or "auto", padding_side)

    def score(self, chunk: Chunk) -> tuple[pa.Table, dict[str, Any]]:
        """The rows of a chunk, and how they were computed: positions with and without padding, and in half precision the drift.

        Raises
        ------
        ResourceError
            Memory does not suffice.
        """
        if GRADIENT_NORMS[0] in self._kind.scalars:
            return self._gradients(chunk.units), {"tokens": 0}
        forward = self._forward
        padded, real = forward.padded_positions, forward.real_positions
        found: list[TextStats | None] = [None] * len(chunk.units)
        numbered = sorted(enumerate(chunk.units), key=lambda each: each[1].shots)
        for shots, group in itertools.groupby(numbered, key=lambda each: each[1].shots):
            members = list(group)
            for at, result in forward.run([unit.encoded for _, unit in members], self._prefixes[shots]):
                place, unit = members[at]
                found[place] = result
                self._tell(unit)
        results = cast("list[TextStats]", found)
        facts: dict[str, Any] = {
            "tokens": sum(
                len(unit.encoded.ids) for unit, each in zip(chunk.units, results, strict=True) if not each.null_reason
            ),
            "padded_positions": forward.padded_positions - padded,
            "real_positions": forward.real_positions - real,
        }
        if chunk.number == 0 and self._loaded.model.dtype.itemsize < 4:
            drift = batch_drift(self._loaded, [each.encoded for each in chunk.units[:_DRIFT_TEXTS]])
            facts["drift"] = dataclasses.asdict(drift)
        scalars = {"shots": [float(each.shots) for each in chunk.units]} if "shots" in self._kind.scalars else {}
        return _table(chunk.units, results, self._statistics, scalars), facts

    def _gradients(self, units: Sequence[Unit]) -> pa.Table:
        scalars: dict[str, list[float]] = {name: [] for name in GRADIENT_NORMS}
        results = []
        for unit in units:
            norms = gradient_norms(self._loaded, unit.encoded)
            for name, value in norms.items():
                scalars[name].append(value)
            broken = any(map(math.isnan, norms.values()))
            results.append(TextStats({}, unit.encoded.null_reason or (MODEL_RETURNED_NAN if broken else None)))
            self._tell(unit)
        return _table(units, results, (), scalars)


def _table(
    units: Sequence[Unit], results: Sequence[TextStats], statistics: Sequence[str], scalars: Mapping[str, list[float]]
) -> pa.Table:
    import pyarrow as pa

    schema = chunk_schema(statistics, list(scalars))
    encoded = [each.encoded for each in units]
    columns: dict[str, Any] = {
        "row": [each.row for each in units],
        "variant": [each.number for each in units],
        "head": [each.head for each in encoded],
        **{
            name: [getattr(each, name) for each in encoded]
            for name in ("tokens_total", "text_bytes", "zlib_bytes", "truncated")
        },
        "null_reason": [each.null_reason for each in results],
        **{f"scalar_{name}": values for name, values in scalars.items()},
    }
    offsets = np.cumsum([0, *(0 if each.null_reason else len(one.ids) for one, each in zip(encoded, results, strict=True))])
    arrays = []
    for field in schema:
        if field.name in statistics:
            values = np.concatenate([each.columns[field.name] for each in results])
            arrays.append(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values, field.type.value_type)))
        else:
            arrays.append(pa.array(columns[field.name], field.type))
    return pa.table(arrays, schema=schema)
