"""Ratios as changes that a reader can use, alone and in front of what changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

WORDS = {"none": "no difference"}
"""Directions that are not stated by their own word."""
_HUNDREDFOLD = 100.0
_NOT_STATED = " not stated"


def percent(ratio: float, *, whole: bool = False) -> str:
    """A ratio as a change: 1.034 is +3.4%; beyond a hundredfold its digits say nothing.

    Args:
        whole: the digits of its source allow no more than whole percents.
    """
    if ratio > _HUNDREDFOLD:
        return "over 100x"
    if ratio < 1 / _HUNDREDFOLD:
        return "under 0.01x"
    digits = 0 if whole else 1
    change = round((ratio - 1) * 100, digits) or 0.0  # no minus before a zero
    return f"{change:+.{digits}f}%" if abs(change) < 100 else f"{ratio:.{digits + 1}f}x"


def interval(ci: tuple[float, float] | None) -> str:
    """The interval as it stands behind a change: ' [+1.0%, +5.9%]'; empty: there is none."""
    return "" if ci is None else f" [{percent(ci[0])}, {percent(ci[1])}]"


def allowed(ratio: float, digits: tuple[float, float]) -> str:
    """A number whose source prints few digits, and the values that these allow."""
    low, high = (percent(one, whole=True) for one in digits)
    return f"{percent(ratio, whole=True)} is {low} to {high} by its printed digits"


def span(low: float | None, high: float | None, *, whole: bool = False) -> str:
    """A range of ratios, or one end of it; `whole` as in `percent`."""
    if low is not None and high is not None:
        lower, upper = percent(low, whole=whole), percent(high, whole=whole)
        return lower if lower == upper else f"{lower} to {upper}"
    if low is not None:
        more = "more" if low > 1 else "higher"
        return "at least as much" if low == 1 else f"{percent(low)} or {more}"
    if high is None:
        return "no number"
    # up to -28.6% would be a fall of that much at most
    return f"up to {percent(high)}" if high >= 1 else f"{percent(high)} or lower"


def of(change: str, noun: str) -> str:
    """The change in front of what changes: +3.4% mean latency, 5.90x the mean latency."""
    return f"{change} the {noun}" if change.endswith("x") else f"{change} {noun}"


def not_stated(field: str) -> str:
    """The phrase for a field that a source does not state."""
    return field + _NOT_STATED


def known_and_not_stated(differs: Iterable[str]) -> tuple[list[str], list[str]]:
    """From phrases on the distance to a question: the differences, and the fields that the source
    does not state, which may be alike."""
    phrases = list(differs)
    unknown = [one.removesuffix(_NOT_STATED) for one in phrases if one.endswith(_NOT_STATED)]
    return [one for one in phrases if not one.endswith(_NOT_STATED)], unknown


def apart(differs: Iterable[str], alike: str) -> str:
    """The same in words, after the word for nearness; `alike` where there are neither."""
    known, unknown = known_and_not_stated(differs)
    parts = [
        f"differs in: {', '.join(known)}" if known else "",
        f"not stated: {', '.join(unknown)}" if unknown else "",
    ]
    return "; ".join(part for part in parts if part) or alike
