"""A run's effects become findings, with sides from its study and intervals from its analysis."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.analysis.analyse import analyse
from tare.knowledge.consistency import objections
from tare.knowledge.from_run import About, findings_of, side_of
from tare.knowledge.read import parse_knowledge
from tare.knowledge.schema import KnowledgeFile
from tare.knowledge.write import knowledge_yaml
from tare.study.read import load_study
from tare.study.schema import Setup
from tests.synthetic_run import QUICKSTART, write_run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeFile:
    levels = {name: QUICKSTART[name] for name in ("native", "native-again", "docker-published")}
    run = write_run(tmp_path_factory.mktemp("runs") / "mine", effects=levels)
    return findings_of(
        analyse(run), load_study(run / "study.yaml"), About(hardware="a laptop", machines="vm")
    )


def test_every_effect_but_controls_is_a_finding_with_its_interval(made: KnowledgeFile) -> None:
    assert made.findings
    for one in made.findings:
        assert "native-again" not in one.id
        assert one.computed
        assert one.spread.ci is not None
        assert one.spread.units == 3
    assert objections(made.findings) == []


def test_sides_are_those_of_the_study(made: KnowledgeFile) -> None:
    one = next(one for one in made.findings if one.metric == "throughput")
    assert one.treatment is not None
    assert (one.side.platform, one.treatment.network, one.treatment.storage) == (
        "docker", "published", "volume",
    )  # fmt: skip
    assert (one.baseline.platform, one.baseline.machines) == ("native", "vm")
    assert (one.hardware, one.version) == ("a laptop", "5.0.9")
    assert one.effect is not None
    assert one.effect.ratio == pytest.approx(0.8, abs=0.1), "the truth of the synthetic run"


def test_a_run_under_one_load_knows_no_share_of_a_maximum(made: KnowledgeFile) -> None:
    assert {one.load.share for one in made.findings} == {None}
    assert {one.load.threads for one in made.findings} == {32}


def test_a_run_of_ones_own_is_a_study_of_its_own(made: KnowledgeFile) -> None:
    assert {one.study for one in made.findings} == {"own-mine"}


def test_the_file_gives_back_what_was_written(made: KnowledgeFile) -> None:
    assert parse_knowledge(knowledge_yaml(made, "a\nheading"), "mine.yaml") == made


def test_loads_are_shares_of_the_most_that_the_run_reached(tmp_path: Path) -> None:
    levels = {name: QUICKSTART[name] for name in ("native", "docker-bridge")}
    run = write_run(tmp_path / "loads", effects=levels, threads=(16, 64))
    analysis = analyse(run)
    made = findings_of(analysis, load_study(run / "study.yaml"), About())
    throughput = {one.condition: one.metrics["throughput"] for one in analysis.conditions}
    most = max(throughput["native.t16"], throughput["native.t64"])
    shares = {
        one.load.threads: one.load.share
        for one in made.findings
        if one.metric == "throughput" and one.baseline.platform != one.side.platform
    }
    assert shares == pytest.approx(
        {16: throughput["native.t16"] / most, 64: throughput["native.t64"] / most}, abs=1e-3
    )


def test_an_imported_run_keeps_its_study_and_claims_no_version(tmp_path: Path) -> None:
    levels = {name: QUICKSTART[name] for name in ("native", "docker-bridge")}
    run = write_run(tmp_path / "theirs", effects=levels)
    study = load_study(run / "study.yaml")
    made = findings_of(analyse(run), study, About(imported=True))
    assert {one.study for one in made.findings} == {study.study}
    assert {one.version for one in made.findings} == {""}
    assert {one.consistency for one in made.findings} == {""}, "a default is nobody's word"
    own = findings_of(analyse(run), study, About())
    assert {one.consistency for one in own.findings} == {"QUORUM"}


def test_declared_machines_address_and_plugin_are_carried() -> None:
    platform = {
        "machines": "kvm",
        "runtime": "kubernetes",
        "network": "service-ip",
        "storage": "pvc",
        "plugin": "flannel-vxlan",
        "address": "host-name",
    }
    side = side_of(Setup.model_validate({"platform": platform}), machines="physical")
    assert side.model_dump(include=set(platform)) == platform
    assert side_of(Setup(), machines="physical").machines == "physical"


def test_a_published_port_of_a_bridge_is_a_published_port_to_others() -> None:
    platform = {"runtime": "docker", "network": "bridge", "endpoint": "proxy"}
    assert side_of(Setup.model_validate({"platform": platform})).network == "published"
