"""Each runtime has a consistent declaration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.addresses import AddressPool
from tare.runtimes import registry
from tare.runtimes.declaration import Declaration


class Jail(Declaration):
    name = "jail"


@pytest.mark.parametrize("name", registry.names())
def test_what_a_declaration_says_agrees_with_itself(name: str) -> None:
    own = registry.declared(name)
    network, storage = own.proposed
    assert own.name == name
    assert (network in own.networks, storage in own.storages) == (True, True)
    assert own.endpoints[0] == own.plugins[0] == ""
    assert {own.several_on} - {""} <= set(own.networks)
    assert set(own.inside_only) <= set(own.networks)
    assert own.from_outside in own.networks
    assert set(own.made_storages) | set(own.in_engine) <= set(own.storages)
    assert {other for other, _ in own.near} <= set(registry.names()) - {name}
    assert own.orchestrator == bool(own.title)
    assert own.variant_of in {"", *registry.names()} - {name}
    assert own.on_hosts == (type(own).make_on_hosts is not Declaration.make_on_hosts)
    assert type(own).make is not Declaration.make


def test_two_runtimes_say_only_once_how_near_they_are() -> None:
    pairs = [
        frozenset({name, other})
        for name, own in registry.registered().items()
        for other, _ in own.near
    ]
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("name", [registry.BARE, registry.CONTAINER])
def test_what_is_made_has_the_name_and_asks_nothing_yet(name: str, tmp_path: Path) -> None:
    assert registry.declared(name).make("run", tmp_path, AddressPool()).name == name
    assert list(tmp_path.iterdir()) == []


def test_a_runtime_that_is_not_for_hosts_refuses_them_in_words(tmp_path: Path) -> None:
    hosts: Any = None  # refused before any host is used
    with pytest.raises(RuntimeUnavailableError, match="jail runs no units on hosts"):
        Jail().make_on_hosts(tmp_path, hosts, "")


def test_a_declaration_that_does_not_say_what_runs_its_units_is_refused_in_words(
    tmp_path: Path,
) -> None:
    with pytest.raises(RuntimeUnavailableError, match="jail runs no units") as refused:
        Jail().make("r1", tmp_path, AddressPool(print))
    assert refused.value.why == "Jail declares no `make`"
