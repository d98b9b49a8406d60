"""Files in object stores and whatever else `fsspec` knows: ``s3://``, ``gs://`` and others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ngramscope.corpus.remote import CHUNK, ChangedError, Transfer, public_name
from ngramscope.errors import InputError, MissingExtraError, NgramscopeError, UsageError

__all__ = ["StoredFile", "explained", "find", "open_file_system"]

_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hf": "huggingface_hub"}
_VERSIONS = ("ETag", "etag", "generation", "blob_id", "LastModified", "last_modified", "mtime", "created")
_READ_AHEAD = 8 << 20


class StoredFile:
    """A file of an `fsspec` file system, as it was when it was found; see `RemoteSource`.

    Parameters
    ----------
    fixed
        The path names a version, so nobody has to look whether there is another one now.
    """

    def __init__(self, fs: Any, path: str, info: Mapping[str, Any], *, name: str, below: str, fixed: bool = False) -> None:
        self._fs = fs
        self._path = path
        self.name = name
        self.below = below
        self.size: int | None = info.get("size")
        self.ranges = self.size is not None
        self._fixed = fixed
        # A listing describes files in other words than `info`, so the version is known from the first reading on.
        self.version = _version(info) if fixed else None

    def stream(self) -> Transfer:
        """All bytes; see `RemoteSource`."""
        return Transfer(self.chunks())

    def part(self, offset: int, length: int) -> Transfer:
        """Some bytes; see `RemoteSource`."""
        return Transfer(self._part(offset, length))

    def chunks(self, start: int = 0) -> Iterator[bytes]:
        """The bytes from `start` on.

        Raises
        ------
        ChangedError
            The file is another one now.
        InputError
            They cannot be had, or not all of them.
        """
        self.check()
        came = start
        with explained(), self._fs.open(self._path, "rb", block_size=_READ_AHEAD, cache_type="readahead") as file:
            if start:
                file.seek(start)
            while chunk := file.read(CHUNK):
                came += len(chunk)
                yield chunk
        if self.size is not None and came != self.size:
            raise InputError(f"{came:,} bytes came, {self.size:,} were announced")

    def _part(self, offset: int, length: int) -> Iterator[bytes]:
        with explained():
            found = self._fs.cat_file(self._path, start=offset, end=offset + length)
        if len(found) != length:
            raise InputError(f"{len(found):,} bytes came from {offset:,} on, {length:,} were asked for")
        yield found

    def check(self) -> None:
        """Note which version there is; raise `ChangedError` if it is not the one noted before."""
        if self._fixed:
            return
        with explained():
            self._fs.invalidate_cache(self._path)
            info = self._fs.info(self._path)
        version = _version(info)
        if info.get("size") != self.size:
            raise ChangedError(f"{info.get('size')} bytes, {self.size} before")
        if self.version not in (None, version):
            raise ChangedError(f"version {version}, {self.version} before")
        self.version = version


def find(url: str) -> list[StoredFile]:
    """The files that `url` stands for: a file, all below a folder (hidden ones left out), or what a pattern matches."""
    scheme = url.partition("://")[0]
    fs, path = open_file_system(url)
    name = public_name(url)
    with explained(name):
        if any(sign in path for sign in "*?["):
            base = path[: min(path.index(sign) for sign in "*?[" if sign in path)].rpartition("/")[0]
            found = fs.glob(path, detail=True)
        else:
            info = fs.info(path)
            if info["type"] != "directory":
                return [StoredFile(fs, path, info, name=name, below=path.rpartition("/")[2])]
            base = path.rstrip("/")
            found = fs.find(path, detail=True)
    files = []
    for each, info in sorted(found.items()):
        below = each.removeprefix(base).lstrip("/")
        if info["type"] == "file" and not any(part.startswith(".") for part in below.split("/")):
            public = f"{scheme}://{each.lstrip('/')}"
            files.append(StoredFile(fs, each, info, name=public, below=below))
    if not files:
        raise InputError(f"{name}: no files there (hidden ones are left out)")
    return files


def open_file_system(url: str) -> tuple[Any, str]:
    """The file system of `url`, and its path in there; credentials are what the library finds.

    Raises
    ------
    UsageError
        A scheme that nothing knows.
    MissingExtraError
        The package for the scheme is not installed.
    """
    scheme = url.partition("://")[0]
    extra = "hf" if scheme == "hf" else "remote"
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError("fsspec", extra, f"reading {scheme}://") from error
    try:
        fs, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        package = _PACKAGES.get(scheme, f"the fsspec package of {scheme}://")
        raise MissingExtraError(package, extra, f"reading {scheme}://") from error
    except ValueError as error:
        raise UsageError(
            f"{public_name(url)}: {scheme}:// is not known; known: https, s3, gs, hf and what fsspec reads"
        ) from error
    return fs, path


@contextmanager
def explained(name: str = "") -> Iterator[None]:
    """Turns what file systems raise into our errors; each library has classes of its own."""
    prefix = f"{name}: " if name else ""
    try:
        yield
    except NgramscopeError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{prefix}no such file") from error
    except PermissionError as error:
        raise InputError(f"{prefix}may not be read; are there credentials for it?") from error
    except Exception as error:
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(f"{prefix and prefix + 'cannot be read: '}{text}") from error


def _version(info: Mapping[str, Any]) -> str | None:
    return next((str(info[key]) for key in _VERSIONS if info.get(key)), None)
