"""The report as Markdown: the same answer and tables, for a pull request or a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tare.report import (
    bill,
    dependence,
    ending,
    evidence_tables,
    identical,
    left_out,
    others_found,
    provenance,
    tables,
    words,
)
from tare.report.answer_grid import answer_grids
from tare.report.chains import chains_table
from tare.report.citation import citations
from tare.report.escaping import plain
from tare.report.exhibits.tables import exhibit_tables
from tare.report.host_groups import groups_table
from tare.report.labels import pair_names
from tare.report.methods import methods_paragraph, under_load
from tare.report.overview import check_summary, overview
from tare.report.why import explanations, why_table
from tare.study.metric_names import lowered

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Exhibit
    from tare.report.tables import Table

    Folded = tuple[str, list[str] | None]
    """Title and content; no content: too long in any case."""

# Inline markup anywhere; a closing bracket only where it could end a link. Plain brackets and
# signs stay as they are, so that the source of a report is readable, too.
_SPECIAL = re.compile(r"[\\`*_|~$@]|\](?=[(\[:]|$)")
LONGEST = 60_000
"""Characters; a comment on GitHub may have 65,536."""
LEAST_CELL = 6
"""Least number of characters of a table's cell: a number, a unit and what surrounds them."""
_ENTITIES = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_LINK = re.compile(r"\b(https?|ftp|mailto)(:)|\b(www)(\.)", re.IGNORECASE)
# Characters that begin a list, a heading or a rule at the start of a line.
_START = re.compile(r"^(\s*\d*)([-+#=.)])(?=[-+#=]*(\s|$))")


def render_markdown(analysis: Analysis) -> str:
    """The whole report as GitHub-flavoured Markdown; foreign text is escaped.

    The answer stays open, long tables are folded. Parts that would make the text too long for a
    comment are left out from the end, and named.
    """
    parts = [f"# {escape(analysis.question or analysis.study)}"]
    parts.append(f"Study {escape(analysis.study)}, run {escape(analysis.run)}.")
    parts += _alerts(analysis, "invalid")
    if (groups := groups_table(analysis)) is not None:
        parts += [f"## {groups.title}", table_lines(groups), *map(escape, groups.notes)]
    parts.append("## The answer" + ("" if analysis.valid else ", not valid"))
    if load := under_load(analysis):
        parts.append(escape(load))
    parts.append("\n".join(_answers(analysis)) or "No treatment was compared with the baseline.")
    if (chains := chains_table(analysis)) is not None:
        parts += [f"### {escape(chains.title)}", table_lines(chains), *map(escape, chains.notes)]
    parts += _alerts(analysis, "warning")
    parts += [escape(text) for text in identical.sentences(analysis)]
    parts += [escape(text) for text in ending.sentences(analysis)]
    parts.append("; ".join(f"{name}: {escape(value)}" for name, value in overview(analysis)) + ".")
    parts += _validity(analysis)
    parts += _left_out(analysis)
    parts += _dependence(analysis)
    parts += _why(analysis)
    if analysis.bills is not None:
        parts += ["## What its prices predict"]
        told = [*(text for _, text in bill.sentences(analysis)), *bill.without(analysis)]
        parts.append("\n".join(f"- {escape(text)}" for text in told))
        parts.append(escape(bill.source(analysis)))
    parts += ["## All numbers"]
    return _within_limit("\n\n".join(parts), _folded(analysis))


def _alerts(analysis: Analysis, level: str) -> list[str]:
    word = "NOT VALID" if level == "invalid" else "WARNING"
    parts = []
    for alert in words.alerts(analysis):
        if alert.level == level:
            lines = [f"> **{word}: {escape(alert.headline)}**"]
            lines += [f"> - {escape(text)}" for text in alert.details]
            parts.append("\n".join([lines[0], ">", *lines[1:]] if alert.details else lines))
    return parts


def _answers(analysis: Analysis) -> list[str]:
    """A sentence per treatment, and below it the published findings on the same change."""
    few = not answer_grids(analysis)
    lines = []
    for answer in words.answers(analysis):
        lines.append(f"- {escape(answer.sentence)}")
        for line in answer.lines if few else ():
            if (found := analysis.effects[line.effect].others) is not None:
                name = words.in_sentence(words.metric_of(analysis, line.metric))
                lines.append(f"  - {escape(f'Others found of {name}: {others_found.line(found)}')}")
    return lines


def _others(analysis: Analysis) -> list[Folded]:
    """The places of published findings, for the primary metrics."""
    primary = {m.name for m in words.primary_metrics(analysis)}
    names = pair_names(analysis)
    content = []
    for effect in analysis.effects:
        if effect.others is None or effect.metric not in primary:
            continue
        metric = words.metric_of(analysis, effect.metric).title
        name = names[effect.treatment, effect.baseline][0]
        found = [f"- {escape(f'{metric}, {name}')}"]
        found += [f"  - {escape(text)}" for text in others_found.sources(effect.others)]
        content.append("\n".join(found))
    return [("What others found, with sources", ["\n".join(content)])] if content else []


def _folded(analysis: Analysis) -> list[Folded]:
    """The folded parts, the most asked for first."""
    found: list[Folded] = [_fold(tables.effects_table(analysis)), *_others(analysis)]
    found += [_exhibit(one) for one in analysis.exhibits]
    found.append(("Methods, ready to paste", _methods(analysis)))
    if analysis.parity:
        found.append(_fold(evidence_tables.parity_table(analysis.parity), "What else differed"))
    else:
        found.append(("What else differed", [words.nothing_differed(analysis)]))
    found += [_fold(table) for table in left_out.tables(analysis)]
    if analysis.noise_floor:
        found.append(_fold(evidence_tables.noise_table(analysis)))
    if analysis.why:
        found.append(_fold(why_table(analysis)))
    if analysis.bills is not None and analysis.bills.of:
        found += [_fold(bill.bill_table(analysis)), _fold(bill.owners_table(analysis))]
    found += [
        _fold(tables.conditions_table(analysis)),
        _fold(tables.statistics_table(analysis)),
    ]
    if len(analysis.trials) * len(analysis.metrics) * LEAST_CELL > LONGEST:
        found.append(("Trials", None))  # writing out thousands of trials would be in vain
    else:
        found.append(_fold(tables.trials_table(analysis)))
    facts = []
    for name, section in provenance.sections(
        analysis.provenance, {c.condition: c.levels for c in analysis.conditions}
    ):
        facts.append(f"### {escape(name)}")
        facts.append("\n".join(f"- {escape(fact or name)}: {escape(v)}" for fact, v in section))
    return [*found, ("Provenance", facts)]


def _exhibit(exhibit: Exhibit) -> tuple[str, list[str]]:
    """An exhibit of the study: caption, figure and tables."""
    content = [escape(exhibit.caption + (f" After {exhibit.after}." if exhibit.after else ""))]
    if exhibit.charts:
        content.append(f"![{escape(exhibit.title)}](figures/{exhibit.name}.svg)")
    for table in exhibit_tables(exhibit):
        content += [table_lines(table), *(escape(note) for note in table.notes)]
    return exhibit.title, content


def _methods(analysis: Analysis) -> list[str]:
    """The paragraph, and the works to cite, in a block that no content can end."""
    entries = [entry.bibtex() for entry in citations(analysis)]
    return [escape(methods_paragraph(analysis)), "```bibtex\n" + "\n\n".join(entries) + "\n```"]


def _fold(table: Table, title: str = "") -> tuple[str, list[str]]:
    return title or table.title, [table_lines(table), *(escape(note) for note in table.notes)]


def _within_limit(text: str, folded: list[Folded]) -> str:
    too_long = []
    for title, content in folded:
        part = "" if content is None else "\n\n".join(details(title, content))
        if not part or len(text) + len(part) > LONGEST:
            too_long.append(title)
        else:
            text += f"\n\n{part}"
    if too_long:
        names = ", ".join(map(lowered, too_long))
        text += f"\n\nToo long for this page, and in report.html: {names}."
    return text + "\n"


def details(summary: str, content: list[str]) -> list[str]:
    """Parts that are folded away under a line; empty lines let Markdown inside be read."""
    return [f"<details>\n<summary>{escape(summary)}</summary>", *content, "</details>"]


def escape(text: object) -> str:
    """Foreign text as Markdown that shows exactly that text on one line."""
    line = _SPECIAL.sub(r"\\\g<0>", plain(text)).translate(_ENTITIES)
    line = _LINK.sub(_unlinked, line)
    return _START.sub(r"\1\\\2", line)


def _unlinked(match: re.Match[str]) -> str:
    """The beginning of an address, changed so that no reader makes a link of it."""
    return match[0][:-1] + ("&#58;" if match[0].endswith(":") else "&#46;")


def _why(analysis: Analysis) -> list[str]:
    lines = [
        f"- {escape(one.name)} against {escape(one.against)}: "
        + " ".join(escape(text) for text in one.sentences)
        for one in explanations(analysis)
        if not one.aa
    ]
    return ["## What changed with it", "\n".join(lines)] if lines else []


def _dependence(analysis: Analysis) -> list[str]:
    """Factors that primary effects depend on, and noisier treatments; empty without a test."""
    first, _ = dependence.interactions(analysis)
    lines = [f"- {escape(text)}" for text in (*first, *dependence.noisier(analysis))]
    note = dependence.interactions_note(analysis) if first else ""
    parts = ["## What it depends on, and what is noisier", "\n".join(lines), escape(note)]
    return [part for part in parts if part] if lines else []


def _left_out(analysis: Analysis) -> list[str]:
    lines = [f"- {escape(text)}" for text in left_out.sentences(analysis)]
    return [f"## {left_out.TITLE}", "\n".join(lines)] if lines else []


def _validity(analysis: Analysis) -> list[str]:
    parts = ["## Can it be trusted?", check_summary(analysis)]
    lines = []
    for check in analysis.checks:
        lines.append(f"- **{check.status}** {escape(check.name)}: {escape(check.summary)}")
        lines += [f"  - {escape(text)}" for text in check.details]
    parts.append("\n".join(lines))
    return parts


def table_lines(table: Table) -> str:
    """The table itself, without its notes."""
    rows = [[escape(name) for name in table.columns], ["---"] * len(table.columns)]
    rows += [[escape(cell.text) for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
