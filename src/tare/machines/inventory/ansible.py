"""Hosts from Ansible's variables of the SSH connection; all others are ignored."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from tare.machines.inventory.fields import FIELDS, make_host, plain, yes_or_no
from tare.machines.inventory.raw_values import FLATTEN, Entry, RawValue, Variables, refused, unknown

if TYPE_CHECKING:
    from pathlib import Path

    from tare.machines.inventory.host import Host
    from tare.machines.inventory.tree import Tree

OURS = "tare_"
"""prefix of Tare's own fields among Ansible's variables: tare_directory, tare_service"""
_FIELD_OF = {
    "ansible_ssh_host": "address",
    "ansible_host": "address",
    "ansible_ssh_port": "port",
    "ansible_port": "port",
    "ansible_ssh_user": "user",
    "ansible_user": "user",
    "ansible_private_key_file": "key",
    "ansible_ssh_private_key_file": "key",
}
"""Ansible's variable to the field; of two names of one field the latter counts"""
_SECRETS = frozenset(
    f"ansible_{name}"
    for name in (
        "password", "ssh_pass", "ssh_password", "become_pass", "become_password",
        "sudo_pass", "sudo_password", "su_pass", "su_password", "ssh_private_key",
        "ssh_private_key_passphrase", "private_key_passphrase",
    )
)  # fmt: skip
_UNUSED = frozenset(
    f"ansible_{name}"
    for name in (
        "ssh_common_args", "ssh_extra_args", "ssh_args", "ssh_executable", "scp_extra_args",
        "sftp_extra_args", "host_key_checking", "ssh_host_key_checking", "become_flags",
        "become_exe", "shell_type", "shell_executable",
    )
)  # fmt: skip
_OPTIONS = ("ansible_ssh_common_args", "ansible_ssh_extra_args", "ansible_ssh_args")
_KNOWN_HOSTS = re.compile(r"-o\s*UserKnownHostsFile\s*[= ]\s*(\S+)", re.IGNORECASE)
_SSH = ("ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh")


def ansible_hosts(tree: Tree, beside: Path) -> tuple[list[Host], list[str]]:
    """The hosts that SSH reaches, and notes on values that are not used.

    Raises:
        InventoryError: passwords, templates, or values that no host can have, with their lines.
    """
    hosts: list[Host] = []
    notes: list[str] = []
    for name, entry, groups in tree.flattened():
        other = _other_connection(entry.variables)
        if other is not None:
            notes.append(f"{other.where}: {name} is left out: Tare reaches hosts by SSH only")
            continue
        fields, unused = _fields(entry.variables)
        notes += unused
        hosts.append(make_host(name, Entry(entry.where, fields, entry.port), groups, beside))
    return hosts, list(dict.fromkeys(notes))


def _other_connection(variables: Variables) -> RawValue | None:
    """What says that the host is reached by something else than SSH."""
    said = variables.get("ansible_connection")
    if said is None or plain(said, "ansible_connection") in _SSH:
        return None
    return said


def _fields(variables: Variables) -> tuple[Variables, list[str]]:
    fields: Variables = {}
    notes: list[str] = []
    for name, said in variables.items():
        if name in _SECRETS:
            raise refused(
                f"{name}: Tare takes no passwords from files",
                said.where,
                remedy="give the host a key, and sudo without a password; take the variable out",
            )
        if name in _UNUSED:
            known, rest = _known_hosts(said) if name in _OPTIONS else (None, True)
            if known is not None:
                fields["known_hosts"] = known
            if rest:
                but = "" if known is None else ", but for UserKnownHostsFile"
                place = "~/.ssh/config is the place for it"
                notes.append(f"{said.where}: {name} is not used{but}; {place}")
        if name.startswith(OURS):
            field = name.removeprefix(OURS)
            if field not in FIELDS:
                raise unknown(
                    name, "variable of Tare's", [OURS + one for one in FIELDS], said.where
                )
    for name, field in _FIELD_OF.items():
        if name in variables:
            fields[field] = variables[name]
    for field in FIELDS:
        if OURS + field in variables:
            fields[field] = variables[OURS + field]
    return _with_sudo(fields, variables), notes


def _known_hosts(raw: RawValue) -> tuple[RawValue | None, bool]:
    """The file of host keys that options of ssh name, and whether they say anything else."""
    try:
        words = shlex.split(raw.text)
    except ValueError:
        return None, True
    options = re.sub(r"(^|\x00)-o\x00", r"\1-o", "\x00".join(words)).split("\x00")
    found = [_KNOWN_HOSTS.fullmatch(one) for one in options if one]
    files = [one[1] for one in found if one is not None]
    return (RawValue(files[-1], raw.where) if files else None), None in found


def _with_sudo(fields: Variables, variables: Variables) -> Variables:
    become = variables.get("ansible_become")
    if become is None or "sudo" in fields:
        return fields
    if yes_or_no(become, "ansible_become"):
        for name, own in (("ansible_become_method", "sudo"), ("ansible_become_user", "root")):
            said = variables.get(name)
            if said is not None and plain(said, name) != own:
                why = f"Tare supports only become_method=sudo and become_user=root; {FLATTEN}"
                raise refused(f"{name} is not {own}", said.where, why, "set tare_sudo to false")
    return fields | {"sudo": become}
