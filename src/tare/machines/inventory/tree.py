"""Ansible's tree of groups: which groups a host is in, and which variables it then has."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.machines.inventory.fields import checked_group, checked_name
from tare.machines.inventory.patterns import expand
from tare.machines.inventory.raw_values import MOST_HOSTS, Entry, Variables, quoted, refused

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY = "all"
UNGROUPED = "ungrouped"
_PRIORITY = "ansible_group_priority"
_WHOLE = re.compile(r"-?[0-9]{1,9}")


@dataclass
class HostGroup:
    """One group: its own hosts, the groups in it with the lines that say so, its variables."""

    where: str
    hosts: dict[str, None] = field(default_factory=dict)
    children: dict[str, str] = field(default_factory=dict)
    variables: Variables = field(default_factory=dict)


@dataclass
class Tree:
    """The content of an Ansible inventory, in its order."""

    entries: dict[str, Entry] = field(default_factory=dict)
    groups: dict[str, HostGroup] = field(default_factory=dict)

    def group(self, name: str, where: str) -> HostGroup:
        """The group of this name, made where it is new."""
        if name not in self.groups:
            self.groups[checked_group(name, where)] = HostGroup(where)
        return self.groups[name]

    def add(self, group: str, pattern: str, variables: Variables, where: str) -> None:
        """Put the hosts of a pattern into a group; their earlier values stay."""
        names, port = expand(pattern, where)
        own = self.group(group, where)
        for name in names:
            entry = self.entries.setdefault(checked_name(name, where), Entry(where))
            entry.variables.update(variables)
            entry.port = port or entry.port
            own.hosts[name] = None
        if len(self.entries) > MOST_HOSTS:
            raise refused(f"more than {MOST_HOSTS:,} hosts", where)

    def parents(self) -> dict[str, set[str]]:
        """Group to every group above it.

        Raises:
            InventoryError: a group contains itself.
        """
        direct: dict[str, set[str]] = {name: set() for name in self.groups}
        for name, group in self.groups.items():
            for child in group.children:
                direct[child].add(name)
        above: dict[str, set[str]] = {}
        waiting = dict(direct)
        while waiting:
            ready = [name for name, parents in waiting.items() if parents <= above.keys()]
            if not ready:
                name = next(iter(waiting))
                where = self.groups[name].where
                raise refused(f"group {quoted(name)} is in a circle of groups", where)
            for name in ready:
                parents = waiting.pop(name)
                above[name] = parents.union(*(above[one] for one in parents))
        return above

    def flattened(self) -> Iterator[tuple[str, Entry, frozenset[str]]]:
        """Every host with all of its variables and groups (without `all` and `ungrouped`).

        Values nearer to a host win: children's over parents', the host's over both. Of groups
        equally near the later name wins, unless ansible_group_priority says otherwise.
        """
        above = self.parents()
        order = self._order(above)
        for name, entry in self.entries.items():
            own = {group for group, content in self.groups.items() if name in content.hosts}
            mine = own.union(*(above[group] for group in own)) - {EVERY, UNGROUPED}
            variables: Variables = {}
            for group in order:
                if group == EVERY or group in mine or (group == UNGROUPED and group in own):
                    variables |= self.groups[group].variables
            variables |= entry.variables
            yield name, Entry(entry.where, variables, entry.port), frozenset(mine)

    def _order(self, above: dict[str, set[str]]) -> list[str]:
        depth: dict[str, int] = {}
        for name in sorted(above, key=lambda one: len(above[one])):
            depth[name] = 1 + max((depth[one] for one in above[name]), default=0)

        def rank(name: str) -> tuple[bool, int, int, str]:
            said = self.groups[name].variables.get(_PRIORITY)
            priority = said.text if said else "1"
            if not _WHOLE.fullmatch(priority):
                raise refused(f"{_PRIORITY} takes a whole number", said.where if said else "")
            return name != EVERY, depth[name], int(priority), name

        return sorted(above, key=rank)
