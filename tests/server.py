"""A web server on this machine that behaves as badly as it is told."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """What is served and how; requests are noted in `asked` as (path, Range header)."""

    files: dict[str, bytes]
    url: str = ""
    ranges: bool = True
    lengths: bool = True
    versions: bool = True
    # The next answers with a body end after so many bytes, with the connection.
    drops: list[int] = field(default_factory=list)
    # The next answers are these: (status, headers).
    refusals: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    sent: int = 0
    # Nothing is sent before this is set.
    go: threading.Event = field(default_factory=threading.Event)

    def bodies(self) -> list[tuple[str, str | None]]:
        """The requests without those for one byte, by which a file is found."""
        return [each for each in self.asked if each[1] != "bytes=0-0"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def log_message(self, *arguments: object) -> None:
        """Nothing on standard error."""

    def do_GET(self) -> None:
        site, path, wanted = self.site, self.path.partition("?")[0], self.headers.get("Range")
        site.asked.append((self.path, wanted))
        if site.refusals and wanted != "bytes=0-0":
            status, headers = site.refusals.pop(0)
            return self._head(status, {**headers, "Content-Length": "0"})
        if path not in site.files:
            return self._head(404, {"Content-Length": "0"})
        data = site.files[path]
        headers = {"ETag": f'"{hash(data):x}"'} if site.versions else {}
        status, body = 200, data
        if site.ranges and wanted is not None and (match := re.fullmatch(r"bytes=(\d+)-(\d*)", wanted)):
            first = int(match[1])
            last = min(int(match[2]) if match[2] else len(data) - 1, len(data) - 1)
            if first >= len(data):
                return self._head(416, {**headers, "Content-Range": f"bytes */{len(data)}", "Content-Length": "0"})
            status, body = 206, data[first : last + 1]
            headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        if site.lengths:
            headers["Content-Length"] = str(len(body))
        else:
            headers["Connection"] = "close"
        self._head(status, headers)
        if len(body) > 1:
            site.go.wait()
        drop = site.drops.pop(0) if site.drops and wanted != "bytes=0-0" else None
        sent = body if drop is None else body[:drop]
        site.sent += len(sent)
        try:
            self.wfile.write(sent)
            self.wfile.flush()
        except OSError:  # the client has gone
            self.close_connection = True
        if drop is not None or not site.lengths:
            self.close_connection = True
        return None

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def serve(files: dict[str, bytes], **settings: object) -> Iterator[Site]:
    """Serve `files` by path while the block runs."""
    site = Site({f"/{path}": data for path, data in files.items()}, **settings)  # type: ignore[arg-type]
    site.go.set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Handler,), {"site": site}))
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.go.set()
        server.shutdown()
        server.server_close()
        thread.join()
