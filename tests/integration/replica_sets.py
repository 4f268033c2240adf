"""Replica sets of three: of stubs in MongoDB's place, or of the mongod that MONGOD names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import mongod

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

    from .conftest import Bench

STUDY = """\
study: set
question: Does a replica set run there?
database: {{kind: mongodb, {server}, nodes: 3, replication_factor: 3, write_concern: 2}}
platform: {platform}
client: {client}
load: {{workload: ycsb-a, records: 500, threads: 8, warmup: 300ms, measure: {measure}}}
factors:
  way:
{levels}
baseline: {{way: {baseline}}}
design: {{slice: off, deployments: 1, blocks: 1, fresh: deployment, reset: keep, order: randomised,
         warm: {{gentle: 0s, at_least: 500ms, at_most: 500ms, window: 125ms}}}}
"""
STAND_IN = "a server that keeps nothing, and not MongoDB"
PROGRAM = "mongod" if mongod.NAMED else "tare-stub"
STATES = ["PRIMARY", "SECONDARY", "SECONDARY"]


def write(bench: Bench, levels: dict[str, str], *, platform: str = "{}", client: str = "{}",
          measure: str = "1s") -> Path:  # fmt: skip
    """A study of these conditions, each given by its settings; the first is the baseline."""
    path = bench.root / "set.yaml"
    lines = "\n".join(f"    {name}: {sets}" for name, sets in levels.items())
    first = next(iter(levels))
    server = 'version: "7.0", stand_in: true'
    if mongod.NAMED:
        server = f'version: "{mongod.version()}", home: "{mongod.NAMED}"'
    text = STUDY.format(
        server=server,
        platform=platform,
        client=client,
        measure=measure,
        levels=lines,
        baseline=first,
    )
    path.write_text(text, encoding="utf-8")
    return path


def done(bench: Bench, run: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """Condition to the manifest of its trial, all of which were measured on whole sets; and every
    output of a run of stubs says that no MongoDB was."""
    # Of stubs it is not valid; of a mongod so short a run may not be.
    assert run.returncode in ((0, 3) if mongod.NAMED else (3,)), run.stdout + run.stderr
    found = {one["condition"]: one for one in bench.manifests("set").values()}
    for manifest in found.values():
        assert manifest["status"] == "done", manifest["reason"]
        assert (STAND_IN in manifest["database"].get("stand_in", "")) != bool(mongod.NAMED)
        assert sorted(one["state"] for one in manifest["database"]["set"]) == STATES
        assert len(members(manifest)) == 3
        assert all(one["ok"] > 100 for one in manifest["clients"])
        assert all(one["errors"] == 0 for one in manifest["clients"])
        assert manifest["server_cpu_s"] > 0
    if not mongod.NAMED:
        _said_everywhere(bench, run)
    return found


def _said_everywhere(bench: Bench, run: subprocess.CompletedProcess[str]) -> None:
    """Check that a stand-in was measured."""
    directory = bench.root / "runs" / "set"
    analysis = json.loads((directory / "analysis.json").read_text("utf-8"))
    (check,) = [one for one in analysis["checks"] if one["name"] == "stand-in"]
    assert check["status"] == "invalid"
    assert STAND_IN in check["summary"]
    for report in ("report.html", "report.md"):
        assert STAND_IN in (directory / report).read_text("utf-8"), report
    assert STAND_IN in run.stdout


def members(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The units that make up the set."""
    return [one for one in manifest["units"] if one["role"] == "database"]


def named(manifest: dict[str, Any]) -> set[str]:
    """The addresses by which members know each other, and which clients get."""
    return {str(one["host"]) for one in manifest["database"]["set"]}


def reached(manifest: dict[str, Any]) -> set[str]:
    """The addresses at which the load client reached them."""
    return {str(one["endpoint"]) for one in members(manifest)}


def measured_in_slices(
    bench: Bench, endpoints: Sequence[str], *, platform: str, client: str = "{}"
) -> dict[str, dict[str, Any]]:
    """Endpoint to the manifest of its trial, all of one deployment that each had in slices.

    Its members know each other by container-dns.
    """
    levels = {name: f"{{platform.endpoint: {name}}}" for name in endpoints}
    turns = ("--set", "design.slice=100ms", "--set", "design.turn=pass")
    study = write(bench, levels, platform=platform, client=client)
    found = done(bench, bench.tare("run", study, *turns))
    assert set(found) == set(endpoints)
    assert len({one["deployment"] for one in found.values()}) == 1
    (names,) = {frozenset(named(one)) for one in found.values()}
    others = len(endpoints) - 1  # the baseline has as many slices as they together
    for name, manifest in found.items():
        assert (reached(manifest) == names) == (name == "container-dns")
        assert all(one["path"].startswith(name) for one in members(manifest))
        assert manifest["slices"]["count"] == 10 * (others if name == endpoints[0] else 1)
        assert manifest["slices"]["frozen"]
    return found
