"""The report's files in a run's directory: page, Markdown, JSON, tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pydantic_core

from tare.report import exports
from tare.report.exhibits.csv_tables import exhibit_files, remove_stale_tables
from tare.report.exhibits.figures import exhibit_figures, remove_stale
from tare.report.figures import NAMES, make_figures, standalone
from tare.report.markdown import render_markdown
from tare.report.page import render_html
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from pydantic import BaseModel

    from tare.analysis.model import Analysis


def write_report(run_dir: Path, analysis: Analysis) -> Path:
    """Writes the page, Markdown, JSON, tables and figures; returns the page's path.

    Each file is replaced as a whole, so that a reader never sees half of one.

    Raises:
        OSError: the directory cannot be written.
    """
    own = make_figures(analysis)
    figures = own | exhibit_figures(analysis)
    page = run_dir / "report.html"
    write_data(run_dir, analysis)
    replace_file(run_dir / "report.md", render_markdown(analysis))
    for name in NAMES:  # a figure of an earlier report without data now would mislead
        if name not in figures:
            (run_dir / "figures" / f"{name}.svg").unlink(missing_ok=True)
    remove_stale(run_dir / "figures", set(figures))
    for name, figure in figures.items():
        heading = f"{figure.title}: {analysis.question or analysis.study}"
        replace_file(run_dir / "figures" / f"{name}.svg", standalone(figure, heading))
    replace_file(page, render_html(analysis, own))
    return page


def write_data(run_dir: Path, analysis: Analysis) -> None:
    """Writes what other programs read: analysis.json and the tables.

    Raises:
        OSError: the directory cannot be written.
    """
    replace_file(run_dir / "analysis.json", to_json(analysis))
    tables = dict(exhibit_files(analysis))
    remove_stale_tables(run_dir, set(tables))
    for name, content in (*exports.files(analysis), *tables.items()):
        replace_file(run_dir / name, content)


def to_json(document: BaseModel) -> str:
    """An analysis or a comparison as strict JSON, which its `model_validate_json` reads back.

    JSON has no infinity and no NaN; they become the strings "Infinity", "-Infinity" and "NaN",
    which pydantic reads as these numbers.
    """
    content = document.model_dump(mode="json")
    return pydantic_core.to_json(content, indent=1, inf_nan_mode="strings").decode() + "\n"
