"""Advice: the nearest findings, and what the rules conclude from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.knowledge.advice import advise, family
from tare.knowledge.guidelines import PURPOSES, load_rules
from tare.knowledge.library import load_library
from tare.knowledge.query import Query, queries_of
from tare.study.conditions import expand
from tare.study.read import load_study
from tests.knowledge.sample import advice_lines, changed, finding, library
from tests.knowledge.test_shipped import FILES

SHIPPED = load_library(environment={})
ASKED = Query(
    database="cassandra", platform="docker", network="bridge", operation="update", share=0.66
)


def test_the_nearest_come_first_and_say_where_they_are_printed() -> None:
    advice = advise(SHIPPED, ASKED)
    mean = next(one for one in advice.answers if one.family == "mean")
    distances = [round(one.distance, 2) for one in mean.nearest]
    assert distances == sorted(distances)
    assert mean.nearest[0].study == "grambow-2018"
    assert any("Table" in one.source for one in mean.nearest)


def test_three_studies_of_mean_latency_give_a_range_and_one_of_disk_does_not() -> None:
    answers = {one.family: one.pooled for one in advise(SHIPPED, ASKED).answers}
    assert answers["mean"].enough
    assert {one.study for one in answers["mean"].studies} == {
        "grambow-2018", "bth-docker-2016", "shirinbab-2020",
    }  # fmt: skip
    assert not answers["disk"].enough
    assert "Too few" in answers["disk"].method


def test_findings_about_something_else_than_the_platform_do_not_enter() -> None:
    same = {"runtime": "docker", "network": "bridge", "client": "native"}
    cache = finding(id="cache", baseline=same, settings={"key_cache": "auto over 0"})
    copies = finding(id="rf", treatment={"replication_factor": 3})
    assert advise(library([cache, copies]), ASKED).answers == []


def test_the_greatest_change_may_be_a_bound() -> None:
    effect = {"ratio": None, "low": 1.4, "direction": "higher", "how": "range"}
    none = {"baseline": None, "treatment": None}
    bound = finding(id="b", study="study-b", values=none, effect=effect)
    (note,) = advise(library([changed(3.0), bound]), ASKED).notes
    assert "40% (mean latency, study-b)" in note


def test_nothing_known_is_said() -> None:
    advice = advise(library([changed(3.0)]), Query(platform="vmware"))
    assert advice.answers == []
    assert "Nothing is known of vmware" in advice.notes[0]


def test_one_study_alone_is_said_to_be_one() -> None:
    (answer,) = advise(library([changed(3.0)]), ASKED).answers
    assert answer.conclusion.text == "Expect about +3.0% mean latency. That is study-a alone."


def test_the_five_rules_of_grambow_are_there_with_their_source() -> None:
    rules = load_rules()
    assert {rule.purpose for rule in rules} == {*PURPOSES, "always"}
    assert all("section 5" in rule.source for rule in rules)
    systems = next(rule for rule in rules if rule.purpose == "compare-systems")
    assert systems.threshold is not None
    assert (systems.threshold.low, systems.threshold.high) == (0.20, 0.30)


def test_whether_it_is_safe_depends_on_what_the_benchmark_is_for() -> None:
    answers = {one.purpose: one.answer for one in advise(SHIPPED, ASKED).follows}
    assert answers["compare-configurations"] == "no"
    assert answers["track-changes"] == "with a condition"
    only = advise(SHIPPED, ASKED, purposes=["track-changes"]).follows
    assert [one.purpose for one in only] == ["track-changes", "always"]


def test_what_makes_a_no_a_yes_is_said_beside_it() -> None:
    lines = advice_lines(advise(SHIPPED, ASKED))
    assert (
        "  compare-configurations: no, unless the difference is confirmed on the platform of "
        "production" in lines
    )
    assert not [line for line in lines if "what makes it so" in line]


def test_where_nothing_is_near_what_was_found_is_shown_all_the_same() -> None:
    swarm = Query(database="cassandra", platform="swarm")
    advice = advise(SHIPPED, swarm, metric="p99")
    assert advice.answers == []
    assert {one.study for one in advice.afar} == {"truyen-2018"}
    text = "\n".join(advice_lines(advice))
    assert text.index("none is near the question. Nearest:") < text.index(advice.afar[0].id)
    assert advise(SHIPPED, ASKED).afar == []


def test_that_nothing_is_known_comes_before_what_follows_anyway() -> None:
    asked = Query(database="cassandra", platform="docker", over="kvm")
    lines = advice_lines(advise(SHIPPED, asked))
    known = next(i for i, line in enumerate(lines) if line.startswith("Nothing is known of docker"))
    assert known < next(i for i, line in enumerate(lines) if line.startswith("Is it safe"))


def test_a_metric_without_findings_does_not_make_those_of_others_far() -> None:
    asked = Query(database="mongodb", platform="swarm", network="service-ip", operation="read")
    advice = advise(SHIPPED, asked, metric="disk")
    assert "Nothing is known of disk" in advice.instead
    assert advice.notes == []


def test_a_difference_of_percentages_is_told_in_points_too() -> None:
    kvm = Query(database="cassandra", platform="kvm", operation="read", threads=450)
    text = "\n".join(advice_lines(advise(SHIPPED, kvm, metric="cpu")))
    assert "+25.8% (57.48 to 72.32 %, +14.84 points)" in text
    mean = "\n".join(advice_lines(advise(SHIPPED, ASKED, metric="mean")))
    assert "points" not in mean


def test_a_platform_that_does_more_than_the_threshold_takes_it_back() -> None:
    follows = advise(library([changed(80.0)]), ASKED).follows
    assert "too little" in next(one.safe_if for one in follows if one.purpose == "compare-systems")


def test_the_rules_are_about_containers_only() -> None:
    kvm = Query(database="cassandra", platform="kvm", operation="read")
    assert advise(SHIPPED, kvm).answers
    assert advise(SHIPPED, kvm).follows == []


def test_what_tare_cannot_run_is_said() -> None:
    assert "KVM" in advise(SHIPPED, Query(database="cassandra", platform="kvm")).obstacle
    assert advise(SHIPPED, ASKED).obstacle == ""


def test_a_finding_that_its_source_contradicts_is_marked() -> None:
    kvm = Query(database="cassandra", platform="kvm", operation="write", share=0.66)
    throughput = next(o for o in advise(SHIPPED, kvm).answers if o.family == "throughput")
    marked = {one.id: one.contradicted for one in throughput.nearest}
    assert marked["bth-kvm-2016.throughput.write.66"]
    assert not marked["bth-kvm-2016.throughput.write.100"]


def test_a_docker_client_alone_is_a_question_too() -> None:
    asked = Query(database="cassandra", platform="native", client="docker", operation="read")
    mean = next(one for one in advise(SHIPPED, asked).answers if one.family == "mean")
    sides = [SHIPPED.entries[one.id].finding.treatment for one in mean.nearest]
    assert {(side.platform, side.client) for side in sides if side} == {("native", "docker")}


@pytest.mark.parametrize(
    ("metric", "kind"),
    [
        ("read.mean", "mean"),
        ("write.p95", "p95"),
        ("throughput", "throughput"),
        ("cpu.util", "cpu"),
        ("cpu.server_per_op", "cpu_per_op"),
        ("disk.write_kbps", "disk"),
        ("disk.write_kbps_max", "write_kbps_max"),
    ],
)
def test_kinds_of_metrics(metric: str, kind: str) -> None:
    assert family(metric) == kind


def test_a_study_asks_one_question_per_platform() -> None:
    checkout = next(parent for parent in FILES[0].parents if (parent / "studies").is_dir())
    study = load_study(checkout / "studies" / "quickstart.yaml")
    conditions = expand(study)
    questions = queries_of(conditions, conditions[0])
    assert {name: one.network for name, one in questions.items()} == {
        "docker.loopback": "host",
        "docker.bridge": "bridge",
        "docker.published": "published",
    }
    assert all(one.operation == "read" for one in questions.values())


def test_more_clusters_are_no_question_about_a_platform(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(
        "study: many\nfactors: {count: {one: {}, four: {clusters: 4}}}\nbaseline: {count: one}\n"
    )
    conditions = expand(load_study(file))
    assert queries_of(conditions, conditions[0]) == {}
