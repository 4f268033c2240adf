"""Sources of values for a statement's bind markers: the study's short form, parsed.

A generator is a mapping of one kind and its options, such as ``{zipf: records, format: user%d}``;
a plain text, number or boolean is a constant. For the format of tare-load see docs/load.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tare.study.quantities import parse_fraction
from tare.study.wrong_value import WrongValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NUMBERS: Mapping[str, Mapping[str, Any]] = {
    "sequence": {},
    "uniform": {},
    # Gray et al., SIGMOD 1994, with YCSB's exponent
    "zipf": {"theta": 0.99},
    # YCSB's ScrambledZipfianGenerator: the ranks of 10^10 items, hashed onto the range
    "scrambled_zipfian": {},
    "latest": {"theta": 0.99, "grown_by": None},
    # defaults of YCSB's CoreWorkload
    "hotspot": {"hot": 0.2, "hot_operations": 0.8},
    "exponential": {"percentile": 95.0, "within": 0.8571428571},
    # cassandra-stress: the range is so many standard deviations to either side of its middle
    "gaussian": {"sigmas": 3.0},
}
"""Distributions over whole numbers, and the options of each with their defaults."""
RESHAPING: Mapping[str, Any] = {"divide": 1, "modulo": None, "hashed": False, "format": None}
"""Changes to a number, in this order, before it becomes the column's type."""
KINDS = (*NUMBERS, "like", "text", "blob", "real", "boolean", "choice", "constant", "now")
LARGEST = 2**63 - 1
LONGEST = 1 << 20
"""Longest text or blob, bytes."""

_RANGE = re.compile(r"(-?[0-9][0-9_]*)\.\.(-?[0-9][0-9_]*)?")
_REALS = re.compile(r"(-?[0-9_.]+(?:e[+-]?[0-9]+)?)\.\.(-?[0-9_.]+(?:e[+-]?[0-9]+)?)")


def generator(value: Any, records: int) -> dict[str, Any]:
    """The values of one bind marker, in tare-load's specification.

    Args:
        value: as the study writes it.
        records: load.records, which ranges may name.

    Raises:
        ValueError: the mistake; after "; " the edit to make.
    """
    if not isinstance(value, dict):
        return {"kind": "constant", "value": _constant(value)}
    named = [key for key in value if key in KINDS]
    if len(named) != 1:
        said = f"both {named[0]} and {named[1]}" if named else "no kind"
        raise WrongValueError(f"a generator with {said}", f"write one of {', '.join(KINDS)}")
    kind = named[0]
    argument = value[kind]
    options = {key: one for key, one in value.items() if key != kind}
    if kind in NUMBERS:
        return _number(kind, argument, options, records)
    if kind == "like":
        return {"kind": kind, "marker": _text(argument, "like"), **_reshaped(options, RESHAPING)}
    _known(options, {}, kind)
    return {"kind": kind, **_OTHERS[kind](argument)}


def _number(kind: str, argument: Any, options: dict[str, Any], records: int) -> dict[str, Any]:
    first, last = _range(argument, records)
    if last is None and kind != "sequence":
        raise WrongValueError(f"{kind} needs both ends of its range", "write it like 1..100_000")
    known = {**NUMBERS[kind], **RESHAPING}
    chosen = _reshaped(options, known, kind)
    return {"kind": "number", "distribution": kind, "first": first, "last": last, **chosen}


def _range(value: Any, records: int) -> tuple[int, int | None]:
    """``1..100``, ``1..`` (no end), ``records`` (0 to their last) and ``records..`` (above)."""
    if value == "records":
        return 0, records - 1
    if value == "records..":
        return records, None
    found = _RANGE.fullmatch(value) if isinstance(value, str) and len(value) < 60 else None
    if found is None:
        raise WrongValueError(f"{value!r} is not a range", "write it like 1..100_000, or records")
    first = int(found[1])
    last = int(found[2]) if found[2] is not None else None
    if last is not None and last < first:
        raise WrongValueError(f"{value} counts backwards", "write the smaller number first")
    if max(abs(first), abs(last or 0)) > LARGEST:
        raise WrongValueError(f"{value} does not fit 64 bits", "take smaller numbers")
    return first, last


def _reshaped(
    options: Mapping[str, Any], known: Mapping[str, Any], kind: str = "like"
) -> dict[str, Any]:
    _known(options, known, kind)
    return {key: _option(key, options.get(key, default)) for key, default in known.items()}


def _option(key: str, value: Any) -> Any:
    if value is None and key in ("modulo", "format", "grown_by"):
        return value
    if key in ("divide", "modulo"):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise WrongValueError(f"{key} is {value!r}", "give it a whole number of at least 1")
        return value
    if key == "hashed":
        if not isinstance(value, bool):
            raise WrongValueError(f"hashed is {value!r}", "write true or false")
        return value
    if key == "format":
        text = _text(value, key)
        if text.count("%d") != 1:
            raise WrongValueError(
                f"format {text!r} has no %d for the number", "write it like user%d"
            )
        return text
    if key == "grown_by":
        return _text(value, key).upper()
    return _parameter(key, value)


_PARAMETERS: Mapping[str, tuple[float, float]] = {
    "theta": (0.01, 10.0),
    "hot": (0.0, 1.0),
    "hot_operations": (0.0, 1.0),
    "percentile": (1e-6, 99.999999),
    "within": (1e-9, 1.0),
    "sigmas": (1e-3, 1e3),
}


def _parameter(key: str, value: Any) -> float:
    least, most = _PARAMETERS[key]
    number = parse_fraction(value) if key in ("hot", "hot_operations") else value
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise WrongValueError(f"{key} is {value!r}", "give it a number")
    if not least <= number <= most:
        raise WrongValueError(f"{key} is {value!r}", f"it must be {least:g} to {most:g}")
    return float(number)


def _length(argument: Any) -> dict[str, Any]:
    text = f"{argument}..{argument}" if type(argument) is int else argument
    found = _RANGE.fullmatch(text) if isinstance(text, str) and len(text) < 60 else None
    if found is None or found[2] is None:
        raise WrongValueError(f"{argument!r} is not a length", "write it like 100 or 50..200")
    shortest, longest = int(found[1]), int(found[2])
    if not 0 <= shortest <= longest <= LONGEST:
        raise WrongValueError(f"a length of {argument}", f"it must be 0 to {LONGEST}")
    return {"shortest": shortest, "longest": longest}


def _real(argument: Any) -> dict[str, Any]:
    found = _REALS.fullmatch(argument) if isinstance(argument, str) and len(argument) < 60 else None
    try:
        least, most = (float(found[1]), float(found[2])) if found else (1.0, 0.0)
    except ValueError:
        least, most = 1.0, 0.0
    if not least <= most:
        raise WrongValueError(
            f"{argument!r} is not a range of numbers", "write it like 0..1 or -1.5..1.5"
        )
    return {"least": least, "most": most}


def _boolean(argument: Any) -> dict[str, Any]:
    share = parse_fraction(argument)
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise WrongValueError(f"{argument!r} is not a share", "write it like 30%")
    return {"share": float(share)}


def _choice(argument: Any) -> dict[str, Any]:
    pairs = list(argument.items()) if isinstance(argument, dict) else None
    if isinstance(argument, list):
        pairs = [(one, 1.0) for one in argument]
    if not pairs:
        raise WrongValueError(
            "choice needs values", "write it like [new, read] or {new: 8, read: 2}"
        )
    weights = [one for _, one in pairs]
    if any(isinstance(w, bool) or not isinstance(w, (int, float)) or w < 0 for w in weights):
        raise WrongValueError("a weight of a choice is a number of at least 0", "correct it")
    if not sum(weights):
        raise WrongValueError("no value of the choice has a weight", "give one of them more than 0")
    return {"values": [[_constant(one), float(weight)] for one, weight in pairs]}


def _now(argument: Any) -> dict[str, Any]:
    if argument is not True:
        raise WrongValueError(f"now is {argument!r}", "write now: true")
    return {}


_OTHERS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "text": _length,
    "blob": _length,
    "real": _real,
    "boolean": _boolean,
    "choice": _choice,
    "constant": lambda argument: {"value": _constant(argument)},
    "now": _now,
}


def _constant(value: Any) -> Any:
    if value is not None and not isinstance(value, (str, int, float, bool)):
        raise WrongValueError(
            "a constant is a text, a number, true, false or null", "take one of these"
        )
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 200:
        raise WrongValueError(f"{what} is {value!r}", "give it a text")
    return value


def _known(options: Mapping[str, Any], known: Mapping[str, Any], kind: str) -> None:
    for key in options:
        if key not in known:
            names = ", ".join(known) or "none"
            raise WrongValueError(f"{kind} has no option {key}", f"its options: {names}")
