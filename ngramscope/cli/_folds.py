"""Options of blind baselines."""

from __future__ import annotations

import click

from ngramscope.blind.folds import FoldRule

__all__ = ["fold_options"]

fold_options = [
    click.option(
        "--folds", type=int, default=FoldRule.folds, show_default=True, metavar="N",
        help="Blind baselines are scored on each of N parts by what was learned on the others.",
    ),
    click.option(
        "--repeats", type=int, default=FoldRule.repeats, show_default=True, metavar="N", help="Divisions into such parts."
    ),
    click.option(
        "--permutations", type=int, default=FoldRule.permutations, show_default=True, metavar="N",
        help="Of the labels, for p-values of blind baselines: all is learned again for each. 0: no p-values.",
    ),
]  # fmt: skip
