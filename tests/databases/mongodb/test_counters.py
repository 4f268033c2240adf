"""Counters from each release with its own format of `serverStatus`.

Formats are from the manual and from WiredTiger's list of statistics (see the module). Values are
made up; fields that Tare does not read are left out.
"""

from __future__ import annotations

from typing import Any

from tare.databases.mongodb.counters import COUNTERS, counters

COMMON: dict[str, Any] = {
    "opcounters": {
        "insert": 10,
        "query": 200,
        "update": 30,
        "delete": 0,
        "getmore": 1,
        "command": 5,
    },
    "opcountersRepl": {
        "insert": 9,
        "query": 0,
        "update": 8,
        "delete": 0,
        "getmore": 0,
        "command": 0,
    },
    "network": {"bytesIn": 1000, "bytesOut": 5000, "physicalBytesIn": 900, "numRequests": 230},
    "metrics": {"repl": {"apply": {"batches": {"num": 3}, "ops": 7}, "network": {"bytes": 99}}},
    "connections": {"current": 4, "available": 800, "totalCreated": 12, "active": 2},
    "extra_info": {"note": "fields vary by platform", "page_faults": 6},
}
CACHE = {
    "maximum bytes configured": 536870912,
    "bytes read into cache": 4096,
    "bytes written from cache": 8192,
}
LOG = {"log bytes written": 65536, "log sync operations": 3}
BEFORE_8: dict[str, Any] = {  # 4.4, 5.0, 6.0, 7.0
    **COMMON,
    "wiredTiger": {
        "cache": CACHE
        | {
            "modified pages evicted by application threads": 1,
            "pages evicted by application threads": 2,
        },
        "log": LOG,
        "transaction": {
            "transaction checkpoints": 4,
            "transaction checkpoint total time (msecs)": 1200,
        },
        "concurrentTransactions": {"write": {"out": 0, "available": 128, "totalTickets": 128}},
    },
}
SINCE_8: dict[str, Any] = {
    **COMMON,
    "queues": {"execution": {"write": {"out": 0, "available": 128, "totalTickets": 128}}},
    "wiredTiger": {
        "cache": CACHE
        | {
            "page evict attempts by application threads": 5,
            "page evict failures by application threads": 3,
        },
        "checkpoint": {
            "total succeed number of checkpoints": 4,
            "total failed number of checkpoints": 0,
            "total time (msecs)": 1200,
        },
        "log": LOG,
        "transaction": {"transactions committed": 9},
    },
}


def test_every_release_tells_every_counter() -> None:
    old, new = counters(BEFORE_8), counters(SINCE_8)
    assert set(old) == set(COUNTERS)
    assert new == old


def test_counters_have_our_names() -> None:
    found = counters(BEFORE_8)
    assert found["requests.query"] == 200.0
    assert found["replication.applied"] == 7.0
    assert found["journal.syncs"] == 3.0
    assert found["checkpoint.ms"] == 1200.0
    assert found["cache.evicted_by_applications"] == 2.0


def test_what_is_not_told_is_left_out() -> None:
    assert counters({"opcounters": {"insert": 1}}) == {"requests.insert": 1.0}
    assert counters({"opcounters": "nonsense", "network": {"bytesIn": True}}) == {}
    tried = {"wiredTiger": {"cache": {"page evict attempts by application threads": 5}}}
    assert counters(tried) == {}
