"""The scores of one attack on one model, from a score table or computed from a score store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core
from ngramscope.attacks.base import Inputs, attack_of, find_attack
from ngramscope.attacks.table import ScoreTable
from ngramscope.errors import UsageError
from ngramscope.models.store import ScoreStore

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["AttackScores", "read_scores"]


@dataclass(frozen=True)
class AttackScores:
    """Scores of documents by one attack on one model.

    Attributes
    ----------
    documents
        N rows, as `ScoreTable.documents`.
    scores
        (N,) float64; higher = more likely a member; NaN where undefined.
    attack, model
        Their names.
    settings
        Options of the attack.
    source
        Name, size and digest of the file that was read.
    """

    documents: pa.Table
    scores: NDArray[np.float64]
    attack: str
    model: str
    settings: Mapping[str, Any]
    source: Mapping[str, Any]

    @property
    def labels(self) -> NDArray[np.float64]:
        """(N,): 1 member, 0 non-member, NaN not known."""
        return np.asarray(self.documents["label"].to_numpy(), dtype=np.float64)


def read_scores(path: Path, attack: str | None = None, model: str | None = None) -> AttackScores:
    """Read a column of a score table, or run an attack with its defaults on a score store.

    Parameters
    ----------
    path
        A score table (Parquet), or the folder of a store.
    attack
        Name of the attack, as ``loss`` or ``camia.loss-200``. None: the only one of the table.
    model
        Name of the model. None: the only target.

    Raises
    ------
    UsageError
        There is no such attack or model, or several and none was named.
    InputError
        The file cannot be read.
    """
    return _from_store(path, attack, model) if path.is_dir() else _from_table(path, attack, model)


def _from_table(path: Path, attack: str | None, model: str | None) -> AttackScores:
    table = ScoreTable.open(path)
    attack = _the_one(path, "attack", attack, [each.attack for each in table.columns])
    columns = [each for each in table.columns if each.attack == attack]
    targets = [each.model for each in columns if each.role == "target"]
    model = _the_one(path, "model", model, [each.model for each in columns], targets)
    column = next(each for each in columns if each.model == model)
    source = {"name": path.name, "bytes": path.stat().st_size, "blake3": _core.digest(path)}
    return AttackScores(table.documents, column.scores, attack, model, column.settings, source)


def _from_store(path: Path, attack: str | None, model: str | None) -> AttackScores:
    store = ScoreStore(path)
    if attack is None:
        raise UsageError(f"{path}: a score store has no scores yet; name one with --attack, as loss")
    scored = [each for each in store.passes if each.role != "reference"]
    targets = [each.model for each in scored if each.role == "target"]
    model = _the_one(path, "model", model, [each.model for each in scored], targets)
    found = find_attack(attack_of(attack))
    options = found.check({})
    columns = found.score(Inputs(store, model), **options)
    attack = _the_one(path, "attack", attack, list(columns))
    header = path / "store.json"
    source = {"name": path.name, "bytes": header.stat().st_size, "blake3": _core.digest(header)}
    return AttackScores(store.documents, columns[attack], attack, model, options, source)


def _the_one(path: Path, what: str, name: str | None, known: Sequence[str], preferred: Sequence[str] = ()) -> str:
    """`name` if it is known; without one the only one that is preferred, or the only one."""
    names = list(dict.fromkeys(known))
    if name is None:
        choice = list(dict.fromkeys(preferred)) or names
        if len(choice) == 1:
            return choice[0]
        raise UsageError(f"{path}: --{what} is needed; there are: {', '.join(names) or 'none'}")
    if name not in names:
        raise UsageError(f"{path}: no {what} {name!r}; there are: {', '.join(names) or 'none'}")
    return name
