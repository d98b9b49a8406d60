from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from ngramscope.corpus.feed import Feeder


def drain(descriptor: int) -> bytes:
    data = b""
    while chunk := os.read(descriptor, 1 << 16):
        data += chunk
    return data


def test_texts_lists_and_records_become_json_lines() -> None:
    texts = ["eins\nzwei", [1, 2], {"id": 7, "body": "drei"}, "\ud800"]
    with Feeder(texts, text_key="body", id_key="id") as feeder:
        rows = [json.loads(line) for line in drain(feeder.fileno).splitlines()]
    assert rows == [
        {"id": 0, "body": "eins\nzwei"},
        {"id": 1, "body": [1, 2]},
        {"id": 7, "body": "drei"},
        {"id": 3, "body": "\ud800"},
    ]


def test_more_than_the_pipe_holds_goes_through_in_order() -> None:
    count = 20_000
    with Feeder((f"text number {number}" for number in range(count)), text_key="text", id_key="id") as feeder:
        rows = [json.loads(line)["text"] for line in drain(feeder.fileno).splitlines()]
    assert rows == [f"text number {number}" for number in range(count)]


def test_an_iterator_that_raises_does_not_look_like_the_end() -> None:
    def texts() -> Iterator[str]:
        yield "one"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"), Feeder(texts(), text_key="text", id_key="id") as feeder:
        feeder._thread.join()
        os.set_blocking(feeder.fileno, False)
        with pytest.raises(BlockingIOError):  # an end of file would read as b""
            os.read(feeder.fileno, 1 << 16)
        feeder.check()


def test_leaving_early_ends_the_thread() -> None:
    with Feeder(("x" * 1000 for _ in range(1_000_000)), text_key="text", id_key="id") as feeder:
        os.read(feeder.fileno, 10)
    assert not feeder._thread.is_alive()
