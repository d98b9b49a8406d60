"""`make soak`: builds of a larger corpus, made on the spot, that are killed and continued over and over; no part of the tests.

Options choose how many kills and how large a corpus; every index has to be the one of an unbroken build, byte for byte.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from tests.conftest import write_jsonl
from tests.kills import build_with_kills, command, seconds_of
from tests.trials.support import contents

SETTINGS = (
    ["--n", "7", "--n", "13"],
    ["--n", "7", "--expected-ngrams", "100000000", "--memory", "64MiB", "--threads", "3"],
    ["--n", "5", "--filter", "exact", "--shards", "3", "--memory", "512MiB"],
)
WORDS = 400


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--megabytes", type=int, default=400, help="size of the corpus")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    dice = random.Random(asked.seed)
    with tempfile.TemporaryDirectory(prefix="ngramscope-soak-") as name:
        folder = Path(name)
        corpus = [_shard(folder / f"part-{number}.jsonl", asked.megabytes / 8, dice) for number in range(8)]
        kills = number = 0
        whole: dict[int, tuple[float, dict[str, bytes]]] = {}
        while kills < asked.kills:
            setting = number % len(SETTINGS)
            if setting not in whole:
                seconds = seconds_of(command(corpus, folder / "whole", *SETTINGS[setting]))
                whole[setting] = seconds, contents(folder / "whole")
                shutil.rmtree(folder / "whole")
            seconds, wanted = whole[setting]
            out = folder / f"out-{number}"
            killed = build_with_kills(command(corpus, out, *SETTINGS[setting]), out, seconds, dice, asked.kills - kills)
            if contents(out) != wanted:
                print(f"build {number} ({' '.join(SETTINGS[setting])}) differs after {killed} kills")
                return 1
            shutil.rmtree(out)
            kills += killed
            number += 1
            print(f"build {number}: {killed} kills, identical; {kills} of {asked.kills} in all", flush=True)
    return 0


def _shard(path: Path, megabytes: float, dice: random.Random) -> Path:
    """Texts of common and rare words."""
    words = [f"w{int(dice.paretovariate(0.7)) % 100_000}" for _ in range(200_000)]
    size = sum(map(len, words)) / len(words) + 1

    def texts() -> list[str]:
        starts = (dice.randrange(len(words) - WORDS) for _ in range(int(megabytes * 1e6 / (WORDS * size))))
        return [" ".join([str(dice.random()), *words[start : start + WORDS]]) for start in starts]

    return write_jsonl(path, texts())


if __name__ == "__main__":
    sys.exit(main())
