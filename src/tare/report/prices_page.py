"""Prices as one HTML page that needs nothing else: drawings, tables, and notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from tare.analysis.prices import AGAIN, compared_with
from tare.analysis.tariff import NATIVE
from tare.report import numbers
from tare.report.figures import style
from tare.report.page import environment, template
from tare.report.price_panels import Added, added_panel
from tare.report.table import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tare.records.kept_measurements import MeasuredMachine
    from tare.records.part_prices import PartPrice, PartWeighing
    from tare.records.prices import Interval, Price, Weighing
    from tare.report.svg import Panel

_OPERATIONS = {
    "request": ("Ways to a server", "a request and its answer", "Round trip"),
    "working": (
        "Ways to a server that works",
        "a request, and its answer after the server has walked through data and code",
        "Round trip",
    ),
    "connection": (
        "A new connection",
        "a connection is opened, STARTUP and one request are answered, and it is closed",
        "In all",
    ),
    "kilobyte": (
        "Each further kilobyte",
        "1,000 further bytes in an answer",
        "Round trip",
    ),
}
_PARTS = {
    "system": "System calls and page faults",
    "storage": "Storage",
    "machine": "CPU and memory",
    "name": "Name resolution",
    "start": "Start of a unit",
}


@dataclass(frozen=True)
class PricesSection:
    """The results of one weighing.

    Attributes:
        doubts: doubts about it.
        notes: other facts that a reader must know.
    """

    name: str
    title: str
    lede: str
    panels: list[Panel]
    table: Table
    doubts: Sequence[str] = ()
    notes: Sequence[str] = ()


def ways_section(found: Weighing, doubts: Sequence[str], notes: Sequence[str]) -> PricesSection:
    """The ways to a server, or a new connection on each of them."""
    title, operation, time = _OPERATIONS[found.operation]
    within = found.operation == "working"
    more = "More" if within else "Over native"
    rows = [
        [
            Cell(_named(one)),
            Cell(str(one.in_flight), "number", value=one.in_flight),
            *([Cell(compared_with(one))] if within else []),
            *_pair(one.demand, one.added),
            *_interval(one.percent, 1.0, 1),
            _packets(one.counts),
            *_pair(one.round_trip, one.round_trip_added),
            Cell(one.path),
        ]
        for one in found.prices
    ]
    columns = ["Way", "In flight", *(["Compared with"] if within else []), "CPU, \u00b5s",
               more, "95% CI", "Percent", "95% CI", "Packets", f"{time}, \u00b5s", more, "95% CI",
               "Through"]  # fmt: skip
    over = "the same server's loopback" if within else NATIVE
    panels = []
    for flight, tls in sorted({(one.in_flight, one.tls) for one in found.prices}):
        added = [
            Added(_named(one), one.added)
            for one in found.prices
            if (one.in_flight, one.tls) == (flight, tls)
            and one.added is not None
            and (one.over or not within)
        ]
        if added:
            heading = f"CPU time, {flight} in flight{', with TLS' if tls else ''}"
            panels.append(
                added_panel(heading, f"{numbers.MICROSECONDS} per operation", added, 2, over)
            )
    lede = (
        f"An operation: {operation}. CPU time of server, client, engine and the kernel's threads; "
        f"intervals are of 95%, over {numbers.count(found.rounds, 'round')} with new servers."
    )
    return PricesSection(found.operation, title, lede, panels, Table(title, columns, rows, []),
                   doubts, notes)  # fmt: skip


def _named(price: Price) -> str:
    return f"{price.way}, TLS" if price.tls else price.way


def part_sections(found: PartWeighing, notes: Sequence[str]) -> list[PricesSection]:
    """A section for each part; the notes stand with the last one."""
    parts = [what for what in _PARTS if any(one.what == what for one in found.prices)]
    return [
        _part(what, [one for one in found.prices if one.what == what],
              notes if what == parts[-1] else ())
        for what in parts
    ]  # fmt: skip


def _part(what: str, prices: Sequence[PartPrice], notes: Sequence[str]) -> PricesSection:
    rows = []
    for one in prices:
        for clock, cost in (("CPU time", one.cpu), ("time that passes", one.wall)):
            rows.append(
                [
                    Cell(one.title),
                    Cell(one.platform),
                    Cell(clock),
                    Cell(_time(cost.ns.value), "number", value=cost.ns.value),
                    *(_interval(cost.added, 1000.0, 3)),
                    *(_interval(cost.percent, 1.0, 1)),
                ]
            )
    columns = ["Operation", "On", "Clock", "Takes", "Over native, \u00b5s", "95% CI",
               "Percent", "95% CI"]  # fmt: skip
    passed = what == "start"
    added = [
        Added(f"{one.title}, {kind}" if kind else one.title, percent)
        for one in prices
        if one.platform != AGAIN
        and (percent := (one.wall if passed else one.cpu).percent) is not None
        for kind in [one.platform.removeprefix(one.runtime).removeprefix(".")]
    ]
    clock = "Time that passes" if passed else "CPU time"
    panels = [added_panel(clock, "percent", added, 1)] if added else []
    title = _PARTS[what]
    lede = "One operation that does nothing else, native and on each platform."
    return PricesSection(what, title, lede, panels, Table(title, columns, rows, []), (), notes)


def render_prices(sections: Sequence[PricesSection], machine: MeasuredMachine, made: str) -> str:
    """The whole page as text.

    Args:
        sections: one at least.
        made: when it was weighed, in the reader's words.
    """
    return (
        environment()
        .get_template("prices.html.j2")
        .render(
            sections=[
                (one, [Markup(panel.markup()) for panel in one.panels])  # noqa: S704 - our own drawings
                for one in sections
            ],
            facts=_facts(machine, made),
            doubts=list(_doubts(sections)),
            figure_css=Markup(style()),  # noqa: S704 - our own file
            page_css=Markup(template("page.css")),  # noqa: S704 - our own file
        )
    )


def _doubts(sections: Sequence[PricesSection]) -> Iterable[str]:
    for one in sections:
        yield from one.doubts


def _facts(machine: MeasuredMachine, made: str) -> list[tuple[str, str]]:
    return [
        ("machine", machine.hostname),
        ("CPUs", f"{machine.cpus} x {machine.cpu_model}"),
        ("virtualization", machine.virtualization or "none"),
        ("kernel", machine.kernel),
        ("weighed", made),
    ]


def _pair(value: Interval, added: Interval | None) -> list[Cell]:
    return [Cell(f"{value.value:.2f}", "number", value=value.value), *_interval(added, 1.0, 2)]


def _interval(one: Interval | None, scale: float, digits: int) -> list[Cell]:
    """A difference and its interval, in two cells."""
    if one is None:
        return [Cell("", "number"), Cell("", "number")]
    value, low, high = (
        f"{number / scale:+.{digits}f}".replace("-", numbers.MINUS)
        for number in (one.value, one.low, one.high)
    )
    return [
        Cell(value, "number", value=one.value / scale),
        Cell(f"[{low}, {high}]", "number", value=one.low / scale),
    ]


def _packets(counts: dict[str, Interval]) -> Cell:
    if "packets" not in counts:
        return Cell("", "number")
    return Cell(f"{counts['packets'].value:.2f}", "number", value=counts["packets"].value)


def _time(ns: float) -> str:
    return f"{numbers.significant(ns)} ns" if ns < 1000 else numbers.quantity(ns / 1000, "us")
