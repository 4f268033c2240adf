"""How near a finding is to a question, and where they differ."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from tare.knowledge.nearness import nearness
from tare.knowledge.query import Query
from tare.knowledge.schema import Operation
from tare.study.platform import Network
from tests.knowledge.sample import finding

ASKED = Query(
    database="cassandra", platform="docker", network="bridge", operation="update", share=1.0
)


def test_the_same_conditions_are_alike_and_differ_in_nothing() -> None:
    found = nearness(ASKED, finding())
    assert (found.distance, found.differs, found.word) == (0.0, [], "alike")


def test_what_was_not_asked_is_not_compared() -> None:
    assert nearness(Query(platform="docker"), finding(database="mongodb")).distance == 0.0


def test_another_platform_is_farther_than_another_network() -> None:
    swarm = finding(treatment={"runtime": "swarm"})
    published = finding(treatment={"network": "published"})
    assert nearness(ASKED, swarm).distance > nearness(ASKED, published).distance > 0


def test_a_bridge_is_nearer_to_a_published_port_than_to_the_host_network() -> None:
    published = nearness(ASKED, finding(treatment={"network": "published"}))
    host = nearness(ASKED, finding(treatment={"network": "host"}))
    assert published.distance < host.distance
    assert published.differs == ["network published"]


def test_what_the_source_does_not_say_lies_between_the_same_and_another() -> None:
    unknown = nearness(ASKED, finding(treatment={"network": None})).distance
    assert 0 < unknown < nearness(ASKED, finding(treatment={"network": "service-ip"})).distance


def test_a_write_is_nearer_to_an_update_than_a_read() -> None:
    write, read = finding(operation="write"), finding(operation="read")
    assert nearness(ASKED, write).distance < nearness(ASKED, read).distance


def test_the_load_is_what_the_source_measured_and_not_a_share_of_threads() -> None:
    load = {"share": None, "threads": 75, "threads_at_maximum": 150}
    half = replace(ASKED, share=0.5)
    unknown = nearness(half, finding(load={"share": None})).distance
    assert nearness(half, finding(load=load)).distance == unknown > 0
    measured = finding(load={"share": 0.66, "reached": 0.79})
    assert nearness(replace(ASKED, share=0.79), measured).distance == 0.0
    assert nearness(replace(ASKED, share=0.66), measured).differs == ["load 79% of the maximum"]


def test_a_guest_is_a_virtual_machine() -> None:
    guest = {"machines": "kvm"}
    inside = finding(baseline=guest, treatment=guest)
    assert nearness(replace(ASKED, machines="vm"), inside).distance == 0.0
    assert nearness(replace(ASKED, machines="physical"), inside).differs == ["machines vm"]


def test_an_instance_is_known_by_the_hardware_that_is_named() -> None:
    row = finding(hardware="2 AWS m3.large (2 vCPU, 7.5 GB)")
    assert nearness(replace(ASKED, instance="m3-large"), row).distance == 0.0
    other = nearness(replace(ASKED, instance="m3.medium"), row)
    assert other.differs == ["other machines than m3.medium"]


def test_workloads_are_as_far_apart_as_their_mixes() -> None:
    light, reads, own = (finding(workload=[one]) for one in ("ycsb-b", "ycsb-c", "my-own"))
    asked = replace(ASKED, workload="ycsb-b")
    found = [nearness(asked, one).distance for one in (light, reads, finding(), own)]
    assert found[0] == 0
    assert found == sorted(found)
    mixed = replace(ASKED, workload="stress-mixed", reads=0.95)
    assert nearness(mixed, light).distance < nearness(mixed, finding()).distance


def test_flannel_is_flannel_with_whatever_backend() -> None:
    row = finding(treatment={"plugin": "flannel"})
    assert nearness(replace(ASKED, plugin="flannel-vxlan"), row).distance == 0.0
    assert nearness(replace(ASKED, plugin="weave"), row).differs == ["plugin flannel"]


def test_an_orchestrator_is_far_from_a_plain_container() -> None:
    k8s = finding(
        database="mongodb",
        operation="read",
        treatment={"runtime": "kubernetes", "network": "service-ip"},
    )
    assert nearness(ASKED, k8s).word == "far"


@settings(deadline=None)
@given(
    network=st.sampled_from([*get_args(Network), None]),
    operation=st.sampled_from(get_args(Operation)),
    share=st.none() | st.floats(0.01, 1),
    asked=st.sampled_from(get_args(Network)),
)
def test_a_distance_is_between_0_and_1(
    network: str | None, operation: str, share: float | None, asked: str
) -> None:
    one = finding(treatment={"network": network}, operation=operation, load={"share": share})
    found = nearness(replace(ASKED, network=asked), one)
    assert 0 <= found.distance <= 1
    assert (found.distance == 0) == (found.differs == [])


def test_a_rate_is_compared_with_no_load_and_counts_as_half_a_difference() -> None:
    rate = replace(ASKED, share=None, at_rate=True)
    found = nearness(rate, finding(load={"share": None, "threads": 10}))
    assert found.differs == ["load 10 threads, against a rate"]
    assert found.distance == nearness(ASKED, finding(load={"share": None})).distance > 0
    assert nearness(rate, finding(load={"share": None})).differs == ["load not stated"]


def test_another_consistency_is_farther_than_one_that_is_not_stated_and_both_are_told() -> None:
    asked = replace(ASKED, consistency="QUORUM", replication_factor=3)
    same, unsaid, other = (
        nearness(asked, finding(replication_factor=3, consistency=level))
        for level in ("QUORUM", "", "ONE")
    )
    assert same.distance == 0.0
    assert 0 < unsaid.distance < other.distance
    assert unsaid.differs == ["consistency not stated"]
    assert other.differs == ["consistency ONE"]


def test_one_copy_answers_at_any_level() -> None:
    asked = replace(ASKED, consistency="QUORUM", replication_factor=1)
    assert nearness(asked, finding(replication_factor=1, consistency="ONE")).distance == 0.0


def test_a_mix_of_ones_own_is_not_that_of_the_workload_s_name() -> None:
    asked = replace(ASKED, workload="ycsb-a", reads=0.95)
    named, alike = (nearness(asked, finding(workload=[one])) for one in ("ycsb-a", "ycsb-b"))
    assert named.distance > alike.distance
    assert named.differs == ["workload ycsb-a (50% reads)"]
    usual = replace(ASKED, workload="ycsb-a", reads=0.5)
    assert nearness(usual, finding(workload=["ycsb-a"])).distance == 0.0


def test_what_all_is_of_is_said_in_words() -> None:
    asked = replace(ASKED, operation="mixed", workload="ycsb-c")
    several = nearness(asked, finding(operation="all", workload=["ycsb-a", "ycsb-b"]))
    assert several.fields["operation"] == "all operations of ycsb-a and ycsb-b together"
    assert several.fields["workload"] == "workloads ycsb-a and ycsb-b together"
    alone = nearness(asked, finding(operation="all", workload=["ycsb-a"]))
    assert alone.fields["operation"] == "all operations of ycsb-a together"


def test_a_load_that_is_stated_otherwise_is_not_said_to_differ() -> None:
    threads = nearness(replace(ASKED, share=None, threads=8), finding(load={"share": 1.0}))
    assert threads.differs == ["operations in flight not stated"]
    share = nearness(ASKED, finding(load={"share": None, "threads": 8}))
    assert share.differs == ["load 8 threads as a share of the maximum not stated"]
