"""The observed kinds of hosts, in the words of the knowledge base: a group's name tells nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis.host_groups import HYPERVISOR, UNNAMED
from tare.machines.registry import registered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.model import Analysis
    from tare.study.schema import Setup

_KINDS = {
    "none": "physical",
    **{maker: one.name for one in registered().values() for maker in one.makers},
}
"""Makers of machines, as their firmware names them (DMI sys_vendor), to kinds."""


def kinds_seen(analysis: Analysis) -> Mapping[str, str]:
    """Group of hosts to `physical` or a hypervisor; empty where one of them is anything else, or
    no groups were compared."""
    told = next((one.values for one in analysis.host_groups if one.fact == HYPERVISOR), {})
    seen = {group: _KINDS[maker] for group, maker in told.items() if maker in _KINDS}
    return seen if len(seen) == len(told) else {}


def machines_seen(setup: Setup, kinds: Mapping[str, str]) -> Any:
    """The machines of a setup's nodes, by the kinds of the groups; None: not known."""
    platform = setup.platform
    return kinds.get(platform.hosts or UNNAMED) if platform.source.from_inventory else None
