"""The report as one HTML page that needs nothing else: one script of its own, no request."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tare.report import (
    answer_grid,
    bill,
    chains,
    dependence,
    ending,
    evidence_tables,
    extent,
    identical,
    latency,
    left_out,
    others_found,
    provenance,
    tables,
    timeline,
    words,
)
from tare.report.answer_cells import answer_cells
from tare.report.chains import chains_table
from tare.report.citation import citations
from tare.report.compiled import CompiledTemplates
from tare.report.embedded import embedded
from tare.report.escaping import plain
from tare.report.exhibits.figures import shown_exhibits
from tare.report.figure_tables import latency_tables, timeline_table
from tare.report.figures import make_figures, style
from tare.report.host_groups import groups_table
from tare.report.labels import condition_labels
from tare.report.methods import methods_paragraph, under_load, ways_taken
from tare.report.overview import check_summary, overview, standing
from tare.report.palette import condition_classes
from tare.report.verdict_notes import verdict_notes
from tare.report.why import explanations, why_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.model import Analysis
    from tare.report.figures import Figure
    from tare.report.svg import Panel
    from tare.report.table import Table
    from tare.report.words import TreatmentAnswer

# Longer tables are folded.
_OPEN_ROWS = 30
# With more treatments than these, columns are headed once, so that all fit on one screen.
_SPACIOUS = 5
_DRAWN = ("wide", "more", "narrow")
# Treatments whose explanation is open.
_WHY_OPEN = 3
# One script, made of these in this order; each is about one ability of the page.
_SCRIPTS = ("data", "marks", "tips", "zoom", "filter", "folds", "tables", "export", "start")


def render_html(analysis: Analysis, figures: Mapping[str, Figure] | None = None) -> str:
    """The whole page as text.

    Args:
        figures: the result of `make_figures`, if it exists already.

    Every name and reason is escaped. The page's own policy forbids any request and every script
    but Tare's, which it knows by its hash. Without the script the whole page can still be read.
    """
    figures = make_figures(analysis) if figures is None else figures
    fitted = extent.fitted(analysis)
    classes = condition_classes(analysis)
    script = _script()
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            analysis=analysis,
            alerts=words.alerts(analysis),
            check_summary=check_summary(analysis),
            standing=standing(analysis),
            facts=overview(analysis),
            reference=words.reference(analysis),
            several_baselines=len({e.baseline for e in analysis.effects}) > 1,
            figures={name: _drawn(figure) for name, figure in figures.items()},
            tables=_tables(analysis),
            open_rows=_OPEN_ROWS,
            exhibits=_exhibits(analysis),
            latency_tables=[
                extent.cut_rows(t, extent.EFFECT_ROWS) for t in latency_tables(analysis)
            ],
            latency_banded=latency.banded(fitted),
            latency_note=extent.nearest_note(analysis, extent.LATENCY_LINES),
            timeline_tables=[extent.cut_rows(timeline_table(analysis), extent.EFFECT_ROWS)],
            timeline_note=timeline_note(analysis, fitted),
            why=explanations(fitted),
            why_open=_WHY_OPEN,
            why_note=_why_note(analysis, fitted),
            why_table=extent.cut_rows(why_table(fitted), extent.WHY_ROWS),
            bills=bill.sentences(fitted),
            no_bills=bill.without(analysis),
            bill_source=bill.source(analysis),
            bill_tables=[bill.bill_table(fitted), bill.owners_table(fitted)],
            effects_note=extent.effects_note(analysis),
            host_groups=groups_table(analysis),
            chains=chains_table(analysis),
            noise=evidence_tables.noise_table(analysis) if analysis.noise_floor else None,
            parity=evidence_tables.parity_table(analysis.parity),
            nothing_differed=words.nothing_differed(analysis),
            provenance_is_of_files=analysis.imported,
            provenance=provenance.sections(
                analysis.provenance, {c.condition: c.levels for c in analysis.conditions}
            ),
            methods=methods_paragraph(analysis),
            bibtex="\n\n".join(one.bibtex() for one in citations(analysis)),
            classes=classes,
            labels=condition_labels(analysis),
            figure_css=Markup(style()),  # noqa: S704 - our own file
            page_css=Markup(template("page.css")),  # noqa: S704 - our own file
            data=Markup(embedded(fitted, classes)),  # noqa: S704 - has no <, > and &
            script=Markup(script),  # noqa: S704 - our own files
            script_hash=_hash(script),
            left_out=left_out.sentences(analysis),
            left_out_tables=[
                extent.cut_rows(table, extent.EFFECT_ROWS) for table in left_out.tables(analysis)
            ],
            **_answer(analysis),
            **_dependence(analysis),
            **_filters(analysis),
        )
    )


def timeline_note(analysis: Analysis, fitted: Analysis) -> str:
    """How many of the recorded conditions, trials and points are drawn."""
    drawn, longest = timeline.points_per_line(fitted), timeline.longest_line(fitted)
    said = [extent.nearest_note(analysis, extent.SERIES_PANELS)]
    shown = {s.condition for s in fitted.series}
    if len(fitted.series) < sum(s.condition in shown for s in analysis.series):
        said.append("Of each condition some of the trials are drawn.")
    said.append("One point a second." if longest <= drawn else _thinned(drawn, longest))
    return " ".join(filter(None, said))


def _thinned(drawn: int, longest: int) -> str:
    return (
        f"Drawn are {drawn:,} of up to {longest:,} points of each line: the least and the greatest "
        "of each stretch. The trial's files hold every second."
    )


def _tables(analysis: Analysis) -> list[Table]:
    for_trials, trials_cut = extent.for_trials(analysis)
    for_conditions, conditions_cut = extent.for_conditions(analysis)
    trials = tables.trials_table(for_trials)
    conditions = tables.conditions_table(for_conditions)
    conditions = replace(conditions, notes=[*conditions.notes, *conditions_cut])
    effects = extent.cut_effects(analysis, tables.effects_table(analysis), extent.EFFECT_ROWS)
    return [
        extent.cut_rows(conditions, extent.EFFECT_ROWS),
        extent.cut_sources(analysis, effects),
        extent.cut_effects(analysis, tables.statistics_table(analysis), extent.STATISTICS_ROWS),
        replace(trials, notes=[*trials.notes, *trials_cut]),
    ]


def _why_note(analysis: Analysis, fitted: Analysis) -> str:
    """How many comparisons are explained; empty: all."""
    if len(fitted.why) == len(analysis.why):
        return ""
    return (
        f"Told are {len(fitted.why)} of {len(analysis.why):,} comparisons, the nearest to the "
        "baseline; analysis.json has all."
    )


def _answer(analysis: Analysis) -> dict[str, object]:
    grids = answer_grid.answer_grids(analysis)
    answers: list[TreatmentAnswer] = words.answers(analysis)
    if grids:
        leading = answer_grid.leading(analysis)
        answers = [a for a in answers if a.lines[0].effect in leading][: answer_grid.SENTENCES]
    cells = answer_cells(analysis, answers)
    further = ending.further(analysis)
    said = {one.remedy for one in words.alerts(analysis)}
    return {
        "answers": answers,
        "under_load": under_load(analysis),
        "ways": ways_taken(analysis),
        "in_all": chains.summary(analysis),
        "others": _others(analysis, answers),
        "grids": grids,
        "summary": answer_grid.summary(analysis) if grids else [],
        "verdict_marks": answer_grid.MARKS,
        "cells": cells,
        "dense": _dense(answers),
        "banded": any(one.bar and analysis.effects[i].margin for i, one in cells.items()),
        "undecided": [one for one in further if one not in said],
        "identical": [*identical.sentences(analysis), *ending.looks(analysis)],
        "verdict_notes": verdict_notes(analysis, (m.name for m in words.primary_metrics(analysis))),
    }


def _dense(answers: list[TreatmentAnswer]) -> bool:
    """Whether columns are headed once: many treatments, all on the same metrics."""
    metrics = {tuple(line.metric for line in one.lines) for one in answers}
    return len(answers) > _SPACIOUS and len(metrics) == 1


def _others(analysis: Analysis, answers: list[TreatmentAnswer]) -> dict[int, tuple[str, list[str]]]:
    """Effect to its published findings: the nearest in a few words, then the line with what that
    omits, and the sources."""
    shown = [line.effect for answer in answers for line in answer.lines]
    return {
        i: (others_found.short(found), [others_found.line(found), *others_found.sources(found)])
        for i in shown
        if (found := analysis.effects[i].others) is not None
    }


def _dependence(analysis: Analysis) -> dict[str, object]:
    first, rest = dependence.interactions(analysis)
    variances = dependence.variance_table(analysis)
    return {
        "interactions": first,
        "interactions_rest": rest,
        "interactions_note": dependence.interactions_note(analysis),
        "noisier": dependence.noisier(analysis),
        "variances": extent.cut_rows(variances, extent.STATISTICS_ROWS),
    }


def _filters(analysis: Analysis) -> dict[str, object]:
    """Factors with their levels, and whether conditions are more than the levels of one factor."""
    factors: dict[str, dict[str, None]] = {}
    for condition in analysis.conditions:
        for factor, level in condition.levels.items():
            factors.setdefault(factor, {})[level] = None
    several = {factor: list(levels) for factor, levels in factors.items() if len(levels) > 1}
    names = {c.condition for c in analysis.conditions}
    alone = len(several) == 1 and len(next(iter(several.values()))) == len(names)
    return {"factors": several, "conditions_differ": len(names) > 1 and not alone}


def _exhibits(analysis: Analysis) -> list[dict[str, object]]:
    """The exhibits with their drawings, as long as these fit the page."""
    room = extent.EXHIBITS
    found = []
    for one in shown_exhibits(analysis):
        drawn = _drawn(one.figure) if one.figure else {}
        size = sum(len(b["markup"]) for part in _DRAWN for b in drawn.get(part, []))
        fits = size <= room
        room -= size if fits else 0
        found.append(
            {
                "exhibit": one.exhibit,
                "figure": one.figure is not None and fits,
                "left_out": one.figure is not None and not fits,
                "drawn": drawn,
                "tables": [extent.cut_rows(t, extent.EXHIBIT_ROWS) for t in one.tables],
            }
        )
    return found


def _drawn(figure: Figure) -> dict[str, Any]:
    same = figure.narrow is figure.wide
    wide = [_box(p) for p in figure.wide]
    return {
        "name": figure.name,
        "title": figure.title,
        "wide": wide[: figure.shown],
        "more": wide[figure.shown :] if figure.shown else [],
        "more_title": figure.more,
        "narrow": [] if same else [_box(p) for p in figure.narrow],
        "columns": figure.columns,
        "legend": figure.legend,
        "labels": figure.labels,
    }


def _box(panel: Panel) -> dict[str, Any]:
    # the drawings were made by the XML library, which escapes
    return {"markup": Markup(panel.markup()), "condition": panel.condition}  # noqa: S704


@cache
def environment() -> Environment:
    """Tare's templates, in which every text is escaped."""
    made = Environment(
        loader=PackageLoader("tare.report"),
        bytecode_cache=CompiledTemplates(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["plain"] = plain
    return made


def template(name: str) -> str:
    """A file beside the templates, as it is."""
    return resources.files("tare.report").joinpath(f"templates/{name}").read_text("utf-8")


@cache
def _script() -> str:
    """The page's script; a module of its own scope, so that it adds no global name."""
    parts = [template(f"script/{name}.js") for name in _SCRIPTS]
    return '"use strict";\n(() => {\n' + "".join(parts) + "})();\n"


def _hash(script: str) -> str:
    """The script as a content security policy names it."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
