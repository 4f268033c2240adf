"""The text of the scorecard."""

from __future__ import annotations

import math

import pytest

from tare.knowledge.replication.model import (
    Band,
    Further,
    Ours,
    Published,
    Row,
    Scorecard,
    count_verdicts,
)
from tare.knowledge.replication.scorecard_text import (
    band_text,
    cells,
    groups,
    heading,
    markdown,
    remarks,
)

BAND = Band(low=0.95, high=1.05, basis="margin 5%")
OURS = Ours(
    ratio=1.02, ci=(0.99, 1.06), baseline_value=1.0, treatment_value=1.02, sd_log=0.02, units=3,
    unit="block", conditional=True, cells=4, of=6, method="t interval",
)  # fmt: skip


def row(name: str, group: str, **changes: object) -> Row:
    fields: dict[str, object] = {
        "finding": f"a-2018.{name}",
        "group": group,
        "where": "row 1",
        "metric": "read.mean",
        "compared": "docker over native",
        "published": Published(text="+1.4%", ratio=1.014, direction="higher", band=BAND),
        "ours": OURS,
        "verdict": "undecided",
        "further": Further(units=1, unit="block"),
        "reason": "",
        "notes": ["over 4 of 6 pairs of conditions"],
    }
    return Row.model_validate(fields | changes)


def card(*rows: Row, **changes: object) -> Scorecard:
    fields: dict[str, object] = {
        "study": "a-2018",
        "source": "a-2018",
        "title": "A | study",
        "run": "run",
        "scale": "laptop",
        "only": {"threads": ["10", "50"]},
        "valid": True,
        "problems": [],
        "counts": count_verdicts(list(rows)),
        "differs": ["rows: 1,000 here, 100,000 in the source"],
        "rows": list(rows),
    }
    return Scorecard.model_validate(fields | changes)


SMALL = card(
    row("t1.x", "Table 1"),
    row(
        "t2.y",
        "Table 2",
        verdict="not run here",
        ours=None,
        further=None,
        reason="left out",
        notes=[],
    ),
    row("t1.z", "Table 1", verdict="agrees", further=None, notes=[]),
)


def test_the_first_line_has_the_counts_and_the_validity() -> None:
    expected = "1 agree, 0 disagree, 1 undecided, 1 not run here, of 3 findings of a-2018."
    assert heading(SMALL)[0] == f"{expected} The run is valid."
    assert heading(SMALL)[1:] == [
        "study a-2018, scale laptop, run run; findings of: A | study",
        "selected: threads 10, 50",
    ]
    invalid = card(valid=False, problems=["steady: nothing was"])
    assert heading(invalid)[0].endswith("The run is NOT valid.")
    assert heading(invalid)[1] == "not valid: steady: nothing was"


def test_rows_stand_under_the_table_that_prints_them() -> None:
    assert {name: len(found) for name, found in groups(SMALL).items()} == {
        "Table 1": 2,
        "Table 2": 1,
    }


def test_a_row_has_what_was_published_what_came_out_and_what_would_decide() -> None:
    note = "needs 1 more block; over 4 of 6 pairs of conditions"
    assert cells(SMALL, SMALL.rows[0]) == (
        "t1.x", "+1.4%", "+2.0% [-1.0%, +6.0%]", "undecided", note,
    )  # fmt: skip
    assert cells(SMALL, SMALL.rows[1]) == ("t2.y", "+1.4%", "", "not run here", "left out")


def test_points_stand_beside_percent_where_the_source_prints_points() -> None:
    shares = OURS.model_copy(update={"baseline_value": 50.0, "treatment_value": 51.0})
    published = Published(
        text="+9.5% (+6.02 points)", ratio=1.095, direction="higher", points=True, band=BAND
    )
    one = row("cpu", "Table 5", ours=shares, published=published)
    assert cells(card(one), one)[1:3] == (
        "+9.5% (+6.02 points)", "+2.0% [-1.0%, +6.0%] (+1.00 points)",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.95, 1.05, "-5.0% to +5.0%"),
        (1.0, math.inf, "above +0.0%"),
        (0.0, 1.0, "below +0.0%"),
    ],
)
def test_a_band_is_said_as_changes(low: float, high: float, expected: str) -> None:
    assert band_text(Band(low=low, high=high, basis="")) == expected


def test_markdown_begins_with_the_counts_and_has_a_table_per_group() -> None:
    text = markdown(SMALL)
    assert text.startswith("**1 agree, 0 disagree")
    assert text.index("## Table 1") < text.index("## Table 2") < text.index("## How to read it")
    assert r"A \| study" in text
    assert "| t1.x: row 1 | read.mean | +1.4% | -5.0% to +5.0% |" in text


def test_one_deployment_and_many_intervals_are_said() -> None:
    found = remarks(SMALL)
    assert found[0] == "differs from the source in rows: 1,000 here, 100,000 in the source"
    assert "one deployment" in found[1]
    assert "not adjusted" in found[2]


def test_one_deployment_is_said_of_the_findings_that_it_concerns_alone() -> None:
    concerned = [one for one in SMALL.rows if one.ours]
    row = concerned[0]
    assert row.ours is not None
    whole = row.ours.model_copy(update={"conditional": False})
    also = row.model_copy(update={"finding": "elsewhere", "ours": whole})
    found = remarks(SMALL.model_copy(update={"rows": [*SMALL.rows, also]}))
    assert f"Every condition of {', '.join(one.finding for one in concerned)} had one" in found[1]
    assert "elsewhere" not in found[1]
