"""A member's files: the cache follows the unit's own limit, the study's settings win."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tare.databases.mongodb import configuration
from tare.databases.mongodb.configuration import mongod_conf

GIB = 1 << 30
SITE: Any = SimpleNamespace(
    name="n1", conf="/conf", data="/data", listen="127.0.1.1", peers="127.0.1.1"
)


def test_a_member_listens_where_it_runs_and_belongs_to_its_set() -> None:
    made = mongod_conf(site=SITE, set_name="d1-k1", memory=2 * GIB, settings={})
    assert made["net"]["bindIp"] == "127.0.1.1"
    assert made["replication"] == {"replSetName": "d1-k1"}
    assert made["storage"]["wiredTiger"]["engineConfig"]["cacheSizeGB"] == 0.5
    assert made["systemLog"]["path"] == "/data/mongod.log"


def test_settings_win_part_by_part() -> None:
    settings = {"storage": {"wiredTiger": {"engineConfig": {"cacheSizeGB": 3}}}, "x": {"y": 1}}
    made = mongod_conf(site=SITE, set_name="s", memory=2 * GIB, settings=settings)
    assert made["storage"]["wiredTiger"]["engineConfig"] == {"cacheSizeGB": 3}
    assert made["storage"]["dbPath"] == "/data"
    assert made["x"] == {"y": 1}


def test_command_lines_have_no_shell_in_them() -> None:
    assert configuration.mongod_command("/opt/mongod", SITE) == [
        "/opt/mongod",
        "--config",
        "/conf/mongod.conf",
    ]
    words = configuration.ferretdb_command("/opt/ferretdb", SITE)
    assert "--listen-addr=127.0.1.1:27017" in words
    assert "--telemetry=disable" in words
