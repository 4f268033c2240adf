"""The faults of a replica set are told in words; primary and replication lag are read."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tare.databases.mongodb.replica_set import (
    Member,
    initiation,
    lag,
    members,
    missing,
    primary,
)
from tests.databases.mongodb.scripted import NOW, moment

HOSTS = ["a:1", "b:1", "c:1"]


def line(host: str, state: str, **more: Any) -> dict[str, Any]:
    return {"name": host, "stateStr": state, "health": 1.0, "optimeDate": moment(NOW), **more}


def status(*lines: dict[str, Any]) -> dict[str, Any]:
    return {"set": "rs0", "members": list(lines), "ok": 1.0}


READY = status(
    line("a:1", "SECONDARY", optimeDate=moment(NOW - 4)),
    line("b:1", "PRIMARY", electionDate=moment(NOW - 60)),
    line("c:1", "SECONDARY"),
)


def test_a_set_is_initiated_with_all_members_alike() -> None:
    made = initiation("rs0", ["a:1", "b:1"])
    assert made == {
        "_id": "rs0",
        "members": [{"_id": 0, "host": "a:1"}, {"_id": 1, "host": "b:1"}],
    }


def test_a_primary_and_secondaries_are_a_ready_set() -> None:
    assert missing(members(READY), HOSTS) == ""
    first = primary(members(READY))
    assert first is not None
    assert (first.host, first.elected) == ("b:1", NOW - 60)


def test_what_is_missing_is_named() -> None:
    def of(*lines: dict[str, Any]) -> str:
        return missing(members(status(*lines)), HOSTS)

    a, b = line("a:1", "SECONDARY"), line("b:1", "SECONDARY")
    assert of(a, b) == "c:1 not in the set yet"
    assert of(a, b, line("c:1", "STARTUP2")) == "c:1 is STARTUP2"
    assert of(a, b, line("c:1", "SECONDARY", health=0.0)) == "c:1 is not heard of"
    assert of(a, b, line("c:1", "SECONDARY")) == "0 primaries"
    assert of(line("a:1", "PRIMARY"), b, line("c:1", "PRIMARY")) == "2 primaries"


def test_of_two_primaries_the_one_elected_last_counts() -> None:
    both = status(
        line("a:1", "PRIMARY", electionDate=moment(NOW - 60)),
        line("b:1", "PRIMARY", electionDate=moment(NOW)),
    )
    first = primary(members(both))
    assert first is not None
    assert first.host == "b:1"


def test_the_lag_is_that_of_the_farthest_secondary() -> None:
    assert lag(members(READY)) == 4.0
    assert lag(members(status(line("a:1", "SECONDARY")))) == 0.0


def test_what_was_heard_before_a_pause_says_nothing_of_now() -> None:
    def of(silent: float) -> str:
        heard = moment(NOW - silent)
        b = line("b:1", "PRIMARY", electionDate=moment(NOW - 60), lastHeartbeat=heard)
        answer = status(line("a:1", "SECONDARY"), b) | {"date": moment(NOW)}
        return missing(members(answer), HOSTS[:2])

    assert of(silent=2.1) == ""
    assert of(silent=30.0) == "b:1 is not heard of"


# One member of replSetGetStatus per release. Formats: that release's MongoDB manual,
# replSetGetStatus, Example; values are made up.
LINE_4_4: dict[str, Any] = {
    "_id": 0,
    "name": "a:1",
    "health": 1.0,
    "state": 1,
    "stateStr": "PRIMARY",
    "uptime": 269,
    "optimeDate": moment(NOW),
    "syncSourceHost": "",
    "syncSourceId": -1,
    "infoMessage": "",
    "electionDate": moment(NOW - 60),
    "configVersion": 1,
    "configTerm": 1,
    "self": True,
    "lastHeartbeatMessage": "",
}
LINE_5_0 = LINE_4_4 | {
    "lastAppliedWallTime": moment(NOW + 0.25),
    "lastDurableWallTime": moment(NOW + 0.25),
}
LINE_8_0 = LINE_5_0 | {
    "optimeWrittenDate": moment(NOW),
    "lastWrittenWallTime": moment(NOW + 0.5),
}


@pytest.mark.parametrize(
    ("told", "applied"), [(LINE_4_4, NOW), (LINE_5_0, NOW + 0.25), (LINE_8_0, NOW + 0.25)]
)
def test_a_member_is_read_as_each_release_tells_it(told: dict[str, Any], applied: float) -> None:
    (found,) = members({"set": "rs0", "date": moment(NOW), "members": [told], "ok": 1.0})
    assert found == Member("a:1", "PRIMARY", True, NOW - 60, applied)
    assert missing([found], ["a:1"]) == ""


def test_a_member_that_was_never_heard_of_yet_is_missing() -> None:
    never = datetime(1970, 1, 1)  # as the driver returns it
    starting = {
        "_id": 1,
        "name": "b:1",
        "health": 1.0,
        "state": 0,
        "stateStr": "STARTUP",
        "uptime": 0,
        "optimeDate": never,
        "optimeDurableDate": never,
        "lastHeartbeat": never,
        "lastHeartbeatRecv": never,
        "pingMs": 0,
        "syncSourceId": -1,
        "configVersion": -2,
    }
    answer = {"date": moment(NOW), "members": [LINE_5_0, starting], "ok": 1.0}
    assert "b:1 is STARTUP" in missing(members(answer), HOSTS[:2])
