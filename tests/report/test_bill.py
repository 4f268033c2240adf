"""Each treatment's bill: a sentence, a waterfall chart and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.analysis.model.bill import BillLine, BillOwner
from tare.report import numbers
from tare.report.bill import (
    bill_panels,
    bill_table,
    owners_table,
    sentences,
    source,
    without,
)
from tare.report.extent import fitted
from tare.report.markdown import render_markdown
from tare.report.page import render_html
from tests.analysis.test_bill import BRIDGE, WITH_NODES, analysed, as_cluster, price, weighing

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis


@pytest.fixture(scope="module")
def contradicted(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """The measured effect is 24 us; prices explain 3 us of it."""
    return analysed(tmp_path_factory.mktemp("bill"), 1.10, BRIDGE)


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analysed(tmp_path_factory.mktemp("none"), 1.0, None)


def test_the_sentence_has_both_numbers_the_word_and_what_is_missing(contradicted: Analysis) -> None:
    ((_, text),) = sentences(contradicted)
    assert text.startswith("docker-bridge over native: +3.00 µs [+2.90, +3.10] (+1.3%) by prices, ")
    assert "as measured: contradicted, +21" in text
    assert " µs is not explained, all of it in the database's processes (+2" in text
    assert "beyond their own lines)" in text, "it may be more than all, where others used less"


def test_where_nobody_used_most_of_what_is_missing_the_largest_part_is_named(
    contradicted: Analysis,
) -> None:
    bills = contradicted.bills
    assert bills is not None
    each = {"server": 8.0, "client": 7.0, "engine": 6.0}
    owners = [BillOwner(owner=name, us=0.0, ci=(-1.0, 1.0), measured_us=us, measured_ci=(0.0, 9.0))
              for name, us in each.items()]  # fmt: skip
    bill = bills.of[0].model_copy(update={"owners": owners, "unexplained_us": 21.0})
    ((_, text),) = sentences(
        contradicted.model_copy(update={"bills": bills.model_copy(update={"of": [bill]})})
    )
    assert "the largest part of it in the database's processes (+8.00 µs)" in text


def test_prices_that_are_not_valid_are_called_so_wherever_they_are_used(tmp_path: Path) -> None:
    disturbed = BRIDGE.model_copy(update={"other_cores": 0.5})
    analysis = analysed(tmp_path, 1.10, disturbed)
    ((_, text),) = sentences(analysis)
    assert "by prices that are not valid" in text
    told = source(analysis)
    assert told.startswith("Its prices are not valid: other programs disturbed it (0.5 cores).")
    for render in (render_html, render_markdown):
        assert "by prices that are not valid" in render(analysis)


def test_the_table_has_each_line_the_sum_and_the_measurement(contradicted: Analysis) -> None:
    table = bill_table(contradicted)
    assert [row[2].text for row in table.rows] == [
        "bridge and veth pair",
        "answers batched less or more",
        "by prices",
        "as measured",
    ]
    paid = [row[5].value or 0.0 for row in table.rows]
    assert paid[0] + paid[1] == pytest.approx(paid[2])
    assert table.rows[2][-1].text == "contradicted"
    assert "tare weigh" in table.notes[0]


def test_each_owner_is_a_row_by_prices_and_as_measured(contradicted: Analysis) -> None:
    rows = {row[2].text: row for row in owners_table(contradicted).rows}
    assert rows["the database's processes"][5].value == pytest.approx(24, abs=3)
    assert rows["the load clients"][3].value == pytest.approx(0)
    assert rows["of all these in soft interrupts"][3].value == pytest.approx(0)


def test_the_drawing_says_the_same_to_who_cannot_see_it(contradicted: Analysis) -> None:
    (panel,) = bill_panels(contradicted)
    assert sentences(contradicted)[0][1] in panel.markup()


def test_a_line_of_next_to_nothing_is_drawn_as_none(contradicted: Analysis) -> None:
    bills = contradicted.bills
    assert bills is not None
    faults = bills.of[0].lines[0].model_copy(update={"us": -2e-5, "ci": (-1e-4, 6e-5)})
    bill = bills.of[0].model_copy(update={"lines": [faults]})
    few = contradicted.model_copy(update={"bills": bills.model_copy(update={"of": [bill]})})
    (panel,) = bill_panels(few)
    assert ">0.00 µs<" in panel.markup()
    assert "0.0000" not in panel.markup()


def test_lines_too_small_to_be_seen_are_drawn_as_one_and_named_by_it(
    contradicted: Analysis,
) -> None:
    """One line of 3 us, two below a twentieth of the drawing, one whose interval is wider."""
    bills = contradicted.bills
    assert bills is not None
    bill = bills.of[0]
    (way,) = (line for line in bill.lines if line.us > 1)
    small = [
        way.model_copy(update={"what": what, "us": us, "ci": (us - half, us + half)})
        for what, us, half in (("reads", 0.4, 0.1), ("writes", -0.2, 0.2), ("syncs", 0.1, 9.0))
    ]
    folded = bill.model_copy(update={"lines": [way, *small]})
    many = contradicted.model_copy(update={"bills": bills.model_copy(update={"of": [folded]})})
    (panel,) = bill_panels(many)
    drawn = panel.markup()
    assert drawn.count("<rect") == 3 + 2, "the way, syncs, the small ones; the sum, the measurement"
    assert ">2 smaller ones, in the table<" in drawn
    assert f"+0.20 µs [{numbers.MINUS}0.10, +0.50]" in drawn
    assert "reads" in drawn
    assert ">reads<" not in drawn
    assert [row[2].text for row in bill_table(many).rows][1:4] == ["reads", "writes", "syncs"]
    alone = bill.model_copy(update={"lines": [way, small[0]]})
    one = contradicted.model_copy(update={"bills": bills.model_copy(update={"of": [alone]})})
    assert ">reads<" in bill_panels(one)[0].markup(), "one small line is as short as its sum"


def test_page_and_markdown_have_it_only_where_something_was_weighed(
    contradicted: Analysis, nothing: Analysis
) -> None:
    for render in (render_html, render_markdown):
        assert "What its prices predict" in render(contradicted)
        assert "What its prices predict" not in render(nothing)
    assert source(nothing) == ""


def test_a_bill_in_part_says_what_has_no_price(tmp_path: Path) -> None:
    analysed(tmp_path, 1.10, BRIDGE)
    ((_, text),) = sentences(as_cluster(tmp_path / "r", {"docker-bridge": 2.0}))
    assert text.endswith(
        "as measured: in part, as there is no price of what nodes send each other (the way "
        "docker.between-nodes was not weighed) and how many answers share a packet."
    )


def test_what_nodes_send_each_other_is_a_row_and_the_bill_is_whole(tmp_path: Path) -> None:
    analysed(tmp_path, 1.0, WITH_NODES, packets={"native": 4.0, "docker-bridge": 6.0})
    analysis = as_cluster(tmp_path / "r", {"docker-bridge": 2.0})
    row = bill_table(analysis).rows[1]
    assert row[2].text.startswith("between nodes: bridge and two veth pairs")
    assert [row[3].text, row[4].text, row[5].text] == ["+2.00 packets", "+2.50 µs", "+5.00 µs"]
    ((_, text),) = sentences(analysis)
    assert "there is no price of" not in text
    assert "between nodes by the price of their own way" in source(analysis)


def test_what_has_no_bill_says_why(tmp_path: Path) -> None:
    other = analysed(tmp_path, 1.0, weighing(price("docker.proxy", 1, 40.0)))
    told = "No bill of docker-bridge over native: the way docker.bridge was not weighed."
    assert without(other) == [told]
    for render in (render_html, render_markdown):
        text = render(other)
        assert told in text
        assert "What its prices predict" in text
        assert "The bill by who used it" not in text


def test_a_page_of_many_treatments_has_as_many_bills_as_explanations(
    contradicted: Analysis,
) -> None:
    bills = contradicted.bills
    assert bills is not None
    each = [bills.of[0].model_copy(update={"treatment": f"t{number}"}) for number in range(500)]
    many = bills.model_copy(update={"of": each})
    kept = fitted(contradicted.model_copy(update={"bills": many})).bills
    assert kept is not None
    assert 0 < len(kept.of) < 500


def test_lines_beside_packets_say_of_what_they_are_and_what_counting_cost(
    contradicted: Analysis,
) -> None:
    bills = contradicted.bills
    assert bills is not None
    switches = BillLine(
        what="context switches", count=0.25, unit="context switches", price_us=0.8, us=0.2,
        ci=(0.1, 0.3),
    )  # fmt: skip
    bill = bills.of[0].model_copy(
        update={
            "lines": [*bills.of[0].lines, switches],
            "left_out": {"syncs of the servers": "storage has no price here"},
        }
    )
    made = {
        "of": [bill],
        "parts_made": "2026-11-01T00:00:00+00:00",
        "working_made": "2026-11-02T00:00:00+00:00",
        "counting_us": 7.5,
    }
    analysis = contradicted.model_copy(update={"bills": bills.model_copy(update=made)})
    row = bill_table(analysis).rows[2]
    assert [cell.text for cell in row[2:5]] == [
        "context switches",
        "+0.25 context switches",
        "+0.80 µs",
    ]
    assert "No line of syncs of the servers: storage has no price here." in without(analysis)
    assert "in which an operation cost +7.50 µs more than measured" in source(analysis)
    assert "weighed at 2026-11-02T00:00:00+00:00 (tare weigh --what working)" in source(analysis)
    (panel,) = bill_panels(analysis)
    assert "context switches" in panel.markup()
