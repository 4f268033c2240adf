"""Numbers as a reader sees them: every quantity with its unit, every ratio as a change."""

from __future__ import annotations

import math

from tare.enumeration import count as count

MINUS = "\u2212"
MICROSECONDS = "\u00b5s"
HOURS_FROM, DAYS_FROM = 2, 48
"""From so many hours on, a length of time is given in hours, and in days."""

# Units as the analysis names them -> (short unit, steps). A step (factor, unit) is taken for
# values of at least that factor, so that 1 234 us reads as 1.23 ms.
_TIME = ((1e6, "s"), (1e3, "ms"), (1.0, "\u00b5s"))
_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_STEPS: dict[str, tuple[tuple[tuple[float, str], ...], str]] = {
    "us": (_TIME, ""),
    "us/operation": (_TIME, "/op"),
    "us/op": (_TIME, "/op"),
    "bytes": (_BYTES, ""),
    "bytes/s": (_BYTES, "/s"),
    "bytes/operation": (_BYTES, "/op"),
}
_SHORT = {"operations/s": "ops/s", "operations": "ops"}


def significant(value: float) -> str:
    """A plain number of about three significant digits, thousands separated by commas."""
    if math.isnan(value):
        return "n/a"
    if math.isinf(value):
        return "unbounded"
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 100:
        text = f"{value:,.0f}"
    else:
        decimals = 1 if size >= 10 else 2 if size >= 1 else 2 - math.floor(math.log10(size))
        text = f"{value:.{min(decimals, 9)}f}"
    return text.replace("-", MINUS)


def quantity(value: float | None, unit: str) -> str:
    """A value with its unit, scaled to a readable size ('1.23 ms', '12,346 ops/s')."""
    if value is None or math.isnan(value):
        return "n/a"
    if unit in _STEPS:
        steps, suffix = _STEPS[unit]
        factor, name = next((s for s in steps if abs(value) >= s[0]), steps[-1])
        return f"{significant(value / factor)} {name}{suffix}"
    if unit == "%":
        return f"{_at_most_two(value)}%"
    return f"{significant(value)} {_SHORT.get(unit, unit)}".strip()


def _at_most_two(value: float) -> str:
    """As `significant`, with at most two decimals: percentages are never finer."""
    text = f"{value:.2f}" if abs(value) < 1 else significant(value)
    return "0" if text.strip("-0.") == "" else text.replace("-", MINUS)


def tick(value: float, unit: str) -> str:
    """A round value on an axis: as a quantity, without trailing zeros ('30 ms', '0.5 cores')."""
    digits, _, name = quantity(value, unit).partition(" ")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    if digits == "1" and name == "cores":
        name = "core"
    return f"{digits} {name}".strip()


def change(ratio: float) -> str:
    """A ratio as a signed change in percent: 0.877 is '-12.3%' (with a real minus sign)."""
    if math.isnan(ratio):
        return "n/a"
    if math.isinf(ratio):
        return "unbounded"
    text = _percent_digits(abs(ratio - 1))
    if float(text.replace(",", "")) == 0:
        return f"{text}%"
    return f"{'+' if ratio > 1 else MINUS}{text}%"


def change_in_words(ratio: float) -> str:
    """A ratio as a reader says it: 0.877 is '12.3% lower'."""
    if not math.isfinite(ratio):
        return "not measurable"
    text = _percent_digits(abs(ratio - 1))
    return f"{text}% {'higher' if ratio >= 1 else 'lower'}"


def range_in_words(ci: tuple[float, float]) -> str:
    """An interval of a ratio as a reader says it: 'between 9.5% lower and 24.6% higher'."""
    low, high = ci
    if math.isnan(low) or math.isnan(high):
        return "not measurable"
    if high < 1 or low > 1:  # both on one side: said once
        first, last = sorted((low, high), key=lambda end: abs(end - 1))
        return f"between {_reach(first).rpartition(' ')[0]} and {_reach(last)}"
    return f"between {_reach(low)} and {_reach(high)}"


def _reach(ratio: float) -> str:
    return "any amount higher" if math.isinf(ratio) else change_in_words(ratio)


def signed_differences(value: float, ci: tuple[float, float]) -> tuple[str, str, str]:
    """A difference and the ends of its interval, with signs: '+5.3', '+3.0', '+7.5'.

    All three have the digits to which half the interval is known: two of its own.
    """
    half = (ci[1] - ci[0]) / 2
    decimals = 1 - math.floor(math.log10(half)) if 0 < half < math.inf else 1
    first, low, high = (_signed(one, min(max(decimals, 0), 9)) for one in (value, *ci))
    return first, low, high


def _signed(value: float, decimals: int) -> str:
    if not math.isfinite(value):
        return significant(value)
    return f"{round(value, decimals) + 0.0:+,.{decimals}f}".replace("-", MINUS)


def signed_quantity(value: float, unit: str) -> str:
    """A difference with its unit and sign; a difference of percentages is in points."""
    text = quantity(value, unit).replace("%", " points")
    return f"+{text}" if value > 0 else text


def interval(ci: tuple[float, float]) -> str:
    """An interval of a ratio as changes: '[-15.1%, -9.4%]' (with real minus signs).

    An end beyond a hundredfold is written as such: its digits mean nothing.
    """
    if any(math.isnan(end) for end in ci):
        return "[no interval]"
    return f"[{_end(ci[0])}, {_end(ci[1])}]"


_HUNDREDFOLD = 100.0


def _end(ratio: float) -> str:
    beyond = math.isfinite(ratio) and ratio > _HUNDREDFOLD
    return "over 100 times" if beyond else change(ratio)


def ratio(value: float) -> str:
    """A ratio as such, with three decimals and no unit."""
    return f"{value:.3f}" if math.isfinite(value) else significant(value)


def ratio_interval(ci: tuple[float, float]) -> str:
    """An interval of a ratio as ratios: '[0.849, 0.906]'."""
    return f"[{ratio(ci[0])}, {ratio(ci[1])}]"


def share(value: float | None) -> str:
    """A fraction as an unsigned percentage: 0.05 is '5%', 0.034 is '3.4%'."""
    if value is None or not math.isfinite(value):
        return "n/a"
    return f"{value * 100:.1f}".removesuffix(".0") + "%"


def p_value(value: float | None) -> str:
    """A p value, never as zero."""
    if value is None or math.isnan(value):
        return "n/a"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def length(seconds: float) -> str:
    """A length of time as a plan states it: '1 min' at least, '2.2 h', '4.6 days'."""
    hours = seconds / 3600
    if hours < HOURS_FROM:
        return f"{max(seconds / 60, 1):.0f} min"
    return f"{hours:.1f} h" if hours < DAYS_FROM else f"{hours / 24:.1f} days"


def _percent_digits(fraction: float) -> str:
    percent = fraction * 100
    return f"{percent:.1f}" if percent < 99.95 else f"{percent:,.0f}"
