"""Reads hosts from a file in one of three forms, told apart by its content."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import InventoryError, StudyError
from tare.machines.inventory.ansible import ansible_hosts
from tare.machines.inventory.ansible_ini import ini_tree
from tare.machines.inventory.ansible_yaml import yaml_tree
from tare.machines.inventory.host import Inventory
from tare.machines.inventory.own import own_hosts
from tare.machines.inventory.raw_values import FLATTEN, refused
from tare.study.document import parse_document
from tare.study.named_file import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tare.machines.inventory.host import Host

VARIABLE = "TARE_INVENTORY"
"""environment variable that names the file"""
MOST_BYTES = 1024 * 1024
_SEE = "see docs/machines.md for what an inventory holds"
_YAML_LINE = re.compile(r"---(\s.*)?|%YAML.*|\{.*|(?:[^\s:#'\"=]+|'[^']*'|\"[^\"]*\"):(\s.*)?")
_VAULT = "$ANSIBLE_VAULT"


def named_inventory(environment: Mapping[str, str] = os.environ) -> Inventory | None:
    """The inventory that the user names; None: none is named.

    Raises:
        InventoryError: it cannot be read, or is none.
    """
    named = environment.get(VARIABLE)
    return read_inventory(Path(named).expanduser()) if named else None


def read_inventory(path: Path) -> Inventory:
    """The inventory in the file.

    Nothing in it is executed, no template is evaluated, and no file beside it is read.

    Raises:
        InventoryError: the file cannot be read or used, with the line if one is to blame.
    """
    beside = path.absolute().parent
    hosts, notes = parse_inventory(_text(path), str(path), beside)
    for name in ("group_vars", "host_vars"):
        if (beside / name).is_dir():
            notes.append(f"{path}: {name} beside it is not read; {FLATTEN}")
    return Inventory(path, tuple(hosts), tuple(notes))


def parse_inventory(text: str, name: str, beside: Path) -> tuple[list[Host], list[str]]:
    """The hosts in the text, and notes on what is not used.

    Args:
        text: in Tare's form, or Ansible's YAML or INI.
        name: its name in errors.
        beside: the directory from which relative paths lead.

    Raises:
        InventoryError: it is no inventory that can be used.
    """
    lines = text.splitlines()
    if lines and lines[0].startswith("#!"):
        raise refused("an inventory script", f"{name}:1", "Tare executes no inventory", FLATTEN)
    if lines and lines[0].startswith(_VAULT):
        why = "Tare asks for no vault's password"
        raise refused("an encrypted file", f"{name}:1", why, FLATTEN)
    if _is_yaml(lines):
        hosts, notes = _from_yaml(text, name, beside)
    else:
        hosts, notes = ansible_hosts(ini_tree(lines, name), beside)
    if not hosts:
        raise refused("no host that SSH reaches", name, "; ".join(notes), _SEE)
    _refuse_twins(hosts, name)
    return hosts, notes


def _is_yaml(lines: Iterable[str]) -> bool:
    """Told by the first line that says something."""
    for line in lines:
        text = line.strip()
        if text and text[0] not in "#;":
            return bool(_YAML_LINE.fullmatch(text))
    return False


def _from_yaml(text: str, name: str, beside: Path) -> tuple[list[Host], list[str]]:
    try:
        document = parse_document(text, name, kind="an inventory")
    except StudyError as error:
        remedy = error.remedy or FLATTEN
        raise InventoryError(error.what, where=error.where, why=error.why, remedy=remedy) from error
    if not isinstance(document.data, dict):
        raise refused("not an inventory", f"{name}:1", "its top is no mapping", _SEE)
    if "hosts" in document.data:
        return own_hosts(document, beside), []
    return ansible_hosts(yaml_tree(document), beside)


def _refuse_twins(hosts: list[Host], name: str) -> None:
    """Two names of one machine would count it twice."""
    seen: dict[tuple[str, int], Host] = {}
    for one in hosts:
        twin = seen.setdefault((one.address, one.port), one)
        if twin is not one:
            raise refused(
                f"{one.name} is the machine that {twin.name} is",
                name,
                f"both are {one.address}, port {one.port}",
                "leave one of them out",
            )


def _text(path: Path) -> str:
    return read_text(
        path,
        MOST_BYTES,
        "an inventory",
        InventoryError,
        missing=FLATTEN if path.is_dir() else f"{VARIABLE} names a file; {_SEE}",
        too_large=_SEE,
        not_text=_SEE,
    )
