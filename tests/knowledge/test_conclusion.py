"""The sentence on what to expect (range, number, bound, no difference), and what it left out."""

from __future__ import annotations

from typing import Any

import pytest

from tare.knowledge.conclusion import Conclusion, conclude
from tare.knowledge.nearness import Near, nearness
from tare.knowledge.pooling import pool
from tare.knowledge.query import Query
from tare.knowledge.schema import Finding
from tests.knowledge.sample import changed, finding

ASKED = Query(database="cassandra", network="bridge", operation="update")
CLASH = [{"about": "statement", "place": "section 4", "note": "says otherwise"}]
NO_VALUES = {"baseline": None, "treatment": None}


def conclusion(*findings: Finding, asked: Query = ASKED) -> Conclusion:
    return conclude("Mean latency", pool([Near(f, nearness(asked, f)) for f in findings], asked))


def stated(name: str, word: str, **changes: Any) -> Finding:
    """A direction, or no difference, without a number."""
    effect = {"ratio": None, "direction": word, "how": "direction"}
    return finding(id=name, values=NO_VALUES, effect=effect, **changes)


def bound(name: str, low: float | None, high: float | None, **changes: Any) -> Finding:
    effect = {"ratio": None, "low": low, "high": high, "direction": "higher", "how": "range"}
    return finding(id=name, values=NO_VALUES, effect=effect, **changes)


def test_three_studies_say_what_another_site_could_see() -> None:
    found = conclusion(*[changed(p, id=f"f{p}", study=f"s{p}") for p in (2.0, 6.0, 10.0)])
    assert found.kind == "range"
    assert found.text.startswith("Expect about +5.9% mean latency; another site could see ")
    assert found.low is not None
    assert f"{found.low - 1:+.1%}" in found.text
    assert "(3 studies)" in found.text


def test_one_study_is_said_to_be_alone() -> None:
    found = conclusion(changed(4.0))
    assert (found.kind, found.ratio) == ("number", 1.04)
    assert found.text == "Expect about +4.0% mean latency. That is study-a alone."


def test_cases_that_differ_are_told_apart() -> None:
    asked = Query(database="cassandra", network="bridge")
    read = {"operation": "read", "metric": "read.mean"}
    text = conclusion(changed(30.0, id="a"), changed(5.0, id="b", **read), asked=asked).text
    assert "+5.0% to +30.0% mean latency: +30.0% for updates; +5.0% for reads." in text


def test_no_significant_difference_stays_beside_a_number() -> None:
    found = conclusion(changed(37.5), stated("none", "none", workload=["ycsb-b"]))
    assert found.kind == "several"
    assert "+37.5% on ycsb-a; no significant difference on ycsb-b" in found.text


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.4, None, "+40.0% or more"),
        (1.2, 1.25, "+20.0% to +25.0%"),
        (None, 1.29, "up to +29.0%"),
        (1.0, None, "at least as much"),
    ],
)
def test_a_bound_stays_a_bound(low: float | None, high: float | None, words: str) -> None:
    found = conclusion(bound("b", low, high), changed(30.0, id="far", operation="all"))
    assert (found.kind, found.low, found.high) == ("bound", low, high)
    assert words in found.text
    assert "30.0%" not in found.text.replace("+40.0%", "")


def test_what_its_source_contradicts_is_left_out_and_named() -> None:
    found = conclusion(changed(29.0, id="odd", discrepancies=CLASH), changed(-67.0, id="plain"))
    assert (found.kind, found.ratio) == ("number", 0.33)
    assert found.besides == ["Left out, for its own source contradicts it: +29.0% (odd)."]


def test_where_all_is_contradicted_no_number_is_given() -> None:
    found = conclusion(changed(29.0, id="odd", discrepancies=CLASH))
    assert (found.kind, found.ratio) == ("contradicted", None)
    assert found.text.startswith("No number can be relied on for mean latency.")


def test_a_wrong_effect_size_contradicts_no_mean() -> None:
    size = [{"about": "cohens-d", "other": 7.5, "place": "section 5", "note": "6.0 by its means"}]
    assert conclusion(changed(4.0, discrepancies=size)).kind == "number"


def test_other_endpoints_and_other_operations_do_not_enter() -> None:
    host = {"runtime": "docker", "network": "host", "client": "native"}
    read = {"operation": "read", "metric": "read.mean"}
    others = [changed(30.0, id="host", treatment=host), changed(40.0, id="read", **read)]
    assert conclusion(changed(4.0), *others).ratio == 1.04
    found = conclusion(*others)
    assert found.kind == "nothing"
    assert "what follows is of others" in found.text


def test_a_published_port_is_reached_through_the_bridge() -> None:
    published = {"runtime": "docker", "network": "published", "client": "native"}
    assert conclusion(changed(4.0, treatment=published)).ratio == 1.04


def test_a_direction_that_is_nearer_puts_no_number_out() -> None:
    asked = Query(database="cassandra", network="bridge", operation="all")
    whole = stated("up", "higher", operation="all", metric="all.mean")
    assert conclusion(whole, changed(4.0), asked=asked).ratio == 1.04


def test_a_direction_alone_is_said_to_be_one() -> None:
    found = conclusion(stated("up", "higher"))
    assert found.kind == "direction"
    assert "higher mean latency, by how much is not said" in found.text


def test_two_studies_are_shown_side_by_side() -> None:
    text = conclusion(changed(1.0, id="a"), changed(18.0, id="b", study="study-b")).text
    assert "study-a: +1.0%; study-b: +18.0%." in text
    assert "2 studies print a number: too few for a range." in text


def test_a_range_over_studies_holds_their_bounds_too() -> None:
    found = conclusion(changed(3.0, id="a"), bound("b", 1.2, 1.25, study="study-b"))
    assert (found.kind, found.low, found.high) == ("several", 1.03, 1.25)
    assert found.text.startswith("Expect +3.0% to +25.0% mean latency: ")


def test_an_open_bound_leaves_the_range_open() -> None:
    found = conclusion(changed(3.0, id="a"), bound("b", 1.4, None, workload=["ycsb-b"]))
    assert (found.low, found.high) == (1.03, None)
    assert found.text.startswith("Expect +3.0% or more mean latency: ")


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("none", "Expect no significant difference or +18.0% mean latency: "),
        ("lower", "Expect lower or +18.0% mean latency: "),
        ("higher", "Expect +18.0% mean latency: "),
    ],
)
def test_what_a_study_says_in_words_alone_is_not_hidden_by_numbers_of_others(
    word: str, words: str
) -> None:
    text = conclusion(stated("a", word), changed(18.0, id="b", study="study-b")).text
    assert text.startswith(words)


def test_two_numbers_of_one_source_are_told_both() -> None:
    twice = [{"about": "change", "other": 5.0, "place": "section 4", "note": "5% there"}]
    found = conclusion(changed(8.0, discrepancies=twice))
    assert (found.kind, found.low, found.high) == ("bound", 1.05, 1.08)
    (besides,) = found.besides
    assert besides.endswith("its source prints two numbers: +8.0%, and +5.0%, section 4.")


def test_numbers_of_other_workloads_alone_are_said_to_be_so() -> None:
    asked = Query(database="cassandra", network="bridge", operation="update", workload="ycsb-b")
    parts = [Near(one, nearness(asked, one)) for one in (changed(8.0),)]
    other = conclude("Mean latency", pool(parts, asked), "ycsb-b")
    assert other.besides == ["Nothing of it is on ycsb-b: ycsb-a."]
    assert conclude("Mean latency", pool(parts, asked), "ycsb-a").besides == []


def test_what_a_source_does_not_state_is_said_beside_what_others_had() -> None:
    both = (
        {"baseline": {"replication_factor": one}, "treatment": {"replication_factor": one}}
        for one in (1, None)
    )
    found = [changed(8.0, id=f"f{at}", study=f"s{at}", **one) for at, one in enumerate(both)]
    asked = Query(database="cassandra", network="bridge", operation="update", replication_factor=3)
    assert "All of it differs in: replication factor 1, where it is stated." in (
        conclusion(*found, asked=asked).besides
    )
    alone = conclusion(found[0], asked=asked).besides
    assert "All of it differs in: replication factor 1." in alone


@pytest.mark.parametrize(
    ("operation", "besides"),
    [
        ("", ["All of it is of updates."]),
        ("all", ["All of it is of updates."]),
        ("write", ["All of it is of updates."]),
        ("update", []),
    ],
)
def test_numbers_of_one_operation_alone_are_said_to_be_so(
    operation: str, besides: list[str]
) -> None:
    asked = Query(database="cassandra", network="bridge", operation=operation)
    parts = [Near(one, nearness(asked, one)) for one in (changed(8.0),)]
    assert conclude("Mean latency", pool(parts, asked), operation=operation).besides == besides


def test_steps_of_a_measurement_are_a_bound_around_what_is_printed() -> None:
    values = {"baseline": 200.0, "treatment": 160.0, "step": 40.0}
    effect = {"ratio": 0.8, "direction": "lower", "how": "two values"}
    found = conclusion(finding(values=values, effect=effect))
    assert (found.low, found.high) == pytest.approx((160 / 240, 1.0))
    assert "-33.3% to +0.0% (printed as -20.0%, in steps of 40.0 ms)" in found.text


def test_steps_of_a_measurement_do_not_widen_what_is_printed_beside_them() -> None:
    values = {"baseline": 160.0, "treatment": 200.0, "step": 40.0}
    effect = {"ratio": 1.25, "direction": "higher", "how": "two values"}
    found = conclusion(changed(30.0), finding(id="steps", values=values, effect=effect))
    assert found.text.startswith("Expect about +30.0% mean latency")


@pytest.mark.parametrize(
    ("field", "asked", "row"),
    [
        ("workload", {"workload": "ycsb-b"}, {"workload": ["ycsb-b"]}),
        ("machine", {"instance": "m3.large"}, {"hardware": "2 AWS m3.large"}),
        ("copies", {"replication_factor": 2}, {"replication_factor": 2}),
        ("threads", {"threads": 30}, {"load": {"share": None, "threads": 30}}),
        (
            "clusters",
            {"clusters": 4},
            {"treatment": {"runtime": "docker", "network": "bridge", "clusters": 4}},
        ),
    ],
)
def test_the_row_that_is_asked_about_goes_before_its_neighbours(
    field: str, asked: dict[str, Any], row: dict[str, Any]
) -> None:
    question = Query(database="cassandra", network="bridge", operation="update", **asked)
    found = conclusion(changed(5.0, id="a"), changed(9.0, id="b", **row), asked=question)
    assert (found.kind, found.ratio) == ("number", 1.09), field
