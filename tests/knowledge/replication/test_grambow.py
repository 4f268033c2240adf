"""The authors' files against their tables: the same data must agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.analysis.analyse import analyse
from tare.imports.run import Request, import_files
from tare.knowledge.library import load_library
from tare.knowledge.replication.model import Row, Scorecard
from tare.knowledge.replication.reference import make_reference
from tare.knowledge.replication.scorecard import make_scorecard

CHECKOUT = Path(__file__).parents[3]
STUDY = CHECKOUT / "studies" / "grambow-2018.yaml"
RAW = CHECKOUT / "tests" / "imports" / "data" / "grambow-2018-m3.medium-ycsb.zip"


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Scorecard:
    run = tmp_path_factory.mktemp("grambow") / "run"
    import_files(Request("ycsb", [RAW], STUDY, run))
    return make_scorecard(run, analyse(run), make_reference(STUDY, load_library([], {})))


def table(card: Scorecard, number: int) -> list[Row]:
    return [row for row in card.rows if row.group == f"Table {number}"]


def test_every_row_of_table_3_agrees(card: Scorecard) -> None:
    found = table(card, 3)
    assert len(found) == 24
    assert {row.verdict for row in found} == {"agrees"}


def test_ours_is_theirs_to_the_last_digit(card: Scorecard) -> None:
    rows = table(card, 3)
    assert len(rows) > 0
    for row in rows:
        assert row.ours is not None
        assert row.published.ratio is not None
        assert round(row.ours.ratio, 4) == pytest.approx(row.published.ratio, abs=1e-9), row.finding
        assert row.ours.unit == "repetition"


def test_table_4_is_of_machines_that_are_not_in_these_files(card: Scorecard) -> None:
    found = table(card, 4)
    assert len(found) == 24
    assert {row.verdict for row in found} == {"not run here"}
    assert {row.reason for row in found} == {
        "not in this run: threads 30, 75 and 150, instance m3-large"
    } | {f"not in this run: threads {n}, instance m3-large" for n in (30, 75, 150)}


def test_the_first_line_counts_every_finding(card: Scorecard) -> None:
    assert sum(card.counts.values()) == len(card.rows)
    assert card.summary.startswith(f"{card.counts['agrees']} agree, ")
    assert f"of {len(card.rows)} findings of grambow-2018." in card.summary


def test_imported_files_are_of_the_sources_own_database_and_machines(card: Scorecard) -> None:
    assert card.differs == []


def test_files_of_a_sources_own_servers_are_not_said_to_be_of_the_whole_machine(
    card: Scorecard,
) -> None:
    assert not any("whole machine" in note for row in card.rows for note in row.notes)


def test_extremes_over_single_cases_do_not_swell_what_agrees(card: Scorecard) -> None:
    extremes = [row for row in card.rows if "the least and the greatest" in row.reason]
    assert {row.finding.removeprefix("grambow-2018.") for row in extremes} == {
        "conclusion.range",
        "s4.1.read-extremes",
        "s4.1.read-extremes-medium",
    }
    assert {row.verdict for row in extremes} == {"not run here"}
