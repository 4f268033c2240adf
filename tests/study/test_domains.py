"""The number of virtual machines that a plan needs, and their sizes: their servers' limits."""

from __future__ import annotations

from typing import Any

from tare.study.conditions import expand
from tare.study.domains import ENGINE_BYTES, GUEST_BYTES, Domains, domains_of
from tare.study.platform import Domain
from tare.study.quantities import GIB, MIB
from tare.study.schema import Study
from tare.study.server_needs import node_memory

HERE = 4
"""CPUs of this machine."""


def domains(levels: dict[str, Any], fresh: str = "block", **more: Any) -> list[Domains]:
    study = Study.model_validate(
        {
            "study": "x",
            "factors": {"platform": {"native": {}, **levels}},
            "baseline": {"platform": "native"},
            "design": {"fresh": fresh, "slice": "off"},
            **more,
        }
    )
    return domains_of(expand(study), study.design, HERE)


def kvm(**more: Any) -> dict[str, Any]:
    return {"platform": {"machines": "kvm", **more}}


def rounded(size: int) -> int:
    return -(-size // (64 * MIB)) * 64 * MIB


def test_a_study_without_any_has_none() -> None:
    assert domains({"docker": {"platform": {"runtime": "docker"}}}) == []


def test_there_is_one_for_each_node_with_all_cpus_where_nothing_is_limited() -> None:
    (made,) = domains({"vm": kvm()}, database={"nodes": 3})
    assert (made.group, made.count, made.cpus, made.cpuset) == ("kvm", 3, HERE, "")
    assert (made.domain, made.engine) == (Domain(), False)


def test_it_has_the_cpus_that_its_servers_may_use() -> None:
    (pinned,) = domains({"vm": kvm(limits={"cpuset": "1,3"})})
    assert (pinned.cpus, pinned.cpuset) == (2, "1,3")
    (shared,) = domains({"vm": kvm(limits={"cpus": 1.5})})
    assert (shared.cpus, shared.cpuset) == (2, "")


def test_it_has_its_server_s_memory_and_its_own() -> None:
    (made,) = domains({"vm": kvm(limits={"memory": "2GiB"})})
    assert made.memory == rounded(2 * GIB + GUEST_BYTES)


def test_without_a_limit_it_has_what_the_server_is_reckoned_to_need() -> None:
    study = Study.model_validate({"study": "x"})
    (made,) = domains({"vm": kvm()})
    assert made.memory == rounded(node_memory(expand(study)[0].setup, None) + GUEST_BYTES)


def test_native_and_docker_inside_are_the_same_machine_and_live_there_together() -> None:
    inside = {"vm": kvm(), "docker-in-vm": kvm(runtime="docker", storage="volume")}
    limits = {"platform": {"limits": {"memory": "1GiB"}}}
    (one_at_a_time,) = domains(inside, **limits)
    assert one_at_a_time.engine
    assert one_at_a_time.memory == rounded(GIB + GUEST_BYTES + ENGINE_BYTES)
    (together,) = domains(inside, fresh="deployment", **limits)
    assert together.memory == rounded(2 * GIB + GUEST_BYTES + ENGINE_BYTES)


def test_machines_of_other_limits_or_disks_are_others() -> None:
    made = domains(
        {
            "small": kvm(limits={"memory": "1GiB", "cpuset": "0,2"}),
            "large": kvm(limits={"memory": "2GiB", "cpus": 2}),
            "cached": kvm(domain={"cache": "writeback", "format": "raw"}),
            "tapped": kvm(domain={"network": "macvtap"}),
        }
    )
    assert [one.group for one in made] == [
        "kvm-on0.2-1024MiB",
        "kvm-2cpus-2048MiB",
        "kvm-writeback-raw",
        "kvm-macvtap",
    ]


def test_clusters_beside_one_another_share_the_machines() -> None:
    limits = {"platform": {"limits": {"memory": "1GiB"}}}
    (made,) = domains({"vm": kvm() | {"clusters": 3}}, **limits)
    assert made.memory == rounded(3 * GIB + GUEST_BYTES)
