"""How, and how often, each way is driven for each kind of operation."""

from __future__ import annotations

from dataclasses import replace

from tare.lab.weighed_servers import places, ways
from tare.lab.weighed_variants import (
    CONNECTIONS,
    WORKING_KIB,
    driven,
    server_options,
    shares,
    variants,
)


def test_of_kilobytes_each_way_has_answers_of_two_sizes() -> None:
    usual = ways(["docker"], [1])
    both = variants("kilobyte", ["docker"], [1])
    assert both[: len(usual)] == usual
    assert [one.name for one in both[len(usual) :]] == [one.name for one in usual]
    small, large = (driven(both[at], "kilobyte", several=False) for at in (0, len(usual)))
    assert (small.table, large.table) == ("", "larger")
    assert server_options("kilobyte", 9000) == ["--ycsb-table", "ycsb.larger=900"]


def test_a_request_is_driven_once_on_each_way() -> None:
    assert variants("request", ["docker"], [1, 32]) == ways(["docker"], [1, 32])
    assert server_options("request", 0) == []


def test_connections_are_opened_without_tls_and_with_it() -> None:
    usual = ways(["docker"], [1])
    both = variants("connection", ["docker"], [1])
    assert [one.tls for one in both] == [False] * len(usual) + [True] * len(usual)
    assert driven(both[-1], "connection", several=True).tls
    assert server_options("connection", 0) == ["--tls"]


def test_connections_are_counted_and_several_endpoints_are_named() -> None:
    every = places(["docker"])
    for way in variants("connection", ["docker"], [1]):
        told = driven(way, "connection", several=every[way.server].several)
        assert told.connections == CONNECTIONS
        assert told.endpoint == (way.endpoint if every[way.server].several else "")
    one = variants("request", [], [1])[0]
    assert driven(one, "request", several=False).connections == 0


def test_operations_alone_get_more_slices_than_many_at_once() -> None:
    """Their prices are that much less certain, except docker-proxy's, which differs by rounds."""
    both = variants("request", ["native", "docker"], [1, 32])
    of = {(way.name, way.in_flight): share for way, share in zip(both, shares(both), strict=True)}
    assert {of["native", 1], of["native again", 1], of["docker.bridge", 1]} == {3}
    assert {of["docker.proxy", 1], of["docker.between-published", 1]} == {1}
    assert {share for (_, in_flight), share in of.items() if in_flight == 32} == {1}
    assert set(shares(variants("request", ["native", "docker"], [8]))) == {1}
    assert set(shares(variants("connection", ["native", "docker"], [1]))) == {1}


def test_a_working_server_s_own_loopback_is_in_every_price_and_gets_more_slices() -> None:
    both = variants("working", ["native", "docker"], [1])
    of = {way.name: share for way, share in zip(both, shares(both, "working"), strict=True)}
    assert of.pop("docker.loopback") == 3
    assert set(of.values()) == {1}


def test_a_working_server_is_driven_like_another_and_native_with_two_in_flight_too() -> None:
    """The two share packets."""
    *usual, batched = variants("working", ["docker"], [1])
    assert usual == variants("request", ["docker"], [1])
    assert batched == replace(usual[0], in_flight=2)
    assert server_options("working", 0) == ["--walk", str(WORKING_KIB)]
