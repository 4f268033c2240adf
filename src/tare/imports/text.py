"""Lines and numbers of files that may hold anything."""

from __future__ import annotations

import math
import re

from tare.imports.reading import UnreadableError

LONGEST_LINE = 1 << 20
MOST = 1e18
"""Numbers beyond this are damage: no count, rate or time of a benchmark is so large."""
LEAST = 1e-18
"""Numbers below this and above 0 are damage, too."""

_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_OPERATION = re.compile(r"[^a-z0-9]+")
_TO_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


def text_of(data: bytes) -> str:
    """The file's text: UTF-8, or UTF-16 with its mark; colours of terminals are taken out.

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
    """A finite number that is not negative.

    Raises:
        UnreadableError: it is none, or absurdly large.
    """
    try:
        value = float(text)
    except ValueError:
        raise UnreadableError(f"{what} is no number: {text[:40]!r}") from None
    if not math.isfinite(value) or value < 0:
        raise UnreadableError(f"{what} is {text.strip()[:40]}")
    if value > MOST:
        raise UnreadableError(f"{what} is absurdly large: {text.strip()[:40]}")
    if 0 < value < LEAST:
        raise UnreadableError(f"{what} is absurdly small: {text.strip()[:40]}")
    return value


def json_number(value: object, what: str) -> float:
    """A number of a JSON document, as `number` has them.

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
    if "," in plain and not re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", plain):
        raise UnreadableError(f"{what} is no number: {plain[:40]!r} (a comma parts thousands)")
    return number(plain.replace(",", ""), what)


def microseconds(value: float, unit: str) -> float:
    """The time in microseconds; `unit` is ns, us, ms or s."""
    return value * _TO_US[unit]


def operation_name(text: str) -> str:
    """An operation's name as metrics have it: READ is read, READ-MODIFY-WRITE is rmw."""
    name = _OPERATION.sub("_", text.lower()).strip("_")
    return "rmw" if name == "read_modify_write" else name
