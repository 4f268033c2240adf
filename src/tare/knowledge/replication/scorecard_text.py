"""The scorecard for people: cells of a table, and the whole as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.knowledge.wording import interval, percent
from tare.report.bill import in_words
from tare.report.markdown import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.knowledge.replication.model import Band, Row, Scorecard

COLUMNS = ("finding", "published", "ours", "verdict", "note")
FOOTNOTE = (
    "Intervals are 95% each, not adjusted for their number: of findings that hold here, at most "
    "about one in forty is said to disagree by chance; of those judged by several cases, more."
)
_CONDITIONAL = (
    "{} had one deployment: what a platform costs and what a deployment happens to "
    "be cannot be told apart, and intervals are of these very deployments."
)
_BILLS = (
    "A bill is what prices of ways to a server predict for the CPU time of an operation, and what "
    "was measured of that. It decides nothing, and is of no other metric."
)


def groups(card: Scorecard) -> dict[str, list[Row]]:
    """Rows by the table, figure or section of the source that prints them, in its order."""
    found: dict[str, list[Row]] = {}
    for row in card.rows:
        found.setdefault(row.group, []).append(row)
    return found


def cells(card: Scorecard, row: Row) -> tuple[str, str, str, str, str]:
    """One row's cells, as COLUMNS names them."""
    name = row.finding.removeprefix(f"{card.source}.")
    return name, row.published.text, ours_text(row), row.verdict, "; ".join(note_texts(row))


def ours_text(row: Row) -> str:
    """Our change with its interval; empty where it was not run."""
    if row.ours is None:
        return ""
    points = row.ours.treatment_value - row.ours.baseline_value
    beside = f" ({points:+.2f} points)" if row.published.points else ""
    return f"{percent(row.ours.ratio)}{interval(row.ours.ci)}{beside}"


def note_texts(row: Row) -> list[str]:
    """Why it was not run, what would decide, its bill, and parts that are covered only partly."""
    parts = [row.reason] if row.reason else []
    parts += [row.further.words] if row.further else []
    return [*parts, *_bill_texts(row), *row.notes]


def _bill_texts(row: Row) -> list[str]:
    if row.bill is None:
        return [f"no bill: {row.no_bill}"] if row.no_bill else []
    said = f"bill, of CPU time per operation: {in_words(row.bill)}"
    return [", ".join([said, *row.bill.notes])]


def band_text(band: Band) -> str:
    """The changes that would agree."""
    if band.low == 0.0:
        return f"below {percent(band.high)}"
    if math.isinf(band.high):
        return f"above {percent(band.low)}"
    return f"{percent(band.low)} to {percent(band.high)}"


def heading(card: Scorecard) -> list[str]:
    """The counts and the run's validity, then what holds for all rows."""
    lines = [card.summary]
    lines += [f"not valid: {problem}" for problem in card.problems if not card.valid]
    at = f", scale {card.scale}" if card.scale else ""
    lines.append(f"study {card.study}{at}, run {card.run}; findings of: {card.title}")
    if card.only:
        chosen = [f"{factor} {', '.join(levels)}" for factor, levels in card.only.items()]
        lines.append(f"selected: {'; '.join(chosen)}")
    return lines


def remarks(card: Scorecard) -> list[str]:
    """Notes on all rows."""
    found = [f"differs from the source in {one}" for one in card.differs]
    ours = [row for row in card.rows if row.ours]
    conditional = [row.finding for row in ours if row.ours and row.ours.conditional]
    if conditional:
        whole = len(conditional) == len(ours)
        of = "Every condition" if whole else f"Every condition of {', '.join(conditional)}"
        found.append(_CONDITIONAL.format(of))
    found += [_BILLS] if any(row.bill for row in card.rows) else []
    return [*found, FOOTNOTE]


def markdown(card: Scorecard) -> str:
    """The whole scorecard, grouped by table of the source; foreign text is escaped."""
    counts, *rest = heading(card)
    parts = [f"**{escape(counts)}**", *(escape(line) for line in rest)]
    for group, rows in groups(card).items():
        parts += [f"## {escape(group)}", "\n".join(_table(card, rows))]
    parts += ["## How to read it", "\n".join(f"- {escape(one)}" for one in remarks(card))]
    return "\n\n".join(parts) + "\n"


def _table(card: Scorecard, rows: list[Row]) -> Iterator[str]:
    yield "| finding | metric | published | would agree | ours, 95% interval | verdict | note |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        name, published, ours, verdict, note = cells(card, row)
        band = band_text(row.published.band) if row.published.band else ""
        where = f"{name}: {row.where}" if row.where else name
        texts = (where, row.metric, published, band, ours, verdict, note)
        yield f"| {' | '.join(escape(text) for text in texts)} |"
