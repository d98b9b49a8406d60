"""Write docs/cli.md from the program's own help; with --check, only say whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ngramscope.cli._run import cli

TARGET = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
HEAD = """# The command line

Written from `--help` by `tools/cli_docs.py` (`make docs`); a test compares the two.

Standard output holds data only; messages, progress and summaries go to standard error. Exit codes: 0 done, 1 failed (one
message that names file and line), 2 wrong usage, 3 done but records or files were left out (only with `--max-bad-records` or
`--max-bad-files`), 130 after Ctrl-C and 143 after SIGTERM (nothing is left under the names of the results), 141 when the reader
of standard output went away. Text in and out is UTF-8 in every locale. `NGRAMSCOPE_INDEX` names the index where no option does;
`NO_COLOR` switches colours off; on a terminal progress is one live line, elsewhere a plain line every ten seconds.
"""


def sections(command: click.Command, title: str, parent: click.Context | None = None) -> list[str]:
    """The help of a command, and of those in it if it is a group."""
    settings = cli.context_settings if parent is None else {}
    context = click.Context(
        command, info_name=title if parent is None else command.name, parent=parent, terminal_width=100, **settings
    )
    parts = [f"## {title}\n\n```text\n{command.get_help(context)}\n```\n"]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            each = command.get_command(context, name)
            assert each is not None
            parts += sections(each, name if parent is None else f"{title} {name}", context)
    return parts


def document() -> str:
    return "\n".join([HEAD, *sections(cli, "ngramscope")])


def main() -> int:
    text = document()
    if sys.argv[1:] == ["--check"]:
        if TARGET.read_text(encoding="utf-8") != text:
            print(f"{TARGET}: not what --help prints; run: make docs", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
