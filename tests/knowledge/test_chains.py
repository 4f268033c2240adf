"""Only findings of one study that share a side are chained."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tare.knowledge.chains import chained
from tare.knowledge.library import Entry, Library, load_library
from tare.knowledge.query import Query
from tare.knowledge.relevant import about, relevant
from tare.knowledge.schema import Finding
from tests.knowledge.sample import changed, finding, library

NATIVE: dict[str, Any] = {"runtime": "native", "network": "host", "client": "native"}
PORT: dict[str, Any] = {"runtime": "swarm", "network": "host-port", "client": "native"}
SERVICE: dict[str, Any] = {**PORT, "network": "service-ip"}


def two(
    name: str, base: dict[str, Any], side: dict[str, Any], old: float, new: float, **more: Any
) -> Finding:
    """A finding that prints both values."""
    direction = "none" if new == old else "higher" if new > old else "lower"
    effect = {"ratio": round(new / old, 4), "direction": direction, "how": "two values"}
    values = {"baseline": old, "treatment": new}
    return finding(id=name, baseline=base, treatment=side, values=values, effect=effect, **more)


def silent(name: str, base: dict[str, Any], side: dict[str, Any], **more: Any) -> Finding:
    """A finding of no significant difference."""
    effect = {"ratio": None, "direction": "none", "how": "direction"}
    values = {"baseline": None, "treatment": None}
    return finding(id=name, baseline=base, treatment=side, values=values, effect=effect, **more)


def entries(*findings: Finding) -> list[Entry]:
    return list(library(findings).entries.values())


def ratios(*findings: Finding) -> dict[tuple[str | None, str | None], float | None]:
    """(baseline's network, treatment's network) to the chained ratio."""
    found = [one.finding for one in chained(entries(*findings))]
    return {
        (one.baseline.network, one.treatment.network): one.effect.ratio
        for one in found
        if one.treatment and one.effect
    }


def test_an_endpoint_over_a_host_port_over_native_is_the_endpoint_over_native() -> None:
    found = ratios(two("port", NATIVE, PORT, 4.0, 4.8), two("ip", PORT, SERVICE, 4.8, 23.6))
    assert found["host", "service-ip"] == pytest.approx(5.9)


def test_a_chain_names_its_links_and_their_places() -> None:
    made = chained(
        entries(two("port", NATIVE, PORT, 4.0, 4.8), two("ip", PORT, SERVICE, 4.8, 23.6))
    )
    (one,) = [
        e for e in made if e.finding.treatment and e.finding.treatment.network == "service-ip"
    ]
    assert one.links == ("ip", "port")
    assert one.finding.source.where == "Table 1; over Table 1"
    assert (one.finding.values.baseline, one.finding.values.treatment) == (4.0, 23.6)


def test_values_beside_one_baseline_are_compared_with_each_other() -> None:
    found = ratios(
        two("port", NATIVE, PORT, 4.0, 5.0), two("bridge", NATIVE, {**NATIVE, **BRIDGE}, 4.0, 4.5)
    )
    assert found["bridge", "host-port"] == pytest.approx(5.0 / 4.5, abs=1e-4)
    assert found["host-port", "bridge"] == pytest.approx(4.5 / 5.0, abs=1e-4)


BRIDGE: dict[str, Any] = {"runtime": "docker", "network": "bridge"}


@pytest.mark.parametrize(
    "other",
    [
        {"study": "study-b"},
        {"workload": ["ycsb-b"]},
        {"operation": "read", "metric": "read.mean"},
        {"load": {"share": 0.5}},
        {"hardware": "another machine"},
        {"replication_factor": 3},
    ],
    ids=str,
)
def test_other_conditions_are_not_joined(other: dict[str, Any]) -> None:
    port = two("port", NATIVE, PORT, 4.0, 4.8)
    assert ("host", "service-ip") not in ratios(port, two("ip", PORT, SERVICE, 4.8, 23.6, **other))


def test_no_significant_difference_is_a_link_and_it_is_said() -> None:
    made = chained(entries(silent("silent", NATIVE, PORT), two("ip", PORT, SERVICE, 7.5, 10.6)))
    (one,) = [
        e.finding for e in made if e.finding.baseline.network == "host" and e.finding.treatment
    ]
    assert one.effect is not None
    assert one.effect.ratio == pytest.approx(10.6 / 7.5, abs=1e-4)
    assert one.values.baseline is None, "of the other side no value is printed"
    assert "silent" in one.notes


KUBERNETES: dict[str, Any] = {**PORT, "runtime": "kubernetes"}
POD: dict[str, Any] = {**SERVICE, "runtime": "kubernetes"}


def test_values_of_one_table_are_compared_however_many_findings_lie_between() -> None:
    parts = [
        two("port", NATIVE, PORT, 4.0, 4.8),
        two("ip", PORT, SERVICE, 4.8, 23.6),
        two("k8s", NATIVE, KUBERNETES, 4.0, 5.5),
        two("pod", KUBERNETES, POD, 5.5, 5.5),
    ]
    sides = {
        (one.finding.baseline.platform, one.finding.side.platform): one.finding
        for one in chained(entries(*parts))
        if len(one.links) == 4
    }
    effect = sides["kubernetes", "swarm"].effect
    assert effect is not None
    assert effect.ratio == pytest.approx(23.6 / 5.5, abs=1e-4)


def test_changes_without_values_are_joined_three_times_at_most() -> None:
    sides = [{**PORT, "clusters": number} for number in (1, 2, 3, 4, 5)]
    parts = [
        changed(10.0, id=f"f{i}", baseline=base, treatment=side)
        for i, (base, side) in enumerate(pairwise(sides))
    ]
    assert {len(one.links) for one in chained(entries(*parts))} >= {2, 3}
    assert max(len(one.links) for one in chained(entries(*parts))) == 3


def test_values_of_zero_have_no_ratio_beside_each_other() -> None:
    """The ratio of two zeros is no number; chained, they mean no difference."""
    nothing = {
        "values": {"baseline": 0.0, "treatment": 0.0},
        "effect": {"ratio": None, "direction": "none", "how": "direction"},
    }
    parts = [
        finding(id="port", baseline=NATIVE, treatment=PORT, **nothing),
        finding(id="ip", baseline=PORT, treatment=SERVICE, **nothing),
    ]
    made = list(chained(entries(*parts)))
    assert {one.finding.effect.ratio for one in made} == {None}
    assert {one.finding.effect.direction for one in made} == {"none"}


def test_another_number_of_a_link_is_none_of_values_beside_each_other() -> None:
    clash = [{"about": "change", "other": 5.0, "place": "section 4", "note": "5% there"}]
    made = chained(
        entries(
            two("port", NATIVE, PORT, 4.0, 4.8, discrepancies=clash),
            two("ip", PORT, SERVICE, 4.8, 23.6),
        )
    )
    chain = next(one.finding for one in made if len(one.links) == 2)
    assert not chain.discrepancies


def test_two_links_without_a_difference_are_both_said_and_three_are_too_many() -> None:
    weave, flannel = ({**POD, "plugin": name} for name in ("weave", "flannel"))
    other = {**flannel, "clusters": 2}
    parts = [
        silent("same-as-native", NATIVE, KUBERNETES),
        two("pod", KUBERNETES, weave, 8.2, 6.7),
        silent("flannel-as-weave", weave, flannel),
        silent("two-as-one", flannel, other),
    ]
    found = {
        one.finding.treatment: one.finding
        for one in chained(entries(*parts))
        if one.finding.baseline.platform == "native" and one.finding.treatment
    }
    pod = next(one for side, one in found.items() if side and side.plugin == "flannel")
    assert pod.effect is not None
    assert pod.effect.ratio == pytest.approx(6.7 / 8.2, abs=1e-4)
    assert "same-as-native" in pod.notes
    assert "flannel-as-weave" in pod.notes
    assert all(side is None or side.clusters is None for side in found)


def test_a_place_without_any_difference_sees_none_between_two_of_its_deployments() -> None:
    def said(of_kubernetes: str) -> set[tuple[str, str | None, float | None]]:
        parts = [
            silent(name, NATIVE, side, source={"table": table})
            for name, side, table in (("port", PORT, "2"), ("pod", KUBERNETES, of_kubernetes))
        ]
        made = [one.finding for one in chained(entries(*parts)) if len(one.links) > 1]
        return {
            (one.side.platform, one.effect.direction, one.effect.ratio)
            for one in made
            if one.effect
        }

    assert said("2") == {("kubernetes", "none", None), ("swarm", "none", None)}
    assert said("3") == set(), "two places may each miss a part of one difference"


def test_a_client_that_moves_alone_is_chained_beside_a_server_that_stays() -> None:
    docker = {**BRIDGE, "client": "native"}
    both = {**docker, "client": "docker"}
    alone = {**NATIVE, "client": "docker"}
    made = {
        (one.finding.baseline.client, one.finding.side.platform): one.finding.effect
        for one in chained(
            entries(
                two("server", NATIVE, docker, 2.0, 2.2),
                two("both", NATIVE, both, 2.0, 2.4),
                two("client", NATIVE, alone, 2.0, 2.1),
            )
        )
        if len(one.links) > 1 and one.finding.treatment and one.finding.treatment.client == "docker"
    }
    assert set(made) == {("native", "docker")}, "of client and server one moves"
    effect = made["native", "docker"]
    assert effect is not None
    assert effect.ratio == pytest.approx(2.4 / 2.2, abs=1e-4)


def test_a_statement_on_one_platform_takes_no_values_of_others_back() -> None:
    docker = {"runtime": "docker", "network": "host", "client": "native"}
    clash = [{"about": "statement", "place": "section 4", "note": "no overhead of Docker"}]
    made = chained(
        entries(
            two("docker", NATIVE, docker, 3.7, 4.3, discrepancies=clash),
            two("port", NATIVE, PORT, 3.7, 4.8),
        )
    )
    over_docker = {
        one.finding.side.platform: bool(one.finding.discrepancies)
        for one in made
        if one.finding.baseline.platform == "docker"
    }
    assert over_docker == {"native": True, "swarm": False}


def test_every_chain_of_the_shipped_findings_has_a_name_of_its_own() -> None:
    made = [one.finding.id for one in chained(load_library(environment={}).entries.values())]
    assert len({*made}) == len(made)
    assert max(map(len, made)) <= 120


def test_a_client_that_moves_is_no_link() -> None:
    moved = {**PORT, "client": "docker"}
    found = ratios(two("port", NATIVE, moved, 4.0, 4.8), two("ip", moved, SERVICE, 4.8, 23.6))
    assert found == {}


def test_what_contradicts_a_link_contradicts_the_chain() -> None:
    clash = [{"about": "statement", "place": "section 4", "note": "says otherwise"}]
    made = chained(
        entries(
            two("port", NATIVE, PORT, 4.0, 4.8, discrepancies=clash),
            two("ip", PORT, SERVICE, 4.8, 23.6),
        )
    )
    chain = next(one.finding for one in made if len(one.links) == 2)
    assert [one.place for one in chain.discrepancies] == ["section 4"]


def test_a_step_is_kept_so_that_the_chain_stays_a_bound() -> None:
    stepped = {"step": 40.0}
    base = two("port", NATIVE, PORT, 200.0, 160.0)
    first = base.model_copy(update={"values": base.values.model_copy(update=stepped)})
    back = next(one.finding for one in chained(entries(first)))
    assert (back.values.baseline, back.values.treatment, back.values.step) == (160, 200, 40)


def of(parts: list[Entry]) -> Library:
    return Library({one.finding.id: one for one in parts})


SWARM = Query(database="cassandra", platform="swarm", network="service-ip")


def test_what_a_study_says_itself_goes_before_a_chain() -> None:
    parts = entries(
        two("port", NATIVE, PORT, 4.0, 4.8),
        two("ip", PORT, SERVICE, 4.8, 23.6),
        two("said", NATIVE, SERVICE, 4.0, 23.0),
    )
    assert set(relevant(of(parts), SWARM)) == {"port", "said"}


def test_of_chains_to_one_side_the_shortest_stays_unless_an_address_is_asked_for() -> None:
    named = {**NATIVE, "address": "host-name"}
    floating = {**NATIVE, "address": "floating-ip"}
    parts = entries(
        two("name", floating, named, 4.0, 3.7),
        two("port", floating, PORT, 4.0, 4.8),
        two("ip", PORT, SERVICE, 4.8, 23.6),
    )
    known = relevant(of(parts), SWARM)
    assert [one.links for one in known.values() if len(one.links) > 1] == [("ip", "port")]
    asked = Query(platform="swarm", network="service-ip", address="host-name")
    bases = {
        one.finding.baseline.address: len(one.links)
        for one in relevant(of(parts), asked).values()
        if one.links
    }
    assert bases["host-name"] >= 2


def test_nobody_is_told_of_endpoints_that_were_not_asked_about() -> None:
    parts = entries(two("port", NATIVE, PORT, 4.0, 4.8), two("ip", PORT, SERVICE, 4.8, 23.6))
    assert set(relevant(of(parts), Query(platform="swarm"))) == {"port"}


def test_another_plugin_is_asked_about_on_one_network() -> None:
    weave, flannel = ({**SERVICE, "plugin": name} for name in ("weave", "flannel"))
    asked = Query(platform="swarm", over="swarm", plugin="flannel", against_plugin="weave")
    assert about(asked, changed(7.0, baseline=weave, treatment=flannel))
    moved = {**weave, "network": "host-port"}
    assert not about(asked, changed(7.0, baseline=moved, treatment=flannel))


def test_inside_virtual_machines_the_runtimes_are_compared() -> None:
    inside = {**NATIVE, "machines": "kvm"}
    assert about(
        Query(platform="swarm"),
        changed(7.0, baseline=inside, treatment={**PORT, "machines": "kvm"}),
    )
    assert about(Query(platform="kvm"), changed(7.0, baseline=NATIVE, treatment=inside))
