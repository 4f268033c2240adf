"""A neighbouring machine cannot connect to a unit's address."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator

import pytest

from tare.machines import neighbours
from tare.machines.addresses import AddressPool
from tests.machines.neighbour import FORGED, a_neighbour, reaches

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None or neighbours.cannot() != "",
    reason="needs root, ip and iptables; `sudo make test` runs it",
)


neighbour = pytest.fixture(a_neighbour)


@pytest.fixture
def container() -> Iterator[str]:
    """A neighbour whose packets arrive over one of Tare's bridges."""
    yield from a_neighbour(f"{neighbours.BRIDGES}{os.getpid()}")


@pytest.fixture
def pool() -> Iterator[AddressPool]:
    pool = AddressPool()
    yield pool
    pool.release()


def test_a_unit_is_reached_from_here_and_not_by_a_neighbour(
    neighbour: str, pool: AddressPool
) -> None:
    address = pool.host()
    with socket.create_server((address, 0)) as unit:
        port = unit.getsockname()[1]
        socket.create_connection((address, port), 1).close()
        assert not reaches(neighbour, address, port)
        assert not reaches(neighbour, address, port, FORGED)
        neighbours.let_in()
        assert reaches(neighbour, address, port), "the rules are what keeps it out"
        assert reaches(neighbour, address, port, FORGED)


def test_a_unit_is_reached_by_containers(container: str, pool: AddressPool) -> None:
    address = pool.host()
    with socket.create_server((address, 0)) as unit:
        assert reaches(container, address, unit.getsockname()[1], FORGED)


def test_the_rules_are_there_while_addresses_are_and_no_longer(pool: AddressPool) -> None:
    assert not neighbours.kept_out()
    pool.host()
    assert neighbours.kept_out() == [*neighbours.RULES]
    pool.release()
    assert not neighbours.kept_out()
