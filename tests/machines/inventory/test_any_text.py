"""Any text is read as an inventory or refused; a written inventory reads back the same."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.errors import InventoryError
from tare.machines.inventory.host import Host
from tare.machines.inventory.read import parse_inventory

BESIDE = Path("/inventories")
WORDS = st.sampled_from(
    [
        "[", "]", ":", "=", "[web]", "[web:vars]", "[web:children]", "[all:vars]", "\n", " ", "#",
        "web", "h[1:3]", "h", "ansible_host=", "ansible_port=22", "ansible_user=x", "{{", "}}",
        "'", '"', "---\n", "all:\n", "  hosts:\n", "  children:\n", "  vars:\n", "    a:\n",
        "hosts:", "groups:", "defaults:", "{", "}", ",", "&a", "*a", "!vault", "<<:", "-", "\t",
        "ansible_group_priority=", "9" * 30, "\x00", "é", "~", "/", "..", "null", "::1",
    ]
)  # fmt: skip
NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,8}[a-z0-9]", fullmatch=True)
HOSTS = st.builds(
    Host,
    name=NAMES,
    address=st.one_of(
        st.from_regex(r"[a-z][a-z0-9-]{0,8}(\.example)?", fullmatch=True),
        st.ip_addresses().map(str),
    ),
    port=st.integers(1, 65535),
    user=st.one_of(st.just(""), st.from_regex(r"[a-z_][a-z0-9_.-]{0,8}", fullmatch=True)),
    key=st.one_of(st.none(), st.from_regex(r"/[a-z][a-z ._]{0,8}[a-z]", fullmatch=True).map(Path)),
    sudo=st.booleans(),
    service=st.one_of(st.just(""), st.ip_addresses().map(str)),
    directory=st.from_regex(r"/[a-z]{1,8}/[a-z0-9_.-]{1,8}x", fullmatch=True)
    .filter(lambda one: one.split("/")[2][0].isalnum())
    .map(PurePosixPath),
    groups=st.frozensets(st.sampled_from(["nodes", "clients", "east"])),
)
INVENTORIES = st.lists(
    HOSTS, min_size=1, max_size=6, unique_by=(lambda one: one.name, lambda one: one.address)
)
ANSIBLE = {
    "address": "ansible_host",
    "port": "ansible_port",
    "user": "ansible_user",
    "key": "ansible_ssh_private_key_file",
    "sudo": "ansible_become",
    "service": "tare_service",
    "directory": "tare_directory",
}


def fields(host: Host) -> dict[str, object]:
    """A host's fields by name, without those that are empty."""
    said = {name: getattr(host, name) for name in ANSIBLE}
    kept = {name: value for name, value in said.items() if value not in ("", None)}
    return {
        name: value if isinstance(value, (bool, int)) else str(value)
        for name, value in kept.items()
    }


def variables(host: Host) -> dict[str, object]:
    return {ANSIBLE[name]: value for name, value in fields(host).items()}


def groups_of(hosts: list[Host]) -> dict[str, list[Host]]:
    names = sorted({group for one in hosts for group in one.groups})
    return {name: [one for one in hosts if name in one.groups] for name in names}


def own(hosts: list[Host]) -> str:
    groups = {name: [one.name for one in members] for name, members in groups_of(hosts).items()}
    return json.dumps({"hosts": {one.name: fields(one) for one in hosts}, "groups": groups})


def yaml(hosts: list[Host]) -> str:
    every = {"hosts": {one.name: variables(one) for one in hosts}}
    groups = {
        name: {"hosts": dict.fromkeys(one.name for one in members)}
        for name, members in groups_of(hosts).items()
    }
    return json.dumps({"all": every, **groups}, indent=1)


def ini(hosts: list[Host]) -> str:
    lines = []
    for one in hosts:
        said = " ".join(f'{name}="{value}"' for name, value in variables(one).items())
        lines.append(f"{one.name} {said}")
    for name, members in groups_of(hosts).items():
        lines += [f"[{name}]", *(one.name for one in members)]
    return "\n".join(lines)


@settings(deadline=None)  # a loaded machine is slow, not wrong
@given(st.one_of(st.text(), st.lists(WORDS, max_size=30).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found, _ = parse_inventory(text, "hosts", BESIDE)
    except InventoryError as error:
        assert error.what
        return
    assert found


@settings(deadline=None)
@given(INVENTORIES)
@pytest.mark.parametrize("write", [own, yaml, ini])
def test_what_is_written_reads_back(write: object, hosts: list[Host]) -> None:
    assert callable(write)
    assert parse_inventory(write(hosts), "hosts", BESIDE)[0] == hosts
