"""Files on web servers, by `requests`: whole, from any place on, and going on where a connection broke."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ngramscope.corpus.remote import CHUNK, ChangedError, Transfer, public_name
from ngramscope.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import requests

__all__ = ["BACKOFF", "TRIES", "HttpFile"]

TRIES = 6
"""How often in a row a request may fail before it is given up."""
BACKOFF = 0.5
"""Seconds before the second try; doubled each time."""
_BUSY = (408, 429, 500, 502, 503, 504)
_TIMEOUT = (10.0, 60.0)  # to connect, between two bytes
_MAX_WAIT = 120.0


class HttpFile:
    """A file behind a URL, as the server described it when it was found.

    Attributes
    ----------
    name
        The URL without credentials and query.
    size
        Bytes; None if the server does not tell.
    ranges
        The server sends parts.
    version
        ETag or time of modification, if the server tells; a file with another one is another file.
    """

    def __init__(self, url: str, *, size: int | None, ranges: bool, version: str | None) -> None:
        self._url = url
        self.name = public_name(url)
        self.below = self.name.rpartition("/")[2]
        self.size = size
        self.ranges = ranges
        self.version = version

    @classmethod
    def find(cls, url: str) -> HttpFile:
        """Ask the server for `url`.

        Raises
        ------
        InputError
            There is no such file, or no such server; names the URL.
        """
        name = public_name(url)
        try:
            # One byte of it, not HEAD: signed URLs allow GET only, and the answer tells whether parts are sent.
            with _request(url, "bytes=0-0") as answer:
                version = _version(answer)
                if answer.status_code in (206, 416):
                    whole = answer.headers.get("Content-Range", "").rpartition("/")[2]
                    size = int(whole) if whole.isdecimal() else None
                    return cls(url, size=size, ranges=size is not None and answer.status_code == 206, version=version)
                return cls(url, size=_length(answer), ranges=False, version=version)
        except OSError as error:
            raise InputError(f"{name}: cannot be read: {reason(error)}") from error

    def stream(self) -> Transfer:
        """All bytes; see `RemoteSource`."""
        return Transfer(self.chunks())

    def part(self, offset: int, length: int) -> Transfer:
        """Some bytes; see `RemoteSource`."""
        return Transfer(self.chunks(offset, offset + length))

    def chunks(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The bytes from `start` up to `end`, going on where a connection broke as long as the server sends parts.

        Raises
        ------
        ChangedError
            The server has another version now.
        InputError
            They cannot be had; tells why and how far it came.
        """
        from urllib3.exceptions import HTTPError

        at, failures = start, 0
        stop = self.size if end is None else end
        while stop is None or at < stop:
            answer = self._answer(at, end)
            try:
                with answer:
                    for chunk in answer.raw.stream(CHUNK, decode_content=False):
                        at += len(chunk)
                        failures = 0
                        yield chunk
                if stop is None:
                    return
                if at < stop:
                    raise ConnectionError("the answer ended early")
            except (OSError, HTTPError) as error:
                failures += 1
                if at > 0 and not self.ranges:
                    raise InputError(
                        f"{reason(error)}, after {at:,} bytes; the server does not send parts of files, so it cannot go on "
                        "there: download it first"
                    ) from error
                if failures >= TRIES:
                    raise InputError(f"{reason(error)}, {failures} times in a row, after {at:,} bytes") from error
                _pause(failures)
        if stop is not None and at > stop:
            raise ChangedError(f"{at:,} bytes came, {stop:,} were announced")

    def _answer(self, at: int, end: int | None) -> requests.Response:
        last = "" if end is None else end - 1
        wanted = f"bytes={at}-{last}" if at or end is not None else None
        try:
            answer = _request(self._url, wanted)
        except OSError as error:
            raise InputError(f"{reason(error)}, after {at:,} bytes" if at else reason(error)) from error
        try:
            self._check(answer, at, wanted)
        except BaseException:
            answer.close()
            raise
        return answer

    def _check(self, answer: requests.Response, at: int, wanted: str | None) -> None:
        version = _version(answer)
        if version != self.version:
            raise ChangedError(f"the server has version {version} of it, {self.version} before")
        if wanted is None:
            size = _length(answer)
        elif answer.status_code == 206:
            unit, _, rest = answer.headers.get("Content-Range", "").partition(" ")
            first, _, whole = rest.partition("/")
            if unit != "bytes" or first.partition("-")[0] != str(at):
                raise InputError(f"asked for bytes from {at:,} on, the server sent {rest or 'others'}: download it first")
            size = int(whole) if whole.isdecimal() else None
        else:
            raise InputError(f"the server answers {answer.status_code} to a part, and sent parts before; try again later")
        if self.size is not None and size is not None and size != self.size:
            raise ChangedError(f"{size:,} bytes, {self.size:,} before")


def reason(error: BaseException) -> str:
    """Why a request failed, for people; libraries' own texts carry the whole URL, with what may be secret in it."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        status = error.response.status_code
        advice = {401: "; it needs a login", 403: "; it may need a login, or a signature has expired", 404: "; no such file"}
        return f"the server answers {status} {error.response.reason or ''}".rstrip() + advice.get(status, "")
    if type(error) is ConnectionError:
        return str(error)
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, OSError) and inner.strerror:
            return f"the connection failed ({inner.strerror})"
        inner = inner.__cause__ or inner.__context__
    return f"the connection failed ({type(error).__name__})"


def _request(url: str, wanted: str | None) -> requests.Response:
    """GET `url`, or the part `wanted` of it. A server that is busy, or cannot be reached, is asked again.

    Raises
    ------
    OSError
        No answer, or one that is an error; all of `requests`' errors are of this class.
    """
    session = _session(os.getpid())
    import requests

    headers = {"Accept-Encoding": "identity"}
    if wanted is not None:
        headers["Range"] = wanted
    for failures in range(1, TRIES + 1):
        try:
            answer = session.get(url, headers=headers, stream=True, timeout=_TIMEOUT)
        except (requests.ConnectionError, requests.Timeout):
            if failures == TRIES:
                raise
            _pause(failures)
        else:
            break
    if answer.status_code != 416:
        try:
            answer.raise_for_status()
        except BaseException:
            answer.close()
            raise
    return answer


def _pause(failures: int) -> None:
    time.sleep(min(BACKOFF * 2 ** (failures - 1), _MAX_WAIT))


@functools.lru_cache(maxsize=1)
def _session(_process: int) -> requests.Session:
    """Connections that are used again; those of another process (before a fork) are not."""
    try:
        import requests
        from requests.adapters import HTTPAdapter
        from urllib3.util import Retry
    except ImportError as error:
        raise MissingExtraError("requests", "remote", "reading http:// and https://") from error
    # Only answers: of connections urllib3 would say in its log, with the whole URL, that it tries again.
    retry = Retry(
        connect=0, read=0, status=TRIES - 1, backoff_factor=BACKOFF, status_forcelist=_BUSY, raise_on_status=False
    )  # fmt: skip
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry, pool_maxsize=32))
    return session


def _length(answer: requests.Response) -> int | None:
    length = answer.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


def _version(answer: requests.Response) -> str | None:
    tag: str | None = answer.headers.get("ETag")
    # Servers call the tag of one and the same file weak or not, as the request goes.
    return tag.removeprefix("W/") if tag else answer.headers.get("Last-Modified")
