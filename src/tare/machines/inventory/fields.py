"""Makes a Host of a file's entry: every value is checked before anything uses it."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tare.machines.inventory.host import DIRECTORY, Host
from tare.machines.inventory.raw_values import RawValue, quoted, refused

if TYPE_CHECKING:
    from tare.machines.inventory.raw_values import Entry, Variables

FIELDS = ("address", "port", "user", "key", "known_hosts", "sudo", "service", "directory")
"""fields that a host may have, by Tare's names"""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,252}")
_GROUP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_HOST_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,63}")
_DIRECTORY = re.compile(r"(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*){2,}/?")
_TEMPLATE = re.compile(r"\{[{%#]")
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_HIGHEST_PORT = 65535


def make_host(name: str, entry: Entry, groups: frozenset[str], beside: Path) -> Host:
    """The host that an entry describes.

    Args:
        name: as the inventory calls it.
        entry: its values, by the names of FIELDS.
        groups: every group that it is in.
        beside: the inventory's directory, from which relative paths lead.

    Raises:
        InventoryError: a value is not valid for its field, with its line.
    """
    checked_name(name, entry.where)
    said = entry.variables
    return Host(
        name=name,
        address=_address(said.get("address", RawValue(name, entry.where)), "address"),
        port=_port(said, entry),
        user=_user(said),
        key=_file(said, "key", beside),
        known_hosts=_file(said, "known_hosts", beside),
        sudo=_sudo(said),
        service=_address(said["service"], "service") if "service" in said else "",
        directory=_directory(said),
        groups=groups,
    )


def checked_name(name: str, where: str) -> str:
    """The name of a host, which records and directories are called after.

    Raises:
        InventoryError: it cannot be one.
    """
    if not _NAME.fullmatch(name):
        raise refused(
            f"{quoted(name)} is no name of a host",
            where,
            "letters, digits, dots, dashes and colons, and a letter or digit first",
        )
    return name


def checked_group(name: str, where: str) -> str:
    """The name of a group.

    Raises:
        InventoryError: it cannot be one.
    """
    if not _GROUP.fullmatch(name):
        why = "letters, digits, dots, dashes and underscores"
        raise refused(f"{quoted(name)} is no name of a group", where, why)
    return name


def yes_or_no(raw: RawValue, what: str) -> bool:
    """True or false, as people write them.

    Raises:
        InventoryError: neither.
    """
    word = plain(raw, what).lower()
    if word not in _YES + _NO:
        raise refused(f"{what}: {quoted(raw.text)} is neither true nor false", raw.where)
    return word in _YES


def plain(raw: RawValue, what: str) -> str:
    """The value as one word or path on one line; templates are not evaluated.

    Raises:
        InventoryError: it is a template, a list or mapping, or has control characters.
    """
    if isinstance(raw.value, (dict, list)) or raw.value is None:
        raise refused(f"{what} takes one value", raw.where)
    text = raw.text.strip()
    if _TEMPLATE.search(text):
        raise refused(
            f"{what} is a template",
            raw.where,
            "Tare works out no templates of others",
            "write the value itself",
        )
    if not text or not text.isprintable():
        raise refused(f"{what}: {quoted(text)} is empty or not plain text", raw.where)
    return text


def _address(raw: RawValue, what: str) -> str:
    text = plain(raw, what)
    try:
        ipaddress.ip_address(text)
    except ValueError:
        if ":" in text or not _HOST_NAME.fullmatch(text):
            raise refused(
                f"{what}: {quoted(text)} is no host name and no IP address",
                raw.where,
                "nothing that a client could take for an option or a user is let through",
                "the user and the port have fields of their own",
            ) from None
    return text


def _port(raw: Variables, entry: Entry) -> int:
    if "port" not in raw:
        port, where = entry.port or 22, entry.where
    else:
        where, text = raw["port"].where, plain(raw["port"], "port")
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise refused(f"port: {quoted(text)} is no port", where)
        port = int(text)
    if not 0 < port <= _HIGHEST_PORT:
        raise refused(f"port: {port} is no port", where, f"ports are 1 to {_HIGHEST_PORT}")
    return port


def _user(raw: Variables) -> str:
    if "user" not in raw:
        return ""
    text = plain(raw["user"], "user")
    if not _USER.fullmatch(text):
        raise refused(
            f"user: {quoted(text)} is no user",
            raw["user"].where,
            "letters, digits and _.@+-, and no dash first",
        )
    return text


def _file(raw: Variables, name: str, beside: Path) -> Path | None:
    if name not in raw:
        return None
    text = plain(raw[name], name)
    try:
        path = Path(text).expanduser()
    except RuntimeError as error:  # ~nobody
        raise refused(f"{name}: {quoted(text)}", raw[name].where, str(error)) from error
    return beside / path


def _sudo(raw: Variables) -> bool:
    return yes_or_no(raw["sudo"], "sudo") if "sudo" in raw else False


def _directory(raw: Variables) -> PurePosixPath:
    if "directory" not in raw:
        return DIRECTORY
    text = plain(raw["directory"], "directory")
    if not _DIRECTORY.fullmatch(text):
        raise refused(
            f"directory: {quoted(text)} cannot be Tare's directory",
            raw["directory"].where,
            "an absolute path of two names or more, in letters, digits and _.-, since what lies "
            "below it is removed in the end",
            f"e.g. {DIRECTORY}",
        )
    return PurePosixPath(text)
