"""What a set lacks is said in words; who is primary and how far the others are behind is read."""

from __future__ import annotations

from typing import Any

from tare.databases.mongodb.replica_set import initiation, lag, members, missing, primary
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
