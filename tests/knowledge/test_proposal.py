"""The study that Tare proposes for a question can be planned, and answers the question."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import KnowledgeError
from tare.knowledge.proposal import study_text, write_study
from tare.knowledge.query import Query
from tare.knowledge.sizing import Size
from tare.study.conditions import expand
from tare.study.plan import make_plan
from tare.study.read import load_study

SIZE = Size(deployments=6, margin=0.05, sd_log=0.03, known=[0.03], method="As many as needed.")


@pytest.mark.parametrize("network", ["", "host", "bridge", "published"])
@pytest.mark.parametrize("operation", ["", "read", "update", "write", "mixed", "all"])
@pytest.mark.parametrize("client", ["native", "docker"])
def test_every_question_about_docker_becomes_a_plan(
    network: str, operation: str, client: str, tmp_path: Path
) -> None:
    asked = Query(network=network, operation=operation, client=client, share=0.66)
    path = tmp_path / "study.yaml"
    write_study(path, study_text(asked, SIZE))
    plan = make_plan(load_study(path))
    assert len(plan.conditions) == 3
    assert plan.study.design.deployments == 6
    assert plan.conditions[1].aa_of == "native"


def test_the_study_has_what_was_asked(tmp_path: Path) -> None:
    asked = Query(
        network="published", storage="layer", client="docker", nodes=3, replication_factor=3
    )
    path = tmp_path / "study.yaml"
    write_study(path, study_text(asked, SIZE))
    setup = expand(load_study(path))[-1].setup
    assert (setup.platform.runtime, setup.platform.network) == ("docker", "published")
    assert (setup.platform.storage, setup.client.runtime) == ("layer", "docker")
    assert (setup.database.nodes, setup.database.replication_factor) == (3, 3)


@pytest.mark.parametrize(
    ("asked", "wanted", "replaced"),
    [
        (Query(platform="kubernetes"), ("kubernetes", "service-ip"), ("native", "host")),
        (Query(platform="swarm", over="docker"), ("swarm", "host-port"), ("docker", "bridge")),
        (
            Query(
                platform="kubernetes",
                over="kubernetes",
                network="node-port",
                against_network="host-port",
            ),
            ("kubernetes", "node-port"),
            ("kubernetes", "host-port"),
        ),
        (
            Query(
                platform="swarm", over="swarm", network="service-ip", against_network="host-port"
            ),
            ("swarm", "service-ip"),
            ("swarm", "host-port"),
        ),
    ],
    ids=["kubernetes", "swarm over docker", "inside kubernetes", "inside swarm"],
)
def test_orchestrators_are_proposed_too(
    asked: Query, wanted: tuple[str, str], replaced: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "study.yaml"
    write_study(path, study_text(asked, SIZE))
    first, *_, last = [one.setup.platform for one in make_plan(load_study(path)).conditions]
    assert (last.runtime, last.network) == wanted
    assert (first.runtime, first.network) == replaced


def test_more_clusters_are_proposed_on_one_platform(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    asked = Query(over="docker", clusters=4, against_clusters=1)
    write_study(path, study_text(asked, SIZE))
    first, *_, last = [one.setup for one in expand(load_study(path))]
    assert (first.clusters, last.clusters) == (1, 4)
    assert first.platform == last.platform


def test_a_docker_client_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    write_study(path, study_text(Query(platform="native", client="docker"), SIZE))
    setup = expand(load_study(path))[-1].setup
    assert (setup.platform.runtime, setup.client.runtime) == ("native", "docker")


@pytest.mark.parametrize(
    ("asked", "levels", "snitch"),
    [("", ("QUORUM", "QUORUM"), False), ("ALL", ("ALL", "ALL"), None),
     ("reads ONE, writes TWO", ("ONE", "TWO"), False)],
)  # fmt: skip
def test_the_levels_that_are_asked_about_are_those_of_the_study(
    asked: str, levels: tuple[str, str], snitch: bool | None, tmp_path: Path
) -> None:
    path = tmp_path / "study.yaml"
    write_study(path, study_text(Query(replication_factor=3, consistency=asked), SIZE))
    database = expand(load_study(path))[-1].setup.database
    assert (database.consistency.read, database.consistency.write) == levels
    assert database.settings.get("dynamic_snitch") is snitch


@pytest.mark.parametrize("platform", ["kubernetes", "swarm"])
def test_every_storage_that_runs_can_be_proposed(platform: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    write_study(path, study_text(Query(platform=platform, storage="layer"), SIZE))
    assert expand(load_study(path))[-1].setup.platform.storage == "layer"


@pytest.mark.parametrize(
    "asked",
    [
        Query(database="mongodb"),
        Query(platform="docker", over="vmware"),
        Query(platform="kvm"),
        Query(network="service-ip"),
        Query(platform="kubernetes", storage="directory"),
        Query(platform="swarm", network="service-ip"),
        Query(platform="swarm", over="swarm"),
        Query(platform="swarm", over="swarm", plugin="overlay", against_plugin="weave"),
        Query(platform="kubernetes", network="host-port", address="floating-ip"),
        Query(platform="native"),
    ],
    ids=str,
)
def test_what_no_study_can_have_is_refused(asked: Query) -> None:
    with pytest.raises(KnowledgeError):
        study_text(asked, SIZE)


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("mine")
    with pytest.raises(KnowledgeError, match="not overwritten"):
        write_study(path, study_text(Query(), SIZE))
    assert path.read_text() == "mine"


@pytest.mark.parametrize(("margin", "text"), [(0.05, "5%"), (0.1, "10%"), (0.025, "2.5%")])
def test_the_margin_is_written_as_a_person_would(margin: float, text: str) -> None:
    assert f"margins: {{service_demand: {text}, throughput: {text}," in study_text(
        Query(), SIZE.model_copy(update={"margin": margin})
    )
