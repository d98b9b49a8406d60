"""``ngramscope report``."""

from __future__ import annotations

from pathlib import Path

import click

from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import console_options
from ngramscope.errors import UsageError

__all__ = ["command"]


@click.command("report", short_help="Draw the report of a finished study anew.")
@click.argument("study", metavar="STUDY")
@click.option(
    "--out", cls=OutputOption, metavar="FILE",
    help="Write the page here: .html; files of its figures and tables go into a folder beside it.  [default: "
    "STUDY/report.html]",
)  # fmt: skip
@click.option(
    "--characters", type=int, default=1_500, show_default=True, metavar="N",
    help="Show so much of each text; 0: no text leaves the study.",
)  # fmt: skip
@console_options("Print the name of the page as one JSON object on standard output.")
def command(study: str, out: str | None, characters: int, console: Console) -> int:
    """Draw the report of the study in the folder STUDY, which ngramscope audit made. Nothing is computed.

    The report is one HTML file that opens offline. Every figure is beside it as SVG and PDF, every table as CSV and LaTeX.

    \b
    Example:
      ngramscope report study
      ngramscope report study --out for-the-authors.html --characters 0
    """
    from ngramscope.study.drawing import draw

    if characters < 0:
        raise UsageError(f"--characters: {characters} is not possible; a whole number from 0 on")
    with console.open():
        page = draw(Path(study), None if out is None else Path(out), characters=characters)
        if console.as_json:
            console.result({"report": str(page)})
        else:
            console.say(f"wrote {page}")
    return 0
