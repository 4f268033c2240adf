"""Shows bills, the prices' predictions beside the measurements: sentences, a table, waterfalls."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tare.analysis.tariff import SOFTIRQ
from tare.enumeration import first_of, listing
from tare.report import numbers
from tare.report.labels import pair_names
from tare.report.scales import Scale, linear_ticks
from tare.report.svg import Panel, add, describe, label, mark, panel
from tare.report.table import Cell, RowKey, Table

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET
    from collections.abc import Sequence

    from tare.analysis.model import Analysis, Bill
    from tare.analysis.model.bill import BillLine, Bills

WIDTH = 360
_TOP, _ROW, _BAR, _AXIS = 44, 40, 14, 24
_MOST_NAMED = 3
_LEAST = 0.005
"""microseconds that round to none: page faults that hardly ever happen"""
_SMALL = 0.05
"""share of a drawing's width: lines that do not reach it with their interval are drawn as one"""
WORDS = {
    "consistent": "consistent",
    "contradicted": "contradicted",
    "bill only": "bill only, as what was measured does not decide",
    "in part": "in part, as there is no price of ",
}
OWNERS = {
    "server": "the database's processes",
    "client": "the load clients",
    "engine": "the container engine",
    "kernel": "the kernel",
}
_MODE = "of all these in soft interrupts"
LIMITS = (
    "The bill cannot see what packets push out of a database's caches, what its JIT compiler makes "
    "of it, and waiting near saturation. It never stands in for what was measured."
)


def sentences(analysis: Analysis) -> list[tuple[Bill, str]]:
    """A sentence per bill."""
    doubtful = analysis.bills is not None and bool(analysis.bills.doubts)
    by = "by prices that are not valid" if doubtful else "by prices"
    return [(one, _sentence(one, by, *said)) for one, said in _bills(analysis)]


def _bills(analysis: Analysis) -> list[tuple[Bill, tuple[str, str]]]:
    """The bills, with the reader's names of treatment and baseline."""
    names = pair_names(analysis)
    return [
        (one, names.get((one.treatment, one.baseline), (one.treatment, one.baseline)))
        for one in (analysis.bills.of if analysis.bills else ())
    ]


def without(analysis: Analysis) -> list[str]:
    """A sentence for each reason why measured differences have no bill, or bills lack a line."""
    names = pair_names(analysis)
    found: dict[str, list[str]] = {}
    for one in analysis.bills.without if analysis.bills else ():
        pair = one.treatment, one.baseline
        found.setdefault(one.why, []).append(" over ".join(names.get(pair, pair)))
    told = [f"No bill of {first_of(pairs, _MOST_NAMED)}: {why}." for why, pairs in found.items()]
    return [*told, *_lines_left_out(analysis)]


def _lines_left_out(analysis: Analysis) -> list[str]:
    """A sentence for each reason why bills lack lines beside those of packets."""
    found: dict[str, list[str]] = {}
    for bill in analysis.bills.of if analysis.bills else ():
        for what, why in bill.left_out.items():
            own = found.setdefault(why, [])
            own += [] if what in own else [what]
    return [f"No line of {first_of(whats, _MOST_NAMED)}: {why}." for why, whats in found.items()]


def in_words(bill: Bill, by: str = "by prices") -> str:
    """The prices' prediction, the measurement, and the word for both."""
    return (
        f"{_amount(bill.us, bill.ci)} ({_share(bill.us, bill)}) {by}, "
        f"{_amount(bill.measured_us, bill.measured_ci)} ({_share(bill.measured_us, bill)}) "
        f"as measured: {WORDS[bill.verdict]}{' and '.join(bill.unpriced)}"
    )


def _sentence(bill: Bill, by: str, treatment: str, baseline: str) -> str:
    told = f"{treatment} over {baseline}: {in_words(bill, by)}"
    if bill.verdict == "contradicted":
        more, _, _ = numbers.signed_differences(bill.unexplained_us, bill.measured_ci)
        told += f", {more} {numbers.MICROSECONDS} is not explained{_where(bill)}"
    return ". ".join([told, *bill.notes]) + "."


def _where(bill: Bill) -> str:
    """Who used most of the unexplained part."""
    beyond = {one.owner: one.measured_us - one.us for one in bill.owners if one.owner != SOFTIRQ}
    same = {owner: us for owner, us in beyond.items() if us * bill.unexplained_us > 0}
    if not same:
        return ""
    owner = max(same, key=lambda name: abs(same[name]))
    share = same[owner] / bill.unexplained_us
    if share > 1:
        return f", all of it in {OWNERS[owner]} ({_us(same[owner])} beyond their own lines)"
    much = "most of it" if share > 0.5 else "the largest part of it"
    return f", {much} in {OWNERS[owner]} ({_us(same[owner])})"


def source(analysis: Analysis) -> str:
    """The source of the prices, and what they cannot show."""
    if analysis.bills is None:
        return ""
    bills = analysis.bills
    against = f"Its prices are not valid: {'; '.join(bills.doubts)}. " if bills.doubts else ""
    flights = listing([str(one) for one in bills.in_flight])
    return (
        f"{against}Prices are of servers without a database on this machine, weighed at "
        f"{bills.made} in {numbers.count(bills.rounds, 'round')} with {flights} operations in "
        f"flight and rows of {bills.row_bytes:,} bytes (tare weigh). Packets are those that each "
        "condition's servers sent and received, as the kernel counted them; where nodes reach each "
        "other in another way than clients do, those of the clients, and those between nodes by "
        f"the price of their own way. {_working(bills)}{_beside(analysis)}{LIMITS}"
    )


def _working(bills: Bills) -> str:
    """The basis of the line of cold caches; empty: there is none."""
    if bills.working_made is None:
        return ""
    return (
        "What cold caches add to a way is what it costs over its server's own loopback device, and "
        "to a packet more, what native pays for it, where servers walk through data and code for "
        f"each request: weighed at {bills.working_made} (tare weigh --what working). Between "
        "nodes, where the end that asks works as well, the server's part of it counts twice. "
    )


def _beside(analysis: Analysis) -> str:
    """The basis of the lines beside those of packets; empty: there are no such lines."""
    bills = analysis.bills
    if bills is None or bills.parts_made is None:
        return ""
    told = (
        f"What servers and clients do beside is priced by single operations, weighed at "
        f"{bills.parts_made} (tare weigh --what system,storage): of context switches, page faults, "
        "bytes of files and system calls what is beyond those that the servers of the packets' "
        "prices made. "
    )
    if bills.counting_us is not None:
        told += (
            "System calls were counted in slices of the warm-up alone, in which an operation cost "
            f"{_us(bills.counting_us)} more than measured. "
        )
    return told


def bill_table(analysis: Analysis) -> Table:
    """Every line of every bill, with the sum and the measurement."""
    columns = ["Treatment", "Baseline", "What", "How many", "Each", "Per operation",
               "95% CI", "Of the baseline", "Verdict"]  # fmt: skip
    rows: list[list[Cell]] = []
    keys: list[RowKey] = []
    nothing = [Cell("", "number"), Cell("", "number")]
    for bill, said in _bills(analysis):
        pair = [Cell(said[0], "condition", bill.treatment), Cell(said[1])]
        for line in bill.lines:
            counted = [
                Cell(_counted(line), "number", value=line.count),
                Cell(_us(line.price_us) if line.count else "", "number", value=line.price_us),
            ]
            paid = _numbers(bill, line.us, line.ci)
            rows.append([*pair, Cell(line.what), *counted, *paid, Cell("", "verdict")])
        paid = _numbers(bill, bill.us, bill.ci)
        rows.append([*pair, Cell("by prices"), *nothing, *paid, Cell(bill.verdict, "verdict")])
        paid = _numbers(bill, bill.measured_us, bill.measured_ci)
        rows.append([*pair, Cell("as measured"), *nothing, *paid, Cell("", "verdict")])
        keys += [RowKey(condition=bill.treatment)] * (len(bill.lines) + 2)
    notes = [source(analysis)] if rows else []
    return Table("The bill", columns, rows, notes, "bill-table", {}, keys)


def owners_table(analysis: Analysis) -> Table:
    """Whose CPU time should be higher, and whose was."""
    columns = ["Treatment", "Baseline", "Used by", "By prices", "95% CI", "As measured", "95% CI"]
    rows: list[list[Cell]] = []
    keys: list[RowKey] = []
    for bill, said in _bills(analysis):
        for one in bill.owners:
            priced = _numbers(bill, one.us, one.ci)[:2]
            measured = _numbers(bill, one.measured_us, one.measured_ci)[:2]
            named = [Cell(said[0], "condition", bill.treatment), Cell(said[1])]
            rows.append([*named, Cell(OWNERS.get(one.owner, _MODE)), *priced, *measured])
            keys.append(RowKey(condition=bill.treatment))
    return Table("The bill by who used it", columns, rows, [], "owners-table", {}, keys)


def bill_panels(analysis: Analysis) -> list[Panel]:
    """A waterfall per bill: its lines from the baseline on, their sum, and the measurement."""
    told = (sentence for _, sentence in sentences(analysis))
    bills = zip(_bills(analysis), told, strict=True)
    return [_draw(one, sentence, *said) for (one, said), sentence in bills]


def _numbers(bill: Bill, us: float, ci: tuple[float, float]) -> list[Cell]:
    _, low, high = numbers.signed_differences(us, ci)
    return [
        Cell(_us(us), "number", value=us),
        Cell(f"[{low}, {high}]", "number", value=ci[0]),
        Cell(_share(us, bill), "number", value=us / bill.baseline_us),
    ]


def _counted(line: BillLine) -> str:
    return f"{line.count:+z.2f} {line.unit}".replace("-", numbers.MINUS)


def _us(value: float) -> str:
    return f"{value:+z.2f} {numbers.MICROSECONDS}".replace("-", numbers.MINUS)


def _amount(value: float, ci: tuple[float, float]) -> str:
    if max(abs(value), *map(abs, ci)) < _LEAST:
        return f"0.00 {numbers.MICROSECONDS}"
    first, low, high = numbers.signed_differences(value, ci)
    return f"{first} {numbers.MICROSECONDS} [{low}, {high}]"


def _share(value: float, bill: Bill) -> str:
    return numbers.change(1 + value / bill.baseline_us)


def _draw(bill: Bill, sentence: str, treatment: str, baseline: str) -> Panel:
    lines = _drawn(bill)
    height = _TOP + _ROW * (len(lines) + 2) + _AXIS
    drawing = panel(f"Bill of {treatment} over {baseline}", WIDTH, height, bill.treatment)
    describe(drawing.root, sentence)
    label(drawing.root, 0, 16, treatment, "title", length=44)
    under = f"over {baseline}, {numbers.MICROSECONDS} per operation: {bill.verdict}"
    label(drawing.root, 0, 34, under, "small muted", length=60)
    x = _scale(bill, lines)
    _axis(drawing.root, x, height - _AXIS)
    at, top = 0.0, _TOP
    for line in lines:
        _step(drawing.root, line, at, x, top, "c1")
        at, top = at + line.us, top + _ROW
    priced = _Line("by prices", bill.us, bill.ci)
    _step(drawing.root, priced, 0.0, x, top, "c0", whisker=True)
    measured = _Line("as measured", bill.measured_us, bill.measured_ci)
    _step(drawing.root, measured, 0.0, x, top + _ROW, "c2", whisker=True)
    return drawing


class _Line(NamedTuple):
    """A line as it is drawn; `of` names those that it is the sum of."""

    what: str
    us: float
    ci: tuple[float, float]
    of: str = ""


def _drawn(bill: Bill) -> list[_Line]:
    """The lines to draw, small ones as one. At worst they err together, so that their half-widths
    add up."""
    every = [_Line(line.what, line.us, line.ci) for line in bill.lines]
    ends = [0.0, *bill.ci, *bill.measured_ci]
    least = _SMALL * (max(ends) - min(ends))
    small = [one for one in every if max(abs(one.us), *map(abs, one.ci)) < least]
    if len(small) <= 1:
        return every
    us = sum(one.us for one in small)
    half = sum((high - low) / 2 for _, _, (low, high), _ in small)
    each = "\n".join(f"{_amount(one.us, one.ci)} {one.what}" for one in small)
    told = f"{len(small)} smaller ones, in the table"
    others = [one for one in every if one not in small]
    return [*others, _Line(told, us, (us - half, us + half), each)]


def _scale(bill: Bill, lines: Sequence[_Line]) -> Scale:
    """The range of everything drawn, including 0."""
    ends = [0.0, *bill.ci, *bill.measured_ci]
    at = 0.0
    for line in lines:
        at += line.us
        ends.append(at)
    room = 0.04 * (max(ends) - min(ends) or 1.0)
    return Scale(min(ends) - room, max(ends) + room, 0, WIDTH)


def _axis(root: ET.Element, x: Scale, bottom: float) -> None:
    ticks = linear_ticks(max(abs(x.low), abs(x.high)), 4)
    for tick in sorted({*ticks, *(-one for one in ticks)}):
        if x.holds(tick):
            css = "grid" if tick else "zero"
            add(root, "line", css, x1=x(tick), x2=x(tick), y1=_TOP, y2=bottom)
            place = "start" if x(tick) < 20 else "end" if x(tick) > WIDTH - 30 else "middle"
            text = f"{tick:g}".replace("-", numbers.MINUS)
            label(root, x(tick), bottom + 14, text, f"tiny muted {place}")


def _step(
    root: ET.Element,
    line: _Line,
    start: float,
    x: Scale,
    top: float,
    css: str,
    *,
    whisker: bool = False,
) -> None:
    """One bar, from the end of the bar before."""
    text = _amount(line.us, line.ci)
    group = mark(add(root, "g"), f"{text}\n{line.of or line.what}")
    label(group, 0, top + 13, line.what, "small", length=34)
    label(group, WIDTH, top + 13, text, "figures small end", length=34)
    left, right = sorted((x(start), x(start + line.us)))
    bar = add(group, "rect", f"part {css}", x=left, y=top + 18, height=_BAR)
    bar.set("width", f"{max(right - left, 1.0):.2f}")
    if whisker:
        middle = top + 18 + _BAR / 2
        low, high = line.ci
        add(group, "line", "tie interval", x1=x(low), x2=x(high), y1=middle, y2=middle)
