"""The Truyen studies: the paper's design at every scale, and the part that can run."""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.knowledge.library import load_library
from tare.machines.declaration import Missing
from tare.runtimes.availability import obstacle
from tare.runtimes.declaration import Named
from tare.runtimes.kubernetes.facts import ClusterFacts
from tare.runtimes.swarm.facts import SwarmFacts
from tare.study.conditions import expand
from tare.study.plan import make_plan
from tare.study.read import load_study

if TYPE_CHECKING:
    from tare.knowledge.schema import Finding, Side
    from tare.study.conditions import Condition
    from tare.study.plan import Plan
    from tare.study.platform import Platform
    from tare.study.schema import Study

STUDIES = Path(__file__).parents[2] / "studies"
MONGODB, CASSANDRA = "truyen-2018", "truyen-2018-cassandra"
HERE = "truyen-2018-mongodb"
"""MongoDB without the paper's virtual machines."""
DEPLOYMENTS = {MONGODB: 13, CASSANDRA: 14, HERE: 14}
"""The paper has 13; the files name those that it does not have."""
CLUSTERS = {**DEPLOYMENTS, CASSANDRA: 10}
"""Endpoints of the same pods are ways to one cluster: four by VXLAN, two by host-gw."""
ALL = pytest.mark.parametrize("name", [MONGODB, CASSANDRA, HERE])
SCALES = (None, "day", "laptop")  # None: the paper's

# Section IV-C: workloads A, B, C, D, F; 15 runs, each with 5 threads more.
WORKLOADS = {"A": "ycsb-a", "B": "ycsb-b", "C": "ycsb-c", "D": "ycsb-d", "F": "ycsb-f"}
THREADS = list(range(5, 80, 5))
# Section IV-A: node platform and endpoint. RQ3 adds the network plugin.
GRAMMAR = re.compile(
    r"(VM_|DockerOnly|Swarm|K8)"
    r"((FloatingIP|HostName)(HostPort|NodePort)|HostName|ServiceIP|ContainerDNSName)"
    r"(_(overlay|flannel))?"
)
TABLE_II = {
    "VM_HostNameHostPort", "VM_FloatingIPHostPort", "DockerOnlyHostName", "SwarmFloatingIPHostPort",
    "K8FloatingIPHostPort",
}  # fmt: skip
TABLE_III = {
    "SwarmFloatingIPHostPort", "SwarmHostNameNodePort", "SwarmServiceIP", "K8FloatingIPHostPort",
    "K8ServiceIP", "K8HostNameNodePort", "K8ContainerDNSName",
}  # fmt: skip


@cache
def study(name: str, scale: str | None = None) -> Study:
    return load_study(STUDIES / f"{name}.yaml", scale=scale)


@cache
def conditions(name: str, scale: str | None = None) -> list[Condition]:
    return expand(study(name, scale))


def by_deployment(name: str) -> dict[str, Platform]:
    return {one.levels["deployment"]: one.setup.platform for one in conditions(name)}


@ALL
@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_has_the_same_conditions(name: str, scale: str | None) -> None:
    """Deployments x 5 workloads x 15 thread counts."""
    found = conditions(name, scale)
    assert len(found) == DEPLOYMENTS[name] * 5 * 15
    assert [one.name for one in found] == [one.name for one in conditions(name)]
    alive = {one.deployment for one in found}
    assert len(alive) == CLUSTERS[name], "a cluster serves the whole ladder"


@ALL
def test_workloads_and_threads_are_the_papers(name: str) -> None:
    found = conditions(name)
    assert {one.levels["workload"]: one.setup.load.workload for one in found} == WORKLOADS
    assert list(dict.fromkeys(one.setup.load.threads for one in found)) == THREADS
    assert all(str(one.setup.load.threads) == one.levels["threads"] for one in found)


@ALL
def test_the_papers_size_runs_everything_once_and_the_others_repeat(name: str) -> None:
    once = study(name)
    assert once.scale == "paper", "the scale that is taken when none is named"
    assert (once.design.deployments, once.design.blocks) == (1, 1)
    assert once.load.records == 20_000
    for scale in ("day", "laptop"):
        smaller = study(name, scale)
        in_slices = {(CASSANDRA, "laptop"): (5, 1), ("truyen-2018-mongodb", "laptop"): (3, 1)}
        rounds = (smaller.design.deployments, smaller.design.blocks)
        assert rounds == in_slices.get((name, scale), (1, 3))
        assert smaller.load.measure < once.load.measure
        assert smaller.scale == scale


def test_mongodb_is_configured_as_in_section_iv() -> None:
    database = study(MONGODB).database
    assert (database.kind, database.version) == ("mongodb", "3.2.4")
    assert (database.nodes, database.replication_factor) == (3, 3)
    assert (database.write_concern, database.read_preference) == (2, "primary")
    limits = study(MONGODB).platform.limits
    assert (limits.cpus, limits.memory) == (2, 4 * 1024**3)


def test_cassandra_acknowledges_and_reads_alike() -> None:
    database = study(CASSANDRA).database
    assert (database.nodes, database.replication_factor) == (3, 3)
    assert (database.consistency.write, database.consistency.read) == ("TWO", "ONE")


def test_deployments_have_the_papers_names() -> None:
    names = set(by_deployment(MONGODB))
    assert names >= TABLE_II | TABLE_III
    assert all(GRAMMAR.fullmatch(name) for name in names)


def test_the_exhibits_compare_what_the_tables_compare() -> None:
    shown = [one for one in study(MONGODB).analysis.show if one.kind == "rankings"]
    first, second, third = (set(one.where["deployment"]) for one in shown)
    assert first == TABLE_II
    assert second == TABLE_III
    assert third == {
        "SwarmServiceIP", "SwarmServiceIP_overlay", "K8ServiceIP", "K8ServiceIP_flannel",
        "K8ContainerDNSName", "K8ContainerDNSName_flannel",
    }  # fmt: skip
    assert all(
        one.groups == {"update-heavy": ["A", "F"], "read-heavy": ["B", "C", "D"]} for one in shown
    )


def table_findings() -> list[Finding]:
    """The findings of Tables II and III, which name both deployments."""
    every = load_library(environment={}).findings()
    return [one for one in every if one.id.startswith("truyen-2018.t")]


def test_each_finding_of_the_tables_is_between_two_levels_as_it_describes_them() -> None:
    """`Read, ...: K8ServiceIP and K8FloatingIPHostPort`: treatment and baseline."""
    platforms = by_deployment(MONGODB)
    found = table_findings()
    assert len(found) > 30
    for one in found:
        treatment, _, baseline = one.source.where.rpartition(": ")[2].partition(" and ")
        assert agrees(one.treatment, platforms[treatment]), one.id
        assert agrees(one.baseline, platforms[baseline]), one.id


def agrees(side: Side | None, platform: Platform) -> bool:
    """Every field that the finding states is the level's; virtual machines here are KVM's."""
    assert side is not None
    return all(
        stated == {"machines": "vm"}.get(field, getattr(platform, field))
        for field in ("machines", "runtime", "network", "storage", "plugin", "address")
        if (stated := getattr(side, field)) is not None
    )


def test_of_cassandra_native_and_docker_run_here_and_the_rest_is_said() -> None:
    plan = make_plan(study(CASSANDRA, "laptop"), obstacle)
    running = {one.levels["deployment"] for one in plan.conditions}
    assert running == {"NativeHostPort", "DockerOnlyHostPort"}
    assert len(plan.conditions) == 2 * 5 * 15
    assert len(plan.left_out) == 12 * 5 * 15
    for one in plan.left_out:
        assert orchestrator(one.condition) in one.why.lower()


def test_on_a_cluster_its_own_plugins_deployments_run_too() -> None:
    facts = ClusterFacts("https://api", "v1.33.13", "flannel-vxlan", "iptables", ())
    here = partial(obstacle, named={"kubernetes": Named(facts)})
    plan = make_plan(study(CASSANDRA, "laptop"), here)
    running = {one.levels["deployment"] for one in plan.conditions}
    assert running == {
        "NativeHostPort", "DockerOnlyHostPort", "K8HostPort", "K8HostNetwork", "K8NodePort",
        "K8ServiceIP", "K8ContainerDNSName",
    }  # fmt: skip


def orchestrator(condition: Condition) -> str:
    return condition.setup.platform.runtime


def test_the_laptop_size_takes_an_hour_of_what_runs_here() -> None:
    plan = make_plan(study(CASSANDRA, "laptop"), obstacle)
    trials = 2 * 5 * 15 * 5
    assert len(plan.trials) == trials
    # 2.6 s measured, half as much for drains, per trial
    assert trials * 2.6 < plan.estimate.seconds < 3600 * 1.2
    servers = {one.setup.platform.limits.cpuset for one in plan.conditions}
    clients = {one.setup.client.limits.cpuset for one in plan.conditions}
    assert (servers, clients) == ({"0"}, {"1"})


@pytest.mark.parametrize("gone", [None, Missing("no QEMU for virtual machines", "apt-get install")])
def test_of_mongodb_nothing_runs_here_and_each_reason_is_said(gone: Missing | None) -> None:
    plan = make_plan(study(MONGODB), partial(obstacle, missing=lambda name: gone))
    assert not plan.conditions
    assert len(plan.left_out) == 13 * 5 * 15
    reasons = ["MongoDB"] if gone is None else ["MongoDB", "virtual machines"]
    assert all(reason in one.why for one in plan.left_out for reason in reasons)


def commands() -> list[tuple[str, list[str], list[str]]]:
    """Deployments, overrides and selections of every command of the page that runs it here."""
    page = (STUDIES.parent / "docs/replications/truyen-2018-cassandra.md").read_text("utf-8")
    found = re.search(r'^short="([^"]*)"', page, re.MULTILINE)
    assert found
    calls = re.findall(r"^tare (?:replicate|run) .*?(?<!\\)$", page, re.MULTILINE | re.DOTALL)
    made = []
    for call in calls:
        words = call.replace("$short", found[1]).replace("\\\n", " ").split()
        told: dict[str, list[str]] = {"--set": [], "--only": []}
        for option, value in pairwise(words):
            told.setdefault(option, []).append(value)
        (chosen,) = [one for one in told["--only"] if one.startswith("deployment=")]
        made.append((chosen.partition("=")[2], told["--set"], told["--only"]))
    return made


@pytest.mark.parametrize(("deployments", "overrides", "only"), commands())
def test_every_command_of_the_page_is_a_plan_of_less_than_an_hour(
    deployments: str, overrides: list[str], only: list[str]
) -> None:
    path = STUDIES / f"{CASSANDRA}.yaml"
    plan = make_plan(load_study(path, overrides, "laptop", only))
    assert {one.levels["deployment"] for one in plan.conditions} == set(deployments.split(","))
    assert plan.estimate.seconds < 50 * 60
    assert plan.estimate.memory_bytes < 20 * 2**30


def test_the_page_covers_every_deployment_that_needs_no_ip_vs() -> None:
    covered = {one for deployments, _, _ in commands() for one in deployments.split(",")}
    every = {one.levels["deployment"] for one in conditions(CASSANDRA)}
    assert every - covered == {"SwarmNodePort", "SwarmServiceIP", "K8HostNetwork"}


SWARM = Named(SwarmFacts("unix://", "27.0", (), ip_vs=True))


def planned(*overrides: str, only: tuple[str, ...] = ()) -> Plan:
    """Of MongoDB, where a Swarm and a Kubernetes cluster with flannel are named."""
    facts = ClusterFacts("https://api", "v1.33.13", "flannel-vxlan", "iptables", ())
    here = partial(obstacle, named={"kubernetes": Named(facts), "swarm": SWARM})
    return make_plan(
        load_study(STUDIES / f"{HERE}.yaml", list(overrides), "laptop", list(only)), here
    )


def deployments(plan: Plan) -> set[str]:
    return {one.levels["deployment"] for one in plan.conditions}


def test_mongodb_plans_wherever_a_mongod_is_named() -> None:
    """Endpoints that only containers reach need a client among them."""
    plan = planned("database.home=/opt/mongodb-7.0.14")
    kubernetes = {"K8HostPort", "K8HostNetwork", "K8NodePort", "K8ServiceIP", "K8ContainerDNSName"}
    swarm = {"SwarmHostPort", "SwarmNodePort"}
    assert deployments(plan) == {"NativeHostPort", "DockerOnlyHostPort"} | swarm | kubernetes
    left = {one.condition.levels["deployment"]: one.why for one in plan.left_out}
    assert "by containers on its network only" in left["SwarmServiceIP"]
    assert "network plugin is flannel-vxlan" in left["K8ServiceIP_host-gw"]


def test_with_an_image_alone_the_native_baseline_is_left_out_and_another_may_be_named() -> None:
    plan = planned("database.image=mongo:7.0", "baseline.deployment=DockerOnlyHostPort")
    assert "NativeHostPort" not in deployments(plan)
    assert {"DockerOnlyHostPort", "SwarmHostPort", "K8ServiceIP"} <= deployments(plan)


def test_without_a_server_each_condition_says_what_to_name() -> None:
    plan = planned("database.stand_in=false")
    assert not plan.conditions
    assert all("MongoDB's server cannot be fetched" in one.why for one in plan.left_out)


def test_the_stub_stands_in_wherever_a_mongod_would_run_if_none_is_named() -> None:
    plan = planned()
    assert deployments(plan) == deployments(planned("database.home=/opt/mongodb-7.0.14"))
    assert {one.setup.database.nodes for one in plan.conditions} == {3}


def test_a_client_inside_the_swarm_reaches_its_service_addresses() -> None:
    every = "SwarmHostPort,SwarmServiceIP,SwarmContainerDNSName"
    plan = planned(
        "database.image=mongo:7.0", "client={runtime: swarm, network: bridge}",
        "baseline.deployment=SwarmHostPort", only=(f"deployment={every}",),
    )  # fmt: skip
    assert deployments(plan) == {*every.split(",")}
