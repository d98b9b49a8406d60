"""Whether a model's name is a folder, a file or a name on the hub, found out without waiting."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ngramscope.errors import InputError

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
    def check(name: str, gguf: str | None = None) -> None:
        """Refuse what is no name on the hub and no model that is here, without asking the hub.

        Raises
        ------
        InputError
            See `of`.
        """
        if Path(name).expanduser().exists() or not _HUB_NAME.fullmatch(name) or _PATH.match(name):
            Place.of(name, gguf)

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
