"""The notebook is valid, contains no foreign code, and runs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbclient import NotebookClient

from tare.analysis.analyse import analyse
from tare.report.notebook import NAME, render_notebook
from tare.report.write import write_data
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

from .sample import sample_analysis

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_valid_and_ends_with_the_methods() -> None:
    notebook = nbformat.reads(render_notebook(sample_analysis()), as_version=4)
    nbformat.validate(notebook)
    assert "## Methods" in notebook.cells[-1].source
    assert "@misc{tare" in notebook.cells[-1].source
    for cell in notebook.cells:
        if cell.cell_type == "code":
            ast.parse(cell.source)


def test_the_code_is_the_same_for_every_run_whatever_its_names() -> None:
    plain, hostile = sample_analysis(), sample_analysis()
    hostile.study = hostile.run = '"); import os; os.abort()  # <script>'
    hostile.question = "<img src=x onerror=alert(1)> $x$ [a](javascript:b)"
    hostile.conditions[0].condition = "'''); print(1)"
    cells = [nbformat.reads(render_notebook(a), as_version=4).cells for a in (plain, hostile)]
    code = [[c.source for c in of if c.cell_type == "code"] for of in cells]
    assert code[0] == code[1]
    text = "\n".join(c.source for c in cells[1] if c.cell_type == "markdown")
    assert "<script" not in text
    assert "<img" not in text


def test_an_invalid_run_is_called_so_at_the_top() -> None:
    analysis = sample_analysis()
    analysis.valid, analysis.problems = False, ["errors: too many"]
    notebook = nbformat.reads(render_notebook(analysis), as_version=4)
    assert "not valid" in notebook.cells[0].source


@pytest.mark.filterwarnings("ignore")  # from zmq and asyncio
def test_it_runs_from_the_first_cell_to_the_last(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run",
        effects={
            "native": Truth(),
            "docker-bridge": Truth(throughput=0.9, patch=docker("bridge")),
        },
        blocks=2,
        deployments=2,
        measure_s=3,
    )
    analysis = analyse(run)
    write_data(run, analysis)
    (run / NAME).write_text(render_notebook(analysis), encoding="utf-8")
    notebook = nbformat.read(run / NAME, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(run)}}).execute()
    outputs = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    assert len(pictures) >= 6, "effects and values of two metrics, series, latency"
    texts = " ".join(str(o.get("data", {}).get("text/plain", "")) for o in outputs)
    assert "READ-rt" in texts, "the trial's own histograms were read"
    assert not [o for o in outputs if o.output_type == "error"]
