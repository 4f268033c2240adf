"""Tare knows before the start which units cannot run in slices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tare.machines.inventory.host import Host, Inventory
from tare.runtimes.unsliced import unsliced
from tare.study.schema import Setup


def why(
    platform: dict[str, Any], elsewhere: Sequence[str] = (), inventory: Inventory | None = None
) -> str:
    setup = Setup.model_validate({"platform": platform})
    return unsliced(setup, elsewhere.__contains__, inventory)


def inventory(**fields: Any) -> Inventory:
    hosts = Host("n1", "192.0.2.1", user="root"), Host("n2", "192.0.2.2", **fields)
    return Inventory(Path("hosts.yaml"), hosts)


@pytest.mark.parametrize(("runtime", "units"), [("kubernetes", "pods"), ("swarm", "tasks")])
def test_units_of_an_orchestrator_are_driven_on_this_machine_alone(
    runtime: str, units: str
) -> None:
    platform = {"runtime": runtime, "network": "host-port"}
    assert why(platform) == ""
    assert f"{units} run on other machines" in why(platform, [runtime])
    assert why({"runtime": "docker"}, [runtime]) == ""


def test_hosts_need_root_which_the_inventory_names() -> None:
    ssh = {"machines": "ssh"}
    assert why(ssh, inventory=inventory(user="root")) == ""
    assert why(ssh, inventory=inventory(user="db", sudo=True)) == ""
    assert why(ssh, inventory=inventory(user="db")).startswith("n2: the inventory names neither")
