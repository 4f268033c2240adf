"""The end of commands that analyse a run: report, summary, exit status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tare.analysis.analyse import analyse
from tare.cli.commands import NOT_VALID as NOT_VALID
from tare.cli.console import Terminal, say, say_document, say_json
from tare.errors import KnowledgeError, UsageError
from tare.knowledge.library import load_library
from tare.knowledge.others_found import with_others
from tare.lab.undisturbed import undisturbed
from tare.records.layout import RunFiles
from tare.report.markdown import render_markdown
from tare.report.terminal import render_summary
from tare.report.write import to_json, write_report
from tare.study.read import load_study

if TYPE_CHECKING:
    from tare.analysis.model import Analysis
    from tare.knowledge.library import Library


def finish(run: Path, *, json: bool, markdown: bool = False, library: Library | None = None) -> int:
    """Analyse, write the report, show the summary; the exit status that the result deserves.

    Args:
        library: published findings; None: the shipped knowledge and the files of TARE_KNOWLEDGE.
    """
    analysis = beside_others(analyse(run), run, library)
    with undisturbed():  # an interrupted library may raise its own error
        page = write_report(run, analysis)
    if json:
        say_json(to_json(analysis))
    elif markdown:
        say_document(render_markdown(analysis))
    else:
        console = Terminal()
        console.print(render_summary(analysis))
        console.print(f"\nreport: {near(page)}", soft_wrap=True)
    return 0 if analysis.valid else NOT_VALID


def beside_others(analysis: Analysis, run: Path, library: Library | None) -> Analysis:
    """The analysis with published findings; without them if the knowledge base is unreadable."""
    try:
        known = load_library() if library is None else library
    except KnowledgeError as error:
        say(f"the report is without what others found: {error}", err=True)
        return analysis
    return with_others(analysis, load_study(RunFiles(run).study), known)


def near(path: Path) -> str:
    """The path as a user in this directory would write it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def only_one(**forms: bool) -> None:
    """Refuse several forms of output at once.

    Raises:
        UsageError: more than one is asked for.
    """
    asked = [f"--{name}" for name, wanted in forms.items() if wanted]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} exclude each other", remedy="give one of them")
