"""Studies in slices on real engines: records, failures, and what a kill leaves."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from .conftest import BRIDGE, HOST, NATIVE, Bench, leftovers
from .test_bad_things import fill, killed_and_run_again, small_disk
from .test_endpoints import HOSTS, LEVEL, PATHS

pytestmark = pytest.mark.engine

SLICES = ("--set", "design.slice=100ms")
AGAIN = "    again: {}"


def slices_of(bench: Bench, trial: str) -> list[dict[str, Any]]:
    text = (bench.root / "runs/small/trials" / trial / "slices.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_conditions_in_turn_on_every_platform_and_their_sums(bench: Bench) -> None:
    study = bench.study(NATIVE, HOST, BRIDGE, blocks=2)
    done = bench.measured("run", study, "--json", *SLICES)
    manifests = bench.manifests()
    assert len(manifests) == 6
    for name, manifest in manifests.items():
        assert manifest["status"] == "done", done.stderr
        (client,) = manifest["clients"]
        rows = slices_of(bench, name)
        assert manifest["slices"]["count"] == len(rows) == 10
        assert manifest["slices"]["frozen"]
        assert client["measured_s"] == pytest.approx(1.0, abs=0.01)
        assert client["errors"] == 0
        assert sum(row["ops"] for row in rows) == client["ok"] > 100
        assert sum(row["machine_cpu_s"] for row in rows) == pytest.approx(
            manifest["machine_cpu_s"], abs=1e-6
        )
        nodes = [u["name"] for u in manifest["units"] if u["role"] == "database"]
        server = sum(row["units_cpu_s"][node] for row in rows for node in nodes)
        assert server == pytest.approx(manifest["server_cpu_s"], abs=1e-6)
        assert 0 < manifest["server_cpu_s"] < manifest["machine_cpu_s"]
    begun = sorted(row["unix"] for name in manifests for row in slices_of(bench, name))
    apart = [b - a for a, b in itertools.pairwise(begun)]
    assert min(apart) > 0.13, "no two conditions are driven at once"
    analysis = json.loads(done.stdout)
    assert {e["treatment"] for e in analysis["effects"]} == {"docker-host", "docker-bridge"}
    assert "service_demand" in {e["metric"] for e in analysis["effects"]}
    assert leftovers() == []


def test_a_server_runs_on_while_its_endpoints_have_their_slices(bench: Bench) -> None:
    ways = tuple(HOSTS)
    study = bench.study(NATIVE, *(LEVEL.format(way) for way in ways), measure="600ms")
    turns = ("--set", "design.slice=60ms", "--set", "design.turn=pass")
    bench.measured("run", study, *turns)
    trials = {m["condition"]: (name, m) for name, m in bench.manifests().items()}
    assert {way: m["slices"]["count"] for way, (_, m) in trials.items()} == {
        "native": 40,
        **dict.fromkeys(ways, 10),
    }
    nodes = {way: manifest["units"][0] for way, (_, manifest) in trials.items()}
    assert {way: node["path"] for way, node in nodes.items()} == PATHS
    assert all(nodes[way]["endpoint"].startswith(begins) for way, begins in HOSTS.items())
    begun = [one["deployment"] for one in bench.journal() if one["event"] == "deployment begun"]
    assert sorted(begun) == ["D1-loopback-1", "D1-native-1"], "one container"
    rows = {way: slices_of(bench, name) for way, (name, _) in trials.items()}
    for way, own in rows.items():
        assert sum(row["ops"] for row in own) == trials[way][1]["clients"][0]["ok"] > 100
    engine = {way: sum(row["engine_cpu_s"] for row in rows[way]) for way in ways}
    others = max(engine[way] for way in ways if way != "proxy")
    assert engine["proxy"] > 4 * others, "each slice its own"
    together: dict[int, list[tuple[float, str]]] = {}
    for way in ways:
        for row in rows[way]:
            together.setdefault(row["turn"], []).append((row["unix"], way))
    assert len(together) == 10
    for turn in together.values():
        assert {way for _, way in turn} == set(ways)
        assert max(turn)[0] - min(turn)[0] == pytest.approx(3 * 0.088, abs=1e-3)
    assert leftovers() == []


def test_three_nodes_at_quorum_and_clusters_side_by_side(bench: Bench) -> None:
    study = bench.study(NATIVE, BRIDGE, nodes=3)
    bench.measured("run", study, "--json", *SLICES)
    manifests = bench.manifests()
    assert len(manifests) == 2
    for manifest in manifests.values():
        assert manifest["clients"][0]["errors"] == 0, manifest["clients"]
        assert len([u for u in manifest["units"] if u["role"] == "database"]) == 3
    two = bench.study(NATIVE, AGAIN, name="two", measure="1500ms")
    load = "client.runtime=docker"
    bench.measured(
        "run", two, "--json", *SLICES, "--set", "clusters=2", "--set", load,
        "--set", "client.network=bridge", "--set", "load.rate=200",
    )  # fmt: skip
    for manifest in bench.manifests("two").values():
        assert [client["errors"] for client in manifest["clients"]] == [0, 0]
        rates = [client["throughput"] for client in manifest["clients"]]
        assert rates == pytest.approx([200, 200], rel=0.1)
    assert leftovers() == []


@pytest.mark.long
def test_where_a_node_dies_the_whole_block_is_measured_again(bench: Bench) -> None:
    study = bench.study(NATIVE, AGAIN, HOST)
    manifests = killed_amid_slices(bench, study, 3, lambda p: is_java(p, bench.root), "d1-again")
    assert "died" in manifests["D1-B01-again.failed-1"]["reason"]
    assert "D1-B01-again failed" in manifests["D1-B01-native.failed-1"]["reason"]
    assert leftovers() == []


def test_kill_9_amid_slices_keeps_finished_blocks_and_frozen_servers_are_removed(
    bench: Bench,
) -> None:
    with killed_and_run_again(bench, bench.study(NATIVE, BRIDGE, blocks=2), *SLICES):
        assert leftovers() != []
    assert leftovers() == []


@pytest.mark.long
def test_where_a_client_dies_the_whole_block_is_measured_again(bench: Bench) -> None:
    study = bench.study(NATIVE, AGAIN)
    manifests = killed_amid_slices(bench, study, 2, lambda p: p.name() == "tare-load", "b01-again")
    reasons = {m["reason"] for name, m in manifests.items() if name.endswith("failed-1")}
    assert any("without a result" in reason for reason in reasons), reasons
    assert leftovers() == []


@pytest.mark.long
def test_a_disk_that_fills_amid_slices_loses_no_finished_block(bench: Bench) -> None:
    with small_disk(bench.root / "runs") as disk:
        study = bench.study(NATIVE, AGAIN, blocks=2)
        process = bench.start("run", study, *SLICES)
        bench.await_event(process, "trial begun", 4)
        fill(disk)
        output, _ = process.communicate(timeout=300)
        assert process.returncode in (1, 3), output
        assert "No space left on device" in output
        assert "Traceback" not in output
        kept = {n: m["ended"] for n, m in bench.manifests().items() if m["status"] == "done"}
        assert sorted(kept) == ["D1-B01-again", "D1-B01-native"]
        (disk / "filler").unlink()
        bench.measured("run", study, *SLICES)
        done = {n: m["ended"] for n, m in bench.manifests().items() if m["status"] == "done"}
        assert len(done) == 4
        assert {name: done[name] for name in kept} == kept
    assert leftovers() == []


def killed_amid_slices(
    bench: Bench, study: Path, trials: int, kind: Callable[[psutil.Process], bool], word: str
) -> dict[str, Any]:
    """Manifests of a run of which the one process of a kind with this word was killed amid slices,
    and whose block was then measured again."""
    process = bench.start("run", study, *SLICES, "--set", "load.measure=3s")
    try:
        bench.await_event(process, "trial begun", trials)
        time.sleep(6.0)  # clients connect, then the slices begin; when exactly is of no matter
        found = [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] and kind(p)]
        (victim,) = [p for p in found if word in " ".join(p.info["cmdline"]).lower()]
        victim.kill()
        output, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode in (0, 3), output
    manifests = bench.manifests()
    assert {m["attempt"] for m in manifests.values() if m["status"] == "done"} == {2}
    return manifests


def is_java(process: psutil.Process, root: Path) -> bool:
    """A node of a run below this directory."""
    words = process.info["cmdline"]
    return words[0].endswith("java") and any(str(root) in word for word in words)
