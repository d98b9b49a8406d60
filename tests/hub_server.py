"""As much of the Hugging Face hub as its clients need to read one dataset, ``some/set``, on this machine."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    files: Mapping[str, bytes]
    asked: list[str]

    def log_message(self, *arguments: object) -> None:
        """Nothing on standard error."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        path = unquote(path)
        self.asked.append(path)
        if match := re.fullmatch(r"/datasets/some/set/resolve/[^/]+/(.*)", path):
            self._file(match[1])
        elif match := re.fullmatch(r"/api/datasets/some/set/tree/[^/]+/?(.*)", path):
            self._json(self._tree(match[1], deep=parse_qs(query).get("recursive", [""])[0].lower() in ("1", "true")))
        elif re.fullmatch(r"/api/datasets/some/set(/revision/[^/]+)?", path):
            facts = {"id": "some/set", "sha": COMMIT, "private": False, "gated": False, "disabled": False, "tags": []}
            self._json({**facts, "siblings": [{"rfilename": name} for name in self.files]})
        else:
            self._json({"error": "not here"}, 404)

    def _tree(self, folder: str, *, deep: bool) -> list[dict[str, Any]]:
        """Files and folders right in `folder`, or all below it."""
        prefix = f"{folder}/" if folder else ""
        below = {name: name.removeprefix(prefix).split("/") for name in self.files if name.startswith(prefix)}
        depth = max(map(len, below.values()), default=0) if deep else 1
        folders = sorted(
            {"/".join(parts[:level]) for parts in below.values() for level in range(1, min(len(parts), depth + 1))}
        )
        listed: list[dict[str, Any]] = [
            {"type": "directory", "oid": "0" * 40, "size": 0, "path": prefix + name} for name in folders
        ]
        for name in (name for name, parts in below.items() if len(parts) <= depth):
            data = self.files[name]
            listed.append({"type": "file", "oid": hashlib.sha1(data).hexdigest(), "size": len(data), "path": name})
        return listed

    def _file(self, name: str) -> None:
        if name not in self.files:
            return self._send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
        data, status = self.files[name], 200
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha1(data).hexdigest()}"', "Accept-Ranges": "bytes"}
        if match := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
            first, last = int(match[1]), min(int(match[2] or len(data)), len(data) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
            data, status = data[first : last + 1], 206
        return self._send(status, data, headers)

    def _json(self, value: object, status: int = 200) -> None:
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def hub(files: Mapping[str, bytes]) -> Iterator[tuple[str, list[str]]]:
    """Serve the dataset while the block runs: its address, for ``HF_ENDPOINT``, and the paths that were asked for."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Handler,), {"files": files, "asked": asked}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
