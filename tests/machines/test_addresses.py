"""Addresses are local to this machine, are handed out once each, and can be taken back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from tare.machines import addresses, neighbours
from tare.machines.addresses import AddressPool


def test_loopback_addresses_are_loopback_and_never_repeat() -> None:
    pool = AddressPool()
    taken = [pool.loopback() for _ in range(600)]
    assert len(set(taken)) == 600
    assert all(ip_address(a) in ip_network("127.190.0.0/16") for a in taken)


def test_networks_lie_in_the_benchmarking_range_and_differ() -> None:
    pool = AddressPool()
    taken = [pool.network() for _ in range(200)]
    assert len(set(taken)) == 200
    assert all(net.subnet_of(neighbours.OURS) for net in taken)


def test_addresses_for_clients_in_containers_lie_in_the_range_that_the_rule_guards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[str, ...]] = []
    monkeypatch.setattr(addresses, "_ip", lambda *words, check=True: told.append(words))
    monkeypatch.setattr(AddressPool, "guard", lambda _: None)
    pool = AddressPool()
    taken = {ip_address(pool.host()) for _ in range(600)}
    assert len(taken) == len(told) == 600
    assert all(one in neighbours.OURS for one in taken)


def test_networks_are_used_in_turn_when_a_long_run_needs_many() -> None:
    pool = AddressPool()
    taken = [pool.network() for _ in range(300)]
    assert taken[0] == taken[254]


def test_where_neighbours_cannot_be_kept_out_it_is_said_once_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    iptables = tmp_path / "iptables"
    iptables.write_text("#!/bin/sh\necho 'Permission denied (you must be root)' >&2; exit 4\n")
    iptables.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    said: list[str] = []
    pool = AddressPool(said.append)
    for _ in range(3):
        pool.guard()
    (words,) = said
    assert words.startswith(addresses.EXPOSED)
    assert "Permission denied (you must be root)" in words
    pool.release()


needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="adding addresses needs root; `sudo make test` runs it"
)


@pytest.fixture
def own_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A network namespace for this test, so that it cannot disturb runs on this machine."""
    name = f"tare-test-{os.getpid()}"
    inside = f"{shutil.which('ip')} netns exec {name}"
    for program in ("ip", "iptables"):
        wrapper = tmp_path / program
        wrapper.write_text(f'#!/bin/sh\nexec {inside} {shutil.which(program)} "$@"\n')
        wrapper.chmod(0o755)
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        with monkeypatch.context() as environment:
            environment.setenv("PATH", str(tmp_path), prepend=":")
            yield
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


@needs_root
@pytest.mark.usefixtures("own_network")
def test_a_claimed_address_is_found_by_label_and_goes_when_released() -> None:
    pool = AddressPool()
    address = pool.host()
    assert address in addresses.leftovers()
    pool.release()
    assert address not in addresses.leftovers()


@needs_root
@pytest.mark.usefixtures("own_network")
def test_leftover_addresses_can_be_removed_by_somebody_else() -> None:
    address = AddressPool().host()
    addresses.remove([address])
    assert address not in addresses.leftovers()
