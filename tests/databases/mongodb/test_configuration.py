"""A member's files: the cache size follows the unit's limit; the study's settings win."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tare.databases.mongodb import configuration
from tare.databases.mongodb.configuration import mongod_conf
from tare.runtimes.unit import Site

GIB = 1 << 30
SITE = Site(
    name="n1", conf="/conf", conf_on_host=Path("/conf"), data="/data", data_on_host=None,
    listen="127.0.1.1", peers="127.0.1.1", endpoint_host="127.0.1.1", path="loopback",
)  # fmt: skip
POD = replace(SITE, listen="d1-0.d1", peers="d1-0.d1", seed="d1-0.d1")
TASK = replace(POD, everywhere=True)


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
    assert configuration.stub_command("/opt/tare-stub", SITE) == [
        *("/opt/tare-stub", "--protocol", "mongodb"),
        *("--listen", "127.0.1.1:27017", "--set-later"),
    ]


@pytest.mark.parametrize(
    ("site", "listens"),
    [
        (SITE, "127.0.1.1"),
        (POD, "localhost,d1-0.d1"),
        (TASK, "0.0.0.0"),  # noqa: S104 - nothing is bound here
    ],
)
def test_a_member_in_an_orchestrator_listens_where_its_ports_lead(site: Site, listens: str) -> None:
    made = mongod_conf(site=site, set_name="s", memory=2 * GIB, settings={})
    assert made["net"]["bindIp"] == listens


def test_a_further_cluster_on_a_node_s_network_has_ports_of_its_own() -> None:
    made = mongod_conf(site=replace(POD, shift=100), set_name="s", memory=2 * GIB, settings={})
    assert made["net"]["port"] == 27117
    words = configuration.ferretdb_command("/opt/ferretdb", replace(POD, shift=100))
    assert "--listen-addr=:27117" in words
    words = configuration.ferretdb_command("/opt/ferretdb", replace(SITE, everywhere=True))
    assert "--listen-addr=:27017" in words, "a container's published ports lead elsewhere"
    words = configuration.stub_command("/opt/tare-stub", replace(POD, shift=100))
    assert "0.0.0.0:27117" in words
