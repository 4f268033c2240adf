"""The part of a large study that one page shows, so that it stays quick and below 3 MB.

Each cut is named where it is made; the files beside the page have everything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tare.report import answer_grid, numbers, others_found, words

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Bills, Effect, Metric, Pair, Series
    from tare.report.table import Table

FOREST_ROWS = 240
BLOCK_RATIOS = 30
"""Blocks of one effect: more marks in one row are a bar."""
TRIAL_CELLS = 3_000
TRIAL_ROWS = 200
TRIAL_FILES = 150
"""With more trials than this, one file of each is linked."""
CONDITION_CELLS = 1_000
EFFECT_ROWS = 300
STATISTICS_ROWS = 150
SERIES_ROWS = 120
SERIES = 240
SERIES_PANELS = 24
LATENCY_LINES = 18
"""As many lines as colour and dashes can tell apart."""
WHY = 12
EXHIBITS = 900_000
"""Characters of the drawings of all exhibits together."""
EXHIBIT_ROWS = 200
WHY_ROWS = 200
OTHERS = 60
"""Effects whose cells open to the sources of published findings."""
# What a reader looks for after the primary metrics.
_USUAL = (
    "service_demand",
    "throughput",
    "all.mean",
    "all.p99",
    "cpu.server_per_op",
    "all.p999",
)


def ranked_metrics(analysis: Analysis) -> list[Metric]:
    """Primary metrics, then those that readers usually look for, then the others."""
    first = [m.name for m in words.primary_metrics(analysis)]
    first += [name for name in _USUAL if name not in first]
    rank = {name: i for i, name in enumerate(first)}
    return sorted(analysis.metrics, key=lambda m: rank.get(m.name, len(rank)))


@dataclass(frozen=True)
class Drawn:
    """Effects on one metric that are drawn together; `places` are their places in the analysis."""

    metric: Metric
    places: list[int]
    single: bool = False
    """Effects at single levels, in a study that also has the averages over them."""


def drawn_effects(analysis: Analysis) -> list[Drawn]:
    """The effects that the figure draws: in a large study the averages over all levels first.

    These are averages (or all effects, where there are few) of as many metrics as have FOREST_ROWS
    effects. In a large study the effects at single levels on the primary metrics follow.
    """
    leading = _leading(analysis)
    by_metric: dict[str, list[int]] = {}
    single: dict[str, list[int]] = {}
    for i, effect in enumerate(analysis.effects):
        first = not leading or effect.aa or i in leading
        (by_metric if first else single).setdefault(effect.metric, []).append(i)
    found = _within(analysis, by_metric, FOREST_ROWS, single=False)
    primary = {m.name for m in words.primary_metrics(analysis)}
    single = {name: places for name, places in single.items() if name in primary}
    return found + _within(analysis, single, FOREST_ROWS // 2, single=True)


def _within(
    analysis: Analysis, by_metric: dict[str, list[int]], rows: int, *, single: bool
) -> list[Drawn]:
    kept: list[Drawn] = []
    total = 0
    for metric in ranked_metrics(analysis):
        places = by_metric.get(metric.name, [])
        if kept and total + len(places) > rows:
            break
        total += len(places)
        if places:
            kept.append(Drawn(metric, places[:rows], single))
    return kept


def _leading(analysis: Analysis) -> set[int]:
    """The averages over all other factors, where there are too many effects for one figure."""
    return answer_grid.leading(analysis) if answer_grid.answer_grids(analysis) else set()


def drawn_pairs(effect: Effect) -> list[Pair]:
    """The ratios of single blocks that are drawn. Of very many, some are drawn, evenly by rank, so
    that the smallest, the largest and the spread stay as they are."""
    if len(effect.pairs) <= BLOCK_RATIOS:
        return effect.pairs
    ranked = sorted(effect.pairs, key=lambda pair: pair.ratio)
    last = len(ranked) - 1
    return [ranked[round(i * last / (BLOCK_RATIOS - 1))] for i in range(BLOCK_RATIOS)]


def effects_note(analysis: Analysis) -> str:
    """Which effects and blocks are not drawn; empty: all are."""
    drawn = drawn_effects(analysis)
    places = {i for one in drawn for i in one.places}
    notes = [_undrawn_effects(analysis, drawn, places)]
    most = max((len(analysis.effects[i].pairs) for i in places), default=0)
    if most > BLOCK_RATIOS:
        notes.append(
            f"Of up to {most:,} ratios of single blocks per effect, {BLOCK_RATIOS} are drawn, "
            "evenly by rank, the smallest and the largest among them; analysis.json has all."
        )
    return " ".join(note for note in notes if note)


def _undrawn_effects(analysis: Analysis, drawn: list[Drawn], places: set[int]) -> str:
    left = len(analysis.effects) - len(places)
    if not left:
        return ""
    metrics = {e.metric for e in analysis.effects} - {one.metric.name for one in drawn}
    where = "in the table of effects" if len(analysis.effects) <= EFFECT_ROWS else "in effects.csv"
    text = numbers.count(left, "further effect")
    text += f", {numbers.count(len(metrics), 'further metric')} among them" if metrics else ""
    return f"Not drawn, but {where}: {text}."


def nearest(analysis: Analysis, at_most: int) -> set[str]:
    """The conditions shown in single figures: of many, those nearest to the baseline.

    The nearest conditions have the fewest levels that differ from the baseline's.
    """
    names = [c.condition for c in analysis.conditions]
    if len(names) <= at_most:
        return {*names, *(s.condition for s in analysis.series)}
    first = words.reference(analysis)
    own = next((c.levels for c in analysis.conditions if c.condition == first), {})

    def apart(levels: dict[str, str]) -> int:
        return sum(own.get(factor) != level for factor, level in levels.items())

    ranked = sorted(analysis.conditions, key=lambda c: (c.condition != first, apart(c.levels)))
    return {c.condition for c in ranked[:at_most]}


def fitted(analysis: Analysis) -> Analysis:
    """The analysis with the series, distributions and explanations that one page draws."""
    lines, strips = nearest(analysis, LATENCY_LINES), nearest(analysis, SERIES_PANELS)
    told = sorted(analysis.why, key=lambda w: (w.aa, w.treatment not in strips))[:WHY]
    series = [s for s in analysis.series if s.condition in strips]
    return analysis.model_copy(
        update={
            "series": _evenly(series, SERIES),
            "distributions": [d for d in analysis.distributions if d.condition in lines],
            "why": [w for w in analysis.why if w in told],
            "bills": _first_bills(analysis.bills, strips),
        }
    )


def _first_bills(bills: Bills | None, strips: set[str]) -> Bills | None:
    """As many bills as explanations, those of the drawn conditions first."""
    if bills is None or len(bills.of) <= WHY:
        return bills
    first = sorted(bills.of, key=lambda bill: bill.treatment not in strips)[:WHY]
    return bills.model_copy(update={"of": [bill for bill in bills.of if bill in first]})


def _evenly(series: list[Series], at_most: int) -> list[Series]:
    """With more series than one page draws, the same number of each condition."""
    if len(series) <= at_most:
        return series
    room = max(1, at_most // len({s.condition for s in series}))
    seen: dict[str, int] = {}
    kept = []
    for one in series:
        seen[one.condition] = seen.get(one.condition, 0) + 1
        if seen[one.condition] <= room:
            kept.append(one)
    return kept


def nearest_note(analysis: Analysis, at_most: int, what: str = "conditions") -> str:
    """The note that only the nearest conditions are drawn; empty: all are."""
    if len(analysis.conditions) <= at_most:
        return ""
    return (
        f"Of {len(analysis.conditions):,} {what}, the {at_most} nearest to the baseline are drawn; "
        "analysis.json has all."
    )


def for_trials(analysis: Analysis) -> tuple[Analysis, list[str]]:
    """The analysis with what fits the table of trials, and the note on what is left out."""
    room = TRIAL_CELLS // max(1, len(analysis.trials))
    analysis, said = _with_metrics(analysis, room, "trial", "trials.csv")
    if len(analysis.trials) > TRIAL_FILES:
        trials = [t.model_copy(update={"files": t.files[:1]}) for t in analysis.trials]
        said.append("Of each trial one file is linked; the others lie beside it.")
        analysis = analysis.model_copy(update={"trials": trials})
    if len(analysis.trials) > TRIAL_ROWS:
        said.append(
            f"Shown are {TRIAL_ROWS:,} of {len(analysis.trials):,} trials; trials.csv beside this "
            "page has them all."
        )
        in_order = sorted(analysis.trials, key=lambda t: (t.round, t.block, t.position))
        analysis = analysis.model_copy(update={"trials": in_order[:TRIAL_ROWS]})
    return analysis, said


def for_conditions(analysis: Analysis) -> tuple[Analysis, list[str]]:
    """The analysis with the metrics that fit the table of conditions, and what is left out."""
    room = CONDITION_CELLS // max(1, len(analysis.conditions))
    return _with_metrics(analysis, room, "condition", "analysis.json")


def _with_metrics(analysis: Analysis, room: int, row: str, file: str) -> tuple[Analysis, list[str]]:
    """The analysis with as many metrics as there is room for, six at least, and what is left out.

    Args:
        row: what a row of the table is about.
        file: the file that has them all.
    """
    kept = {m.name for m in ranked_metrics(analysis)[: max(6, room)]}
    shown = [m for m in analysis.metrics if m.name in kept]
    if len(shown) == len(analysis.metrics):
        return analysis, []
    left = numbers.count(len(analysis.metrics) - len(shown), "further metric")
    said = [f"Not shown: {left} of each {row}; {file} beside this page has them all."]
    return analysis.model_copy(update={"metrics": shown}), said


def cut_effects(analysis: Analysis, table: Table, at_most: int) -> Table:
    """The table of effects with the rows of the first metrics in rank, and what is left out."""
    if len(table.rows) <= at_most:
        return table
    rank = {m.name: i for i, m in enumerate(ranked_metrics(analysis))}

    def place(i: int) -> int:
        return rank.get(analysis.effects[i].metric, len(rank))

    kept = sorted(sorted(range(len(table.rows)), key=place)[:at_most])
    note = (
        f"Shown are {at_most:,} of {len(table.rows):,} effects, those on primary metrics first; "
        "effects.csv beside this page has them all."
    )
    return replace(
        table,
        rows=[table.rows[i] for i in kept],
        keys=[table.keys[i] for i in kept],
        notes=[*table.notes, note],
    )


def cut_sources(analysis: Analysis, table: Table) -> Table:
    """The table of effects with the sources of published findings in OTHERS cells, primary
    endpoints first; the other cells keep their line."""
    shown = [key.effect for key in table.keys if key.effect is not None]
    opened = others_found.first(analysis, shown, OTHERS)
    known = others_found.first(analysis, shown, len(shown))
    if len(opened) == len(known):
        return table
    rows = [
        row if key.effect in opened else [replace(cell, more=()) for cell in row]
        for row, key in zip(table.rows, table.keys, strict=True)
    ]
    note = (
        f"What others found opens to its sources in {len(opened):,} of {len(known):,} rows, those "
        "on primary endpoints first; analysis.json has all."
    )
    return replace(table, rows=rows, notes=[*table.notes, note])


def cut_rows(table: Table, at_most: int) -> Table:
    """The first rows of a table that is in order of importance, and what is left out."""
    if len(table.rows) <= at_most:
        return table
    note = f"Shown are the first {at_most:,} of {len(table.rows):,}; analysis.json has them all."
    return replace(
        table,
        rows=table.rows[:at_most],
        keys=table.keys[:at_most],
        notes=[*table.notes, note],
    )
