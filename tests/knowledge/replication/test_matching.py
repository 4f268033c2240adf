"""Which conditions of a published study a finding is about."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.knowledge.library import load_library, source_of
from tare.knowledge.replication.matching import Match, match
from tare.knowledge.replication.papers import shipped_papers
from tare.knowledge.replication.reference import Reference, make_reference
from tare.knowledge.schema import Side
from tare.study.schema import Setup

if TYPE_CHECKING:
    from tare.knowledge.schema import Finding

STUDIES = Path(__file__).parents[3] / "studies"


@cache
def reference(name: str) -> Reference:
    return make_reference(STUDIES / f"{name}.yaml", load_library([], {}))


def matched(name: str, study: str = "grambow-2018") -> Match:
    """The match of the study's finding whose id ends in `name`."""
    here = reference(study)
    known = {entry.finding.id: entry.finding for entry in here.entries}
    return match(known[f"{here.source}.{name}"], here, known)


def levels(found: Match, study: str = "grambow-2018") -> dict[str, set[tuple[str, str]]]:
    """Factor to its (baseline, treatment) levels in the matched pairs."""
    factors = list(reference(study).study.factors)
    pairs = [(b.split("."), t.split(".")) for b, t in found.pairs]
    return {f: {(b[i], t[i]) for b, t in pairs} for i, f in enumerate(factors)}


def both(*names: str) -> set[tuple[str, str]]:
    """The same level on both sides."""
    return {(name, name) for name in names}


def test_a_cell_of_grambows_table_3_is_a_mean_over_compaction_and_key_cache() -> None:
    found = matched("t3.25.update.both")
    assert levels(found) == {
        "client": {("native", "docker")},
        "server": {("native", "docker")},
        "threads": both("25"),
        "compaction": both("stcs", "twcs", "lcs"),
        "key-cache": both("off", "auto"),
        "instance": both("m3-medium"),
    }
    assert len(found.pairs) == 6


def test_table_4_is_the_other_instance() -> None:
    found = levels(matched("t4.150.read.server"))
    assert found["instance"] == both("m3-large")
    assert found["client"] == both("native")
    assert found["server"] == {("native", "docker")}


def test_a_mean_of_findings_has_a_row_for_each() -> None:
    found = matched("t3.avg.read.client")
    assert [len(row) for row in found.rows] == [6, 6, 6]
    assert levels(found)["threads"] == both("10", "25", "50")


def test_settings_are_demanded_of_both_sides() -> None:
    found = levels(matched("f4.client"))
    assert found["compaction"] == both("stcs")
    assert found["key-cache"] == both("off")
    assert found["instance"] == both("m3-large")


def test_a_setting_may_be_what_is_compared_and_hardware_names_the_instance() -> None:
    found = levels(matched("s4.4.compaction.large.none"))
    assert found["compaction"] == {("stcs", "lcs"), ("twcs", "lcs")}
    assert found["instance"] == both("m3-large")
    assert found["client"] == both("native")


def test_light_is_any_but_the_heaviest_load() -> None:
    assert levels(matched("s4.3.cache.none"))["threads"] == both("10", "25", "30", "75")


def test_what_compares_more_than_two_sides_has_no_pairs() -> None:
    found = matched("s4.4.compaction.medium.none")
    assert not found.rows
    assert found.reason == "the study has no two conditions that differ in this alone"


def test_a_variability_is_nothing_to_compare() -> None:
    assert "variability" in matched("f3.sd.medium").reason


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cpu.mixed.100", ("bare-metal.mixed.full", "docker.mixed.full")),
        ("latency.read.66", ("bare-metal.read.two-thirds", "docker.read.two-thirds")),
    ],
)
def test_a_share_of_the_maximum_is_a_load(name: str, expected: tuple[str, str]) -> None:
    assert matched(name, "bth-docker-2016").pairs == [expected]


def test_shares_may_stand_in_a_label() -> None:
    found = matched("latency.write.stated", "bth-docker-2016")
    assert levels(found, "bth-docker-2016")["load"] == both("full", "two-thirds")


def test_shirinbabs_table_2_is_one_cluster_at_one_rate() -> None:
    found = matched("t2.rf3.read.cpu.docker", "shirinbab-2020")
    assert levels(found, "shirinbab-2020") == {
        "platform": {("nonvirtualized", "docker")},
        "replication": both("rf3"),
        "clusters": both("1"),
        "workload": both("read"),
        "load": both("60k"),
    }


def test_the_maximum_beside_rates_is_the_closed_loop() -> None:
    found = levels(matched("f2.maximum.vmware", "shirinbab-2020"), "shirinbab-2020")
    assert found["load"] == both("most")


def test_several_clusters_are_compared_with_one() -> None:
    found = levels(matched("f4.mix.cpu.clusters.docker", "shirinbab-2020"), "shirinbab-2020")
    assert found["clusters"] == {("1", "4")}
    assert found["platform"] == both("docker")


def test_copies_may_be_what_is_compared() -> None:
    found = levels(matched("f3.rf2-over-rf1.latency.native", "shirinbab-2020"), "shirinbab-2020")
    assert found["replication"] == {("rf1", "rf2")}


def test_an_orchestrators_endpoint_and_plugin_find_their_deployment() -> None:
    found = levels(matched("rq3.light.read.swarm-overlay", "truyen-2018"), "truyen-2018")
    assert found["deployment"] == {("SwarmServiceIP", "SwarmServiceIP_overlay")}
    assert found["workload"] == both("B", "C", "D")


@pytest.mark.parametrize(
    "study", ["grambow-2018", "shirinbab-2020", "bth-docker-2016", "bth-kvm-2016", "truyen-2018"]
)
def test_every_finding_of_a_paper_has_conditions_or_a_reason(study: str) -> None:
    here = reference(study)
    known = {entry.finding.id: entry.finding for entry in here.entries}
    names = {one.name for one in here.conditions}
    unmatched = set()
    for name, one in known.items():
        found = match(one, here, known)
        assert bool(found.rows) != bool(found.reason), name
        assert names.issuperset(side for pair in found.pairs for side in pair), name
        assert all(_as_stated(one, pair, here, known) for pair in found.pairs), name
        if not found.rows and one.kind == "effect":
            unmatched.add(name.removeprefix(f"{study}."))
    assert unmatched == {
        "grambow-2018": {
            "s4.4.compaction.medium.none",
            "s4.4.compaction.medium.both",
            "conclusion.range",
            "s4.1.read-extremes",
            "s4.1.read-extremes-medium",
        },
    }.get(study, set())


def _as_stated(
    one: Finding, pair: tuple[str, str], here: Reference, known: dict[str, Finding]
) -> bool:
    """Whether both conditions fit all that the finding, or one of its parts, states of them."""
    if one.effect is not None and one.effect.mean_of:
        return any(_as_stated(known[part], pair, here, known) for part in one.effect.mean_of)
    setups = {condition.name: condition.setup for condition in here.conditions}
    base, treated = (setups[name] for name in pair)
    assert one.treatment is not None
    moved = one.baseline.machines != one.treatment.machines
    if (base.platform.machines != treated.platform.machines) != moved:
        return False
    return _is(one.baseline, base) and _is(one.treatment, treated)


def _is(side: Side, setup: Setup) -> bool:
    platform = setup.platform
    machines = {"kvm": {"kvm"}, "vmware": {"vmware"}, "vm": {"local", "kvm"}}
    stated = {
        "network": (side.network, platform.network),
        "address": (side.address or None, platform.address),
        "plugin": (side.plugin or None, platform.plugin),
        "storage": (side.storage, platform.storage),
        "client": (side.client, setup.client.runtime),
        "clusters": (side.clusters, setup.clusters),
        "copies": (side.replication_factor, setup.database.replication_factor),
    }
    wrong = {name for name, (said, has) in stated.items() if said is not None and said != has}
    if side.plugin == "flannel" and platform.plugin.startswith("flannel-"):
        wrong -= {"plugin"}  # the source does not state the backend
    fits = platform.machines in machines.get(side.machines or "", {"local"})
    return fits and platform.runtime == side.runtime and not wrong


def test_a_pair_of_machines_is_exactly_the_two_that_are_compared() -> None:
    assert matched("cpu.mixed.100", "bth-kvm-2016").pairs == [
        ("physical.mixed.full", "kvm.mixed.full")
    ]
    assert matched("cpu.write.66", "bth-kvm-2016").pairs == [
        ("physical.write.two-thirds", "kvm.write.two-thirds")
    ]


def test_a_pair_is_not_as_stated_where_machines_network_storage_or_client_are_others() -> None:
    side = Side(machines="kvm", network="host", storage="directory", client="native")
    kvm = {"machines": "kvm"}
    assert _is(side, Setup.model_validate({"platform": kvm}))
    for other in (
        {"platform": {"machines": "local"}},
        {"platform": {**kvm, "network": "bridge"}},
        {"platform": {**kvm, "storage": "volume"}},
        {"platform": kvm, "client": {"runtime": "docker"}},
    ):
        assert not _is(side, Setup.model_validate(other)), other


def test_what_is_compared_at_some_rate_is_not_compared_at_the_maxima() -> None:
    rates = both("40k", "80k", "120k", "160k", "200k")
    for name in (
        "f2.cpu.vmware",
        "f3.rf2-over-rf1.latency.native",
        "f4.mix.cpu.vmware-over-docker",
        "f7.mix.latency.clusters.docker",
    ):
        assert levels(matched(name, "shirinbab-2020"), "shirinbab-2020")["load"] == rates, name


@pytest.mark.parametrize(
    "name", ["conclusion.range", "s4.1.read-extremes", "s4.1.read-extremes-medium"]
)
def test_extremes_of_single_cases_are_not_compared_with_a_mean(name: str) -> None:
    found = matched(name)
    assert not found.rows
    assert "the least and the greatest change of single cases" in found.reason


@pytest.mark.parametrize(
    ("study", "source"),
    [("a-2018", "a-2018"), ("a-2018-cassandra", "a-2018"), ("a-20189", ""), ("b", "")],
)
def test_a_study_named_after_a_source_has_its_findings(study: str, source: str) -> None:
    assert source_of(study, ["a", "a-2018", "c"] if source else ["c", "a-2018"]) == source


def test_findings_computed_from_records_are_not_published_ones() -> None:
    assert not any(entry.finding.computed for entry in reference("grambow-2018").entries)


@pytest.mark.parametrize("study", [one.name for one in shipped_papers(load_library([], {}))])
def test_every_study_that_can_be_replicated_has_conditions_for_some_of_its_findings(
    study: str,
) -> None:
    here = reference(study)
    known = {entry.finding.id: entry.finding for entry in here.entries}
    asked = [name for name, one in known.items() if match(one, here, known).pairs]
    if study == "shirinbab-2020-guests":  # this study asks what the paper leaves to future work
        assert not asked
        return
    assert asked, f"{study}: of {len(known)} findings none could be judged by any run"
