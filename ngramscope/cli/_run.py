"""The command group, and what surrounds every command: encodings, signals, errors to exit codes."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from ngramscope import __version__, errors
from ngramscope.cli import _exit
from ngramscope.cli._commands import Commands

__all__ = ["cli", "main", "run"]


# Files of ours name themselves in their errors; what is left is standard output.
_WRITING = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


# Set by a shell that asks what could come next; see docs/shell.md.
_COMPLETE = "_NGRAMSCOPE_COMPLETE"

# The path of a study, step by step.
_MAP = {
    "The whole path": ("audit", "report"),
    "Corpus and overlap": (
        "build-index", "plan", "merge", "inspect", "verify", "overlap", "explain", "decontaminate", "manifest", "fetch",
        "token-counts",
    ),
    "Members and non-members": ("sets", "validate", "blind", "neighbours"),
    "Models and attacks": ("score", "attack"),
    "What the scores show": (
        "evaluate", "setmi", "dataset-inference", "audit-groups", "contamination", "rdd", "ranktest", "paired", "conformal",
    ),
    "After unlearning": ("unlearning", "completions"),
}  # fmt: skip


class Terminated(BaseException):
    """SIGTERM arrived; like KeyboardInterrupt, no handler of ordinary errors may swallow it."""


@click.group(
    cls=Commands,
    package="ngramscope.cli",
    path=[str(Path(__file__).parent)],
    map=_MAP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
def cli() -> None:
    """What has a language model been trained on? Overlap of texts with a corpus, and honest membership inference.

    ngramscope audit goes the whole path. Each of its steps is a command too, from files that others made to files that others
    can read.

    \b
    Example:
      ngramscope build-index corpus/*.jsonl.zst --n 7 --n 13
      ngramscope overlap candidates.jsonl --out overlap.parquet
      ngramscope audit --members in.jsonl --nonmembers out.jsonl --scan corpus/ --model MODEL --out study
    """


def main() -> NoReturn:
    """Entry point of the ``ngramscope`` program."""
    _replace_closed()
    if sys.stdout is None:
        sys.exit(_say("error: standard output is closed; redirect it to a file, or to /dev/null", _exit.FAILURE))
    if _COMPLETE in os.environ:
        cli.main(prog_name="ngramscope", complete_var=_COMPLETE)  # ends the program
    code = run(sys.argv[1:])
    # A full pipe or disk shows up here at the latest.
    try:
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        code = code or _exit.PIPE
        _silence_stdout()
    except OSError as error:
        code = code or _say(f"error: standard output: {error.strerror}", _exit.FAILURE)
        _silence_stdout()
    if code in (_exit.INTERRUPTED, _exit.TERMINATED):
        sys.stderr.flush()
        os._exit(code)  # all is put away; to take torch down too would last for seconds
    sys.exit(code)


def _replace_closed() -> None:
    """Put nothing in place of a closed standard input or error: the next file would get its number, and messages.

    Standard input cannot be read then either: whoever is told to is to say so, and not to take it for empty.
    """
    for number, name, mode in ((0, "stdin", "r"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_WRONLY)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, os.fdopen(number, mode))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors become one message on standard error."""
    # Whatever the locale: data in and out is UTF-8.
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    previous, unraisable = _on_sigterm(), sys.unraisablehook
    sys.unraisablehook = _say_again
    try:
        with cli.make_context("ngramscope", list(arguments)) as context:
            return cli.invoke(context) or 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        _silence_stdout()
        return _exit.PIPE
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted; nothing was left under the names of the results", _exit.INTERRUPTED)
    except Terminated:
        return _say("terminated; nothing was left under the names of the results", _exit.TERMINATED)
    except errors.UsageError as error:
        return _say(f"error: {error}", _exit.USAGE)
    except errors.NgramscopeError as error:
        return _say(f"error: {error}", _exit.FAILURE)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "standard output: " if error.errno in _WRITING else ""
        return _say(f"error: {where}{error.strerror or error}", _exit.FAILURE)
    except MemoryError:
        return _say("error: out of memory; give a smaller --memory or fewer --threads", _exit.FAILURE)
    except RecursionError:
        return _say("error: a value of a record is nested too deeply to be carried along", _exit.FAILURE)
    finally:
        sys.unraisablehook = unraisable
        if previous is not None:
            signal.signal(signal.SIGTERM, previous)


def _say(message: str, code: int) -> int:
    click.echo(f"ngramscope: {message}", err=True)
    return code


def _on_sigterm() -> signal._HANDLER:
    def terminate(_number: int, _frame: FrameType | None) -> None:
        raise Terminated

    try:
        return signal.signal(signal.SIGTERM, terminate)
    except ValueError:  # not the main thread: the embedding program's signals are its own
        return None


def _say_again(ignored: sys.UnraisableHookArgs) -> None:
    """A signal while a destructor or a callback of a library runs is an exception there, which Python prints and forgets."""
    number = {KeyboardInterrupt: signal.SIGINT, Terminated: signal.SIGTERM}.get(ignored.exc_type)
    if number is None:
        sys.__unraisablehook__(ignored)
        return

    def again() -> None:
        if sys.unraisablehook is _say_again:  # the command still runs
            os.kill(os.getpid(), number)

    timer = threading.Timer(0.05, again)
    timer.daemon = True
    timer.start()


def _silence_stdout() -> None:
    """Point standard output at nothing, so that flushing it at exit cannot fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
