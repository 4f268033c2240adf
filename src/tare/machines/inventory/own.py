"""Tare's own small form of an inventory: hosts, defaults for all, and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.machines.inventory.fields import FIELDS, checked_group, make_host
from tare.machines.inventory.raw_values import Entry, RawValue, Variables, quoted, refused, unknown

if TYPE_CHECKING:
    from pathlib import Path

    from tare.machines.inventory.host import Host
    from tare.study.document import Document
    from tare.study.origins import FieldPath

PARTS = ("hosts", "defaults", "groups")


def own_hosts(document: Document, beside: Path) -> list[Host]:
    """The hosts of a document whose top has `hosts`.

    Raises:
        InventoryError: unknown fields or groups, or values that no host can have.
    """
    data, at = document.data, document.at
    for key in data:
        if key not in PARTS:
            raise unknown(key, "part of an inventory", PARTS, at[(key,)])
    defaults = _fields(document, ("defaults",))
    for name in ("address", "service"):
        if name in defaults:
            raise refused(f"{name} is of one host, not of all", defaults[name].where)
    hosts = data["hosts"]
    if not isinstance(hosts, dict) or not hosts:
        raise refused("hosts takes names of hosts, each with its fields", at[("hosts",)])
    members = _members(document)
    made = []
    for name in hosts:
        place: FieldPath = ("hosts", name)
        entry = Entry(at[place], defaults | _fields(document, place))
        groups = frozenset(group for group, own in members.items() if name in own)
        made.append(make_host(name, entry, groups, beside))
    return made


def _fields(document: Document, place: FieldPath) -> Variables:
    """The fields of one mapping, each with its line."""
    data: Any = document.data
    for key in place:
        data = data.get(key) if isinstance(data, dict) else None
    if data is None:
        return {}
    if not isinstance(data, dict):
        what = f"{quoted('.'.join(map(str, place)))} takes fields of a host, in a mapping"
        raise refused(what, document.at[place], remedy="e.g. {address: 192.0.2.10, user: tare}")
    for key in data:
        if key not in FIELDS:
            raise unknown(key, "field of a host", FIELDS, document.at[*place, key])
    return {key: RawValue(value, document.at[*place, key]) for key, value in data.items()}


def _members(document: Document) -> dict[str, set[str]]:
    """Group to its hosts."""
    groups = document.data.get("groups") or {}
    hosts = document.data["hosts"]
    if not isinstance(groups, dict):
        raise refused("groups takes names of groups, each with its hosts", document.at["groups",])
    members: dict[str, set[str]] = {}
    for group, own in groups.items():
        where = document.at["groups", group]
        checked_group(group, where)
        if not isinstance(own, list) or not all(isinstance(one, str) for one in own):
            raise refused(f"group {group} takes a list of hosts", where, remedy="e.g. [db1, db2]")
        for i, one in enumerate(own):
            if one not in hosts:
                raise unknown(one, "host of this file", hosts, document.at["groups", group, i])
        members[group] = set(own)
    return members
