"""The report of a study: one page that opens offline, and a folder with every figure and table as a file."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from ngramscope import provenance
from ngramscope.checks import check_choice
from ngramscope.errors import MissingExtraError, ResourceError, UsageError
from ngramscope.evaluate.splits import seed_of
from ngramscope.index.output import check_place, whole_file, write_whole
from ngramscope.json_texts import sound
from ngramscope.report.charts import save_chart
from ngramscope.report.looks import looks
from ngramscope.report.page import Block, study_page
from ngramscope.report.parts import Chart, Section, Table
from ngramscope.report.registry import sections
from ngramscope.report.results import SetResults, StudyResults
from ngramscope.report.series import series
from ngramscope.report.tables import save_table
from ngramscope.report.verdict import verdict_table
from ngramscope.report.view import View

__all__ = ["FILES_VERSION", "FORMATS", "check", "write_report"]

FORMATS = ("svg", "pdf")
"""Of the files of figures, by default."""

FILES_VERSION = 1
"""Version of the folder beside the page."""

_LIST = "files.json"


def check(path: Path, option: str = "--out") -> None:
    """Refuse, before anything is computed, a report that could not be written.

    Raises
    ------
    UsageError
        Another ending than ``.html``, a folder that is not there, something of another kind in place of page or folder.
    MissingExtraError
        matplotlib is not installed.
    """
    if path.suffix != ".html" or not path.parent.is_dir():
        raise UsageError(f"{option}: {path}: not the name of a .html file in a folder that there is")
    check_place(path, option)
    folder = _folder(path)
    if folder.is_symlink() or (folder.exists() and not (folder / _LIST).is_file()):
        raise UsageError(f"{option}: {folder} is not the folder of an earlier report; move it, or choose another name")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot", "a report")


def write_report(
    path: Path,
    results: StudyResults,
    *,
    characters: int = 1_500,
    formats: Sequence[str] = FORMATS,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Write ``NAME.html`` and beside it the folder ``NAME-files`` (``figures/``: SVG and PDF; ``tables/``: CSV and LaTeX).

    Parameters
    ----------
    path
        Ends in ``.html``. Page and folder appear when whole; what an earlier report left there is replaced.
    results
        What was found.
    characters
        Of each text in the explorer, at most; 0 leaves texts out of the page.
    formats
        Of the files of figures: ``svg``, ``pdf``, ``png``.
    progress
        Called with sections done and sections in all.

    Raises
    ------
    UsageError, MissingExtraError
        See `check`.
    ResourceError
        The disk does not take it.
    """
    check(path)
    for each in formats:
        check_choice("--formats", each, ("svg", "pdf", "png"))
    folder = _folder(path)
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        for name in ("figures", "tables"):
            (temporary / name).mkdir(parents=True)
        page = _made(results, folder.name, temporary, characters, formats, progress)
        with whole_file(path) as drawn:
            with drawn.open("w", encoding="utf-8", newline="\n") as file:
                file.write(sound(page))
                file.flush()
                os.fsync(file.fileno())
            # All is written: from here on nothing is left that a full disk could refuse.
            if folder.exists():
                shutil.rmtree(folder)
            temporary.replace(folder)
    except OSError as error:
        raise ResourceError(f"{path}: cannot write the report: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _folder(path: Path) -> Path:
    return path.with_name(f"{path.stem}-files")


def _made(
    results: StudyResults,
    name: str,
    folder: Path,
    characters: int,
    formats: Sequence[str],
    progress: Callable[[int, int], object] | None,
) -> str:
    """The page; figures and tables are written into the folder, section by section, so that few figures are held at once."""
    views = _views(results, characters)
    kinds = sections()
    total, done = len(views) * len(kinds) + 1, 0

    def kept(title: str, anchor: str, section: Section) -> Block:
        drawn = {each.name: save_chart(each, folder / "figures", formats) for each in section.parts if isinstance(each, Chart)}
        for each in section.parts:
            if isinstance(each, Table):
                save_table(each, folder / "tables")
        return Block.of(title, anchor, section, drawn, name, formats)

    whole = series(results, views)
    top = [kept("Verdicts", "verdicts", Section((), [verdict_table(views)]))] if len(views) > 1 else []
    top += [] if whole is None else [kept("Across models and sets", "series", whole)]
    blocks: list[list[Block]] = []
    for view in views:
        mine = []
        for kind in kinds:
            found = kind.make(view)
            if found is not None:
                mine.append(kept(kind.title, view.named(kind.name), found))
            done += 1
            if progress is not None:
                progress(done, total)
        blocks.append(mine)
    files = sorted(str(each.relative_to(folder)) for each in folder.rglob("*.*"))
    stamp = provenance.stamp("report-files", version=FILES_VERSION, settings={"characters": characters}, inputs=[])
    write_whole(folder / _LIST, json.dumps({**stamp, "title": results.title, "files": files}, indent=1) + "\n")
    return study_page(results, views, top, blocks)


def _views(results: StudyResults, characters: int) -> list[View]:
    names = sorted({name for each in results.sets for name in _attacks(each)})
    look, numbers = looks(names), {name: number for number, name in enumerate(names)}
    prefixes = _prefixes([each.name for each in results.sets]) if len(results.sets) > 1 else [""]
    return [View(each, look, prefix, characters, numbers) for each, prefix in zip(results.sets, prefixes, strict=False)]


def _attacks(results: SetResults) -> list[str]:
    rows = [row["attack"] for row in (results.evaluation or {}).get("rows", ())]
    return [*rows, *(seed_of(each.attack)[0] for each in (results.scores.columns if results.scores is not None else ()))]


def _prefixes(names: Sequence[str]) -> list[str]:
    """Of files and anchors, one a set; no two are alike, even where upper and lower case are the same to the disk."""
    found: list[str] = []
    for name in names:
        plain = "".join(each if each.isascii() and (each.isalnum() or each in "-_") else "-" for each in name).strip("-")
        tries = (f"{plain or 'set'}{more}-" for more in ("", *(f"-{number}" for number in range(2, len(names) + 1))))
        found.append(next(each for each in tries if each.lower() not in map(str.lower, found)))
    return found
