"""The program as a process that need not be loaded again: a process that has loaded it forks for every run.

Loading the interpreter and its libraries takes longer than most of the runs that tests ask for. What a run sees is its own:
arguments, working directory, environment, the three standard streams; what it does ends with it. Environment variables that
are read while the interpreter or a library starts need a new process, see `can_fork`.
"""

from __future__ import annotations

import array
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["Program", "can_fork"]

ROOT = Path(__file__).resolve().parents[1]
# Imported before the first run, since nearly every command needs them; each is one that may be forked after its import.
LIBRARIES = ("numpy", "pyarrow", "pyarrow.parquet", "pyarrow.compute", "zstandard", "ngramscope.cli", "sklearn.linear_model")


def can_fork(extra: Mapping[str, str]) -> bool:
    """Whether these environment variables can be set after the start."""
    return hasattr(os, "fork") and sys.platform == "linux" and all(name.startswith("NGRAMSCOPE_") for name in extra)


class Program:
    """A process that forks for every run; started when it is first needed.

    Attributes
    ----------
    pid
        Its process, None before.
    """

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self, arguments: Sequence[str], *, stdin: bytes | None, cwd: Path, env: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[bytes]:
        """As `subprocess.run` with captured output; without `stdin` that of this process is handed on.

        Raises
        ------
        subprocess.TimeoutExpired
            It was still running after `timeout` seconds, and was killed.
        """
        if self._socket is None:
            self._start()
        assert self._socket is not None
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
            given.write(stdin or b"")
            given.seek(0)
            files = [0 if stdin is None else given.fileno(), out.fileno(), errors.fileno()]
            request = json.dumps({"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)}).encode()
            socket.send_fds(self._socket, [len(request).to_bytes(8, "little")], files)
            self._socket.sendall(request)
            pid = int.from_bytes(self._receive(8), "little")
            self._socket.settimeout(timeout)
            try:
                status = int.from_bytes(self._receive(8), "little", signed=True)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._socket.settimeout(None)
                self._receive(8)
                raise subprocess.TimeoutExpired(list(arguments), timeout) from None
            self._socket.settimeout(None)
            out.seek(0)
            errors.seek(0)
            return subprocess.CompletedProcess(list(arguments), status, out.read(), errors.read())

    def close(self) -> None:
        """End it."""
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.wait()

    def _start(self) -> None:
        self._socket, theirs = socket.socketpair()
        command = [sys.executable, "-m", "tests.program", str(theirs.fileno())]
        self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()])
        theirs.close()

    def _receive(self, count: int) -> bytes:
        assert self._socket is not None
        return _exactly(self._socket, count)


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def _serve(connection: socket.socket) -> None:
    """Fork for every request, and say how it ended, until the other side is closed."""
    for library in LIBRARIES:
        __import__(library)
    while True:
        header, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_LEN(3 * array.array("i").itemsize))
        if not header:
            return
        files = array.array("i")
        for _, _, data in ancillary:
            files.frombytes(data)
        request = json.loads(_exactly(connection, int.from_bytes(header, "little")))
        pid = os.fork()
        if pid == 0:
            connection.close()
            _run(request, files)
        for each in files:
            os.close(each)
        connection.sendall(pid.to_bytes(8, "little"))
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.sendall(status.to_bytes(8, "little", signed=True))


def _run(request: Mapping[str, Any], files: Sequence[int]) -> NoReturn:
    """What a new interpreter does with ``-m ngramscope``."""
    from ngramscope.__main__ import main

    code = 1
    try:
        for number, each in enumerate(files):
            os.dup2(each, number)
            os.close(each)
        sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False))  # noqa: SIM115
        sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False))  # noqa: SIM115
        sys.stderr = io.TextIOWrapper(open(2, "wb", closefd=False), errors="backslashreplace", line_buffering=True)  # noqa: SIM115
        sys.argv = ["ngramscope", *request["arguments"]]
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        main()
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else int(done.code is not None)
    except BaseException:  # noqa: BLE001 - as an interpreter would show it
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _serve(socket.socket(fileno=int(sys.argv[1])))
