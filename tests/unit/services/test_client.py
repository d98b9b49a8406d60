"""Asking a service: again after faults, never too fast, and going on after a stop."""

from __future__ import annotations

import fcntl
import gzip
import json
import sys
from pathlib import Path

import pytest

from ngramscope.corpus.services import ClientOptions, WikipediaQuery, client, fetch_wikipedia
from ngramscope.errors import InputError, MissingExtraError, UsageError
from tests.services_server import Fault, Services
from tests.unit.services.conftest import Clock, Run

BUSY: dict[str, tuple[Fault, float]] = {
    "too many requests": ((429, {"Retry-After": "33"}), 33),
    "busy": ((503, {}), 0),
    "until a date": ((503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), 0),
    "broken": ((500, {}), 0),
    "maxlag": ("maxlag", 7),
    "reset": ("reset", 0),
    "cut": ("cut", 0),
    "truncated": ("truncated", 0),
    "hang": ("hang", 0),
    "HTML": (lambda *_: b"<html>Rate exceeded.</html>", 0),
    "no UTF-8": (lambda *_: b"\xff\xfe", 0),
    "other JSON": (lambda *_: b'{"query": [1]}', 0),
    "half an entry": (lambda *_: b'{"query": {"categorymembers": 3, "pages": [3]}}', 0),
}


@pytest.mark.parametrize("name", BUSY)
def test_whatever_happens_once_changes_nothing(
    name: str, wikipedia: Run, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_TIMEOUT", (5.0, 0.1 if name == "hang" else 5.0))
    wikipedia("whole.jsonl")
    asked, (fault, wait) = len(services.asked), BUSY[name]
    services.asked.clear()
    services.times.clear()
    services.faults = [fault, None, None, fault, fault, None, None, None, None, None, fault]
    wikipedia("out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert len(services.asked) == asked + 4
    pauses = [after - before for before, after in zip(services.times, services.times[1:], strict=False)]
    assert min(pauses) >= 0.5
    for tries, at in ((1, 0), (1, 3), (2, 4), (1, 10)):
        assert pauses[at] >= max(wait, 2 ** (tries - 1))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ((503, {}), r"the server answers 503, 6 times in a row; the same command goes on from here later"),
        ("reset", r"the connection failed \(.*\), 6 times in a row"),
        ((429, {"Retry-After": "7200"}), r"the server answers 429, and to come back in 7,200 seconds"),
        ((403, {}), r"answers 403; it may want to know who asks: give --contact"),
        ((404, {}), r"answers 404; no API is there: correct --api-url"),
        ((400, {}), r"the server answers 400$"),
    ],
    ids=str,
)
def test_what_fails_is_told_and_goes_on_later(
    fault: Fault, message: str, wikipedia: Run, services: Services, tmp_path: Path
) -> None:
    wikipedia("whole.jsonl")
    once = [json.dumps(each) for each in services.asked]
    services.asked.clear()
    services.always = {'"pageids": "2"': fault}
    with pytest.raises(InputError, match=message) as failed:
        wikipedia()
    assert str(failed.value).startswith(services.wiki)
    assert not (tmp_path / "out.jsonl").exists()
    services.always = {}
    answered = {text for each in services.asked if each.get("pageids") != "2" for text in [json.dumps(each)]}
    services.asked.clear()
    wikipedia()
    assert {json.dumps(each) for each in services.asked} == set(once) - answered, "only what had no answer is asked for"
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not (tmp_path / "out.jsonl.partial").exists()


def test_a_server_that_is_not_there(wikipedia: Run, clock: Clock, tmp_path: Path) -> None:
    options = ClientOptions(clock=clock, sleep=clock.sleep)
    query = WikipediaQuery(categories=("x",), api_url="http://127.0.0.1:9/w/api.php")
    with pytest.raises(InputError, match=r"http://127\.0\.0\.1:9/w/api\.php: the connection failed .* 6 times in a row"):
        fetch_wikipedia(query, tmp_path / "out.jsonl", options=options)
    assert clock.now >= 1 + 2 + 4 + 8 + 16
    assert list(tmp_path.iterdir()) == []


class TestPartial:
    @pytest.fixture
    def unfinished(self, wikipedia: Run, services: Services, tmp_path: Path) -> Path:
        services.always = {'"pageids": "2"': (503, {})}
        with pytest.raises(InputError):
            wikipedia()
        services.always = {}
        return tmp_path / "out.jsonl.partial"

    def test_other_settings_do_not_go_on_from_it(self, wikipedia: Run, unfinished: Path) -> None:
        with pytest.raises(UsageError, match=r"out\.jsonl\.partial was left by a run with other settings \(depth, seed\)"):
            wikipedia(depth=1, seed=4)
        assert (unfinished / "state.json").exists()
        wikipedia()

    def test_two_runs_at_a_time(self, wikipedia: Run, unfinished: Path) -> None:
        with (unfinished / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with pytest.raises(UsageError, match=r"another run is at work in .*out\.jsonl\.partial"):
                wikipedia()
        wikipedia()

    def test_damaged_answers_are_asked_for_again(
        self, wikipedia: Run, services: Services, unfinished: Path, tmp_path: Path
    ) -> None:
        kept = sorted(unfinished.glob("answers/*/*.gz"))
        kept[0].write_bytes(kept[0].read_bytes()[:-3])
        kept[1].write_bytes(b"")
        kept[2].write_bytes(gzip.compress(b"[]\n{}"))
        services.asked.clear()
        wikipedia()
        after = len(services.asked)
        wikipedia("whole.jsonl")
        assert after == len(services.asked) - after - len(kept) + 3
        assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()

    def test_answers_for_other_runs_as_well(self, wikipedia: Run, services: Services, tmp_path: Path) -> None:
        wikipedia(options={"cache": tmp_path / "kept"})
        asked = len(services.asked)
        header = wikipedia("again.jsonl", min_words=11, options={"cache": tmp_path / "kept"})
        assert len(services.asked) == asked
        assert header["counts"]["left_out"]["too_short"] == 4
        assert sorted(each.name for each in tmp_path.iterdir() if "partial" in each.name) == []


def test_ways_of_asking_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for options, message in [({"interval": -1.0}, "--interval"), ({"contact": "a\nb"}, "--contact")]:
        with pytest.raises(UsageError, match=message):
            ClientOptions(**options)  # type: ignore[arg-type]
    for url in ("ftp://host/x", "https://", "https://host/x?y=1", "host"):
        with pytest.raises(UsageError, match="--api-url"):
            fetch_wikipedia(WikipediaQuery(categories=("x",), api_url=url), tmp_path / "out.jsonl")
    with pytest.raises(UsageError, match="the ending says no known format"):
        fetch_wikipedia(WikipediaQuery(categories=("x",)), tmp_path / "out.csv")
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ngramscope\[remote\]'"):
        fetch_wikipedia(WikipediaQuery(categories=("x",)), tmp_path / "out.jsonl")
