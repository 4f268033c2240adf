"""The report as Markdown: the same answer and tables, for a pull request or a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tare.report import provenance, tables, words
from tare.report.page import check_summary, overview
from tare.report.text import plain

if TYPE_CHECKING:
    from tare.analysis.model import Analysis
    from tare.report.tables import Table

# Inline markup anywhere; a closing bracket only where it could end a link. Plain brackets and
# signs stay as they are, so that the source of a report can be read too.
_SPECIAL = re.compile(r"[\\`*_|~$@]|\](?=[(\[:]|$)")
_ENTITIES = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_LINK = re.compile(r"\b(https?|ftp|mailto)(:)|\b(www)(\.)", re.IGNORECASE)
# What begins a list, a heading or a rule at the start of a line.
_START = re.compile(r"^(\s*\d*)([-+#=.)])(?=[-+#=]*(\s|$))")


def render_markdown(analysis: Analysis) -> str:
    """The whole report as GitHub-flavoured Markdown; foreign text is escaped."""
    parts = [f"# {escape(analysis.question or analysis.study)}"]
    parts.append(f"Study {escape(analysis.study)}, run {escape(analysis.run)}.")
    for alert in words.alerts(analysis):
        word = "NOT VALID" if alert.level == "invalid" else "WARNING"
        lines = [f"> **{word}: {escape(alert.headline)}**"]
        lines += [f"> - {escape(text)}" for text in alert.details]
        parts.append("\n".join([lines[0], ">", *lines[1:]] if alert.details else lines))
    parts.append("## The answer" + ("" if analysis.valid else ", not valid"))
    answers = words.answers(analysis)
    parts.append(
        "\n".join(f"- {escape(answer.sentence)}" for answer in answers)
        or "No treatment was compared with the baseline."
    )
    parts.append("; ".join(f"{name}: {escape(value)}" for name, value in overview(analysis)) + ".")
    parts += _validity(analysis)
    parts += ["## All numbers"]
    for table in (
        tables.effects_table(analysis),
        tables.statistics_table(analysis),
        tables.conditions_table(analysis),
        tables.trials_table(analysis),
    ):
        parts += _table(table, "###")
    parts += ["## What else differed"]
    if analysis.parity:
        parts += _table(tables.parity_table(analysis.parity), "")
    else:
        parts.append("No compared fact differed between conditions.")
    parts.append("## Provenance")
    for name, facts in provenance.sections(analysis.provenance):
        parts.append(f"### {escape(name)}")
        parts.append(
            "\n".join(f"- {escape(fact or name)}: {escape(value)}" for fact, value in facts)
        )
    return "\n\n".join(parts) + "\n"


def escape(text: object) -> str:
    """Foreign text as Markdown that shows exactly that text on one line."""
    line = _SPECIAL.sub(r"\\\g<0>", plain(text)).translate(_ENTITIES)
    line = _LINK.sub(_unlinked, line)
    return _START.sub(r"\1\\\2", line)


def _unlinked(match: re.Match[str]) -> str:
    """The beginning of an address such that no reader makes a link of it."""
    return match[0][:-1] + ("&#58;" if match[0].endswith(":") else "&#46;")


def _validity(analysis: Analysis) -> list[str]:
    state = "Valid" if analysis.valid else "Not valid"
    parts = ["## Can it be trusted?", f"{state}. {check_summary(analysis.checks)}."]
    lines = []
    for check in sorted(
        analysis.checks, key=lambda c: ("invalid", "warning", "ok").index(c.status)
    ):
        lines.append(f"- **{check.status}** {escape(check.name)}: {escape(check.summary)}")
        lines += [f"  - {escape(text)}" for text in check.details]
    parts.append("\n".join(lines))
    if analysis.noise_floor:
        parts += _table(tables.noise_table(analysis), "###")
    return parts


def _table(table: Table, heading: str) -> list[str]:
    parts = [f"{heading} {table.title}"] if heading else []
    rows = [[escape(name) for name in table.columns], ["---"] * len(table.columns)]
    rows += [[escape(cell.text) for cell in row] for row in table.rows]
    parts.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
    return parts + [escape(note) for note in table.notes]
