"""The report's files in a run's directory: page, Markdown, JSON and figures."""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.report.figures import NAMES, make_figures, standalone
from tare.report.markdown import render_markdown
from tare.report.page import render_html

if TYPE_CHECKING:
    from tare.analysis.model import Analysis


def write_report(run_dir: Path, analysis: Analysis) -> Path:
    """Writes report.html, report.md, analysis.json and figures/*.svg; returns the page's path.

    Each file is replaced as a whole, so that a reader never sees half of one.

    Raises:
        OSError: the directory cannot be written.
    """
    figures = make_figures(analysis)
    page = run_dir / "report.html"
    _replace(run_dir / "analysis.json", to_json(analysis))
    _replace(run_dir / "report.md", render_markdown(analysis))
    for name in NAMES:  # a figure of an earlier report that has no data now would mislead
        if name not in figures:
            (run_dir / "figures" / f"{name}.svg").unlink(missing_ok=True)
    for name, figure in figures.items():
        heading = f"{figure.title}: {analysis.question or analysis.study}"
        _replace(run_dir / "figures" / f"{name}.svg", standalone(figure, heading))
    _replace(page, render_html(analysis))
    return page


def to_json(analysis: Analysis) -> str:
    """The analysis as strict JSON, which `Analysis.model_validate_json` reads back.

    JSON has no infinity and no NaN; they become the strings "Infinity", "-Infinity" and "NaN",
    which pydantic takes for the numbers that they name.
    """
    document = _strict(analysis.model_dump(mode="json"))
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    aside = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        aside.chmod(0o644)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
