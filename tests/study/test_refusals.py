"""What this machine lacks for a plan, reported before anything starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tare.databases.mongodb.installation import unfit
from tare.errors import StudyError
from tare.machines.facts import Disk, MachineFacts
from tare.study.plan import make_plan
from tare.study.quantities import GIB
from tare.study.refusals import refusals, refuse_plan

if TYPE_CHECKING:
    from pathlib import Path

    from tare.study.refusals import Refusal
    from tests.study.conftest import ReadStudy

MACHINE = MachineFacts(
    cpus=2,
    memory_bytes=24 * GIB,
    memory_available=20 * GIB,
    disk_free=50 * GIB,
    root=True,
    hostname="example",
    kernel="6.1",
    cpu_model="example",
    clock_source="tsc",
    transparent_huge_pages="madvise",
    virtualization="",
)
HERE: dict[str, str | None] = {"native": None, "docker": None}

TEXT = """\
study: example
database:
  heap: 512MiB
load: {records: 1000}
factors:
  platform:
    native: {}
    docker:
      platform.runtime: docker
baseline: {platform: native}
"""


def refused(
    read: ReadStudy,
    text: str = TEXT,
    overrides: tuple[str, ...] = (),
    runtimes: dict[str, str | None] = HERE,
    **machine: Any,
) -> list[Refusal]:
    plan = make_plan(read(text, overrides))
    return refusals(plan, replace(MACHINE, **machine), runtimes, ["5.0.9"])


def test_nothing_is_refused_where_all_is_there(read: ReadStudy) -> None:
    assert refused(read) == []
    refuse_plan([])


def test_a_runtime_that_is_missing_names_the_level_that_needs_it(read: ReadStudy) -> None:
    (one,) = refused(read, runtimes={"native": None, "docker": "no engine answers"})
    assert one.field == "platform.runtime"
    assert one.where == "study.yaml:9"
    assert "no engine answers" in one.reason
    assert "tare doctor" in one.remedy


def test_a_runtime_that_nobody_asked_about_is_refused(read: ReadStudy) -> None:
    (one,) = refused(read, runtimes={"native": None})
    assert "docker cannot run here" in one.reason


def test_too_little_memory_says_how_much_and_what_to_do(read: ReadStudy) -> None:
    (one,) = refused(read, memory_available=2 * GIB)
    assert one.where == "study.yaml:3"
    assert "2 deployments alive at once" in one.reason
    assert "2.0GiB of 24.0GiB is available" in one.reason
    assert "design.fresh to block" in one.remedy


def test_one_cluster_at_a_time_may_fit_where_all_do_not(read: ReadStudy) -> None:
    assert refused(read, overrides=("design.fresh=block",), memory_available=2 * GIB) == []


def test_too_little_disk(read: ReadStudy) -> None:
    (one,) = refused(read, disk_free=GIB // 4)
    assert (one.field, one.where) == ("load.records", "study.yaml:4")


@pytest.mark.parametrize(
    ("override", "field", "reason"),
    [
        ("platform.limits.cpuset=1-2", "platform.limits.cpuset", "no CPU 2 here"),
        ("platform.limits.cpus=2.5", "platform.limits.cpus", "2.5 CPUs of 2"),
        ("client.limits.cpuset=7", "client.limits.cpuset", "there are 0 to 1"),
    ],
)
def test_processors_that_are_not_there(
    read: ReadStudy, override: str, field: str, reason: str
) -> None:
    (one,) = refused(read, overrides=(override,))
    assert (one.field, one.where) == (field, f"--set {override}")
    assert reason in one.reason


def test_limits_of_native_processes_need_root(read: ReadStudy) -> None:
    limits = ("platform.limits.memory=2GiB",)
    assert refused(read, overrides=limits) == []
    (one,) = refused(read, overrides=limits, root=False)
    assert one.field == "platform.limits.memory"
    assert "need root" in one.reason


@pytest.mark.parametrize(
    ("endpoint", "reason"),
    [("loopback", "only root enters"), ("published", "only root can add"), ("bridge", "")],
)
def test_endpoints_that_only_root_can_give(read: ReadStudy, endpoint: str, reason: str) -> None:
    docker = f"{{runtime: docker, network: bridge, endpoint: {endpoint}}}"
    level = f"factors.platform.docker={{platform: {docker}}}"
    assert refused(read, overrides=(level,)) == []
    found = refused(read, overrides=(level,), root=False)
    assert [one.field for one in found] == (["platform.endpoint"] if reason else [])
    assert all(reason in one.reason and "bridge" in one.remedy for one in found)


def test_all_refusals_become_one_error(read: ReadStudy) -> None:
    found = refused(read, runtimes={"native": None, "docker": "no engine"}, disk_free=0)
    with pytest.raises(StudyError) as caught:
        refuse_plan(found)
    assert caught.value.where == "study.yaml:9"
    assert "also study.yaml:4: load.records" in caught.value.why
    assert caught.value.exit_code == 2


def test_docker_s_own_disk_is_asked_for_what_docker_keeps(read: ReadStudy) -> None:
    inside = ("factors.platform.docker={platform: {runtime: docker, storage: volume}}",)
    assert refused(read, overrides=inside, engine_disks=kept(docker=(7, GIB))) == []
    (one,) = refused(read, overrides=inside, engine_disks=kept(docker=(7, GIB // 4)))
    assert "where docker's engine keeps its data" in one.reason
    # its data lies in a directory of ours
    assert refused(read, engine_disks=kept(docker=(7, GIB // 2))) == []


def kept(**engines: tuple[int, int]) -> dict[str, Disk]:
    """Runtime to (device, free bytes) of its engine's data."""
    return {name: Disk(f"/{name}", *disk) for name, disk in engines.items()}


TWO_ENGINES = (
    "factors.platform.docker={platform: {runtime: docker, storage: volume}}",
    "factors.platform.podman={platform: {runtime: podman, storage: volume}}",
)


def test_each_engine_s_disk_is_asked_for_what_that_engine_keeps(read: ReadStudy) -> None:
    """An image and one node's files each, half a gibibyte; both do not fit."""
    able, room = {**HERE, "podman": None}, GIB * 3 // 4

    def reasons(**engines: tuple[int, int]) -> list[str]:
        found = refused(read, TEXT, TWO_ENGINES, able, engine_disks=kept(**engines))
        return [one.reason for one in found]

    assert reasons(docker=(7, room), podman=(8, room)) == []
    (reason,) = reasons(docker=(7, room), podman=(8, GIB // 4))
    assert "where podman's engine keeps its data" in reason
    (reason,) = reasons(docker=(7, room), podman=(7, room))
    assert "where docker's and podman's engines keep their data" in reason


CLUSTERED = """\
study: example
database: {heap: 64GiB}
load: {records: 1000}
factors:
  platform:
    pods: {}
    again: {}
platform: {runtime: kubernetes, storage: emptydir, limits: {cpus: 16}}
baseline: {platform: pods}
"""


def test_what_runs_on_other_machines_needs_none_of_this_one(read: ReadStudy) -> None:
    plan = make_plan(read(CLUSTERED, ("design.idle=run",)))
    able = {**HERE, "kubernetes": None}
    elsewhere = refusals(plan, MACHINE, able, ["5.0.9"], {"kubernetes"})
    assert elsewhere == []
    here = refusals(plan, MACHINE, able, ["5.0.9"])
    assert {one.field for one in here} == {"platform.limits.cpus", "database.heap"}


@pytest.mark.parametrize("fresh", ["deployment", "block"])
def test_pods_elsewhere_that_would_have_to_be_paused_are_refused(
    read: ReadStudy, fresh: str
) -> None:
    able = {**HERE, "kubernetes": None}
    plan = make_plan(read(CLUSTERED, (f"design.fresh={fresh}",)))
    (one,) = refusals(plan, MACHINE, able, ["5.0.9"], {"kubernetes"})
    assert one.field == "design.idle"
    assert "design.idle to run" in one.remedy
    alone = make_plan(read(CLUSTERED, ("design.fresh=trial",)))
    assert refusals(alone, MACHINE, able, ["5.0.9"], {"kubernetes"}) == []


STANDING_IN = """\
study: example
database:
  kind: mongodb
  version: "7.0"
  home: %s
  nodes: 3
  replication_factor: 3
load: {threads: 4}
"""


def test_a_server_that_is_another_is_refused_where_its_files_are_named(
    read: ReadStudy, tmp_path: Path
) -> None:
    program = tmp_path / "ferretdb"
    program.write_bytes(b"other server")
    plan = make_plan(read(STANDING_IN % program))
    home, nodes = refusals(
        plan,
        MACHINE,
        HERE,
        ["5.0.9"],
        unfit=lambda setup: unfit(setup.database, setup.platform.runtime),
    )
    assert (home.field, home.where) == ("database.home", "study.yaml:5")
    assert "cannot be the target of a benchmark" in home.reason
    assert "database.stand_in: true" in home.remedy
    assert (nodes.field, nodes.where) == ("database.nodes", "study.yaml:6")
    assert "set database.nodes and database.replication_factor to 1" in nodes.remedy


STUBS = """\
study: example
database: {kind: mongodb, version: "7.0", stand_in: true}
load: {threads: 4}
factors:
  platform: {native: {}, docker: {platform.runtime: docker}}
baseline: {platform: native}
"""


def test_the_stub_in_mongodb_s_place_needs_no_lock_file(read: ReadStudy) -> None:
    """It is Tare's own program: no release of it is fetched."""
    assert refused(read, STUBS) == []


BIG_SET = """\
study: example
database: {kind: mongodb, version: "7.0", home: /opt, nodes: 3, replication_factor: 3}
load: {records: 100_000_000, threads: 4}
platform:
  limits: {memory: 9GiB}
"""


def test_too_little_memory_for_a_cache_names_the_limit_that_it_follows(read: ReadStudy) -> None:
    (one,) = refused(read, BIG_SET, disk_free=1000 * GIB, memory_available=8 * GIB)
    assert (one.field, one.where) == ("platform.limits.memory", "study.yaml:5")
    assert "cache 4.0GiB a node" in one.reason
    assert "heap" not in str(one)


ON_HOSTS = """\
study: example
database: {heap: 64GiB}
load: {records: 1000}
factors:
  platform:
    native: {}
    docker: {platform: {runtime: docker, storage: volume}}
platform: {machines: ssh, limits: {cpus: 16}}
client: {machines: ssh, limits: {cpus: 16}}
baseline: {platform: native}
"""


def test_what_runs_on_hosts_of_the_inventory_needs_none_of_this_machine(read: ReadStudy) -> None:
    plan = make_plan(read(ON_HOSTS, ()))
    machine = replace(MACHINE, root=False)
    no_engine: dict[str, str | None] = {"native": None, "docker": "there is no engine here"}
    assert refusals(plan, machine, no_engine, ["5.0.9"]) == []


def test_a_client_here_of_nodes_elsewhere_is_held_to_this_machine(read: ReadStudy) -> None:
    plan = make_plan(read(ON_HOSTS, ("client.machines=local",)))
    found = refusals(plan, MACHINE, HERE, ["5.0.9"])
    assert {one.field for one in found} == {"client.limits.cpus"}


KVM = """\
study: example
database: {nodes: 3, replication_factor: 1}
platform: {limits: {memory: 4GiB, cpuset: "0"}}
load: {records: 1000}
factors:
  platform:
    native: {}
    vm: {platform.machines: kvm}
baseline: {platform: native}
design: {slice: off, fresh: block}
"""


def test_virtual_machines_that_fit_beside_what_runs_here_are_not_refused(read: ReadStudy) -> None:
    assert refused(read, KVM, memory_available=30 * GIB, memory_bytes=32 * GIB) == []


def test_more_virtual_machines_than_there_is_memory_for_are_refused(read: ReadStudy) -> None:
    (one,) = refused(read, KVM, memory_available=12 * GIB)
    assert one.field == "platform.machines"
    assert one.where == "study.yaml:8"
    assert "3 of 4.5GiB" in one.reason
    assert "12.0GiB of 24.0GiB is available" in one.reason
    assert "platform.limits.memory" in one.remedy


def test_a_virtual_machine_s_cpus_are_this_machine_s_and_its_disk_is_on_this_disk(
    read: ReadStudy,
) -> None:
    only = KVM.replace("    native: {}\n", "    other: {platform.machines: kvm}\n")
    only = only.replace("baseline: {platform: native}", "baseline: {platform: other}")
    enough = {"memory_available": 30 * GIB, "memory_bytes": 32 * GIB}
    wide = only.replace('cpuset: "0"', 'cpuset: "0-5"')
    assert {one.field for one in refused(read, wide, **enough)} == {"platform.limits.cpuset"}
    assert {one.field for one in refused(read, only, disk_free=0, **enough)} == {"load.records"}
