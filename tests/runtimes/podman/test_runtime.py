"""What differs from Docker's containers: ways, bounds, and the words of what fails."""

from __future__ import annotations

import resource
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError

from tare.errors import RuntimeUnavailableError
from tare.machines.addresses import AddressPool
from tare.runtimes.docker_engine import BY_DNAT
from tare.runtimes.podman import runtime
from tare.runtimes.podman.declaration import DECLARED
from tare.runtimes.podman.runtime import PodmanRunning, PodmanRuntime, published_path
from tare.runtimes.unit import Way

NETAVARK = """\
-P PREROUTING ACCEPT
-N NETAVARK-DN-96A65E93B225A
-A NETAVARK-DN-96A65E93B225A -s 127.0.0.1/32 -d 198.18.0.2/32 -p tcp -m tcp --dport 9042 -j NETAVARK-HOSTPORT-SETMARK
-A NETAVARK-DN-96A65E93B225A -d 198.18.0.2/32 -p tcp -m tcp --dport 9042 -j DNAT --to-destination 198.19.0.101:9042
-A NETAVARK-DN-96A65E93B225A -d 127.190.0.2/32 -p tcp -m tcp --dport 9042 -j DNAT --to-destination 198.19.0.101:9042
"""  # noqa: E501 - as iptables -t nat -S has printed it, with Podman 4.3.1
WITHOUT_DNAT = "\n".join(NETAVARK.splitlines()[:3])


def made(tmp_path: Path) -> PodmanRuntime:
    return PodmanRuntime(DECLARED[0], "run", tmp_path, AddressPool())


@pytest.mark.parametrize("address", ["198.18.0.2", "127.190.0.2"])
def test_packets_to_a_published_port_take_netavark_s_dnat_on_loopback_too(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(runtime, "nat_rules", lambda: NETAVARK)
    assert published_path(address) == BY_DNAT


@pytest.mark.parametrize(("rules", "fault"), [(NETAVARK, False), (WITHOUT_DNAT, True), ("", True)])
def test_a_published_port_without_dnat_is_not_measured_under_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rules: str, fault: bool
) -> None:
    monkeypatch.setattr(runtime, "nat_rules", lambda: rules)
    ways = {"bridge": Way("198.19.0.101", "bridge"), "published": Way("198.18.0.2", "port")}
    seen = made(tmp_path)._seen(ways)
    assert seen["bridge"] == ways["bridge"]
    assert bool(seen["published"].fault) is fault
    assert (seen["published"].path == BY_DNAT) is not fault


HAIRPIN = (
    "-A NETAVARK-DN-96A65E93B225A -s 198.19.0.0/24 -d 198.18.0.2/32 -p tcp -m tcp --dport 9042 "
    "-j NETAVARK-HOSTPORT-SETMARK"
)


@pytest.mark.parametrize(
    ("rules", "fault"), [(f"{NETAVARK}{HAIRPIN}", False), (NETAVARK, True), (HAIRPIN, True)]
)
def test_between_two_containers_a_published_port_needs_masquerade_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rules: str, fault: bool
) -> None:
    monkeypatch.setattr(runtime, "nat_rules", lambda: rules)
    seen = made(tmp_path)._seen({"between-published": Way("198.18.0.2", "port", beside=True)})
    assert bool(seen["between-published"].fault) is fault
    assert seen["between-published"].path.startswith("published port")


@pytest.mark.parametrize(
    ("own", "most", "given"),
    [(96365, 32768, 32768), (96365, 4194304, 96365), (resource.RLIM_INFINITY, 32768, 32768)],
)
def test_processes_are_bounded_as_a_native_unit_s_within_what_podman_can_give(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own: int, most: int, given: int
) -> None:
    (tmp_path / "pid_max").write_text(f"{most}\n")
    monkeypatch.setattr(runtime, "_MOST_PROCESSES", tmp_path / "pid_max")
    monkeypatch.setattr(resource, "getrlimit", lambda what: (own, own))
    bounds = made(tmp_path)._bounds()
    limits = {one["Name"]: (one["Soft"], one["Hard"]) for one in bounds["ulimits"]}
    assert limits["nproc"] == (given, given)
    assert {"nofile", "memlock"} < limits.keys()
    assert bounds["pids_limit"] == -1, "Podman's own bound is 2048"


def test_what_fails_is_podman_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: Any) -> Any:
        raise APIError("500 Server Error")

    unit: Any = SimpleNamespace(site=SimpleNamespace(name="podman-n1"))
    engine: Any = SimpleNamespace(inspect_container=refuse, id="c0ffee", pause=refuse)
    engine.api = engine
    one = PodmanRunning(unit, engine, engine)
    with pytest.raises(RuntimeUnavailableError, match="the Podman engine does not answer") as told:
        one.exited()
    assert told.value.remedy == "podman info; tare doctor"
    with pytest.raises(RuntimeUnavailableError, match="podman pause failed"):
        one.pause()
    with pytest.raises(RuntimeUnavailableError, match="podman could not start it") as told:
        made(tmp_path)._client_call(refuse, "start it")
    assert "docker" not in str(told.value).lower()


def test_nothing_is_started_before_it_is_needed(tmp_path: Path) -> None:
    made(tmp_path).close()
    assert list(tmp_path.iterdir()) == []
