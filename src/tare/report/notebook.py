"""A Jupyter notebook that loads everything of a run and draws its main figures."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from tare.report.citation import citations
from tare.report.markdown import escape
from tare.report.methods import methods_paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.analysis.model import Analysis

NAME = "analysis.ipynb"
_FILE = "templates/notebook.py.txt"
_MARK = "# %%"


def render_notebook(analysis: Analysis) -> str:
    """The notebook as JSON (nbformat 4.5), to lie beside the report's files.

    Its code is the same for every run and reads the files; it never contains a name of the run.
    """
    cells = [_markdown(_heading(analysis)), *_cells(), _markdown(_ending(analysis))]
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"tare-{number}"
    document = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
        "cells": cells,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _heading(analysis: Analysis) -> str:
    lines = [
        f"# {escape(analysis.question or analysis.study)}",
        f"Study {escape(analysis.study)}, run {escape(analysis.run)}. This notebook reads files "
        "that lie beside it; `tare report` makes them anew.",
    ]
    if not analysis.valid:
        lines.append("**This run is not valid:**")
        lines.append("\n".join(f"- {escape(problem)}" for problem in analysis.problems))
    return "\n\n".join(lines)


def _ending(analysis: Analysis) -> str:
    entries = "\n\n".join(one.bibtex() for one in citations(analysis))
    return f"## Methods\n\n{escape(methods_paragraph(analysis))}\n\n```bibtex\n{entries}\n```"


def _cells() -> Iterator[dict[str, Any]]:
    """The template's cells: text behind `# %% [markdown]`, code behind `# %%`."""
    text = resources.files("tare.report").joinpath(_FILE).read_text("utf-8")
    for part in text.split(f"{_MARK}")[1:]:
        kind, _, body = part.partition("\n")
        if "markdown" in kind:
            yield _markdown("\n".join(line.removeprefix("# ") for line in body.strip().split("\n")))
        else:
            yield {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": body.strip(),
            }


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}
