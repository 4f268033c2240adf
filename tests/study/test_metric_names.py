"""Margins and primary endpoints by the names that a study uses."""

from __future__ import annotations

import pytest

from tare.study.metric_names import lowered, margin_of, primary_metrics, secondary_margins


def test_margins_of_a_kind_hold_for_its_operations() -> None:
    margins = {"throughput": 0.05, "mean": 0.04, "p99": 0.1}
    wanted = ["throughput", "read.mean", "update.p99", "all.p999", "cpu.server_per_op"]
    assert [margin_of(name, margins) for name in wanted] == [0.05, 0.04, 0.1, None, None]
    assert margin_of("read.p99", {"p99": 0.1, "read.p99": 0.2}) == 0.2


def test_the_usual_endpoints_are_primary_where_a_margin_is_declared() -> None:
    assert primary_metrics({"service_demand": 0.03, "p99": 0.1}) == ["service_demand", "all.p99"]
    margins = {"throughput": 0.05, "mean": 0.05, "p99": 0.1}
    assert primary_metrics(margins) == ["throughput", "all.p99"]
    assert primary_metrics({"mean": 0.05}) == []
    assert primary_metrics(margins, ["read.mean"]) == ["read.mean"]


def test_a_margin_that_no_primary_endpoint_uses_is_secondary() -> None:
    margins = {"throughput": 0.05, "mean": 0.05, "p99": 0.1, "read.p99": 0.2}
    assert secondary_margins(margins, ["throughput", "all.p99"]) == ["mean", "read.p99"]
    assert secondary_margins(margins, ["read.p99"]) == ["throughput", "mean", "p99"]


@pytest.mark.parametrize(
    ("title", "inside"), [("Throughput", "throughput"), ("CPU in use", "CPU in use"), ("", "")]
)
def test_a_title_inside_a_sentence_keeps_its_abbreviation(title: str, inside: str) -> None:
    assert lowered(title) == inside
