"""Parts of cassandra.yaml that would prevent starting, finding, watching or removing a node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tare.study.setting_names import no_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.problems import ConditionProblems, Problem
    from tare.study.schema import Setup

_KEY = re.compile(r"[a-z][a-z0-9_]{0,99}")
_PLACES = "it lies in the node's own directory, which is measured, copied and removed"
_ADDRESS = "Tare gives each node its address and ports, and finds the node by them"
_REFUSED = {
    "data_file_directories": _PLACES,
    "local_system_data_file_directory": _PLACES,
    "commitlog_directory": _PLACES,
    "hints_directory": _PLACES,
    "saved_caches_directory": _PLACES,
    "cdc_raw_directory": _PLACES,
    "listen_address": _ADDRESS,
    "listen_interface": _ADDRESS,
    "listen_interface_prefer_ipv6": _ADDRESS,
    "listen_on_broadcast_address": _ADDRESS,
    "broadcast_address": _ADDRESS,
    "rpc_address": _ADDRESS,
    "rpc_interface": _ADDRESS,
    "rpc_interface_prefer_ipv6": _ADDRESS,
    "broadcast_rpc_address": _ADDRESS,
    "storage_port": _ADDRESS,
    "ssl_storage_port": _ADDRESS,
    "native_transport_port": _ADDRESS,
    "native_transport_port_ssl": _ADDRESS,
    "start_native_transport": "without it no client can reach the node",
    "seed_provider": "Tare forms the cluster from the study's own nodes",
    "cluster_name": "Tare proves by it that it measures its own cluster",
    "initial_token": "all nodes would have the same one; Tare spreads them evenly",
    "partitioner": "Tare spreads the nodes' tokens for Murmur3Partitioner",
}
"""Settings and why they are refused, whatever their value."""
_SETTINGS = "database.settings"
_FIELDS = {"key_cache_size": "database.key_cache"}
"""Settings that a field of the study gives."""


def cassandra_setting_problems(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    """Parts of this condition's `database.settings` that cannot work."""
    settings = setup.database.settings
    yield from no_names(settings, _KEY, "concurrent_writes", problems.origins)
    for name in settings:
        if name in _REFUSED:
            what, why, remedy = "is Tare's to set", _REFUSED[name], "remove it"
        elif name in _FIELDS:
            what, why = "has a field of its own", "the report and the records know that one"
            remedy = f"remove it, and set {_FIELDS[name]}"
        else:
            continue
        yield problems.of(
            _SETTINGS, f"{name} {what}", why, remedy, at=f"{_SETTINGS}.{name}", against=_SETTINGS
        )
