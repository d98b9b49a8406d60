"""Whether a model's name is a folder, a file or a name on the hub, found out without waiting."""

from __future__ import annotations

import json
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ngramscope.errors import InputError, UsageError

__all__ = ["Place", "hub_is_out_of_reach"]

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_PATH = re.compile(r"[./~\\]|[A-Za-z]:|.*/.*/|.*\\|.*\.gguf$")
_WEIGHTS = ("config.json", "*.safetensors", "*.safetensors.index.json", "pytorch_model*.bin", "*.gguf")
_REACH_SECONDS = 3.0


@dataclass(frozen=True)
class Place:
    """Where a model is.

    Attributes
    ----------
    source
        What transformers is to be told.
    label
        What people are to be told: the name on the hub, or the folder's or file's without the path.
    gguf
        The GGUF file in it, if it is to be one.
    files
        The files of its weights, where they are local.
    offline
        Whether nothing is to be asked of the hub.
    """

    source: str
    label: str
    gguf: str | None
    files: tuple[Path, ...]
    offline: bool

    @staticmethod
    def check(name: str, gguf: str | None = None, revision: str | None = None) -> None:
        """Refuse what is no name on the hub and no whole model that is here, without asking the hub or reading weights.

        Raises
        ------
        InputError
            See `of`; or a file of weights is missing or cut off, or a configuration is none.
        UsageError
            A revision of what is here.
        """
        if Path(name).expanduser().exists() or not _HUB_NAME.fullmatch(name) or _PATH.match(name):
            where = Place.of(name, gguf)
            if revision is not None:
                raise UsageError(
                    f"{name}: is here, and has no revisions ({revision}); leave the revision out, or name a folder for each"
                )
            if where.gguf is None:
                check_folder(Path(where.source))

    @classmethod
    def of(cls, name: str, gguf: str | None = None, *, weights: bool = True) -> Place:
        """Find `name`; a folder must hold weights, unless only a tokenizer is wanted.

        Raises
        ------
        InputError
            It is a path, and nothing is there; a folder that holds no model; or another kind of file.
        """
        path = Path(name).expanduser()
        if path.is_file():
            if path.suffix != ".gguf":
                raise InputError(f"{name}: not a model; give a folder, a .gguf file, or a name on the hub")
            return cls(str(path.parent), path.name, path.name, (path,), offline=True)
        if path.is_dir():
            patterns = (gguf,) if gguf else _WEIGHTS
            files = tuple(sorted({file for pattern in patterns for file in path.glob(pattern) if file.is_file()}))
            if weights and not files:
                raise InputError(f"{name}: no model in this folder: none of {', '.join(patterns)}")
            return cls(str(path), path.resolve().name, gguf, files, offline=True)
        if _PATH.match(name) or not _HUB_NAME.fullmatch(name):
            raise InputError(f"{name}: no such file or folder, and no name on the hub (organisation/model)")
        return cls(name, name, gguf, (), offline=hub_is_out_of_reach())


def check_folder(folder: Path) -> None:
    """Refuse a model's folder without a configuration or weights, or with weights that are cut off.

    Raises
    ------
    InputError
        Names the file.
    """
    if not (folder / "adapter_config.json").exists():  # which names the folder that has the configuration
        _json(folder / "config.json", "save_pretrained writes it")
    names = {each.name for pattern in _WEIGHTS[1:] for each in folder.glob(pattern)}
    for index in folder.glob("*.index.json"):
        shards = _json(index, "it lists the files of the weights").get("weight_map")
        lacking = sorted(set(shards.values()) - names) if isinstance(shards, dict) else []
        if lacking:
            raise InputError(f"{folder / lacking[0]}: missing, and {index.name} lists it; copy the model again")
    if not any(not each.endswith(".index.json") for each in names):
        raise InputError(f"{folder}: a configuration, but no weights: none of {', '.join(_WEIGHTS[1:])}")
    for name in names:
        if name.endswith(".safetensors"):
            _check_safetensors(folder / name)


def _json(path: Path, what: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"{path}: missing, so this is no model's folder; {what}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}; copy the model again") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: not an object; copy the model again")
    return found


def _check_safetensors(path: Path) -> None:
    """A file of that format tells how long it is; a download that was cut off is shorter."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            told = json.loads(file.read(size)) if size <= path.stat().st_size else None
        ends = [each["data_offsets"][1] for name, each in told.items() if name != "__metadata__"] if told is not None else []
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(f"{path}: damaged: {error}; copy the model again") from error
    if told is None or path.stat().st_size < 8 + size + max(ends, default=0):
        raise InputError(f"{path}: cut off, it is shorter than it says; copy the model again")


def hub_is_out_of_reach() -> bool:
    """Whether the library would only wait in vain: a model of the cache is loaded all the same."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or any(key.lower() in ("https_proxy", "all_proxy") for key in os.environ):
        return bool(constants.HF_HUB_OFFLINE)
    address = urlsplit(constants.ENDPOINT)
    try:
        socket.create_connection((address.hostname or "", address.port or 443), timeout=_REACH_SECONDS).close()
    except OSError:
        return True
    return False
