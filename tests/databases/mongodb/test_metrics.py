"""A trial records what its members did meanwhile; a failed query does not fail the trial.

Counters are in the manual's format of `serverStatus`.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.databases.mongodb.metrics import ServerWatch
from tests.databases.mongodb.scripted import NOW, Servers, cluster

STATUS: dict[str, Any] = {
    "opcounters": {"insert": 10, "query": 200, "update": 30, "command": 5, "getmore": 0},
    "network": {"bytesIn": 1000, "bytesOut": 5000},
    "metrics": {"repl": {"apply": {"ops": 7}, "network": {"bytes": 99}}},
    "wiredTiger": {
        "cache": {"bytes read into cache": 4096, "maximum bytes configured": 1},
        "log": {"log sync operations": 3},
    },
}


@pytest.fixture
def watched(tmp_path: Path) -> tuple[Servers, ServerWatch]:
    servers = Servers()
    made, _ = cluster(tmp_path, servers)
    made.deploy()
    servers.status = STATUS
    watch = ServerWatch([made])
    watch.begin()
    return servers, watch


def grown(by: int) -> dict[str, Any]:
    return {**STATUS, "opcounters": {n: v + by for n, v in STATUS["opcounters"].items()}}


def test_growth_is_summed_over_the_members(watched: tuple[Servers, ServerWatch]) -> None:
    servers, watch = watched
    servers.status = grown(5)
    seen = watch.end(servers.now, servers.now + 10)
    watch.close()
    assert seen.counts["requests.query"] == 15.0
    assert seen.counts["network.bytes_in"] == 0.0
    assert seen.notes == []


def test_the_stub_which_keeps_no_counters_is_asked_for_none(tmp_path: Path) -> None:
    servers = Servers()
    made, _ = cluster(tmp_path, servers, kind="tare-stub", stand_in=True)
    made.deploy()
    watch = ServerWatch([made])
    watch.begin()
    seen = watch.end(servers.now, servers.now + 10)
    watch.close()
    assert (seen.counts, seen.notes) == ({}, [])
    assert "serverStatus" not in servers.last


def test_an_election_in_the_trial_is_an_event(watched: tuple[Servers, ServerWatch]) -> None:
    servers, watch = watched
    start = servers.now
    servers.elected = start + 4.0
    servers.now = start + 10.0
    (event,) = watch.end(start, start + 10).events
    assert event["what"] == "election"
    assert event["from"] == pytest.approx(start + 4.0, abs=1e-3)
    assert event["detail"]["node"] == event["detail"]["before"] == "127.0.0.2:27017"


def test_an_election_before_the_trial_is_none(watched: tuple[Servers, ServerWatch]) -> None:
    servers, watch = watched
    assert watch.end(servers.now, servers.now + 10).events == []


def test_an_oplog_that_was_turned_over_in_the_trial_is_an_event(
    watched: tuple[Servers, ServerWatch],
) -> None:
    servers, watch = watched
    start = servers.now
    answer = servers.answer

    def with_oplog(address: str, document: dict[str, Any]) -> dict[str, Any]:
        if document.get("find") == "oplog.rs":
            oldest = SimpleNamespace(time=int(start) + 5)
            return {"cursor": {"firstBatch": [{"ts": oldest}]}, "ok": 1.0}
        return answer(address, document)

    servers.answer = with_oplog  # type: ignore[method-assign]
    (event,) = watch.end(start, start + 10).events
    assert event["what"] == "oplog turned over"


def test_a_member_that_does_not_answer_is_a_note_and_no_failure(
    watched: tuple[Servers, ServerWatch],
) -> None:
    servers, watch = watched
    servers.silent_until = NOW + 1e6
    seen = watch.end(servers.now, servers.now + 10)
    assert seen.counts == {}
    assert "d1-k1-n1" in seen.notes[0]
