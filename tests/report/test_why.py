"""The report shows what changed together with the effects, and only what the analysis has."""

from __future__ import annotations

import re

import pytest

from tare.analysis.catalogue import describe
from tare.analysis.model import Analysis, BesideChange, CostPart, CostSplit, CountChange, Why
from tare.report.markdown import render_markdown
from tare.report.page import render_html
from tare.report.why import explanations, why_panels, why_table
from tests.report.sample import sample_analysis as sample

EVIL = "<img src=x onerror=alert(1)>"


def change(name: str, base: float, treated: float, *, clear: bool = True) -> dict[str, object]:
    difference = treated - base
    return {
        "metric": describe(name), "baseline": base, "treatment": treated,
        "difference": difference, "ci": (difference - 1, difference + 1), "clear": clear,
    }  # fmt: skip


def why(treatment: str, baseline: str = "native", *, aa: bool = False) -> Why:
    whole = CountChange(
        metric=describe("service_demand"), baseline=105.0, treatment=119.0,
        difference=14.0, ci=(11.0, 17.0), clear=True,
    )  # fmt: skip
    parts = [
        CostPart(**change("cpu.user_per_op", 80, 80, clear=False), share=0.0),
        CostPart(**change("cpu.system_per_op", 20, 25), share=5 / 14, share_ci=(0.2, 0.5)),
        CostPart(**change("cpu.softirq_per_op", 5, 14), share=9 / 14, share_ci=(0.5, 0.8)),
    ]
    beside = [
        BesideChange(**change("cpu.softirq_per_op", 5, 14), ratio=2.8),
        BesideChange(
            **change("os.context_switches_per_op", 2, 5), ratio=2.5, correlation={"all.mean": -0.71}
        ),
    ]
    return Why(
        baseline=baseline, treatment=treatment, aa=aa, conditional=False, units=3,
        unit_of_analysis="deployment", beside=beside,
        splits=[CostSplit(by="mode", whole=whole, parts=parts)],
        sentences=[f"Of the +14 of {treatment}, +9 are interrupts."],
    )  # fmt: skip


@pytest.fixture
def analysis() -> Analysis:
    made = sample()
    names = [c.condition for c in made.conditions]
    return made.model_copy(update={"why": [why(names[1], names[0]), why(names[2], names[0])]})


def test_without_counts_there_is_no_section() -> None:
    page = render_html(sample().model_copy(update={"why": []}))
    assert 'id="why"' not in page


def test_the_page_and_the_markdown_say_the_sentences(analysis: Analysis) -> None:
    for one in analysis.why:
        assert one.sentences[0] in render_html(analysis)
        assert one.treatment.replace("_", "\\_") in render_markdown(analysis)
    assert "## What changed with it" in render_markdown(analysis)


def test_controls_come_last() -> None:
    made = sample().model_copy(update={"why": [why("again", aa=True), why("bridge")]})
    assert [one.treatment for one in explanations(made)] == ["bridge", "again"]


def test_the_table_has_the_whole_its_parts_and_what_changed_beside(analysis: Analysis) -> None:
    table = why_table(analysis)
    rows = [
        [cell.text for cell in row]
        for row in table.rows
        if analysis.why[0].treatment in row[0].text
    ]
    titles = [row[2] for row in rows]
    assert titles[0] == "Service demand"
    softirq = rows[titles.index("CPU in interrupts and soft interrupts (network path)")]
    assert softirq[5:9] == ["+9.00 \u00b5s/op", "[+8.00 \u00b5s/op, +10.0 \u00b5s/op]", "yes",
                            "64% [50%, 80%]"]  # fmt: skip
    assert rows[titles.index("Context switches")][9] == "\u22120.71"
    assert len(table.keys) == len(table.rows)


def test_every_bar_is_as_long_as_its_parts_together(analysis: Analysis) -> None:
    (panel,) = why_panels(analysis)
    widths: dict[str, float] = {}
    for element in panel.root.iter("rect"):
        if "part" in element.get("class", "").split():
            name = element.get("data-condition", "")
            widths[name] = widths.get(name, 0.0) + float(element.get("width", "0"))
    base, first, second = (widths[c.condition] for c in analysis.conditions[:3])
    assert first == pytest.approx(second)
    assert first / base == pytest.approx(119 / 105, abs=0.01)


def test_a_part_below_zero_is_not_drawn_backwards(analysis: Analysis) -> None:
    one = analysis.why[0]
    low = one.splits[0].parts[2].model_copy(update={"baseline": -0.5})
    cost = one.splits[0].model_copy(update={"parts": [*one.splits[0].parts[:2], low]})
    made = analysis.model_copy(update={"why": [one.model_copy(update={"splits": [cost]})]})
    (panel,) = why_panels(made)
    widths = [float(e.get("width", "1")) for e in panel.root.iter("rect")]
    assert len(widths) >= 3
    assert min(widths) >= 0


def test_names_cannot_become_markup(analysis: Analysis) -> None:
    evil = analysis.model_copy(update={"why": [why(EVIL, EVIL)]})
    for text in (render_html(evil), render_markdown(evil)):
        assert "<img" not in text
    section = re.search(r'<section id="why">.*?</section>', render_html(evil), re.S)
    assert section is not None
    assert "&lt;img" in section[0]
