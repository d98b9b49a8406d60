"""Writes rust/core/src/tokenize/tables.rs from the files of the Unicode Character Database, version 15.0.0.

Which words a text has must not depend on the version of any dependency, so the properties that word breaking needs are
generated once and kept in the repository. Debian and Ubuntu carry the files in the package ``unicode-data``:

    python3 tools/unicode_tables.py            # write the file
    python3 tools/unicode_tables.py --check    # exit code 1 when the file in the repository differs
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

VERSION = "15.0.0"
OUTPUT = Path(__file__).resolve().parent.parent / "rust/core/src/tokenize/tables.rs"
CODE_POINTS = 0x110000
BLOCK = 128
WIDTH = 99  # rustfmt leaves the last column of lines of numbers free

WORD_BREAK = "auxiliary/WordBreakProperty.txt"
EMOJI = "emoji/emoji-data.txt"
PROPERTIES = "PropList.txt"
AGE = "DerivedAge.txt"

# First lines that name the version; emoji-data.txt names it further down.
VERSION_MARKS = {
    WORD_BREAK: f"# WordBreakProperty-{VERSION}.txt",
    EMOJI: f"# Used with Emoji Version {VERSION[:-2]} ",
    PROPERTIES: f"# PropList-{VERSION}.txt",
    AGE: f"# DerivedAge-{VERSION}.txt",
}

# (Word_Break, Extended_Pictographic, White_Space, unassigned) -> letter. Combinations that no character has are left out,
# so that a new one stops the generator.
LETTERS = {
    ("Other", False, False, False): ".",
    ("Other", False, False, True): "u",
    ("Other", True, False, False): "p",
    ("Other", True, False, True): "q",
    ("Other", False, True, False): "w",
    ("CR", False, True, False): "c",
    ("LF", False, True, False): "l",
    ("Newline", False, True, False): "n",
    ("Extend", False, False, False): "e",
    ("Format", False, False, False): "f",
    ("ZWJ", False, False, False): "z",
    ("Regional_Indicator", False, False, False): "r",
    ("Katakana", False, False, False): "k",
    ("Hebrew_Letter", False, False, False): "h",
    ("ALetter", False, False, False): "A",
    ("ALetter", True, False, False): "P",
    ("Single_Quote", False, False, False): "s",
    ("Double_Quote", False, False, False): "d",
    ("MidNumLet", False, False, False): "m",
    ("MidLetter", False, False, False): "L",
    ("MidNum", False, False, False): "N",
    ("Numeric", False, False, False): "0",
    ("ExtendNumLet", False, False, False): "x",
    ("ExtendNumLet", False, True, False): "y",
    ("WSegSpace", False, True, False): "S",
}


def read_ucd(folder: Path, name: str) -> str:
    """Text of one file of the database; stops when it is missing or of another version."""
    path = folder / name
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}; install the package unicode-data {VERSION} or name its folder with --ucd")
    if VERSION_MARKS[name] not in "\n".join(text.splitlines()[:12]) + "\n":
        sys.exit(f"{path}: not of Unicode {VERSION} (no line {VERSION_MARKS[name]!r} at its head)")
    return text


def entries(text: str) -> Iterator[tuple[int, int, str]]:
    """(first, last, value) of every data line."""
    for line in text.splitlines():
        fields = [field.strip() for field in line.split("#")[0].split(";")]
        if len(fields) >= 2:
            first, _, last = fields[0].partition("..")
            yield int(first, 16), int(last or first, 16), fields[1]


def code_points(text: str, value: str) -> set[int]:
    """The code points whose property in ``text`` is ``value``."""
    found: set[int] = set()
    for first, last, entry in entries(text):
        if entry == value:
            found.update(range(first, last + 1))
    return found


def class_letters(files: dict[str, str]) -> str:
    """One letter per code point, 0 to 0x10FFFF."""
    word_break = ["Other"] * CODE_POINTS
    for first, last, value in entries(files[WORD_BREAK]):
        word_break[first : last + 1] = [value] * (last + 1 - first)
    assigned = bytearray(CODE_POINTS)
    for first, last, _ in entries(files[AGE]):
        assigned[first : last + 1] = b"\1" * (last + 1 - first)
    pictographs = code_points(files[EMOJI], "Extended_Pictographic")
    white_space = code_points(files[PROPERTIES], "White_Space")
    return "".join(LETTERS[word_break[c], c in pictographs, c in white_space, not assigned[c]] for c in range(CODE_POINTS))


def rust_numbers(name: str, doc: str, numbers: list[int]) -> str:
    """A constant array, laid out as rustfmt does."""
    lines = [f"/// {doc}", f"pub const {name}: [u16; {len(numbers)}] = ["]
    line = "   "
    for number in numbers:
        if len(line) + len(f" {number},") > WIDTH:
            lines.append(line)
            line = "   "
        line += f" {number},"
    return "\n".join([*lines, line, "];", ""])


def render(files: dict[str, str]) -> str:
    """The Rust source."""
    letters = class_letters(files)
    blocks: dict[str, int] = {}
    runs: list[int] = []
    for start in range(0, CODE_POINTS, BLOCK):
        number = blocks.setdefault(letters[start : start + BLOCK], len(blocks))
        if runs and runs[-2] == number:
            runs[-1] += 1
        else:
            runs += [number, 1]
    if len(blocks) > 256:
        sys.exit(f"{len(blocks)} distinct blocks do not fit an index of one byte; choose another BLOCK")
    digests = "\n".join(f"//! - `{name}`: {hashlib.sha256(text.encode()).hexdigest()}" for name, text in files.items())
    rows = "\n".join(f"{block}\\" for block in blocks)
    return f"""\
//! Word_Break, Extended_Pictographic, White_Space and \"unassigned\" of all code points in Unicode {VERSION}.
//!
//! Written by `tools/unicode_tables.py`; do not edit. Letters are explained in `property.rs`. SHA-256 of the inputs:
{digests}
//!
//! SHA-256 of the content (one letter per code point, in order): {hashlib.sha256(letters.encode()).hexdigest()}

/// Version of the Unicode Character Database these tables were made from.
pub const UNICODE_VERSION: &str = "{VERSION}";

/// Code points per block.
pub const BLOCK: usize = {BLOCK};

{rust_numbers("BLOCK_RUNS", "Which block holds which code points, in order: pairs of block number and repetitions.", runs)}
/// The distinct blocks, {BLOCK} letters each.
pub const LETTERS: &[u8; {len(blocks) * BLOCK}] = b"\\
{rows}
";
"""


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ucd", type=Path, default=Path("/usr/share/unicode"), help="folder of the database's files")
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    arguments = parser.parse_args()
    source = render({name: read_ucd(arguments.ucd, name) for name in VERSION_MARKS})
    if arguments.check:
        same = OUTPUT.exists() and OUTPUT.read_text(encoding="utf-8") == source
        print(f"{OUTPUT}: {'up to date' if same else 'differs from what the generator writes'}")
        return 0 if same else 1
    OUTPUT.write_text(source, encoding="utf-8")
    print(f"wrote {OUTPUT}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
