"""Whole studies: from a YAML file to a report, with nothing left behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import docker
import pytest

from tare.artifacts.image import build_image
from tare.artifacts.tree import cassandra_tree

from .conftest import BRIDGE, HOST, NATIVE, PUBLISHED, Bench, leftovers

pytestmark = pytest.mark.engine


def test_a_one_node_study_on_every_kind_of_network_and_storage(bench: Bench) -> None:
    study = bench.study(NATIVE, HOST, BRIDGE, PUBLISHED, blocks=2)
    done = bench.tare("run", study, "--json", "--set", "database.jvm=[]")  # every compiler
    # one deployment per condition is too few to tell platform from deployment: not a failure
    assert done.returncode in (0, 3), done.stderr
    manifests = bench.manifests()
    assert len(manifests) == 8
    assert all(m["status"] == "done" for m in manifests.values()), done.stderr
    for manifest in manifests.values():
        (client,) = manifest["clients"]
        assert client["ok"] > 100
        assert client["errors"] == 0
        assert manifest["server_cpu_s"] > 0
        (node,) = [u for u in manifest["units"] if u["role"] == "database"]
        assert node["parity"]["heap"] == "256 MiB"
    paths = {m["condition"]: m["units"][0]["path"] for m in manifests.values()}
    assert paths["native"] == paths["docker-host"] == "loopback of the host"
    assert paths["docker-bridge"] == "bridge and veth pair"
    assert "published port" in paths["docker-published"]
    bits = {u["bits"] for m in manifests.values() for u in m["units"] if u["role"] == "database"}
    assert len(bits) == 1, "every platform runs the same bits"
    analysis = json.loads(done.stdout)
    assert {e["treatment"] for e in analysis["effects"]} == {
        "docker-host",
        "docker-bridge",
        "docker-published",
    }
    page = (bench.root / "runs/small/report.html").read_text(encoding="utf-8")
    assert "docker-published" in page
    assert leftovers() == []


@pytest.mark.long
def test_a_three_node_study_at_quorum_native_and_in_docker(bench: Bench) -> None:
    study = bench.study(NATIVE, BRIDGE, nodes=3)
    bench.measured("run", study, "--json")
    manifests = bench.manifests()
    assert {m["condition"] for m in manifests.values()} == {"native", "docker-bridge"}
    for manifest in manifests.values():
        assert manifest["status"] == "done"
        assert manifest["database"]["nodes"] == 3
        assert len([u for u in manifest["units"] if u["role"] == "database"]) == 3
        assert manifest["clients"][0]["errors"] == 0
    assert leftovers() == []


@pytest.mark.long
def test_two_clusters_side_by_side_each_with_a_dockerised_client(bench: Bench) -> None:
    study = bench.study(NATIVE)
    bench.measured(
        "run",
        study,
        "--json",
        "--set",
        "clusters=2",
        "--set",
        "client.runtime=docker",
        "--set",
        "client.network=bridge",
        "--set",
        "load.workload=stress-mixed",
    )
    (manifest,) = bench.manifests().values()
    first, second = manifest["clients"]
    assert first["ok"] > 100
    assert second["ok"] > 100
    assert abs(first["start_unix"] - second["start_unix"]) < 0.5
    clients = [u for u in manifest["units"] if u["role"] == "client"]
    assert [u["runtime"] for u in clients] == ["docker", "docker"]
    assert leftovers() == []


@pytest.mark.long  # fresh: block is tried below, fresh: trial where a host vanishes
def test_a_fresh_cluster_for_each_trial_and_truncated_tables(bench: Bench) -> None:
    study = bench.study(NATIVE, blocks=2, fresh="trial", reset="truncate")
    bench.measured("run", study, "--json")
    assert {m["deployment"] for m in bench.manifests().values()} == {"D1-all-1", "D1-all-2"}


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, dict[str, Any]]:
    """The analysis of a study with limits, whose container uses an image that the study names."""
    bench = Bench(tmp_path_factory.mktemp("limited"))
    limits = "platform.limits={cpus: 1.5, cpuset: '0', memory: 1GiB}"
    with named_image() as name:
        own = ("--set", limits, "--set", f"database.image={name}")
        done = bench.tare("run", bench.study(NATIVE, HOST), "--json", *own)
    assert done.returncode in (0, 3), done.stderr
    return bench, json.loads(done.stdout)


def test_limits_hold_alike_on_both_runtimes(limited: tuple[Bench, dict[str, Any]]) -> None:
    bench, _ = limited
    facts = [
        {k: u["parity"][k] for k in ("cpus allowed", "cpu quota", "memory limit")}
        for m in bench.manifests().values()
        for u in m["units"]
        if u["role"] == "database"
    ]
    assert facts == [{"cpus allowed": "0", "cpu quota": "1.5 CPUs", "memory limit": "1024 MiB"}] * 2


def test_an_image_that_the_study_names_is_marked_as_different_bits(
    limited: tuple[Bench, dict[str, Any]],
) -> None:
    bench, analysis = limited
    (found,) = [c for c in analysis["checks"] if c["name"] == "same files"]
    assert found["status"] == "warning"
    bits = {u["bits"] for m in bench.manifests().values() for u in m["units"][:1]}
    assert len(bits) == 2


@contextmanager
def named_image() -> Iterator[str]:
    """An image that names its files' places as the official image does."""
    client = docker.from_env()
    image = build_image(client, cassandra_tree("5.0.9", None), lambda line: None)
    text = f"FROM {image}\nENV CASSANDRA_HOME=/opt/tare/cassandra JAVA_HOME=/opt/tare/jre\n"
    name = "tare-test/cassandra:named"
    client.images.build(fileobj=BytesIO(text.encode()), tag=name, rm=True)
    try:
        yield name
    finally:
        client.images.remove(name, force=True)


def test_a_cassandra_directory_of_the_user_s_own_is_run_anew_for_each_block(bench: Bench) -> None:
    study = bench.study(NATIVE, blocks=2, fresh="block", reset="drop")
    home = cassandra_tree("5.0.9", None).lib.parent
    bench.measured("run", study, "--json", "--set", f"database.home={home}")
    manifests = bench.manifests().values()
    assert {m["deployment"] for m in manifests} == {"D1-all-1", "D1-all-2"}
    assert all(str(home) in " ".join(m["units"][0]["command"]) for m in manifests)
    environment = json.loads((bench.root / "runs/small/environment.json").read_text())
    assert [a["locked"] for a in environment["artifacts"].values()] == [False]
    assert environment["idle_cpus"].startswith(("poll", "halt (")), "the run says what they did"
