"""MIMIR as the hub shows it: members and non-members side by side in columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.formats._files import Files, SourceFile
from ngramscope.sets.formats._mimir_names import normal, table_names
from ngramscope.sets.formats._reading import Reading
from ngramscope.sets.formats.base import Format, ImportOptions, choose

__all__ = ["FORMAT"]

_LABELS = {"member": MEMBER, "nonmember": NONMEMBER}


class MimirColumns(Format):
    """Two texts a record, read column by column: that they share a record means nothing."""

    name = "mimir-columns"
    layout = "MIMIR on the hub: records {member, nonmember}, also with member_neighbors, nonmember_neighbors"
    labels = "column member is member, nonmember non-member"

    def detect(self, files: Files, options: ImportOptions) -> str | None:  # noqa: ARG002
        """See `Format`."""
        return "columns member and nonmember" if files.first.peek.has(*_LABELS) else None

    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """Members first."""
        for (config, split), chosen in _chosen(files, options).items():
            for column, label in _LABELS.items():
                beside = f"{column}_neighbors"
                for file in chosen:
                    for row in reading.rows(file, column, (beside,) if options.neighbors else ()):
                        neighbors = _flat(row.values.get(beside))
                        where = f"{config}_{split}/{column}/{row.position}"
                        extra = {} if neighbors is None else {"neighbors": neighbors}
                        yield file, Candidate(where, row.text, label, domain=config, position=row.position, extra=extra)

    def facts(self, files: Files, options: ImportOptions) -> dict[str, Any]:
        """Config and split, for writing a cache folder."""
        parts = list(_chosen(files, options))
        return dict(zip(("config", "split"), parts[0], strict=True)) if len(parts) == 1 else {}


def _chosen(files: Files, options: ImportOptions) -> dict[tuple[str, str], list[SourceFile]]:
    asked_config, asked_split = (None if each is None else normal(each) for each in (options.config, options.split))
    return {
        (config, split): chosen
        for config, of_config in choose("config", asked_config, files, lambda file: table_names(file)[0]).items()
        for split, chosen in choose("split", asked_split, of_config, lambda file: table_names(file)[1]).items()
    }


def _flat(value: Any) -> list[str] | None:
    """Neighbours, in one list or a list of one list."""
    if not isinstance(value, list):
        return None
    return [text for each in value for text in (each if isinstance(each, list) else [each])]


FORMAT = MimirColumns()
