"""The key by which a part of a setup finds its runtime."""

from __future__ import annotations

from typing import Any

import pytest

from tare.runtimes.key import of_group, runtime_and_group, runtime_key
from tare.study.platform import Client, Platform


@pytest.mark.parametrize(
    ("platform", "key"),
    [
        ({}, "native"),
        ({"runtime": "swarm"}, "swarm"),
        ({"machines": "ssh"}, "ssh-native"),
        ({"machines": "ssh", "runtime": "docker", "hosts": "vmware"}, "ssh-docker@vmware"),
    ],
)
def test_nodes_of_each_group_of_hosts_have_a_runtime_of_their_own(
    platform: dict[str, Any], key: str
) -> None:
    assert runtime_key(Platform.model_validate(platform)) == key
    assert of_group(*runtime_and_group(key)) == key


def test_clients_are_of_no_group() -> None:
    assert runtime_key(Client(machines="ssh", runtime="docker")) == "ssh-docker"
