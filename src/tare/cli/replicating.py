"""Replicates a published study: runs it or takes an existing run, and judges the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.analyse import analyse
from tare.cli.console import say_json, table_console
from tare.cli.finish import NOT_VALID, beside_others, near
from tare.cli.measuring import measure, note_reported
from tare.cli.planning import checked_plan
from tare.cli.scorecard import show
from tare.knowledge.library import load_library
from tare.knowledge.replication.papers import study_file
from tare.knowledge.replication.reference import make_reference
from tare.knowledge.replication.scorecard import make_scorecard
from tare.knowledge.replication.scorecard_text import markdown
from tare.lab.directory import check_name
from tare.report.terminal import render_summary
from tare.report.write import write_report
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from pathlib import Path

JSON_FILE, MARKDOWN_FILE = "scorecard.json", "scorecard.md"


@dataclass(frozen=True)
class ReplicationRequest:
    """The study to replicate, as the command line names it.

    Attributes:
        paper: name or path of a study.
        of: the run that is judged; None: the study is run.
    """

    paper: str
    of: Path | None
    scale: str | None
    only: list[str] | None
    overrides: list[str] | None
    runs: Path
    name: str | None
    knowledge: list[Path]


def replicate(wanted: ReplicationRequest, *, json: bool) -> int:
    """Run the study unless a run is given, show the scorecard, and return the exit status."""
    if wanted.name is not None:
        check_name(wanted.name)
    library = load_library(wanted.knowledge)
    file = study_file(wanted.paper)
    reference = make_reference(file, library)
    failed: list[str] = []
    if wanted.of is None:
        plan = checked_plan(
            file, wanted.overrides, wanted.runs, scale=wanted.scale, only=wanted.only
        )
        outcome = measure(plan, file, wanted.runs, wanted.name, quiet=json)
        run, failed = outcome.directory, list(outcome.failed)
    else:
        run = wanted.of.absolute()
    analysis = analyse(run)
    card = make_scorecard(run, analysis, reference)
    replace_file(run / JSON_FILE, card.model_dump_json(indent=1) + "\n")
    replace_file(run / MARKDOWN_FILE, markdown(card))
    if wanted.of is None:
        write_report(run, beside_others(analysis, run, library))
        note_reported(run)
    if json:
        say_json(card.model_dump_json(indent=1))
    else:
        console = table_console()
        if wanted.of is None:
            console.print(render_summary(analysis))
            console.print()
        show(card, console)
        if failed:
            console.print(f"\n{len(failed)} trials failed: {', '.join(failed)}")
        console.print(f"\nscorecard: {near(run / MARKDOWN_FILE)}", soft_wrap=True)
    return 0 if card.valid else NOT_VALID
