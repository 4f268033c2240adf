"""Host patterns of Ansible: `db[1:3].example.com`, `db-[a:f]`, `host:22`, `[2001:db8::1]:22`."""

from __future__ import annotations

import ipaddress
import re
import string
from itertools import product

from tare.machines.inventory.raw_values import MOST_HOSTS, quoted, refused

_RANGE = re.compile(r"\[([^\[\]:]*):([^\[\]:]+)(?::([^\[\]:]+))?\]")
_BRACKETED = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::([0-9]{1,5}))?")
_PORT = re.compile(r"(.*):([0-9]{1,5})", re.DOTALL)
_LONGEST = 1000


def expand(pattern: str, where: str) -> tuple[list[str], int | None]:
    """The names that a pattern stands for, and the port at its end, if any.

    Args:
        pattern: as the file has it.
        where: its place, for errors.

    Raises:
        InventoryError: it is no such pattern, or stands for more hosts than any study has.
    """
    if len(pattern) > _LONGEST:
        raise refused("a host name of absurd length", where, f"{len(pattern):,} characters")
    if is_ipv6(pattern):
        return [pattern], None
    literal = _BRACKETED.fullmatch(pattern)
    if literal is not None and is_ipv6(literal[1]):
        return [literal[1]], int(literal[2]) if literal[2] else None
    with_port = _PORT.fullmatch(pattern)
    name, port = (with_port[1], int(with_port[2])) if with_port else (pattern, None)
    return _names(name, where), port


def is_ipv6(text: str) -> bool:
    """Whether the text is an address with colons, without brackets."""
    try:
        return ipaddress.ip_address(text).version == 6
    except ValueError:
        return False


def _names(pattern: str, where: str) -> list[str]:
    parts: list[list[str]] = []
    end, many = 0, 1
    for found in _RANGE.finditer(pattern):
        parts += [[pattern[end : found.start()]], _members(found, where)]
        many *= len(parts[-1])
        if many > MOST_HOSTS:
            raise refused(f"{quoted(pattern)} stands for more than {MOST_HOSTS:,} hosts", where)
        end = found.end()
    parts.append([pattern[end:]])
    if any(mark in part[0] for part in parts[::2] for mark in "[]"):
        raise refused(
            f"{quoted(pattern)} is no host pattern",
            where,
            "brackets hold a range: [1:3], [01:50:2] or [a:f]",
        )
    return ["".join(one) for one in product(*parts)]


def _members(found: re.Match[str], where: str) -> list[str]:
    """Every member of one range, its end included."""
    first, last, step = found[1] or "0", found[2], found[3] or "1"
    wrong = refused(
        f"{quoted(found[0])} is no range", where, "ranges are [1:3], [01:50:2] or [a:f]"
    )
    if not _digits(step) or int(step) == 0:
        raise wrong
    if _digits(first) and _digits(last):
        width = len(first) if first.startswith("0") and len(first) > 1 else 0
        if width and len(last) != width:
            raise wrong
        members = range(int(first), int(last) + 1, int(step))
        if not members:
            raise wrong
        return [str(one).zfill(width) for one in members[: MOST_HOSTS + 1]]
    letters = string.ascii_letters
    if len(first) == len(last) == 1 and first in letters and last in letters:
        found_letters = letters[letters.index(first) : letters.index(last) + 1 : int(step)]
        if found_letters:
            return list(found_letters)
    raise wrong


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9
