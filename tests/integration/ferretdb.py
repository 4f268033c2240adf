"""FerretDB, a stand-in for MongoDB: built once, and started for tests that need a server."""

from __future__ import annotations

import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tare.databases.mongodb.configuration import PORT, ferretdb_command
from tare.databases.mongodb.session import connect
from tare.errors import ClusterError
from tare.runtimes.unit import Site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import Bench

STUDY = """\
study: documents
question: Does a server that keeps documents run there?
database: {{kind: mongodb, version: "7.0", home: "{home}", stand_in: true}}
platform: {platform}
client: {client}
load: {{workload: ycsb-a, records: 200, threads: 4, warmup: 300ms, measure: 1s}}
factors:
  way:
{levels}
baseline: {{way: {baseline}}}
design: {{slice: off, deployments: 1, blocks: 1, fresh: deployment, reset: {reset},
         warm: {{gentle: 0s, at_least: 500ms, at_most: 500ms, window: 125ms}}}}
"""
_SETUP = Path(__file__).parents[2] / "setup" / "ferretdb.sh"
_CANNOT, _NOT_VALID = 3, 3
_SECONDS = 30


def program() -> str:
    """FerretDB's path; if it cannot be built, the test is skipped with the reason."""
    done = subprocess.run([str(_SETUP)], capture_output=True, text=True, timeout=900, check=False)
    if done.returncode == _CANNOT:
        pytest.skip(f"{done.stderr.strip()}; then: pytest tests/integration/test_ycsb_mongodb.py")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def measured(
    bench: Bench,
    levels: dict[str, str],
    *,
    platform: str = "{}",
    client: str = "{}",
    reset: str = "truncate",
) -> dict[str, dict[str, Any]]:
    """Condition to the manifest of its trial: each is one node, which knows no sets.

    Args:
        levels: each condition's patch; the first is the baseline.
    """
    study = bench.root / "documents.yaml"
    lines = "\n".join(f"    {name}: {patch}" for name, patch in levels.items())
    text = STUDY.format(
        home=program(),
        platform=platform,
        client=client,
        levels=lines,
        baseline=next(iter(levels)),
        reset=reset,
    )
    study.write_text(text, encoding="utf-8")
    run = bench.tare("run", study)
    assert run.returncode == _NOT_VALID, run.stdout + run.stderr
    found = {one["condition"]: one for one in bench.manifests("documents").values()}
    assert set(found) == set(levels)
    for manifest in found.values():
        assert manifest["status"] == "done", manifest["reason"]
        assert manifest["clients"][0]["ok"] > 10
        assert manifest["clients"][0]["errors"] == 0
        assert "FerretDB" in manifest["database"]["stand_in"]
    return found


def started_from_one_snapshot(
    bench: Bench, levels: dict[str, str], *, platform: str = "{}", client: str = "{}"
) -> dict[str, dict[str, Any]]:
    """As `measured`; each condition finds every document, although its table was not filled."""
    found = measured(bench, levels, platform=platform, client=client, reset="keep")
    (start,) = {str(one["database"]["data"]) for one in found.values()}
    assert "snapshot" in start
    plan = bench.tare("plan", bench.root / "documents.yaml")
    assert "every deployment: starts from a snapshot of the data" in plan.stdout, plan.stderr
    return found


@contextmanager
def running(address: str, directory: Path) -> Iterator[str]:
    """One that answers at this loopback address, with its data in this directory: its host:port."""
    site = Site.in_place("ferretdb", directory, address, "loopback")
    with (directory / "stderr.log").open("wb") as log:
        process = subprocess.Popen(ferretdb_command(program(), site), stdout=log, stderr=log)
    try:
        _await(address, process)
        yield f"{address}:{PORT}"
    finally:
        process.terminate()
        process.wait(_SECONDS)


def _await(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _SECONDS
    while True:
        assert process.poll() is None, "it has ended; see stderr.log in its directory"
        try:
            with connect(address, PORT, timeout_s=1.0) as session:
                session.command({"ping": 1})
            return
        except ClusterError:
            assert time.monotonic() < end, "it does not answer"
