"""The shipped study files: they plan at every scale, and match their papers."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.load.specification import specification
from tare.load.workloads import workload
from tare.machines.declaration import Missing
from tare.runtimes.availability import obstacle
from tare.study.comparisons import comparisons
from tare.study.document import read_document
from tare.study.domains import domains_of
from tare.study.metric_names import primary_metrics
from tare.study.plan import make_plan
from tare.study.read import load_study

if TYPE_CHECKING:
    from tare.study.conditions import Condition
    from tare.study.plan import Plan

STUDIES = Path(__file__).parents[2] / "studies"
SCALES: dict[str, list[str]] = {
    path.stem: list((read_document(path).data or {}).get("scales", {}))
    for path in sorted(STUDIES.glob("*.yaml"))
    if not path.stem.startswith("truyen-")  # which have tests of their own
}
PUBLISHED = [name for name, scales in SCALES.items() if "paper" in scales]
EVERY: list[tuple[str, str | None]] = [
    (name, scale) for name, scales in SCALES.items() for scale in (*scales,) or (None,)
]
SMALLER = [(name, scale) for name in PUBLISHED for scale in SCALES[name] if scale != "paper"]
THESES = ("bth-docker-2016", "bth-kvm-2016")
CASSANDRA_STRESS = (*THESES, "shirinbab-2020")


@cache
def plan(name: str, scale: str | None = None) -> Plan:
    """The plan with every condition, even those that this machine and version cannot run."""
    return make_plan(load_study(STUDIES / f"{name}.yaml", scale=scale))


def condition(name: str, scale: str | None, **levels: str) -> Condition:
    """The one condition with these levels."""
    (found,) = [one for one in plan(name, scale).conditions if levels.items() <= one.levels.items()]
    return found


def compared(one: Condition) -> object:
    """A condition's meaning, whatever its size."""
    setup = one.setup
    sized = {"load": {"records", "warmup", "measure", "threads", "rate", "search", "phases"}}
    return one.name, setup.model_dump_json(
        exclude=sized | {"database": {"heap", "jvm"}, "platform": {"limits"}, "client": {"limits"}}
    )


@pytest.mark.parametrize(("name", "scale"), EVERY)
def test_every_shipped_study_plans_at_every_scale(name: str, scale: str | None) -> None:
    made = plan(name, scale)
    design = made.study.design
    assert len(made.trials) == len(made.conditions) * design.deployments * design.blocks > 0
    assert made.estimate.seconds > 0


def test_the_published_studies_have_their_scales() -> None:
    assert set(PUBLISHED) == {*CASSANDRA_STRESS, "grambow-2018"}
    for name in PUBLISHED:
        assert {"paper", "day", "laptop"} <= set(SCALES[name]), name
        assert plan(name).study.scale == "paper"
    for name in THESES:
        assert "printed" in SCALES[name]


@pytest.mark.parametrize(("name", "scale"), SMALLER)
def test_a_scale_keeps_what_is_compared_with_what(name: str, scale: str) -> None:
    paper, made = plan(name, "paper"), plan(name, scale)
    assert list(map(compared, made.conditions)) == list(map(compared, paper.conditions))
    assert made.study.baseline == paper.study.baseline
    assert made.study.analysis == paper.study.analysis
    assert made.study.question == paper.study.question


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_laptop_is_the_smallest_scale(name: str) -> None:
    """Of those that are judged. A day may be longer than a paper that measured all once."""
    judged = [scale for scale in SCALES[name] if scale != "emulated"]
    seconds = {scale: plan(name, scale).estimate.seconds for scale in judged}
    assert min(seconds, key=lambda scale: seconds[scale]) == "laptop"


@pytest.mark.parametrize(
    ("name", "conditions", "repetitions", "minutes"),
    [
        # Grambow 2018, Table 2: 4 setups x 3 numbers of threads x 3 strategies x 2 caches, on
        # each of 2 instance types; section 3: five times, some 20 minutes each
        ("grambow-2018", 2 * 4 * 3 * 3 * 2, 5, 20),
        # Docker thesis, sections 4.5 and 5.1.1: 2 test beds x 3 loads x 2 loads, ten times 20 min
        ("bth-docker-2016", 2 * 3 * 2, 10, 20),
        # KVM thesis, section 4.2: 2 arrangements x 3 operations x 2 workloads, ten times 20 min
        ("bth-kvm-2016", 2 * 3 * 2, 10, 20),
        # Shirinbab 2020, Figures 2 and 3: 3 platforms x 3 RF x (5 rates and the maximum), mixed;
        # Table 2: as many x reads at 60K and writes at 20K; Figures 4 to 9: 2 platforms x 3
        # numbers of clusters x 3 loads x (5 rates and the maximum), of which mixed with one
        # cluster is in Figure 2 already; 30 minutes each (Table 1), no repetitions
        ("shirinbab-2020", 3 * 3 * 6 + 3 * 3 * 2 + 2 * 3 * 3 * 6 - 2 * 6, 1, 30),
    ],
)
def test_a_study_is_as_large_as_its_paper(
    name: str, conditions: int, repetitions: int, minutes: float
) -> None:
    made = plan(name, "paper")
    assert len(made.conditions) == conditions
    assert made.study.design.deployments * made.study.design.blocks == repetitions
    assert {one.setup.load.measured_s for one in made.conditions} == {60 * minutes}


@pytest.mark.parametrize("name", CASSANDRA_STRESS)
def test_the_mixed_load_is_three_reads_to_one_write(name: str) -> None:
    """Docker thesis, section 4.5.1; KVM thesis, section 4.2; Shirinbab 2020, Table 1."""
    seen = set()
    for scale in SCALES[name]:
        for one in plan(name, scale).conditions:
            told = workload(one.setup)
            seen.add((one.levels["workload"], told["read"], told["write"]))
    mixed = "mix" if name == "shirinbab-2020" else "mixed"
    assert seen == {(mixed, 3.0, 1.0), ("read", 1.0, 0.0), ("write", 0.0, 1.0)}


@pytest.mark.parametrize("name", THESES)
def test_the_theses_loads_are_shares_of_a_maximum_found_with_writes(name: str) -> None:
    for scale in ("paper", "day"):
        made = plan(name, scale)
        threads = {one.levels["load"]: one.setup.load.threads for one in made.conditions}
        assert threads == {"full": "max", "two-thirds": "66% of max"}
        assert made.study.load.search.of == "baseline"
        assert (made.study.baseline["workload"], made.study.baseline["load"]) == ("write", "full")


@pytest.mark.parametrize("name", THESES)
def test_the_theses_thread_counts_can_be_asked_for_as_printed(name: str) -> None:
    """Docker thesis, section 4.5; KVM thesis, Table 1."""
    made = plan(name, "printed")
    threads = {one.levels["load"]: one.setup.load.threads for one in made.conditions}
    assert threads == {"full": 450, "two-thirds": 150}
    assert made.estimate.breakdown["search"] == 0


def test_the_docker_theses_laptop_takes_less_than_40_minutes_and_16_gigabytes() -> None:
    made = plan("bth-docker-2016", "laptop")
    assert made.study.database.nodes == 3
    threads = {one.levels["load"]: one.setup.load.threads for one in made.conditions}
    assert threads == {"full": 32, "two-thirds": 10}  # a third, as 150 of 450 in section 4.5
    assert made.estimate.seconds < 40 * 60
    assert made.estimate.memory_bytes < 16 * 1024**3


@pytest.mark.parametrize(("name", "scale"), EVERY)
def test_throughput_decides_only_where_no_rate_is_fixed(name: str, scale: str | None) -> None:
    """At a rate that both sides reach, the ratio of throughputs is 1 by construction."""
    made = plan(name, scale)
    primary = primary_metrics(made.study.margins, made.study.analysis.primary)
    rates = {one.setup.load.rate for one in made.conditions}
    assert "throughput" not in primary or rates == {None}


@pytest.mark.parametrize("name", CASSANDRA_STRESS)
def test_a_run_of_cassandra_stress_by_time_begins_without_a_warm_up(name: str) -> None:
    assert {one.setup.load.warmup for one in plan(name, "paper").conditions} == {0.0}


def test_table_2_of_shirinbab_has_all_its_cells() -> None:
    cells = {
        (one.levels["platform"], one.levels["replication"], one.levels["workload"])
        for one in plan("shirinbab-2020").conditions
        if one.levels["clusters"] == "1"
        and (one.levels["workload"], one.levels["load"])
        in {("mix", "80k"), ("read", "60k"), ("write", "20k")}
    }
    assert len(cells) == 27


def test_shirinbab_has_several_clusters_in_containers_and_machines_at_rf_3_only() -> None:
    """Sections 3.3 and 3.5."""
    several = [c for c in plan("shirinbab-2020").conditions if c.levels["clusters"] != "1"]
    assert {(c.levels["platform"], c.levels["replication"]) for c in several} == {
        ("docker", "rf3"),
        ("vmware", "rf3"),
    }
    assert {c.setup.clusters for c in several} == {2, 4}


@pytest.mark.parametrize("scale", SCALES["shirinbab-2020"])
def test_shirinbabs_reads_and_writes_are_those_of_the_mixed_load(scale: str) -> None:
    """Table 2: 80K mixed at 3 to 1 are 60K reads and 20K writes, whatever the scale."""
    one = {"platform": "nonvirtualized", "replication": "rf1", "clusters": "1"}
    mixed, reads, writes = (
        condition("shirinbab-2020", scale, workload=name, load=load, **one).setup.load.rate
        for name, load in (("mix", "80k"), ("read", "60k"), ("write", "20k"))
    )
    assert (reads, writes) == (0.75 * mixed, 0.25 * mixed)


@pytest.mark.parametrize("scale", SCALES["shirinbab-2020"])
def test_shirinbabs_steps_keep_their_proportion(scale: str) -> None:
    rates = {
        one.levels["load"]: one.setup.load.rate for one in plan("shirinbab-2020", scale).conditions
    }
    assert rates.pop("most") is None
    steps = {level: rate / rates["80k"] for level, rate in rates.items()}
    assert steps == {level: int(level.removesuffix("k")) / 80 for level in rates}


def test_clusters_side_by_side_share_shirinbabs_transactions() -> None:
    levels = {"platform": "docker", "replication": "rf3", "workload": "mix", "load": "80k"}
    told = {
        clusters: specification(
            condition("shirinbab-2020", "paper", clusters=clusters, **levels).setup,
            name="t",
            client="c1",
            targets=["127.0.0.1:9042"],
            phase="measure",
            seed=1,
        )["rate"]
        for clusters in ("1", "2", "4")
    }
    assert told == {"1": 80_000, "2": 40_000, "4": 20_000}


@pytest.mark.parametrize(("name", "level"), [("bth-kvm-2016", "kvm"), ("shirinbab-2020", "vmware")])
def test_what_this_version_cannot_run_is_planned_and_left_out(name: str, level: str) -> None:
    whole = plan(name, "laptop")
    gone = Missing("no QEMU", "apt-get install qemu-system-x86")
    made = make_plan(whole.study, partial(obstacle, missing=lambda name: gone))
    assert {one.condition.levels["platform"] for one in made.left_out} == {level}
    assert len(made.left_out) + len(made.conditions) == len(whole.conditions)
    assert made.estimate.seconds < whole.estimate.seconds


def test_with_qemu_the_kvm_thesis_runs_whole() -> None:
    made = make_plan(plan("bth-kvm-2016", "laptop").study, obstacle)
    assert made.left_out == []
    (domains,) = domains_of(made.conditions, made.study.design, 2)
    assert (domains.count, domains.cpus, domains.cpuset) == (3, 1, "0")


def test_a_volume_and_the_layer_differ_in_the_storage_alone() -> None:
    """Grambow 2018, section 6."""
    found = {
        one.levels["server"]: one.setup.platform for one in plan("grambow-2018-volume").conditions
    }
    layer, volume = found["layer"], found["volume"]
    assert (layer.storage, volume.storage) == ("layer", "volume")
    assert layer.model_copy(update={"storage": "volume"}) == volume


def test_a_volume_is_compared_with_the_layer_itself() -> None:
    """Section 6 asks what changes if data lie in a volume rather than in the layer."""
    made = plan("grambow-2018-volume")
    pairs = {
        (old.levels["server"], new.levels["server"])
        for old, new in comparisons(made.study, made.conditions)
    }
    assert pairs == {("layer", "volume"), ("layer", "native")}


def test_workload_b_meets_the_setups_of_workload_a() -> None:
    """Grambow 2018, section 3: setups I to IV, workloads A and B."""
    found = plan("grambow-2018-workload-b").conditions
    setups = {
        workload: {
            (one.levels["client"], one.levels["server"], one.levels["threads"])
            for one in found
            if one.setup.load.workload == workload
        }
        for workload in ("ycsb-a", "ycsb-b")
    }
    assert setups["ycsb-a"] == setups["ycsb-b"]
    assert len(setups["ycsb-a"]) == 2 * 2 * 2


@pytest.mark.parametrize("name", CASSANDRA_STRESS)
def test_cpu_use_is_taken_of_the_servers_as_the_papers_read_it(name: str) -> None:
    study = plan(name).study
    assert "cpu.server_util" in study.analysis.primary
    assert "cpu.util" not in study.model_dump_json()
