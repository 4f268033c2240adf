"""The published studies that `tare replicate` can run, in a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.cli.console import Terminal, print_indented, say_as_json
from tare.knowledge.library import load_library
from tare.knowledge.replication.papers import shipped_papers

if TYPE_CHECKING:
    from pathlib import Path

    from tare.knowledge.replication.papers import Paper


def show_papers(knowledge: list[Path], *, json: bool) -> None:
    """Each study with its question, its scales, and how many findings there are of it."""
    papers = shipped_papers(load_library(knowledge))
    if json:
        say_as_json([vars(one) for one in papers])
        return
    console = Terminal()
    for one in papers:
        console.print(one.name, style="bold")
        scales = ", ".join(one.scales) or "none"
        told = (one.question, f"{_judged(one)}; scales: {scales}")
        print_indented(console, (f"  {line}" for line in told))
    console.print("\ntare plan NAME --scale SCALE says what one costs")


def _judged(paper: Paper) -> str:
    """How many published findings a run of the study can be compared with."""
    if not paper.findings:
        return (
            f"no finding to hold it against: none of the {paper.published} published asks the same"
        )
    if paper.findings == paper.published:
        return f"{paper.findings} findings"
    return f"{paper.findings} of {paper.published} findings have conditions in it"
