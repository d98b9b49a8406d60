"""Requests to a public service: one at a time, not too often, again when it is busy, and each answer kept on disk."""

from __future__ import annotations

import email.utils
import gzip
import hashlib
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from ngramscope._core import __version__
from ngramscope.corpus.http import TRIES, reason
from ngramscope.corpus.remote import CHUNK, public_name
from ngramscope.errors import InputError, MissingExtraError, ResourceError, UsageError

__all__ = ["BusyError", "Client", "ClientOptions", "MalformedError", "ServiceError"]

T = TypeVar("T")

_BACKOFF = 1.0  # seconds before the second try; doubled each time
_BUSY = (408, 429, 502, 503, 504)
_TIMEOUT = (10.0, 60.0)  # to connect, between two bytes
_MAX_SECONDS = 300.0
_MAX_BYTES = 256 << 20
_MAX_WAIT = 600.0


class ServiceError(InputError):
    """The service understood and refuses; `code` is its own name for the reason."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class MalformedError(InputError):
    """An answer that is not what it should be; it is asked for again, `TRIES` times in all."""


class BusyError(InputError):
    """The service asks to come back later, inside an answer that is otherwise fine; `wait` is in seconds."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class _AgainError(Exception):
    """A request that failed, and how long the service wants to be left alone."""

    def __init__(self, message: str, wait: float = 0.0, *, malformed: bool = False) -> None:
        super().__init__(message)
        self.wait = wait
        self.malformed = malformed


@dataclass(frozen=True, kw_only=True)
class ClientOptions:
    """How a service is asked.

    Parameters
    ----------
    interval
        Seconds from the end of one answer to the next request, at least; None takes the service's default.
    contact
        E-mail address or page of whoever asks; services want it in the User-Agent.
    cache
        Folder for the answers, to be used by other runs as well; None keeps them in ``OUT.partial`` until the run is done.
    clock, sleep
        Seconds of a clock that never goes back, and how to wait; for tests.
    """

    interval: float | None = None
    contact: str | None = None
    cache: Path | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if self.interval is not None and not 0 <= self.interval <= _MAX_WAIT:
            raise UsageError(f"--interval: {self.interval} is not possible; seconds, from 0 to {_MAX_WAIT:g}")
        if self.contact is not None and not (self.contact.isascii() and self.contact.isprintable() and self.contact.strip()):
            raise UsageError(f"--contact: {self.contact!r} is not possible; an e-mail address or a URL")


class Client:
    """Asks one service.

    Parameters
    ----------
    url
        Of its API.
    cache
        Folder for the answers. What is in there is not asked for again, however old it is.
    interval
        Seconds between requests where `options` has none.

    Attributes
    ----------
    bytes_received
        Of all answers, those from disk too.
    first_answer, last_answer
        When the oldest and the youngest of the used answers came (ISO, UTC); None before there is one.
    """

    def __init__(self, url: str, *, cache: Path, interval: float, options: ClientOptions) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc or "?" in url or "#" in url:
            raise UsageError(f"--api-url: {url}: not the URL of an API; write it as https://host/path")
        self.name = public_name(url)
        self.bytes_received = 0
        self.first_answer: str | None = None
        self.last_answer: str | None = None
        self._url = url
        self._cache = cache
        self._interval = interval if options.interval is None else options.interval
        self._clock, self._sleep = options.clock, options.sleep
        self._ended: float | None = None
        self._session = _session(options.contact)

    def get(
        self, parameters: Mapping[str, str], parse: Callable[[bytes], T], check: Callable[[T], object] = lambda _: None
    ) -> T:
        """What `parse` makes of the answer to `parameters`, from disk if it is there.

        Parameters
        ----------
        parse
            Raises `MalformedError` or `BusyError` for an answer that has to be asked for again, `ServiceError` for a final one.
        check
            The same, for what an answer that has just come is to be beside.

        Raises
        ------
        ServiceError
            The service refuses.
        MalformedError
            It answered, but never with what it should.
        InputError
            It does not answer, or asks for a long wait.
        ResourceError
            The answer cannot be kept.
        """
        query = urlencode(sorted(parameters.items()))
        path = self._path(query)
        kept = self._kept(path)
        if kept is not None:
            try:
                value = parse(kept[1])
            except InputError:
                pass  # another release took it for good
            else:
                self._note(kept[0], kept[1])
                return value
        for tries in range(1, TRIES + 1):
            try:
                value, body = self._once(query, parse, check)
            except _AgainError as again:
                failure = again
            else:
                now = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
                self._keep(path, now, body)
                self._note(now, body)
                return value
            if failure.wait > _MAX_WAIT:
                raise InputError(
                    f"{self.name}: {failure}, and to come back in {failure.wait:,.0f} seconds: run the command then"
                )
            if tries < TRIES:
                self._sleep(max(_BACKOFF * 2 ** (tries - 1), failure.wait))
        kind = MalformedError if failure.malformed else InputError
        raise kind(f"{self.name}: {failure}, {TRIES} times in a row; the same command goes on from here later")

    def _once(self, query: str, parse: Callable[[bytes], T], check: Callable[[T], object]) -> tuple[T, bytes]:
        """One request: the value, and the bytes it was made of.

        Raises
        ------
        _AgainError
            It may be worth another try.
        InputError
            It is not.
        """
        if self._ended is not None and (left := self._ended + self._interval - self._clock()) > 0:
            self._sleep(left)
        try:
            status, headers, body = _aside(lambda: self._send(query))
        except OSError as error:
            raise _AgainError(reason(error)) from error
        finally:
            self._ended = self._clock()
        said = f"the server answers {status}"
        wait = _retry_after(headers.get("Retry-After", ""))
        if status in _BUSY or status >= 500:
            raise _AgainError(said, wait, malformed=status not in _BUSY)
        try:
            value = parse(body)
            check(value)
        except BusyError as error:
            raise _AgainError(str(error), max(wait, error.wait)) from error
        except ServiceError as error:
            raise ServiceError(f"{self.name}: {error}", error.code) from error
        except MalformedError as error:
            if status < 400:
                raise _AgainError(str(error), wait, malformed=True) from error
        if status >= 400:
            advice = {403: "; it may want to know who asks: give --contact", 404: "; no API is there: correct --api-url"}
            raise InputError(f"{self.name}: {said}{advice.get(status, '')}")
        return value, body

    def _send(self, query: str) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body; on a thread of its own.

        Raises
        ------
        OSError
            There is no whole answer.
        """
        until = time.monotonic() + _MAX_SECONDS
        body = bytearray()
        with self._session.get(f"{self._url}?{query}", stream=True, timeout=_TIMEOUT) as answer:
            for chunk in answer.iter_content(CHUNK):
                body += chunk
                if len(body) > _MAX_BYTES or time.monotonic() > until:
                    raise ConnectionError(f"an answer longer than {_MAX_BYTES >> 20} MiB or {_MAX_SECONDS:.0f} seconds")
            return answer.status_code, answer.headers, bytes(body)

    def _note(self, when: str, body: bytes) -> None:
        self.bytes_received += len(body)
        self.first_answer = min(self.first_answer or when, when)
        self.last_answer = max(self.last_answer or when, when)

    def _path(self, query: str) -> Path:
        name = hashlib.blake2b(f"{self._url}?{query}".encode(), digest_size=20).hexdigest()
        return self._cache / name[:2] / f"{name[2:]}.gz"

    def _kept(self, path: Path) -> tuple[str, bytes] | None:
        """When the answer came, and its bytes; None if it is not there, or damaged."""
        try:
            with gzip.open(path) as file:
                when = json.loads(file.readline())["fetched"]
                return (when, file.read()) if isinstance(when, str) else None
        except (OSError, EOFError, ValueError, KeyError, TypeError):
            return None

    def _keep(self, path: Path, when: str, body: bytes) -> None:
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        head = json.dumps({"fetched": when}).encode() + b"\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(gzip.compress(head + body, compresslevel=5))
            temporary.replace(path)
        except OSError as error:
            raise ResourceError(f"{path}: an answer cannot be kept: {error.strerror or error}") from error
        finally:
            temporary.unlink(missing_ok=True)


def _session(contact: str | None) -> Any:
    try:
        import requests
    except ImportError as error:
        raise MissingExtraError("requests", "remote", "fetching from a service") from error
    session = requests.Session()
    session.headers["User-Agent"] = (
        f"ngramscope/{__version__} ({contact or 'no contact given'}) requests/{requests.__version__}"
    )
    return session


def _aside(work: Callable[[], T]) -> T:
    """Do `work` on a thread of its own, so that Ctrl-C is heard whatever the network (or the name service) does."""
    done: queue.SimpleQueue[tuple[T, None] | tuple[None, BaseException]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - raised again where the answer is waited for
            done.put((None, error))

    threading.Thread(target=run, name="ngramscope-request", daemon=True).start()
    value, error = done.get()
    if error is not None:
        raise error
    return value  # type: ignore[return-value]


def _retry_after(text: str) -> float:
    """Seconds that the header ``Retry-After`` asks for, which has them or a date; 0 if it says nothing."""
    if text.strip().isdecimal():
        return float(text)
    try:
        date = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    return max(0.0, (date - datetime.now(date.tzinfo)).total_seconds())
