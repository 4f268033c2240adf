"""An analysis section that asks for something the study lacks is refused with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy, RefuseStudy

STUDY = """\
study: example
load: {workload: ycsb-a}
factors:
  platform:
    native: {}
    docker: {platform: {runtime: docker, network: bridge, storage: volume}}
  threads: {low: {}, high: {load.threads: 64}}
  cache: {"on": {}}
baseline: {platform: native, threads: low, cache: "on"}
analysis:
"""


def test_roles_metrics_and_averages_are_read(read: ReadStudy) -> None:
    asked = read(
        STUDY + "  compare: [platform]\n  by: [threads]\n  over: [cache]\n"
        "  metrics: [throughput, read.p99, cpu.util, my.own_metric]\n  primary: [read.p99]\n"
    ).analysis
    assert (asked.compare, asked.by, asked.primary) == (["platform"], ["threads"], ["read.p99"])
    assert asked.over is not None
    assert (asked.over.factors, asked.over.how) == (["cache"], "model")


@pytest.mark.parametrize(
    ("section", "where", "what", "remedy"),
    [
        ("  compare: [platfrom]\n", 11, "unknown factor 'platfrom'", "did you mean platform?"),
        ("  by: [thread]\n", 11, "unknown factor 'thread'", "did you mean threads?"),
        ("  over: [disk]\n", 11, "unknown factor 'disk'", "name one of those"),
        (
            "  over:\n    how: mean-of-ratios\n    factors: [disk]\n",
            13,
            "analysis.over: unknown factor 'disk'",
            "",
        ),
        (
            "  compare: [platform]\n  by: [platform]\n",
            12,
            "factor platform is in compare already",
            "out of by",
        ),
        ("  compare: [threads, threads]\n", 11, "factor threads is in compare already", ""),
        ("  compare: [cache]\n", 11, "factor cache has one level only", "add a level"),
        ("  by: [platform, threads, cache]\n", 10, "no factor is left to compare", "compare"),
        ("  metrics: [errors]\n", 11, "errors cannot be compared as a ratio", "remove errors"),
        (
            "  metrics: [read.skewness]\n",
            11,
            "read.skewness cannot be compared as a ratio",
            "an entry of analysis.show",
        ),
        ("  metrics: [read.p98]\n", 11, "read has no p98", "did you mean p99?"),
        ("  metrics: [raed.p99]\n", 11, "unknown operation 'raed'", "did you mean read?"),
        ("  metrics: [cpu.utl]\n", 11, "unknown metric 'cpu.utl'", "did you mean cpu.util?"),
        ("  primary: [disk.wkbps]\n", 11, "unknown metric 'disk.wkbps'", "disk.write_kbps"),
        ("  metrics: [scan.p99]\n", 11, "no condition sends scan operations", "files.template"),
        ("  metrics: [throughput, throughput]\n", 11, "throughput twice", "remove one"),
        (
            "  metrics: [throughput]\n  primary: [read.p99]\n",
            12,
            "read.p99 is not among analysis.metrics",
            "add read.p99",
        ),
    ],
)
def test_what_cannot_be_answered_is_refused(
    refuse: RefuseStudy, section: str, where: int, what: str, remedy: str
) -> None:
    error = refuse(STUDY + section)
    assert error.where == f"study.yaml:{where}"
    assert what in error.what
    assert remedy in error.remedy


def test_at_most_four_primary_endpoints(refuse: RefuseStudy) -> None:
    names = "throughput, read.p99, read.mean, update.p99, update.mean"
    assert refuse(STUDY + f"  primary: [{names}]\n").where.startswith("study.yaml:11")


def test_a_workload_of_a_level_counts(read: ReadStudy) -> None:
    text = STUDY.replace("load.threads: 64", "load.workload: stress-write")
    assert read(text + "  metrics: [write.p99]\n").analysis.metrics == ["write.p99"]


def test_files_of_other_tools_may_hold_any_operation(read: ReadStudy) -> None:
    text = STUDY + "  metrics: [scan.p99]\nfiles: {template: '{platform}_{threads}_{cache}.txt'}\n"
    assert read(text).analysis.metrics == ["scan.p99"]


def test_a_name_stands_for_a_list_of_one(read: ReadStudy) -> None:
    text = STUDY + "  compare: platform\n  by: threads\n  over: cache\n"
    asked = read(text + "  metrics: read.p99\n  primary: read.p99\n").analysis
    assert (asked.compare, asked.by, asked.metrics) == (["platform"], ["threads"], ["read.p99"])
    assert asked.primary == ["read.p99"]
    assert asked.over is not None
    assert asked.over.factors == ["cache"]


@pytest.mark.parametrize(
    ("section", "what", "why", "remedy"),
    [
        ("margins: {latency: 5%}\n", "margins.latency: no metric", "p999, max", "name one"),
        ("margins: {througput: 5%}\n", "margins.througput", "read.p99", "mean throughput?"),
        ("margins: {raed.p99: 5%}\n", "unknown operation 'raed'", "update", "mean read?"),
        ("analysis: {metrics: p99}\n", "called 'p99'", "OPERATION.KIND", "mean all.p99?"),
        ("analysis: {primary: [thruput]}\n", "called 'thruput'", "OPERATION.KIND", "throughput?"),
        ("analysis: {metrics: foo.p99}\n", "unknown operation 'foo'", "all, read", "name one"),
    ],
)
def test_a_name_that_is_no_metric_is_answered_with_those_that_are(
    refuse: RefuseStudy, section: str, what: str, why: str, remedy: str
) -> None:
    error = refuse(STUDY.replace("analysis:\n", section))
    assert what in error.what
    assert why in error.why
    assert remedy in error.remedy
