"""``ngramscope manifest fetch``."""

from __future__ import annotations

from pathlib import Path

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import console_options
from ngramscope.cli.manifest._named import named
from ngramscope.corpus.fetch import fetch
from ngramscope.corpus.lock import lock_path
from ngramscope.sizes import counted, format_size

__all__ = ["command"]


@click.command("fetch", short_help="Download the files of a manifest.")
@click.argument("manifest")
@click.option("--out", required=True, metavar="DIR", help="Folder that the files go to.")
@console_options("Print what came as one JSON object on standard output.")
def command(manifest: str, out: str, console: Console) -> int:
    """Download the files of MANIFEST, or of MANIFEST:SPLIT, and compare them with their published sizes and digests.

    What was interrupted goes on in the next run; files that are there and right are left alone. DIR/NAME.lock.toml says what
    came, with digests; it is a manifest of the local copies.

    \b
    Example:
      ngramscope manifest fetch pile:val --out pile
      ngramscope build-index pile/pile.lock.toml:val --n 13
    """
    with console.open():
        corpus, split = named(manifest)
        done = fetch(corpus, Path(out), split=split, progress=console.progress)
        lock = lock_path(corpus, Path(out))
        if console.as_json:
            files = [
                {"path": each.file.path, "status": each.status, "bytes": each.file.bytes, **each.file.hashes} for each in done
            ]
            console.result({"manifest": corpus.name, "lock": str(lock), "files": files})
        else:
            came = [each for each in done if each.status != "present"]
            size = format_size(sum(each.file.bytes or 0 for each in done))
            unpublished = sum(each.file.digest != "published" for each in done)
            console.say(f"{counted(len(done), 'file')}, {size}, {len(came)} of them downloaded now; {lock} has their digests")
            if unpublished:
                console.say(f"{counted(unpublished, 'file')} had no published digest to compare with")
    return 0
