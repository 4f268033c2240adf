"""Durations, sizes, fractions and names as a study writes them, and as pydantic field types."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema
from pytimeparse2 import parse as parse_time

from tare.study.wrong_value import WrongValueError

KIB, MIB, GIB = 1024, 1024**2, 1024**3
LONGEST_S = 30 * 24 * 3600
LARGEST_BYTES = 1024**5

_LIKE_SIZES = "write it like 512MiB or 2GiB"
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)")
_UNITS = {
    "B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": 1024**4,
    "kB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4,
}  # fmt: skip
_PERCENT = re.compile(r"(-?[0-9]{1,9}(?:\.[0-9]{0,20})?|-?\.[0-9]{1,20}) ?%")
_CPUSET = re.compile(r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*")
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$"
SCALAR_SCHEMA = {"type": ["string", "number", "boolean"]}


def parse_duration(value: object) -> object:
    """Seconds from "10s", "2m", "1h30m", "500ms" or a number; anything else for pydantic."""
    if not isinstance(value, str):
        return value
    seconds = parse_time(value) if value.isascii() else None
    if not re.search("[A-Za-z]", value) or not isinstance(seconds, (int, float)):
        raise WrongValueError(f"{value!r} is not a duration", "write it like 10s, 2m or 1m30s")
    return float(seconds)


def parse_size(value: object) -> object:
    """Bytes from "512MiB", "2GiB", "100MB" or a whole number; anything else for pydantic.

    A bare letter ("512m") is refused: the JVM, Docker and SI do not agree on what it means.
    """
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    unit = match and match[2]
    if not match or unit not in _UNITS:
        letter = unit[:1].upper() if unit and len(unit) == 1 else ""
        meant = f"{match[1]}{letter}iB" if match and f"{letter}iB" in _UNITS else ""
        remedy = f"did you mean {meant}?" if meant else _LIKE_SIZES
        raise WrongValueError(f"{value!r} is not a size", remedy)
    size = float(match[1]) * _UNITS[unit]
    if not math.isfinite(size):
        raise WrongValueError(f"{value[:40]!r} is more than any machine has", _LIKE_SIZES)
    return round(size)


def size_in_words(size: int) -> str:
    """A size as a study would write it, in the largest unit that fits it exactly: 64MiB."""
    for name in ("TiB", "GiB", "MiB", "KiB"):
        if size >= _UNITS[name]:
            return f"{size / _UNITS[name]:.4g}{name}"
    return f"{size}B"


def duration_in_words(seconds: float) -> str:
    """A duration as a study would write it: 720h, 90s."""
    if seconds >= 3600 and seconds % 3600 == 0:
        return f"{seconds / 3600:g}h"
    return f"{seconds:g}s"


def parse_fraction(value: object) -> object:
    """A fraction from "5%" or 0.05; anything else for pydantic."""
    if not isinstance(value, str):
        return value
    found = _PERCENT.fullmatch(value.strip())
    if found is None:
        raise WrongValueError(f"{value!r} is not a percentage", "write it like 5% or 0.05")
    return float(found[1]) / 100


def parse_name(value: object) -> object:
    """A factor's or level's name; YAML reads a bare 3 or true as no string, but a name is text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else value


def parse_cpuset(value: object) -> object:
    """A CPU list as Linux writes it, "0", "0-3" or "0,2"; a bare number is one CPU."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str):
        cpus_of(value)
    return value


def cpus_of(cpuset: str) -> frozenset[int]:
    """The CPU numbers in a list such as "0-1,4". ValueError when it is not such a list."""
    if not _CPUSET.fullmatch(cpuset):
        raise WrongValueError(f"{cpuset!r} is not a list of CPUs", "write it like 0, 0-1 or 0,2")
    cpus: set[int] = set()
    for part in cpuset.split(","):
        first, _, last = part.partition("-")
        if last and int(last) < int(first):
            raise WrongValueError(f"{part!r} counts backwards", "write the lower CPU first")
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def _schema(number: str, pattern: str, unit: str, *examples: str) -> WithJsonSchema:
    """The schema that an editor checks: a number, or text of the pattern."""
    either: list[dict[str, Any]] = [{"type": number}, {"type": "string", "pattern": pattern}]
    return WithJsonSchema({"anyOf": either, "unit": unit, "examples": list(examples)})


_DURATION = _schema("number", r"^[0-9. ]+[A-Za-z][0-9A-Za-z. ]*$", "s", "10s", "2m")
_SIZES = _schema("integer", r"^[0-9.]+ ?([KMGT]i|[kMGT])?B$", "bytes", "512MiB", "2GiB")
_FRACTION = _schema("number", r"^[0-9.]+%$", "fraction", "5%", "0.05")
_CPUS = _schema("integer", rf"^{_CPUSET.pattern}$", "CPU numbers", "0", "0-1")

Duration = Annotated[float, BeforeValidator(parse_duration), Field(le=LONGEST_S), _DURATION]
Size = Annotated[int, BeforeValidator(parse_size), Field(le=LARGEST_BYTES), _SIZES]
Fraction = Annotated[float, BeforeValidator(parse_fraction), _FRACTION]
CpuSet = Annotated[str, BeforeValidator(parse_cpuset), _CPUS]
Name = Annotated[str, BeforeValidator(parse_name), StringConstraints(pattern=NAME_PATTERN)]
