"""One pass of a model over a set: encoded, planned, scored where it is not yet, and finished."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscope import provenance
from ngramscope.models.chunks import Unit, plan_chunks
from ngramscope.models.encode import Encoder
from ngramscope.models.forward import MODEL_RETURNED_NAN
from ngramscope.models.load import LoadedModel
from ngramscope.models.passes import PassKind, PassTexts
from ngramscope.models.run import Prefixes, Runner
from ngramscope.models.store import ROLES, STORE_VERSION, ScoreStore
from ngramscope.models.write import PassFolder, digest, pass_name, write_chunk
from ngramscope.progress import Step

if TYPE_CHECKING:
    import pyarrow as pa

    from ngramscope.models.score import ScoreOptions

__all__ = ["ScoredPass", "Teller"]

# What may differ between two machines, or two names of one model, without another score.
_NOT_DECIDING = ("label", "revision", "parameters", "device", "libraries")

logger = logging.getLogger("ngramscope")


class Teller:
    """Says how far one pass of several is.

    Parameters
    ----------
    progress
        Who is told.
    number, passes
        Which pass of how many.
    """

    def __init__(self, progress: Callable[[Step], object] | None, number: int, passes: int) -> None:
        self._progress = progress
        self._number, self._passes = number, passes
        self._began = time.monotonic()
        self._texts = self._tokens = self._bytes = self._total = 0

    def start(self, total: int) -> None:
        """So many bytes of text are to be scored."""
        self._began, self._total = time.monotonic(), total

    def done(self, unit: Unit) -> None:
        """One more text is through."""
        self._texts += 1
        self._tokens += len(unit.encoded.ids)
        self._bytes += unit.encoded.text_bytes
        self._tell("score", self._texts)

    def encoded(self, texts: int) -> None:
        """So many texts are encoded."""
        self._tell("encode", texts)

    def _tell(self, phase: str, texts: int) -> None:
        if self._progress is not None:
            seconds = time.monotonic() - self._began
            total = self._total if phase == "score" else 0
            self._progress(
                Step(phase, self._number, self._passes, texts, self._bytes, total, seconds=seconds, tokens=self._tokens)
            )


class ScoredPass:
    """A pass, encoded and planned, and the folder that it goes to, whose name says everything that decides its content.

    Parameters
    ----------
    out
        The store.
    texts
        What the model is to see.
    loaded, encoder
        The model.
    number
        Of this process among `ScoreOptions.workers`.
    teller
        Says how far it is.

    Raises
    ------
    ResourceError
        The folder cannot be made.
    """

    def __init__(
        self,
        out: Path,
        kind: PassKind,
        texts: PassTexts,
        loaded: LoadedModel,
        encoder: Encoder,
        options: ScoreOptions,
        number: int,
        teller: Teller,
    ) -> None:
        self._store, self._kind, self._texts, self._options, self._teller = out, kind, texts, options, teller
        self._loaded = loaded
        self._model = loaded.facts()
        self._statistics = (*kind.statistics, *(options.statistics if kind.name == "plain" else ()))
        self._settings = self._decide(encoder)
        self._prefixes = Prefixes(encoder, texts.shots)
        units = []
        for count, each in enumerate(texts.texts, 1):
            encoded = encoder.encode(each.text)
            units.append(Unit(each.row, each.number, encoded, self._prefixes.fitting(encoded)))
            teller.encoded(count)
        chunks = plan_chunks(units)
        self._folder = PassFolder(self._path(options.role), [each.key() for each in chunks])
        for role in ROLES:
            if role != options.role:
                self._folder.take(self._path(role))
        missing = self._folder.missing()
        self._kept = len(chunks) - len(missing)
        self._mine = [chunks[each] for each in missing if each % options.workers == number]
        # A complete pass stays as it is: its header tells of the machine that made it.
        self._header = self._folder.header

    def run(self, check: Callable[[], object]) -> None:
        """Score the chunks that are this process's and not there yet; `check` is called after each.

        Raises
        ------
        ResourceError
            Not enough memory or disk.
        """
        mine, self._mine = self._mine, []
        self._teller.start(sum(unit.encoded.text_bytes for chunk in mine for unit in chunk.units))
        options = self._options
        runner = Runner(
            self._loaded,
            self._kind,
            self._statistics,
            self._prefixes,
            batch_tokens=options.batch_tokens,
            padding_side=options.padding_side,
            tell=self._teller.done,
        )
        for chunk in mine:
            table, facts = runner.score(chunk)
            write_chunk(self._folder.path, chunk.number, self._folder.keys[chunk.number], table, facts)
            check()

    def finish(self) -> None:
        """Write ``pass.json``, when all processes are through.

        Raises
        ------
        InputError
            A chunk is missing or damaged.
        """
        self._header = self._header or self._folder.finish(self._whole())
        self._warn()

    def _whole(self) -> dict[str, Any]:
        counts = _Counts(self._texts)
        for table, facts in self._folder.tables():
            counts.add(table, facts)
        shots = self._texts.shots
        return {
            **provenance.stamp("score-pass", version=STORE_VERSION, settings=self._settings, inputs=[]),
            "kind": self._kind.name,
            "role": self._options.role,
            "model": self._model,
            "statistics": list(self._statistics),
            "left_out_rows": [] if shots is None else list(shots.rows),
            **counts.to_dict(),
        }

    def summary(self) -> dict[str, Any]:
        """For machines: folder, header, and how many chunks were there before."""
        return {"folder": self._folder.path.name, "chunks_kept": self._kept, **self._header}

    def _decide(self, encoder: Encoder) -> dict[str, Any]:
        """The settings that decide the content, the model's aside; and the names of files, whose content is in the texts."""
        kind, given = self._kind, self._options.pass_options
        asked = {name: given.get(name, default) for name, default in kind.options.items()}
        files = {name for name, default in kind.options.items() if default in (None, ())}
        return {
            "kind": kind.name,
            "options": {name: value for name, value in asked.items() if name not in files},
            "files": {name: _names(asked[name]) for name in files},
            "texts_sha256": self._texts.sha256(),
            "statistics": list(self._statistics),
            "start_token": encoder.options.start_token,
            "start_ids": list(encoder.start),
            "control_tokens": encoder.options.control_tokens,
            "long_text": encoder.options.long_text,
            "window": encoder.window,
        }

    def _path(self, role: str) -> Path:
        identity = {
            "version": STORE_VERSION,
            "role": role,
            "model": {name: value for name, value in self._model.items() if name not in _NOT_DECIDING},
            "settings": {name: value for name, value in self._settings.items() if name != "files"},
        }
        return self._store / pass_name(self._model["label"], self._kind.name, digest(identity))

    def _warn(self) -> None:
        nulls = self._header["counts"]["null"].get(MODEL_RETURNED_NAN, 0)
        if nulls:
            dtype = self._model["dtype"]
            advice = "its weights may be damaged" if dtype == "float32" else "try --dtype float32, or bfloat16 on a card"
            logger.warning(
                "%s, %s: the model returned NaN for %d texts in %s; they have no score; %s",
                self._model["label"], self._kind.name, nulls, dtype, advice,
            )  # fmt: skip
        found = ScoreStore(self._store).find(self._kind.name, model=self._model["label"])
        same = [each for each in found if (each.role == "reference") == (self._options.role == "reference")]
        if len(same) > 1:
            differing = sorted(
                {name for each in same for name, value in each.header["settings"].items() if value != self._settings.get(name)}
                | {
                    f"model {name}"
                    for each in same
                    for name in self._model
                    if each.header["model"].get(name) != self._model[name]
                }
            )
            logger.warning(
                "%s: has %d %s passes of %s now (%s), which differ in: %s; attacks take one, so remove the others",
                self._store, len(same), self._kind.name, self._model["label"],
                ", ".join(each.path.name for each in same), ", ".join(differing),
            )  # fmt: skip


class _Counts:
    """What became of the texts of a pass, summed over its chunks."""

    def __init__(self, texts: PassTexts) -> None:
        self._texts = texts
        self._null: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()
        self._positions: Counter[str] = Counter()
        self._rows: set[int] = set()
        self._drift: dict[str, Any] | None = None

    def add(self, table: pa.Table, facts: Mapping[str, Any]) -> None:
        """Count these."""
        self._null.update(filter(None, table["null_reason"].to_pylist()))
        self._rows.update(table["row"].to_numpy().tolist())
        self._sums["texts"] += len(table)
        self._sums["tokens_total"] += int(table["tokens_total"].to_numpy().sum())
        self._sums["truncated"] += int(table["truncated"].to_numpy().sum())
        self._sums["tokens"] += facts["tokens"]
        self._positions.update({name: facts.get(name, 0) for name in ("padded_positions", "real_positions")})
        if "scalar_shots" in table.column_names and self._texts.shots is not None:
            dropped = len(self._texts.shots.texts) - table["scalar_shots"].to_numpy().astype(int)
            self._sums["shots_dropped"] += int(dropped.sum())
            self._sums["texts_with_fewer_shots"] += int((dropped > 0).sum())
        self._drift = facts.get("drift", self._drift)

    def to_dict(self) -> dict[str, Any]:
        """For ``pass.json``."""
        padded, real = self._positions["padded_positions"], self._positions["real_positions"]
        return {
            "counts": {
                "candidates": len(self._rows),
                "scored": self._sums["texts"] - sum(self._null.values()),
                **self._sums,
                "null": dict(self._null),
                "left_out": dict(self._texts.counts),
            },
            "padding": {"padded_positions": padded, "real_positions": real, "waste": 1 - real / padded if padded else 0.0},
            "drift": self._drift,
        }


def _names(value: Any) -> Any:
    """Names of files without where they are on this machine."""
    return [Path(each).name for each in value] if isinstance(value, list | tuple) else value and Path(value).name
