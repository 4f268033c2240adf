"""Others' findings in every form of the report: the line, the sources, or nothing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tare.analysis.model import Analysis, OtherFinding, OtherRange, Others
from tare.report import extent
from tare.report.markdown import render_markdown
from tare.report.others_found import line, sources
from tare.report.page import render_html
from tare.report.tables import effects_table
from tare.report.write import to_json

from .sample import sample_analysis
from .test_page import HOSTILE, Page, large_analysis, words_of

PLACE = "study-a, section 4.1, Table 1"


def one(**changes: Any) -> OtherFinding:
    fields: dict[str, Any] = {
        "id": "study-a.t1",
        "study": "study-a",
        "metric": "all.mean",
        "ratio": 1.05,
        "low": None,
        "high": None,
        "ci": (1.02, 1.08),
        "direction": "higher",
        "word": "near",
        "distance": 0.07,
        "differs": ["network bridge", "nodes 3"],
        "source": PLACE,
        "contradicted": False,
    }
    return OtherFinding(**{**fields, **changes})


def others(**changes: Any) -> Others:
    fields: dict[str, Any] = {
        "findings": 2,
        "studies": 1,
        "nearest": [one()],
        "seen": (1.01, 1.05),
        "pooled": None,
        "method": "Too few to pool: 1 study near enough, at least 3 are needed.",
    }
    return Others(**{**fields, **changes})


def with_others(found: Others, *places: int) -> Analysis:
    """The sample with `found` at the effects at `places`; none given: at all but controls."""
    analysis = sample_analysis()
    for i, effect in enumerate(analysis.effects):
        if (i in places) if places else not effect.aa:
            effect.others = found
    return analysis


def test_the_line_says_the_nearest_how_near_and_the_range() -> None:
    assert line(others()) == (
        "+5.0% [+2.0%, +8.0%] (study-a, near, differs in network bridge); 2 findings of 1 study "
        "range from +1.0% to +5.0%"
    )
    pooled = OtherRange(ratio=1.04, ci=(1.01, 1.07), prediction=(0.97, 1.12))
    many = others(findings=9, studies=3, pooled=pooled, nearest=[one(word="alike", ci=None)])
    assert line(many) == (
        "+5.0% (study-a, alike); 9 findings of 3 studies, another such study \u22123.0% to +12.0%"
    )


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"ratio": None, "ci": None}, "higher (study-a"),
        ({"ratio": None, "ci": None, "direction": "none"}, "no difference (study-a"),
        ({"ratio": None, "ci": None, "low": 1.4}, "+40.0% or more (study-a"),
        ({"ratio": None, "ci": None, "high": 1.4}, "up to +40.0% (study-a"),
        ({"ratio": None, "ci": None, "low": 1.2, "high": 1.4}, "+20.0% to +40.0% (study-a"),
        (
            {"ratio": 1.3333, "ci": None, "digits": (1.2105, 1.4706)},
            "+33% (+21% to +47% by its printed digits) (study-a",
        ),
    ],
)
def test_what_is_no_single_number_is_said_as_stated(stated: dict[str, Any], said: str) -> None:
    assert line(others(nearest=[one(**stated)], seen=None)).startswith(said)


def test_sources_name_the_place_all_differences_and_a_contradiction() -> None:
    first, method = sources(others(nearest=[one(contradicted=True)]))
    assert (
        "study-a, section 4.1, Table 1; near (0.07), differs in: network bridge; nodes 3" in first
    )
    assert "tare findings show study-a.t1" in first
    assert method.startswith("Too few to pool")


def test_a_report_of_which_nothing_is_known_does_not_speak_of_others() -> None:
    analysis = sample_analysis()
    assert "Others found" not in render_html(analysis)
    assert "Others found" not in render_markdown(analysis)
    assert "Others found" not in effects_table(analysis).columns


def test_the_page_has_it_below_the_change_and_in_the_table() -> None:
    analysis = with_others(others())
    text = words_of(render_html(analysis))
    change = text.index("Service demand trials 1.3% higher")
    found = text.index("Others found +5.0% [+2.0%, +8.0%] (study-a, near)")
    assert change < found < text.index("Can it be trusted?")
    table = effects_table(analysis)
    column = table.columns.index("Others found")
    cells = [row[column].text for row in table.rows]
    known = [effect.others is not None for effect in analysis.effects]
    assert [bool(text) for text in cells] == known
    assert len({len(row) for row in table.rows} | {len(table.columns)}) == 1


def test_markdown_has_the_line_and_folds_the_sources() -> None:
    text = render_markdown(with_others(others()))
    assert re.search(r"^  - Others found of throughput: \+5\.0% \[", text, re.MULTILINE)
    assert text.index("What others found, with sources") < text.index(
        "study-a, section 4.1, Table 1"
    )


def test_json_has_every_part_and_gives_it_back() -> None:
    analysis = with_others(others(), 2)
    written = to_json(analysis)
    document = json.loads(written)
    assert document["effects"][2]["others"]["nearest"][0]["source"].endswith("Table 1")
    assert document["effects"][0]["others"] is None
    assert Analysis.model_validate_json(written) == analysis


def test_sources_open_in_the_first_cells_only_primary_metrics_before_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extent, "OTHERS", 3)
    analysis = with_others(others())
    analysis.effects.reverse()
    table = effects_table(analysis)
    cut = extent.cut_sources(analysis, table)
    column = table.columns.index("Others found")
    opened = [i for i, row in enumerate(cut.rows) if row[column].more]
    assert len(opened) == 3
    assert all(analysis.effects[i].primary for i in opened)
    assert [row[column].text for row in cut.rows] == [row[column].text for row in table.rows]
    assert "3 of 15 rows" in cut.notes[-1]


def test_a_large_study_stays_under_three_megabytes() -> None:
    analysis = large_analysis()
    for effect in analysis.effects:
        effect.others = others(nearest=[one(id=f"study-{i}", study=f"study-{i}") for i in range(5)])
    html = render_html(analysis)
    assert len(html.encode()) < 3_000_000
    assert f"opens to its sources in {extent.OTHERS} of 300 rows" in words_of(html)


def test_foreign_text_stays_text() -> None:
    hostile = one(study=HOSTILE, source=HOSTILE, differs=[HOSTILE], id=HOSTILE, contradicted=True)
    html = render_html(with_others(others(nearest=[hostile], method=HOSTILE)))
    page = Page(html)
    assert page.unbalanced == []
    assert not page.tags("img")
    assert len(page.scripts) == 2


def test_what_a_source_does_not_state_is_not_said_to_differ() -> None:
    unsaid = one(differs=["network not stated", "nodes 3"])
    assert "(study-a, near, network not stated)" in line(others(nearest=[unsaid]))
    first, *_ = sources(others(nearest=[unsaid]))
    assert "near (0.07), differs in: nodes 3, not stated: network." in first
