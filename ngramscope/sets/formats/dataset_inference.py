"""Dataset inference: parts of the Pile with perturbed copies (Maini et al. 2024; pratyushmaini/llm_dataset_inference)."""

from __future__ import annotations

from collections.abc import Iterator

from ngramscope.errors import InputError
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.formats._files import Files, SourceFile
from ngramscope.sets.formats._reading import Reading
from ngramscope.sets.formats.base import ALL, Format, ImportOptions, choose

__all__ = ["FORMAT"]

_STYLES = (
    "synonym_substitution",
    "butter_fingers",
    "random_deletion",
    "change_char_case",
    "whitespace_perturbation",
    "underscore_trick",
)
_LABELS = {"train": MEMBER, "val": NONMEMBER}


class DatasetInference(Format):
    """Labels are in the files' names: ``DOMAIN_train`` and ``DOMAIN_val``, or ``train`` and ``val`` in a folder DOMAIN."""

    name = "dataset-inference"
    layout = "dataset inference: records {text} with columns such as butter_fingers, in DOMAIN_train and DOMAIN_val"
    labels = "train is member, val non-member (its own code has member = 0)"

    def detect(self, files: Files, options: ImportOptions) -> str | None:  # noqa: ARG002
        """See `Format`."""
        peek = files.first.peek
        styles = [each for each in _STYLES if peek.has("text", each)]
        return f"records with a text and its perturbations ({', '.join(styles)})" if styles else None

    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """Both sides of a domain, or the one that --split names."""
        styles = [each for each in _STYLES if each in files.first.peek.row]
        for domain, chosen in choose("config", options.config, files, lambda file: _names(file)[0]).items():
            for split, sides in choose("split", options.split or ALL, chosen, lambda file: _names(file)[1]).items():
                for file in sides:
                    for row in reading.rows(file, "text", styles):
                        yield (
                            file,
                            Candidate(
                                f"{domain}/{split}/{row.position}",
                                row.text,
                                _LABELS[split],
                                domain=domain,
                                position=row.position,
                                extra={"perturbations": row.values},
                            ),
                        )


def _names(file: SourceFile) -> tuple[str, str]:
    """Domain and split."""
    domain, _, split = file.stem.rpartition("_")
    if file.stem in _LABELS:
        domain, split = file.above, file.stem
    if split not in _LABELS:
        raise InputError(
            f"{file.shown}: its name says neither train (members) nor val (non-members); name it DOMAIN_train or DOMAIN_val"
        )
    return domain, split


FORMAT = DatasetInference()
