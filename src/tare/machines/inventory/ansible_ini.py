"""Ansible's inventories in its INI form: host lines, [group], [group:children], [group:vars]."""

from __future__ import annotations

import re
import shlex

from tare.machines.inventory.patterns import is_ipv6
from tare.machines.inventory.raw_values import RawValue, Variables, quoted, refused, unknown
from tare.machines.inventory.tree import EVERY, UNGROUPED, Tree

_SECTION = re.compile(r"\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?")
_CHILD = re.compile(r"([^:\]\s]+)\s*(?:#.*)?")
_LITERAL = re.compile(r"""(-?[0-9]+|True|False|'[^']*'|"[^"]*")\s*(?:#.*)?""")
_KINDS = ("hosts", "children", "vars")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def ini_tree(lines: list[str], name: str) -> Tree:
    """The groups of the lines; errors call the file `name`.

    Raises:
        InventoryError: a line that is none of such an inventory, or a group that is not defined.
    """
    tree = Tree()
    group, kind = UNGROUPED, "hosts"
    defined: set[str] = {EVERY, UNGROUPED}
    asked: list[tuple[str, str, str]] = []
    for number, raw in enumerate(lines, 1):
        line, where = raw.strip(), f"{name}:{number}"
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and _is_section(line):
            group, kind = _section(line, where)
            tree.group(group, where)
            if kind == "vars":
                asked.append((group, where, f"[{group}:vars] is of no group"))
            else:
                defined.add(group)
        elif kind == "hosts":
            _add_host(tree, group, line, where)
        elif kind == "vars":
            tree.groups[group].variables.update(_variable(line, where))
        else:
            child = _child(line, where)
            tree.group(child, where)
            tree.groups[group].children[child] = where
            asked.append((child, where, f"{quoted(child)} in [{group}:children] is no group"))
    for wanted, where, what in asked:
        if wanted not in defined:
            raise refused(what, where, remedy=f"write a section [{wanted}]")
    return tree


def _is_section(line: str) -> bool:
    """A line in brackets, unless it is a host's IPv6 address or begins with a range."""
    if _SECTION.fullmatch(line):
        return True
    return line.endswith("]") and not is_ipv6(line[1:-1])


def _section(line: str, where: str) -> tuple[str, str]:
    found = _SECTION.fullmatch(line)
    if found is None:
        raise refused(f"{quoted(line)} is no section", where, "sections hold no spaces")
    kind = found[2] or "hosts"
    if kind not in _KINDS:
        raise unknown(kind, "kind of a section", _KINDS, where)
    return found[1], kind


def _add_host(tree: Tree, group: str, line: str, where: str) -> None:
    """A host line: a name or range, and variables of it."""
    try:
        pattern, *words = shlex.split(line, comments=True)
    except ValueError as error:
        raise refused(f"{quoted(line)} cannot be read", where, str(error).lower()) from None
    variables: Variables = {}
    for word in words:
        if "=" not in word:
            raise refused(
                f"{quoted(word)} after a host is no variable",
                where,
                "a host line is a name and variables of it, as name=value",
                "put quotes around values with spaces; one host a line",
            )
        name, _, value = word.partition("=")
        variables |= _assigned(name, value, where)
    tree.add(group, pattern, variables, where)


def _variable(line: str, where: str) -> Variables:
    if "=" not in line:
        raise refused(f"{quoted(line)} is no variable", where, "variables are name=value")
    name, _, value = line.partition("=")
    return _assigned(name, value, where)


def _assigned(name: str, value: str, where: str) -> Variables:
    name = name.strip()
    if not _VARIABLE.fullmatch(name):
        raise refused(f"{quoted(name)} is no name of a variable", where)
    text = value.strip()
    literal = _LITERAL.fullmatch(text)
    if literal is not None:
        text = literal[1]
        text = text[1:-1] if text[0] in "'\"" else text
    return {name: RawValue(text, where)}


def _child(line: str, where: str) -> str:
    found = _CHILD.fullmatch(line)
    if found is None:
        raise refused(f"{quoted(line)} is no name of a group", where)
    if found[1] == EVERY:
        raise refused("all is above every group, and in none", where)
    return found[1]
