"""The report as one HTML page that needs nothing but itself: no request, no script."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tare.report import numbers, provenance, tables, words
from tare.report.figures import make_figures, style
from tare.report.palette import condition_classes
from tare.report.text import plain

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Check
    from tare.report.figures import Figure

_ORDER = {"invalid": 0, "warning": 1, "ok": 2}
# Longer tables are folded.
_OPEN_ROWS = 30


def render_html(analysis: Analysis) -> str:
    """The whole page as text.

    Every name and reason is escaped; the page's own policy forbids scripts and any request.
    """
    figures = make_figures(analysis)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            analysis=analysis,
            alerts=words.alerts(analysis),
            answers=words.answers(analysis),
            checks=sorted(analysis.checks, key=lambda c: _ORDER[c.status]),
            check_summary=check_summary(analysis.checks),
            facts=overview(analysis),
            reference=words.reference(analysis),
            several_baselines=len({e.baseline for e in analysis.effects}) > 1,
            figures={name: _drawn(figure) for name, figure in figures.items()},
            tables=[
                tables.conditions_table(analysis),
                tables.effects_table(analysis),
                tables.statistics_table(analysis),
                tables.trials_table(analysis),
            ],
            open_rows=_OPEN_ROWS,
            noise=tables.noise_table(analysis) if analysis.noise_floor else None,
            parity=tables.parity_table(analysis.parity),
            provenance=provenance.sections(analysis.provenance),
            classes=condition_classes(analysis),
            figure_css=Markup(style()),  # noqa: S704 - our own file
            page_css=Markup(_own("page.css")),  # noqa: S704 - our own file
        )
    )


def overview(analysis: Analysis) -> list[tuple[str, str]]:
    """The size of the experiment in a few facts."""
    rounds = len({t.round for t in analysis.trials})
    blocks = len({(t.round, t.block) for t in analysis.trials})
    failed = sum(t.status == "failed" for t in analysis.trials)
    trials = f"{len(analysis.trials):,}" + (f", {failed:,} failed" if failed else ", none failed")
    return [
        ("Baseline", plain(analysis.baseline)),
        ("Conditions", f"{len(analysis.conditions):,}"),
        ("Rounds of deployments", f"{rounds:,}"),
        ("Blocks", f"{blocks:,}"),
        ("Trials", trials),
    ]


def check_summary(checks: list[Check]) -> str:
    """'6 checks: 4 ok, 2 warnings, 0 invalid'."""
    counts = {status: sum(c.status == status for c in checks) for status in _ORDER}
    return (
        f"{numbers.count(len(checks), 'check')}: {counts['ok']} ok, "
        f"{numbers.count(counts['warning'], 'warning')}, {counts['invalid']} invalid"
    )


def _drawn(figure: Figure) -> dict[str, object]:
    # the drawings were made by the XML library, which escapes
    wide = [Markup(p.markup()) for p in figure.wide]  # noqa: S704
    same = figure.narrow is figure.wide
    narrow = [] if same else [Markup(p.markup()) for p in figure.narrow]  # noqa: S704
    return {
        "wide": wide[: figure.shown],
        "more": wide[figure.shown :] if figure.shown else [],
        "narrow": narrow,
        "columns": figure.columns,
        "legend": figure.legend,
    }


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tare.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["plain"] = plain
    return environment


def _own(name: str) -> str:
    return resources.files("tare.report").joinpath(f"templates/{name}").read_text("utf-8")
