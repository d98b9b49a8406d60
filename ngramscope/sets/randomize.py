"""Candidates inserted in a training corpus at random: who, how often and where, for those who train.

The one membership experiment in which nothing but training tells members from non-members. What goes to the training run
(texts in the order of their places) is kept apart from what says who was drawn (the set, the key, the texts held out).
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core
from ngramscope.checks import check_choice, check_integer, check_optional
from ngramscope.errors import InputError, UsageError
from ngramscope.progress import Step as ProgressStep
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.design import Chance, Design, arm_weights
from ngramscope.sets.mixing import MixedFolder, places
from ngramscope.sets.randomized_files import LineFile, positions_path
from ngramscope.sets.records import RecordSource
from ngramscope.sets.units import Units
from ngramscope.sets.writer import SetFile, Step

__all__ = ["BLOCKS", "RandomizeFiles", "RandomizeOptions", "randomize"]

BLOCKS = ("domain", "length")
"""What the arms can be balanced by."""

_ROWS = 1000
_PLACES = 1  # a purpose of random numbers; Design has 0
Ints = NDArray[np.int64]
Progress = Callable[[_core.Progress | ProgressStep], object]


@dataclass(frozen=True, kw_only=True)
class RandomizeOptions:
    """The experiment.

    Parameters
    ----------
    copies
        How often the texts of each arm are inserted, in ascending order; 0 is the arm held out.
    shares
        Of the arms; empty for equal ones. With `pairs`, of the arms but 0.
    block
        Balance the arms within each domain, within texts of like length, or both (`BLOCKS`).
    length_bins
        Into how many parts of equally many texts (of a domain) are put by length.
    pairs
        Key of matched twins: of two candidates with one value, one by chance is inserted, the other held out.
    documents, steps
        Documents of the training corpus, or steps of the training run: what positions count in. With neither, and no corpus
        to be mixed, a position is the copy's number in the order of insertion.
    seed
        A whole number that decides all; None draws one, so that nobody can guess it.
    """

    copies: tuple[int, ...] = (0, 1, 2, 4, 8, 16)
    shares: tuple[str | float | int, ...] = ()
    block: tuple[str, ...] = ()
    length_bins: int = 4
    pairs: str | None = None
    documents: int | None = None
    steps: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        for each in self.copies:
            check_integer("--copies", each, 0, 1_000_000)
        if list(self.copies) != sorted(set(self.copies)) or self.copies[:1] != (0,) or len(self.copies) < 2:
            raise UsageError(
                f"--copies: {','.join(map(str, self.copies))}: give different counts in ascending order, 0 (held out) and "
                "at least one more"
            )
        for name in self.block:
            check_choice("--block", name, BLOCKS)
        if self.pairs is not None and not self.pairs:
            raise UsageError("--pairs: '' is not possible; name a key of the records")
        check_integer("--length-bins", self.length_bins, 2, 1000)
        check_optional("--documents", self.documents, 0, 1 << 48)
        check_optional("--steps", self.steps, 1, 1 << 48)
        check_optional("--seed", self.seed, 0, (1 << 63) - 1)
        self.weights()

    def weights(self) -> tuple[int, ...]:
        """Shares as whole numbers."""
        return arm_weights(self.shares, len(self.copies) - (self.pairs is not None))


@dataclass(frozen=True, kw_only=True)
class RandomizeFiles:
    """Where results go.

    Parameters
    ----------
    insertions
        One line a copy, opaque id and text, in the order of positions; the positions themselves are beside it. Its folder is
        what the training run may see, so what says who was drawn may not be there.
    heldout
        Texts of arm 0, in the same form.
    key
        Who was drawn, and how it can be drawn again.
    out
        The candidate set.
    mixed
        A folder for the corpus with the copies in it.
    """

    insertions: Path
    heldout: Path
    key: Path
    out: Path
    mixed: Path | None = None

    def __post_init__(self) -> None:
        secret = {"--key": self.key, "--out": self.out, "--heldout": self.heldout}
        if len({each.resolve() for each in secret.values()}) < len(secret):
            raise UsageError("--key, --out, --heldout: name three different files")
        seen = {self.insertions.absolute().parent.resolve(): "of --insertions"}
        if self.mixed is not None:
            seen[self.mixed.resolve()] = "--write-mixed"
        for option, path in secret.items():
            if (where := seen.get(path.absolute().parent.resolve())) is not None:
                raise UsageError(
                    f"{option}: {path} says who is held out, and the folder {where} goes to the training run; put it in "
                    "another folder"
                )


def randomize(
    source: RecordSource,
    files: RandomizeFiles,
    *,
    options: RandomizeOptions | None = None,
    mix: RecordSource | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Draw who is inserted how often and where, and write all files.

    Of candidates with one text one is used. Which arm a candidate gets depends on the texts of all, the options and the seed,
    not on the order of files.

    Parameters
    ----------
    source
        The candidates; what their records say of membership does not matter.
    mix
        The training corpus: its documents are counted, and candidates that are among them left out. With
        `RandomizeFiles.mixed` it is read a second time.
    progress
        Called now and then, on the calling thread.

    Returns
    -------
    dict
        The header of the set.

    Raises
    ------
    UsageError
        Options that exclude each other, or names that cannot be.
    InputError
        A file that cannot be used; too few candidates.
    """
    options = RandomizeOptions() if options is None else options
    given = [name for name in ("documents", "steps") if getattr(options, name) is not None] + ["mix"] * (mix is not None)
    if len(given) > 1:
        raise UsageError(f"{' and '.join(f'--{name}' for name in given)}: positions count in one of them; give one")
    if files.mixed is not None and mix is None:
        raise UsageError("--write-mixed: needs --mix, the corpus that the copies are mixed into")
    seed = secrets.randbits(53) if options.seed is None else options.seed
    with contextlib.ExitStack() as stack:
        table = stack.enter_context(SetFile(files.out))
        key = stack.enter_context(LineFile(files.key, "--key", "randomization-key"))
        heldout = stack.enter_context(LineFile(files.heldout, "--heldout", "held-out-texts"))
        insertions = stack.enter_context(LineFile(files.insertions, "--insertions", "insertions"))
        where = positions_path(files.insertions)
        positions = stack.enter_context(LineFile(where, "--insertions", "insertion-positions", ending=".txt"))
        folder = None if files.mixed is None else stack.enter_context(MixedFolder(files.mixed))
        units = stack.enter_context(
            Units(source, files.out.absolute().parent, pairs=options.pairs, corpus=mix, progress=progress)
        )
        drawn = _Drawn(units, options, seed)

        for first in range(0, len(drawn.owners), _ROWS):
            insertions.write(_line(units, unit) for unit in drawn.owners[first : first + _ROWS].tolist())
            positions.write(b"%d\n" % place for place in drawn.places[first : first + _ROWS].tolist())
            _show(progress, first)
        for first in range(0, len(units), _ROWS):
            chunk = range(first, min(first + _ROWS, len(units)))
            rows = [drawn.candidate(unit) for unit in chunk]
            table.add(rows)
            key.write(drawn.key_line(unit, row) for unit, row in zip(chunk, rows, strict=True))
            heldout.write(_line(units, unit) for unit in chunk if not drawn.copies[unit])
            _show(progress, len(drawn.owners) + first)
        if folder is not None and mix is not None and units.corpus is not None:
            folder.write(mix, units.corpus["documents"], drawn.insertions(), progress)

        facts = {**drawn.facts(), "sha256": {"insertions": insertions.sha256, "positions": positions.sha256}}
        facts["sha256"]["heldout"] = heldout.sha256
        corpus = [] if units.corpus is None else units.corpus["sources"]
        step = Step(
            "randomize", drawn.settings(), [*units.sources, *corpus], {"candidates": units.counts.to_dict()}, seed, facts
        )
        # The key comes first: there are no insertions without one.
        key.commit({"seed": seed, **drawn.key_facts(), **facts}, settings=step.settings, inputs=step.inputs)
        header = table.commit(step, before=units.headers)
        heldout.commit({"texts": facts["arms"][0]["units"]})
        # What the training run sees says how many copies there are and what positions count in, and no more.
        seen = {"insertions": facts["insertions"], "positions": facts["positions"]}
        if folder is not None:
            folder.commit()
        positions.commit(seen, inputs=corpus)
        insertions.commit(seen, inputs=corpus)
    return header


class _Drawn:
    """What chance decided for some units, and how it is told."""

    def __init__(self, units: Units, options: RandomizeOptions, seed: int) -> None:
        self._units, self._options = units, options
        blocks, self._blocks = units.blocks(options.block, options.length_bins)
        # Too few for one in each arm is too few for any comparison.
        if len(blocks) < len(options.weights()):
            what = "candidates" if units.pairs is None else "pairs"
            left = ", ".join(f"{count:,} {reason}" for reason, count in sorted(units.counts.left_out.items()))
            raise InputError(
                f"{len(blocks):,} {what} for {len(options.weights())} arms; give more candidates or fewer --copies"
                + (f" (left out: {left})" if left else "")
            )
        design = Design(options.copies, options.weights(), blocks, seed, units.pairs)
        self._arms = design.draw()
        self._block = blocks
        self._pair: Ints | None = None
        if units.pairs is not None:
            self._pair = np.empty(len(units), dtype=np.int64)
            self._pair[units.pairs] = np.arange(len(units.pairs))[:, None]
            self._block = blocks[self._pair]
        self.copies: Ints = np.array(options.copies, dtype=np.int64)[self._arms]
        chance = Chance(seed, _PLACES)
        owners = np.repeat(np.arange(len(units)), self.copies)
        self.owners: Ints = owners[np.argsort(chance.raw(len(owners)), kind="stable")]
        self._kind, self._size = "copies", len(owners)
        if options.steps is not None:
            self._kind, self._size = "steps", options.steps
        documents = options.documents if units.corpus is None else units.corpus["documents"]
        if documents is not None:
            self._kind, self._size = "documents", documents + len(owners)
        self.places = places(len(owners), self._size, chance)
        order = np.argsort(self.owners, kind="stable")
        self._own_places = self.places[order]
        self._first = np.cumsum(self.copies) - self.copies

    def insertions(self) -> Iterator[tuple[int, bytes]]:
        """Place and text of each copy, in order."""
        return ((place, self._units.text(unit)) for place, unit in zip(self.places, self.owners, strict=True))

    def candidate(self, unit: int) -> Candidate:
        """A row of the set."""
        candidate = self._units.candidate(unit)
        candidate.label = MEMBER if self.copies[unit] else NONMEMBER
        own = self._own_places[self._first[unit] : self._first[unit] + self.copies[unit]]
        candidate.extra |= {
            "copies": int(self.copies[unit]),
            "arm": int(self._arms[unit]),
            "insert_positions": own.tolist(),
            "insert_id": self._units.insert_id(unit),
        }
        return candidate

    def key_line(self, unit: int, candidate: Candidate) -> bytes:
        """A row of the key, for a row of the set."""
        row = {
            "insert_id": candidate.extra["insert_id"],
            "id": candidate.id,
            "source": candidate.source,
            "position": candidate.position,
            **{name: candidate.extra[name] for name in ("copies", "arm", "insert_positions")},
            "block": int(self._block[unit]),
            "pair": None if self._pair is None else int(self._pair[unit]),
        }
        return json.dumps(row, ensure_ascii=False).encode() + b"\n"

    def settings(self) -> dict[str, Any]:
        """Options, for headers."""
        options = self._options
        return {
            "copies": list(options.copies),
            "shares": [str(each) for each in options.shares],
            "block": [name for name in BLOCKS if name in options.block],
            "length_bins": options.length_bins if "length" in options.block else None,
            "pairs": options.pairs,
            "documents": options.documents,
            "steps": options.steps,
        }

    def facts(self) -> dict[str, Any]:
        """What came out, for headers."""
        arms = []
        for arm, copies in enumerate(self._options.copies):
            words = self._units.words[self._arms == arm]
            mean = float(words.mean()) if len(words) else None
            arms.append({"arm": arm, "copies": copies, "units": len(words), "mean_words": mean})
        return {
            "arms": arms,
            "blocks": len(self._blocks),
            "insertions": len(self.owners),
            "positions": {"count": self._kind, "of": self._size},
            "partial": self._units.partial,
        }

    def key_facts(self) -> dict[str, Any]:
        """What it takes to draw again."""
        return {"weights": list(self._options.weights()), "block_sizes": self._blocks}


def _line(units: Units, unit: int) -> bytes:
    return b'{"id": "%s", "text": %s}\n' % (units.insert_id(unit).encode(), units.text(unit))


def _show(progress: Progress | None, done: int) -> None:
    if progress is not None:
        progress(ProgressStep("write", documents=done))
