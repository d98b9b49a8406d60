"""Datasets of the Hugging Face hub, by `datasets`: ``hf://name[@revision][:config][:split]``.

`datasets` says which files a split is made of. Those that the core reads (JSON Lines, Parquet) are read by the core, one source
a file; anything else is streamed through `datasets` as one source, an Arrow stream.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscope.corpus.remote import RemoteSource, Transfer, common_folder
from ngramscope.corpus.storage import StoredFile, explained, open_file_system
from ngramscope.errors import InputError, MissingExtraError, NgramscopeError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DatasetName", "HubDataset", "ask_hub", "find"]

_SCHEME = "hf://"
_ROWS = 1000  # of a batch: few enough for long documents
# A plain .json may be one array, which `datasets` reads and the core does not.
_DIRECT = re.compile(r"\.(jsonl|ndjson)(\.(gz|zst|bz2|xz))?$|\.json\.(gz|zst|bz2|xz)$|\.parquet$")
_COMMIT = re.compile(r"@[0-9a-f]{40}/")
_BUILDERS = {"json": ("field",), "parquet": ("columns", "filters")}
"""Builders whose files may be read directly, and the settings that would make a difference."""


@dataclass(frozen=True)
class DatasetName:
    """``hf://path[@revision][:config][:split]``; of one part behind the path `find` finds out which it is."""

    path: str
    revision: str | None
    parts: tuple[str, ...]

    @classmethod
    def parse(cls, name: str) -> DatasetName:
        """Take `name` apart.

        Raises
        ------
        UsageError
            It is not of that form.
        """
        path, *parts = name.removeprefix(_SCHEME).split(":")
        path, _, revision = path.partition("@")
        if not path or len(parts) > 2 or (parts and not parts[-1]):
            raise UsageError(f"{name}: not the name of a dataset; write hf://name[@revision][:config][:split]")
        return cls(path, revision or None, tuple(parts))


class HubDataset:
    """One split as one Arrow stream; see `RemoteSource`. Its size is not known, and it can only be read front to back."""

    size = None
    ranges = False

    def __init__(self, builder: Any, split: str, name: str) -> None:
        self._builder = builder
        self._split = split
        self.name = name
        self.below = name.rpartition("/")[2]

    def stream(self) -> Transfer:
        """The split, as the Arrow stream of its records."""
        return Transfer(self._arrow())

    def part(self, offset: int, length: int) -> Transfer:
        """Not for such a source."""
        raise NotImplementedError

    def _arrow(self) -> Iterator[bytes]:
        import pyarrow as pa

        with explained():
            split = self._builder.as_streaming_dataset(split=self._split).with_format("arrow")
            schema = None if split.features is None else split.features.arrow_schema.remove_metadata()
            sink = io.BytesIO()
            writer = None
            for table in split.iter(batch_size=_ROWS):
                schema = table.schema.remove_metadata() if schema is None else schema
                writer = pa.ipc.new_stream(sink, schema) if writer is None else writer
                writer.write_table(_cast(table, schema))
                yield _taken(sink)
            if writer is not None:
                writer.close()
                yield _taken(sink)


def find(name: str) -> list[RemoteSource]:
    """The sources of the dataset `name`, in the order of their names.

    Raises
    ------
    UsageError
        The name is none, or leaves open which config or split is meant; names those that there are.
    InputError
        There is no such dataset, or it cannot be reached.
    MissingExtraError
        `datasets` is not installed.
    """
    try:
        import datasets
    except ImportError as error:
        raise MissingExtraError("datasets", "hf", f"reading {name}") from error
    asked = DatasetName.parse(name)
    datasets.disable_progress_bars()
    with ask_hub(f"{name}:", "check the name and the connection, or name files that are here"):
        configs = datasets.get_dataset_config_names(asked.path, revision=asked.revision)
        config, split = _config_and_split(name, asked.parts, configs)
        builder = datasets.load_dataset_builder(asked.path, config, revision=asked.revision)
        splits = builder.as_streaming_dataset()
    if split is None:
        if len(splits) > 1:
            first = f"{_SCHEME}{asked.path}:{builder.config.name}:{next(iter(splits))}"
            raise UsageError(f"{name}: has the splits {', '.join(splits)}; name one, as {first}")
        split = next(iter(splits))
    if split not in splits:
        raise UsageError(f"{name}: has no split {split!r}; it has {', '.join(splits)}")
    public = _public(asked, builder, split)
    return _files(builder, split, public) or [HubDataset(builder, split, public)]


@contextmanager
def ask_hub(what: str, advice: str) -> Iterator[None]:
    """Turns what the library raises into our one message, from `what` to `advice`, in place of the library's log of its tries.

    Raises
    ------
    InputError
        Something was raised.
    """
    logger = logging.getLogger("huggingface_hub")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    except NgramscopeError:
        raise
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{what} cannot be had from the hub: {why.rstrip('.')}; {advice}") from error
    finally:
        logger.setLevel(before)


def _config_and_split(name: str, parts: tuple[str, ...], configs: list[str]) -> tuple[str | None, str | None]:
    """A single part is the config of that name if there is one, else a split of the only config."""
    config, split = None, None
    if len(parts) == 2:
        config, split = parts[0] or None, parts[1]
    elif parts:
        config, split = (parts[0], None) if parts[0] in configs else (None, parts[0])
    if config is not None and config not in configs:
        raise UsageError(f"{name}: has no config {config!r}; it has {', '.join(configs)}")
    if config is None and len(configs) > 1 and "default" not in configs:
        raise UsageError(f"{name}: has the configs {', '.join(configs)}; name one, as {name.rstrip(':')}:{configs[0]}")
    return config, split


def _public(asked: DatasetName, builder: Any, split: str) -> str:
    """The whole name, with the revision where there is one; of a local folder only the last part of its path."""
    local = Path(asked.path).exists()
    path = Path(asked.path).resolve().name if local else asked.path
    revision = asked.revision if local else builder.hash or asked.revision
    return f"{_SCHEME}{path}{f'@{revision}' if revision else ''}:{builder.config.name}:{split}"


def _files(builder: Any, split: str, public: str) -> list[RemoteSource]:
    """The files of a split if the core can read all of them as `datasets` would, else none."""
    settings = _BUILDERS.get(builder.name)
    if settings is None or any(getattr(builder.config, each, None) for each in settings):
        return []
    names = [str(each) for each in (builder.config.data_files or {}).get(split, ())]
    if not names or not all(_DIRECT.search(each) for each in names):
        return []
    common = common_folder(names)
    files: list[RemoteSource] = []
    for each in sorted(names):
        fs, path = open_file_system(each)
        below = each.removeprefix(common)
        with explained(f"{public}/{below}"):
            info: Mapping[str, Any] = fs.info(path)
        fixed = _COMMIT.search(each) is not None
        files.append(StoredFile(fs, path, info, name=f"{public}/{below}", below=below, fixed=fixed))
    return files


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """`table` with the columns and types of `schema`."""
    if table.schema.remove_metadata().equals(schema):
        return table.replace_schema_metadata(None).combine_chunks()
    missing = [each for each in schema.names if each not in table.column_names]
    if missing:
        raise InputError(f"some records of the dataset lack the column {missing[0]!r}, which its first ones have")
    return table.select(schema.names).cast(schema).combine_chunks()


def _taken(sink: io.BytesIO) -> bytes:
    """What was written since the last call."""
    written = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return written
