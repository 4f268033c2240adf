"""Makes a run from other tools' files, and reports what was imported."""

from __future__ import annotations

import json as to_json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tare.analysis.analyse import analyse
from tare.cli.commands import NOT_VALID
from tare.cli.console import Terminal, say_json
from tare.enumeration import first_of
from tare.errors import UsageError
from tare.imports.reasons import Reason, by_reason
from tare.imports.run import ImportOutcome, Request, import_files
from tare.imports.tools import Options, Unit
from tare.report.numbers import count
from tare.report.terminal import render_summary
from tare.report.write import write_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FAILED = 1
MOST_SHOWN, MOST_NAMED = 20, 3
"""Most reasons for skipped files, and most files named for each; --json lists all."""


@dataclass(frozen=True)
class ImportRequest:
    """The files to import, as the command line names them.

    Attributes:
        factors: template of file names; None: the study's.
        levels: FACTOR=LEVEL that all files have.
        include, exclude: patterns of the files that are wanted, and of those that are not.
        report: analyse the run and write its report.
    """

    tool: str
    paths: list[Path]
    study: Path
    out: Path
    factors: str | None
    sidecar: Path | None
    levels: Sequence[str]
    include: Sequence[str]
    exclude: Sequence[str]
    report: bool


def import_all(
    wanted: ImportRequest,
    *,
    unit: str | None,
    scope: str,
    cpus: int | None,
    interval: float | None,
    json: bool,
) -> int:
    """Import, analyse and report; returns the exit status.

    Raises:
        UsageError: an option that means nothing.
    """
    options = Options(_unit(unit), _scope(scope), cpus, _interval(interval))
    request = Request(
        wanted.tool,
        wanted.paths,
        wanted.study,
        wanted.out.absolute(),
        wanted.factors,
        wanted.sidecar,
        _fixed(wanted.levels),
        wanted.include,
        wanted.exclude,
        options,
    )
    outcome = import_files(request)
    page, valid = None, True
    if wanted.report and outcome.trials:
        analysis = analyse(outcome.run)
        valid = analysis.valid
        page = write_report(outcome.run, analysis)
        if not json:
            Terminal().print(render_summary(analysis))
    if json:
        say_json(to_json.dumps(_document(outcome, page), indent=1, ensure_ascii=False))
    else:
        _show(outcome, page)
    return _status(outcome, valid=valid)


def _status(outcome: ImportOutcome, *, valid: bool) -> int:
    if not outcome.trials:
        return FAILED
    return 0 if valid and not outcome.skipped else NOT_VALID


def _show(outcome: ImportOutcome, page: Path | None) -> None:
    console = Terminal()
    reasons = by_reason(outcome.skipped)
    lines = [_skipped(one) for one in reasons[:MOST_SHOWN]]
    if len(reasons) > MOST_SHOWN:
        left = sum(len(one.labels) for one in reasons[MOST_SHOWN:])
        lines.append(f"and {count(left, 'more file')} for other reasons; --json lists all")
    lines += [f"note: {note}" for note in outcome.notes]
    trials = len(set(outcome.trials))
    lines.append(
        f"{count(trials, 'trial')} from {count(outcome.files, 'part')} of files, "
        f"{len(outcome.skipped):,} skipped: {outcome.run}"
    )
    if not outcome.trials:
        lines[-1] = f"no trial could be made, {len(outcome.skipped):,} skipped; nothing was written"
        lines.append("  try: correct what is named above, e.g. the template with --factors")
    if page is not None:
        lines.append(f"report: {page}")
    for line in lines:
        console.print(line, soft_wrap=True)


def _skipped(reason: Reason) -> str:
    labels = reason.labels
    if len(labels) == 1:
        return f"skipped {labels[0]}: {reason.text}"
    return f"skipped {len(labels):,} files: {reason.text}: {first_of(labels, MOST_NAMED)}"


def _document(outcome: ImportOutcome, page: Path | None) -> dict[str, object]:
    return {
        "run": str(outcome.run) if outcome.trials else None,
        "trials": sorted(set(outcome.trials)),
        "files": outcome.files,
        "skipped": [
            {"file": one.label, "reason": one.reason, "fault": one.fault} for one in outcome.skipped
        ],
        "notes": outcome.notes,
        "report": str(page) if page is not None else None,
    }


def _fixed(texts: Sequence[str]) -> dict[str, str]:
    fixed: dict[str, str] = {}
    for text in texts:
        factor, equals, level = text.partition("=")
        if not equals or not factor or not level:
            raise UsageError(f"--level {text}: not FACTOR=LEVEL", remedy="e.g. --level threads=10")
        fixed[factor] = level
    return fixed


def _unit(text: str | None) -> Unit | None:
    units: dict[str, Literal["ns", "us", "ms"]] = {"ns": "ns", "us": "us", "ms": "ms"}
    if text is not None and text not in units:
        raise UsageError(f"--unit {text}: not ns, us or ms", remedy="e.g. --unit us")
    return units[text] if text is not None else None


def _scope(text: str) -> str:
    if not text.isprintable() or not text or " " in text or len(text) > 64:
        raise UsageError("--scope: a name without blanks", remedy="e.g. --scope client")
    return text


def _interval(value: float | None) -> float | None:
    if value is not None and not 0 < value < 86400:
        raise UsageError(
            f"--interval {value:g}: seconds, more than 0 and less than a day",
            remedy="e.g. --interval 1",
        )
    return value
