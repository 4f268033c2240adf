"""Ansible's inventories in YAML: groups with `hosts`, `children` and `vars`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.machines.inventory.raw_values import FLATTEN, RawValue, Variables, quoted, refused
from tare.machines.inventory.tree import EVERY, Tree

if TYPE_CHECKING:
    from tare.study.document import Document
    from tare.study.origins import FieldPath

_PARTS = ("hosts", "children", "vars")


def yaml_tree(document: Document) -> Tree:
    """The groups of the document.

    Raises:
        InventoryError: it is no such inventory, with the line.
    """
    data, tree = document.data, Tree()
    if "plugin" in data and not isinstance(data["plugin"], dict):
        raise refused(
            "this is the settings of an inventory plugin, not an inventory",
            document.at["plugin",],
            remedy=FLATTEN,
        )
    if "_meta" in data:
        where = document.at["_meta",]
        raise refused("this is what an inventory script prints", where, remedy=FLATTEN)
    for name in data:
        _group(tree, document, (name,), data[name])
    return tree


def _group(tree: Tree, document: Document, place: FieldPath, content: Any) -> None:
    name, where = str(place[-1]), document.at[place]
    group = tree.group(name, where)
    if content is None:
        return
    if not isinstance(content, dict):
        raise refused(f"group {quoted(name)} takes hosts, children or vars", where)
    for part in content:
        inner = (*place, part)
        if part not in _PARTS:
            raise refused(
                f"{quoted(part)} is no part of a group",
                document.at[inner],
                f"a group has {', '.join(_PARTS)}",
                "groups inside a group stand below its `children`",
            )
        own = _mapping(document, inner, content[part])
        for key, value in own.items():
            if part == "vars":
                group.variables[key] = RawValue(value, document.at[*inner, key])
            elif part == "hosts":
                variables = _variables(document, (*inner, key), value)
                tree.add(name, key, variables, document.at[*inner, key])
            else:
                child = (*inner, key)
                if key == EVERY:
                    raise refused("all is above every group, and in none", document.at[child])
                _group(tree, document, child, value)
                group.children[key] = document.at[child]


def _mapping(document: Document, place: FieldPath, value: Any) -> dict[str, Any]:
    """What a part of a group holds; one host or group may stand there without a colon."""
    if value is None:
        return {}
    if isinstance(value, str):
        document.at.setdefault((*place, value), document.at[place])
        return {value: None}
    if not isinstance(value, dict):
        raise refused(
            f"{quoted(place[-1])} takes names, each with a colon",
            document.at[place],
            remedy="write `db1:` instead of `- db1`",
        )
    return value


def _variables(document: Document, place: FieldPath, value: Any) -> Variables:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise refused(f"{quoted(place[-1])} takes variables in a mapping", document.at[place])
    return {key: RawValue(one, document.at[*place, key]) for key, one in value.items()}
