"""Which published findings are shown beside an effect: same change, same kind of metric, near."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tare.analysis.analyse import analyse
from tare.analysis.model import Analysis, Others
from tare.knowledge import others_found as module
from tare.knowledge.library import Entry, Library, load_library
from tare.knowledge.others_found import others_for, with_others
from tare.knowledge.schema import Work
from tare.study.read import load_study
from tare.study.schema import Study
from tests.synthetic_run import QUICKSTART, docker, write_run
from tests.synthetic_trial import Truth

from .sample import changed, finding, library

BRIDGE: dict[str, Any] = {
    "treatment": {"runtime": "docker", "network": "bridge", "storage": "volume"},
    "version": "5.0.9",
    "replication_factor": 1,
    "load": {"threads": 32},
}
GROUPS: dict[str, Any] = {
    "treatment": {"machines": "vmware", "runtime": "native", "network": "host"},
    "version": "5.0.9",
    "replication_factor": 1,
    "load": {"threads": 32},
}
WRITES: dict[str, Any] = {"operation": "write", "metric": "write.mean"}


def near(percent: float, **changes: Any) -> Any:
    """A finding with a printed number about the change from native to docker-bridge."""
    return changed(percent, **{**BRIDGE, **changes})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    levels = {
        "native": QUICKSTART["native"],
        "native-again": QUICKSTART["native-again"],
        "docker-bridge": QUICKSTART["docker-bridge"],
        "both": Truth(patch={**docker("bridge"), "client": {"runtime": "docker"}}),
        "bridge-64": Truth(patch={**docker("bridge"), "load": {"threads": 64}}),
    }
    made = tmp_path_factory.mktemp("runs") / "mine"
    return write_run(made, effects=levels, deployments=2, blocks=2, measure_s=3)


@pytest.fixture(scope="module")
def analysis(run: Path) -> Analysis:
    return analyse(run)


@pytest.fixture(scope="module")
def study(run: Path) -> Study:
    return load_study(run / "study.yaml")


def beside(
    analysis: Analysis,
    study: Study,
    known: Library,
    metric: str = "update.mean",
    treatment: str = "docker-bridge",
) -> Others | None:
    """The others' findings beside this treatment's effect."""
    found = with_others(analysis, study, known).effects
    return next(e for e in found if (e.metric, e.treatment) == (metric, treatment)).others


def test_the_same_change_of_the_same_metric_stands_beside_it(
    analysis: Analysis, study: Study
) -> None:
    found = beside(analysis, study, library([near(10)]))
    assert found is not None
    (one,) = found.nearest
    assert (one.ratio, one.word, one.differs) == (1.1, "alike", [])
    assert one.source == "study-a, Table 1"
    assert (found.findings, found.studies, found.pooled) == (1, 1, None)
    assert "Too few" in found.method


def test_another_kind_of_metric_does_not(analysis: Analysis, study: Study) -> None:
    known = library([near(10)])
    assert beside(analysis, study, known, "throughput") is None
    assert beside(analysis, study, known, "update.p99") is None
    assert beside(analysis, study, known, "all.mean") is not None, "a mean latency too"


def test_a_read_says_nothing_of_a_write(analysis: Analysis, study: Study) -> None:
    known = library([near(10, **WRITES)])
    assert beside(analysis, study, known, "read.mean") is None
    found = beside(analysis, study, known, "update.mean")
    assert found is not None
    assert found.nearest[0].word == "alike", "a write for an update"
    assert found.nearest[0].differs == ["operation write"]


def test_a_control_asks_nothing(analysis: Analysis, study: Study) -> None:
    assert beside(analysis, study, library([near(10)]), treatment="native-again") is None


def test_where_more_than_the_place_differs_nothing_stands_beside(
    analysis: Analysis, study: Study
) -> None:
    assert beside(analysis, study, library([near(10)]), treatment="bridge-64") is None


def test_a_client_that_moves_too_is_another_change(analysis: Analysis, study: Study) -> None:
    both = {**BRIDGE["treatment"], "client": "docker"}
    known = library([near(10), near(20, id="both", study="study-b", treatment=both)])
    server, all_ = (beside(analysis, study, known, treatment=t) for t in ("docker-bridge", "both"))
    assert server is not None
    assert all_ is not None
    assert [one.id for one in server.nearest] == ["one"]
    assert [one.id for one in all_.nearest] == ["both"]


def test_another_exchange_inside_a_platform_is_another_change(tmp_path: Path) -> None:
    levels = {
        "bridge": Truth(patch=docker("bridge")),
        "published": Truth(patch=docker("published")),
        "layer": Truth(patch=docker("bridge", "layer")),
    }
    run = write_run(tmp_path / "paths", effects=levels, deployments=2, blocks=2, measure_s=3)
    inside = {"runtime": "docker", "network": "bridge", "storage": "volume", "client": "native"}
    known = library(
        [
            near(10),
            near(20, id="nat", baseline=inside, treatment={**inside, "network": "published"}),
        ]
    )
    measured, study = analyse(run), load_study(run / "study.yaml")
    found = beside(measured, study, known, treatment="published")
    assert found is not None
    assert [one.id for one in found.nearest] == ["nat"]
    assert beside(measured, study, known, treatment="layer") is None


def test_what_is_far_is_not_shown(analysis: Analysis, study: Study) -> None:
    elsewhere = {
        "id": "far",
        "database": "mongodb",
        "version": "3.4.2",
        "nodes": None,
        "replication_factor": None,
        "operation": "all",
        "metric": "all.mean",
        "workload": ["ycsb-c"],
        "load": {"threads": None},
        "treatment": {"runtime": "docker", "network": "service-ip", "storage": "layer"},
    }
    assert beside(analysis, study, library([near(10, **elsewhere)])) is None


def test_each_study_counts_once_and_three_make_a_range(analysis: Analysis, study: Study) -> None:
    three = [near(percent, id=f"f{percent}", study=f"study-{percent}") for percent in (4, 6, 8)]
    again = near(7, id="again", study="study-6", hardware="another machine")
    found = beside(analysis, study, library([*three, again]))
    assert found is not None
    assert (found.findings, found.studies) == (4, 3)
    assert found.pooled is not None
    assert found.pooled.prediction[0] < 1.04 < 1.08 < found.pooled.prediction[1]
    assert found.seen == pytest.approx((1.04, 1.08))


def test_a_number_goes_before_a_direction_that_is_hardly_nearer(
    analysis: Analysis, study: Study
) -> None:
    stated = finding(
        **BRIDGE,
        id="stated",
        values={"baseline": None, "treatment": None},
        effect={"ratio": None, "direction": "higher", "how": "direction"},
    )
    found = beside(analysis, study, library([stated, near(10, hardware="other", nodes=2)]))
    assert found is not None
    assert [(one.id, one.ratio) for one in found.nearest] == [("one", 1.1)]
    assert found.findings == 2


def test_the_paper_that_the_study_repeats_comes_first(analysis: Analysis, study: Study) -> None:
    nearer, own = near(10), near(20, id="own", study="study-b", version="3.11.2")
    repeated = study.model_copy(update={"study": "study-b"})
    for repeats, first in ((study, "one"), (repeated, "own")):
        found = beside(analysis, repeats, library([nearer, own]))
        assert found is not None
        assert found.nearest[0].id == first


def test_what_is_chained_stands_beside_an_effect_too(analysis: Analysis, study: Study) -> None:
    host = {"runtime": "docker", "network": "host", "storage": "volume", "client": "native"}
    known = library(
        [
            near(10, id="host", treatment=host),
            near(20, id="bridge", baseline=host),
        ]
    )
    found = beside(analysis, study, known)
    assert found is not None
    assert [one.id for one in found.nearest] == ["bridge+host"]
    assert found.nearest[0].ratio == pytest.approx(1.32)


def test_a_direction_alone_is_a_finding_without_a_range(analysis: Analysis, study: Study) -> None:
    stated = finding(
        **BRIDGE,
        values={"baseline": None, "treatment": None},
        effect={"ratio": None, "direction": "higher", "how": "direction"},
    )
    found = beside(analysis, study, library([stated]))
    assert found is not None
    assert (found.nearest[0].ratio, found.nearest[0].direction) == (None, "higher")
    assert found.seen is None


def test_what_was_made_of_this_run_is_not_others(analysis: Analysis, study: Study) -> None:
    work = Work(id="mine-computed", title="of this run")
    computed = near(10, id="mine.computed.docker-bridge.update.mean")
    known = Library({computed.id: Entry(computed, work, "our-team/knowledge")})
    assert beside(analysis, study, known) is None
    shipped = Library({computed.id: Entry(computed, work, "shipped")})
    assert beside(analysis, study, shipped) is not None, "of another run of that name"


def test_the_load_is_compared_as_a_share_where_the_run_knows_it(tmp_path: Path) -> None:
    levels = {"native": Truth(), "docker-bridge": Truth(patch=docker("bridge"))}
    run = write_run(
        tmp_path / "loads", effects=levels, threads=(16, 64), deployments=2, blocks=2, measure_s=3
    )
    known = library(
        [
            near(10, id="full", load={"threads": None, "share": 1.0}),
            near(20, id="part", load={"threads": None, "share": 0.75}),
        ]
    )
    measured, study = analyse(run), load_study(run / "study.yaml")
    first = {
        threads: found.nearest[0].id
        for threads in ("t16", "t64")
        if (found := beside(measured, study, known, treatment=f"docker-bridge.{threads}"))
    }
    assert first == {"t16": "part", "t64": "full"}


def test_of_the_paper_itself_the_row_with_the_same_threads_comes_first(tmp_path: Path) -> None:
    levels = {"native": Truth(), "docker-bridge": Truth(patch=docker("bridge"))}
    run = write_run(
        tmp_path / "rows", effects=levels, threads=(16, 64), deployments=2, blocks=2, measure_s=3
    )
    known = library(
        [
            near(10, id="row", study="study-b", load={"threads": 16, "share": None}),
            near(20, id="share", study="study-b", load={"threads": 32, "share": 0.75}),
        ]
    )
    measured, study = analyse(run), load_study(run / "study.yaml")
    repeated = study.model_copy(update={"study": "study-b"})
    for repeats, first in ((study, "share"), (repeated, "row")):
        found = beside(measured, repeats, known, treatment="docker-bridge.t16")
        assert found is not None
        assert found.nearest[0].id == first


def test_an_average_over_loads_stands_beside_an_average(tmp_path: Path) -> None:
    levels = {"native": Truth(), "docker-bridge": Truth(patch=docker("bridge"))}
    run = write_run(
        tmp_path / "means", effects=levels, threads=(16, 64), deployments=2, blocks=2, measure_s=3
    )
    with (run / "study.yaml").open("a", encoding="utf-8") as out:
        out.write("analysis: {compare: [platform], by: [threads]}\n")
    known = library(
        [
            near(10, id="single", load={"threads": 16}),
            near(12, id="mean", load={"threads": None}, effect={"mean_of": ["single"]}),
        ]
    )
    measured, study = analyse(run), load_study(run / "study.yaml")
    first = {
        treatment: found.nearest[0].id
        for treatment in ("docker-bridge.t16", "docker-bridge")
        if (found := beside(measured, study, known, treatment=treatment))
    }
    assert first == {"docker-bridge.t16": "single", "docker-bridge": "mean"}


def test_imported_files_do_not_know_the_databases_version(analysis: Analysis, study: Study) -> None:
    old = library([near(10, version="3.11.2")])
    own = beside(analysis, study, old)
    sources = {**analysis.provenance, "sources": {"ycsb": 8}}
    theirs = beside(analysis.model_copy(update={"provenance": sources}), study, old)
    assert own is not None
    assert theirs is not None
    assert own.nearest[0].differs == ["version 3.11.2"]
    assert theirs.nearest[0].differs == []


def test_of_many_effects_those_on_primary_endpoints_come_first(
    analysis: Analysis, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    primary = {i for i, e in enumerate(analysis.effects) if e.primary and not e.aa}
    monkeypatch.setattr(module, "MOST_EFFECTS", len(primary))
    found = others_for(analysis, study, load_library())
    assert found
    assert set(found) <= primary


def test_the_shipped_knowledge_answers_for_docker_on_a_bridge(
    analysis: Analysis, study: Study
) -> None:
    found = beside(analysis, study, load_library(), "all.mean")
    assert found is not None
    assert found.pooled is not None
    assert {one.study for one in found.nearest} >= {"grambow-2018", "bth-docker-2016"}
    assert all(one.word in ("alike", "near", "related") for one in found.nearest)


def test_at_a_rate_throughput_says_nothing_and_the_load_is_not_known_to_be_alike(
    tmp_path: Path,
) -> None:
    levels = {"native": Truth(), "docker-bridge": Truth(patch=docker("bridge"))}
    run = write_run(
        tmp_path / "rates", effects=levels, rate=2000, deployments=2, blocks=2, measure_s=3
    )
    most = {"operation": "all", "metric": "throughput", "unit": "operations/s"}
    known = library([near(10), near(-10, id="most", load={"threads": None}, **most)])
    measured, study = analyse(run), load_study(run / "study.yaml")
    assert beside(measured, study, known, "throughput") is None
    found = beside(measured, study, known, "update.mean")
    assert found is not None
    assert [(one.word, one.differs) for one in found.nearest] == [
        ("near", ["load 32 threads, 100%, against a rate"])
    ]


def test_at_the_maximum_of_each_condition_throughput_does_say_something(
    analysis: Analysis, study: Study
) -> None:
    most = {"operation": "all", "metric": "throughput", "unit": "operations/s"}
    known = library([near(-10, **most)])
    own = study.model_copy(update={"load": study.load.model_copy(update={"rate": "max"})})
    search = study.load.search.model_copy(update={"of": "baseline"})
    theirs = own.model_copy(update={"load": own.load.model_copy(update={"search": search})})
    assert beside(analysis, study, known, "throughput") is not None
    assert beside(analysis, own, known, "throughput") is not None
    assert beside(analysis, theirs, known, "throughput") is None


def on_hosts(tmp_path: Path, **makers: str) -> tuple[Analysis, Study]:
    """A run on groups of hosts; `makers` gives the machines' maker as firmware names it."""
    levels = {
        group: Truth(
            patch={"platform": {"machines": "ssh", "hosts": group}}, parity={"hypervisor": maker}
        )
        for group, maker in makers.items()
    }
    made = write_run(tmp_path / "hosts", effects=levels, deployments=2, blocks=2, measure_s=3)
    return analyse(made), load_study(made / "study.yaml")


@pytest.mark.parametrize(
    ("maker", "known"), [("VMware, Inc.", True), ("none", False), ("QEMU", False), ("X", False)]
)
def test_groups_of_hosts_are_what_their_hypervisor_says_and_not_their_name(
    tmp_path: Path, maker: str, known: bool
) -> None:
    analysis, study = on_hosts(tmp_path, metal="none", vmware=maker)
    found = beside(analysis, study, library([changed(10, **GROUPS)]), treatment="vmware")
    assert (found is not None) == known


def test_docker_on_hosts_of_another_group_of_the_same_kind_is_no_question_of_docker_alone(
    tmp_path: Path,
) -> None:
    docker_there = {"machines": "ssh", "hosts": "others", "runtime": "docker", "storage": "volume"}
    levels = {
        "native": Truth(
            patch={"platform": {"machines": "ssh", "hosts": "metal"}}, parity={"hypervisor": "none"}
        ),
        "docker-bridge": Truth(patch={"platform": docker_there}, parity={"hypervisor": "none"}),
    }
    made = write_run(tmp_path / "r", effects=levels, deployments=2, blocks=2, measure_s=3)
    analysis, study = analyse(made), load_study(made / "study.yaml")
    host = changed(10, **{**BRIDGE, "treatment": {**BRIDGE["treatment"], "network": "host"}})
    assert beside(analysis, study, library([host])) is None
