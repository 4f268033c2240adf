"""Parses lines and numbers of files that may hold anything."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from tare.imports.file_content import UnreadableError

LONGEST_LINE = 1 << 20
MOST = 1e18
"""Numbers beyond this are damage: no count, rate or time of a benchmark is so large."""
LEAST = 1e-18
"""Numbers below this and above 0 are damage, too."""

MOST_DIGITS = 400
"""Characters of a number: Python itself writes none with more."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NO_VALUE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.I)
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_OPERATION = re.compile(r"[^a-z0-9]+")
_TO_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


def text_of(data: bytes) -> str:
    """The file's text: UTF-8, or UTF-16 with its mark; terminal colours are removed.

    Raises:
        UnreadableError: it is empty or not a text.
    """
    encoding = next((name for mark, name in _BOMS.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"not a text in UTF-8: byte {error.start:,} cannot be read"
        ) from error
    if "\0" in text:
        raise UnreadableError("not a text: it holds zero bytes")
    if not text.strip():
        raise UnreadableError("the file is empty")
    return _ANSI.sub("", text)


def lines_of(data: bytes) -> list[str]:
    """The text's lines.

    Raises:
        UnreadableError: as `text_of`, or a line of more than a million characters.
    """
    lines = text_of(data).splitlines()
    if any(len(line) > LONGEST_LINE for line in lines):
        raise UnreadableError(f"a line of more than {LONGEST_LINE:,} characters")
    return lines


def number(text: str, what: str) -> float:
    """A finite number that is not negative, in the digits 0 to 9 and with no mark between them.

    Raises:
        UnreadableError: it is none, or absurdly large.
    """
    written = text.strip()
    _refuse_long(written, what)
    if not _NUMBER.fullmatch(written) and not _NO_VALUE.fullmatch(written):
        raise UnreadableError(f"{what} is no number: {text[:40]!r}")
    value = float(written)
    if not math.isfinite(value) or value < 0:
        raise UnreadableError(f"{what} is {text.strip()[:40]}")
    if value > MOST:
        raise UnreadableError(f"{what} is absurdly large: {text.strip()[:40]}")
    if 0 < value < LEAST:
        raise UnreadableError(f"{what} is absurdly small: {text.strip()[:40]}")
    return value


def whole(value: object, what: str) -> int:
    """A whole number that is not negative, from a text or a JSON document.

    Raises:
        UnreadableError: it is none, or absurdly large.
    """
    found = number(value, what) if isinstance(value, str) else json_number(value, what)
    if not found.is_integer():
        raise UnreadableError(f"{what} is no whole number: {str(value)[:40]!r}")
    return int(found)


def _refuse_long(written: str, what: str) -> None:
    if len(written) > MOST_DIGITS:
        raise UnreadableError(f"{what} is no number: it has {len(written):,} characters")


def json_document(text: str) -> Any:
    """The JSON document in the text.

    Raises:
        ValueError, RecursionError: it is none.
        UnreadableError: it has a number that no tool prints.
    """
    return json.loads(text, parse_int=_json_whole)


def _json_whole(digits: str) -> int:
    _refuse_long(digits, f"{digits[:20]}...")
    return int(digits)


def json_number(value: object, what: str) -> float:
    """A number of a JSON document, with the limits of `number`.

    Raises:
        UnreadableError: it is none, or absurd.
    """
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise UnreadableError(f"{what} is {str(value)[:40]}")
    if not (value == 0 or LEAST <= value <= MOST):
        raise UnreadableError(f"{what} is {str(value)[:40]}")
    return float(value)


def grouped(text: str, what: str) -> float:
    """A number that may have commas between thousands.

    Raises:
        UnreadableError: it is none.
    """
    plain = text.strip()
    if "," in plain and not re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?", plain):
        raise UnreadableError(f"{what} is no number: {plain[:40]!r} (a comma parts thousands)")
    return number(plain.replace(",", ""), what)


def microseconds(value: float, unit: str) -> float:
    """The time in microseconds; `unit` is ns, us, ms or s."""
    return value * _TO_US[unit]


def operation_name(text: str) -> str:
    """An operation's name in metrics: READ is read, READ-MODIFY-WRITE is rmw."""
    name = _OPERATION.sub("_", text.lower()).strip("_")
    return "rmw" if name == "read_modify_write" else name
