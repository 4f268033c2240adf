"""Addresses and ports of a unit, for clients and for this process; how a unit ended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.unit import Exit, Site, Way

SITE = Site("n1", "/conf", Path("/conf"), "/data", None, "10.0.0.1", "10.0.0.1", "10.0.0.1", "")
MAPPED = replace(SITE, endpoint_host="10.9.0.1", reached={9042: 31000})


def test_a_plain_unit_is_reached_where_it_listens() -> None:
    assert SITE.target(9042) == "10.0.0.1:9042"
    assert SITE.door(9042) == ("10.0.0.1", 9042)
    assert SITE.binds(9042) == 9042


def test_behind_an_endpoint_clients_and_this_process_use_its_port() -> None:
    assert MAPPED.target(9042) == "10.9.0.1:31000"
    assert MAPPED.door(9042) == ("10.9.0.1", 31000)
    assert MAPPED.binds(9042) == 9042, "the software knows nothing of it"


def test_clients_inside_use_the_endpoint_unless_the_unit_has_a_name_for_them() -> None:
    assert MAPPED.target(9042, inside=True) == "10.9.0.1:31000"
    named = replace(MAPPED, inside="n1.cluster")
    assert named.target(9042, inside=True) == "n1.cluster:9042"
    assert named.target(9042) == "10.9.0.1:31000"


def test_this_process_may_have_a_way_of_its_own() -> None:
    forwarded = replace(MAPPED, here=("127.0.0.1", 40000))
    assert forwarded.door(9042) == ("127.0.0.1", 40000)
    assert forwarded.target(9042) == "10.9.0.1:31000", "clients do not use it"


def test_units_of_one_network_bind_ports_of_their_own() -> None:
    assert [replace(SITE, shift=100).binds(port) for port in (9042, 7000)] == [9142, 7100]


def test_clients_that_name_an_endpoint_are_sent_there_and_others_as_before() -> None:
    ways = {"loopback": Way("127.0.0.1", "lo", inside=True), "proxy": Way("127.190.0.1", "proxy")}
    several = replace(SITE, ways=ways)
    assert several.target(9042, endpoint="loopback") == "127.0.0.1:9042"
    assert several.target(9042, inside=True, endpoint="proxy") == "127.190.0.1:9042"
    assert several.target(9042) == "10.0.0.1:9042"


@pytest.mark.parametrize(
    ("ways", "why"),
    [({}, "nothing was made for it"), ({"proxy": Way("", "", fault="no proxy runs")}, "no proxy")],
)
def test_an_endpoint_that_is_not_to_be_had_is_said(ways: dict[str, Way], why: str) -> None:
    with pytest.raises(RuntimeUnavailableError, match="endpoint: proxy is not to be had") as raised:
        replace(SITE, ways=ways).target(9042, endpoint="proxy")
    assert why in raised.value.why
    assert "platform.endpoint" in raised.value.remedy


@pytest.mark.parametrize(
    ("ended", "detail"),
    [
        (Exit.of(3), "exit status 3"),
        (Exit.of(-9, killed_by=9), "killed by SIGKILL"),
        (Exit.of(3, killed_by=3 - 128), "exit status 3"),
        (Exit.of(200, killed_by=200 - 128), "exit status 200"),
        (
            Exit.of(137, out_of_memory=True),
            "exit status 137, killed because it used more memory than its limit",
        ),
    ],
)
def test_how_a_unit_ended_is_told_by_its_signal_else_by_its_status(
    ended: Exit, detail: str
) -> None:
    assert ended.detail == detail
