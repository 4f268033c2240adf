"""The tables of docs/calibration.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bench.calibration.looks import LOOK, PLANNED
from bench.calibration.noise import KINDS
from bench.calibration.simulate import CVS
from bench.calibration.sliced_looks import MARGIN as SLICED_MARGIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from bench.calibration.looks import Looked
    from bench.calibration.power import Power
    from bench.calibration.rates import Rate
    from bench.calibration.simulate import Result
    from bench.calibration.sliced_looks import Ends, Found
    from bench.calibration.spread import Spread

CLEARLY = 3
"""A figure is marked as missed when it is off by more than so many standard errors: of about a
hundred rows, chance alone would mark a handful at two."""


def kinds_table() -> str:
    """What each kind of noise is."""
    return _table(["noise", "what it is"], [[kind.name, kind.words] for kind in KINDS])


def promises_tables(results: Sequence[Result]) -> str:
    """One table per design."""
    designs = dict.fromkeys(result.design for result in results)
    parts = []
    for design in designs:
        rows = [_row(result) for result in results if result.design == design]
        head = ["noise", "95% interval holds the truth", "A/A alarms", "TOST at the margin"]
        head += [f"alike, CV {cv:.0%}" for cv in CVS]
        parts.append(f"**{design.name[0].upper()}{design.name[1:]}**\n\n{_table(head, rows)}")
    return "\n\n".join(parts)


def _row(result: Result) -> list[str]:
    got = result.together
    return [
        result.kind.name,
        _marked(got.coverage, 0.93, 0.97),
        _marked(got.false_alarms, 0.0, 0.05),
        _marked(got.tost_size, 0.0, 0.05),
        *(f"{100 * result.by_cv[cv].alike.value:.0f}%" for cv in CVS),
    ]


def _marked(rate: Rate, low: float, high: float) -> str:
    """The rate, in bold where it clearly misses what is promised."""
    slack = CLEARLY * rate.se
    return f"{rate}" if low - slack <= rate.value <= high + slack else f"**{rate}**"


def power_table(results: Iterable[Power]) -> str:
    """What plans led to."""
    head = [
        "first study", "noise", "CV", "left open", "units planned (median)",
        "finds the difference", "shows equivalence", "extended, finds it",
    ]  # fmt: skip
    rows = [
        [
            one.design, one.kind, f"{one.cv:.0%}", f"{100 * one.open.value:.0f}%",
            f"{one.units:.0f}", *(_low(r) for r in (one.difference, one.equivalence)),
            _low(one.extended),
        ]
        for one in results
    ]  # fmt: skip
    return _table(head, rows)


def spread_table(results: Iterable[Spread]) -> str:
    """The ratio of variances."""
    head = ["design", "noise", "holds the truth, ratio 1", "false alarms", "holds it, ratio 4",
            "finds ratio 4"]  # fmt: skip
    rows = [
        [
            one.design, one.kind, _marked(one.alike, 0.93, 0.97),
            _marked(one.false_alarms, 0.0, 0.05), _marked(one.apart, 0.93, 0.97),
            f"{100 * one.found.value:.0f}%",
        ]
        for one in results
    ]  # fmt: skip
    return _table(head, rows)


def looks_tables(found: Mapping[str, Iterable[Looked]]) -> str:
    """One table per design and kind of noise."""
    head = ["rule", "95% interval holds the truth", "A/A alarms", "TOST at the margin",
            "rounds"]  # fmt: skip
    parts = []
    for title, rules in found.items():
        rows = [
            [
                one.rule, _marked(one.coverage, 0.95, 1.0), _marked(one.false_alarms, 0.0, 0.05),
                _marked(one.tost_size, 0.0, 0.05), f"{one.rounds:.1f}",
            ]
            for one in rules
        ]  # fmt: skip
        parts.append(f"**{title}**\n\n{_table(head, rows)}")
    return "\n\n".join(parts)


def sliced_looks_tables(found: Sequence[Found]) -> str:
    """What is promised, without looks and with them, and when the studies end."""
    head = ["trouble", "comparison"]
    for name in ("95% interval holds the truth", "A/A alarms", "TOST at the margin"):
        head += [f"{name}, no look", "with looks"]
    promised = [
        [one.trouble, kind, *_both(*pair)] for one in found for kind, pair in one.parts.items()
    ]
    ends = ["trouble"]
    for truth in ("nothing differs", f"all differ by {SLICED_MARGIN:.0%}"):
        ends += [f"{truth}: ended after {LOOK}", f"open after {PLANNED}", "rounds"]
    ended = [[one.trouble, *_ended(one.alike), *_ended(one.apart)] for one in found]
    return f"{_table(head, promised)}\n\n{_table(ends, ended)}"


def _both(plain: Looked, looked: Looked) -> list[str]:
    return [
        _marked(plain.coverage, 0.93, 0.97), _marked(looked.coverage, 0.95, 1.0),
        *(_marked(one.false_alarms, 0.0, 0.05) for one in (plain, looked)),
        *(_marked(one.tost_size, 0.0, 0.05) for one in (plain, looked)),
    ]  # fmt: skip


def _ended(ends: Ends) -> list[str]:
    return [f"{ends.early}", f"{ends.undecided}", f"{ends.rounds:.1f}"]


def _low(rate: Rate) -> str:
    return _marked(rate, 0.80, 1.0)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def fill(page: Path, name: str, text: str) -> None:
    """Put the text between the page's two marks of this name.

    Raises:
        ValueError: the page has no such marks.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = page.read_text(encoding="utf-8")
    new, found = re.subn(
        f"{begin}.*?{end}", lambda _: f"{begin}\n\n{text}\n\n{end}", old, flags=re.DOTALL
    )
    if found != 1:
        raise ValueError(f"{page.name} has no marks for {name}")
    page.write_text(new, encoding="utf-8")
