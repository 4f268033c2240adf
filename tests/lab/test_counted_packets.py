"""Which packets must be told apart, and how many an operation has."""

from __future__ import annotations

from ipaddress import IPv4Interface
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from tare.lab import counted_packets
from tare.lab.counted_packets import begin_tapping, client_packets_per_op
from tare.monitor.packet_tap import Bridge
from tare.study.conditions import expand
from tare.study.schema import Study

if TYPE_CHECKING:
    from tare.lab.conductor import Driven
    from tare.runtimes.unit import Running

BRIDGE = Bridge("tare-br7", IPv4Interface("198.19.7.1/24"))
UNIT = SimpleNamespace(site=SimpleNamespace(listen="198.19.7.100"), ports=(9042, 7000))
NODES = [cast("Running", SimpleNamespace(unit=UNIT))]


class Tap:
    """Counts nothing; it says which packets it would count."""

    def __init__(self, bridge: Bridge, port: int) -> None:
        self.of = (bridge, port)


def begun(monkeypatch: pytest.MonkeyPatch, tap: Any = Tap, **condition: Any) -> Any:
    monkeypatch.setattr(counted_packets, "bridge_of", {"198.19.7.100": BRIDGE}.get)
    monkeypatch.setattr(counted_packets, "PacketTap", tap)
    told = {"study": "s", "load": {"workload": "ycsb-c"}, **condition}
    (one,) = expand(Study.model_validate(told))
    return begin_tapping(NODES, one.setup)


PUBLISHED = {"runtime": "docker", "network": "published", "storage": "volume"}
THREE = {"nodes": 3, "replication_factor": 3}


def test_nodes_that_reach_each_other_by_published_ports_are_tapped_at_the_clients_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert begun(monkeypatch, platform=PUBLISHED, database=THREE).of == (BRIDGE, 9042)


@pytest.mark.parametrize(
    ("platform", "database"),
    [(PUBLISHED, {}), (PUBLISHED | {"network": "bridge"}, THREE), ({}, THREE)],
)
def test_others_are_not(
    monkeypatch: pytest.MonkeyPatch, platform: dict[str, Any], database: dict[str, Any]
) -> None:
    assert begun(monkeypatch, platform=platform, database=database) is None


def test_without_the_right_to_tap_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(bridge: Bridge, port: int) -> Any:
        raise PermissionError("only root")

    assert begun(monkeypatch, refuses, platform=PUBLISHED, database=THREE) is None


def driven(*told: tuple[int | None, bool, int | None]) -> list[Driven]:
    return [
        cast("Driven", SimpleNamespace(
            slot=SimpleNamespace(trial=trial, counts=counts), client_packets=packets))
        for trial, counts, packets in told
    ]  # fmt: skip


def test_an_operation_has_as_many_as_the_slices_of_the_warm_up_had() -> None:
    """Of the first trial: 60 packets of 30 operations; another one's and an empty slice between."""
    seen = driven((0, False, 20), (1, False, 999), (None, False, None), (0, False, 40),
                  (0, True, None))  # fmt: skip
    assert client_packets_per_op(seen, 0, [10, 20]) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("packets", "operations"),
    [([20, None], [10, 10]), ([20, 20], [10]), ([20, 20], [0, 0]), ([], [])],
    ids=["one slice not counted", "one not told of", "no success", "no warm-up"],
)
def test_where_it_is_not_known_there_is_none(
    packets: list[int | None], operations: list[int]
) -> None:
    seen = driven(*((0, False, one) for one in packets))
    assert client_packets_per_op(seen, 0, operations) is None
