"""Where a unit is reached: by clients, by this process, and on which ports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tare.runtimes.unit import Site

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
