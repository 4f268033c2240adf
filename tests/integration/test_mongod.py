"""A replica set of a real mongod, and FerretDB in its stead: for whoever has one.

MONGOD is the path of a mongod, FERRETDB that of a ferretdb; `make test-mongod MONGOD=/path` sets
the first. Without them there is nothing to test here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TARE = str(Path(sys.executable).with_name("tare"))
MONGOD, FERRETDB = os.environ.get("MONGOD", ""), os.environ.get("FERRETDB", "")

STUDY = """\
study: set
question: Does a replica set work end to end?
database: {{kind: mongodb, version: "{version}", home: "{home}", nodes: {nodes},
           replication_factor: {nodes}{more}}}
load: {{workload: ycsb-a, records: 2000, threads: 8, warmup: 1s, measure: 3s}}
factors:
  client: {{one: {{}}, other: {{load: {{threads: 4}}}}}}
baseline: {{client: one}}
design: {{deployments: 1, blocks: 1, fresh: deployment,
         warm: {{gentle: 0s, at_least: 1s, at_most: 3s, window: 1s}}}}
"""


def run(tmp_path: Path, **parts: object) -> subprocess.CompletedProcess[str]:
    study = tmp_path / "set.yaml"
    study.write_text(STUDY.format(**parts))
    return subprocess.run(
        [TARE, "run", str(study), "--runs", str(tmp_path / "runs")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def manifests(tmp_path: Path) -> list[dict[str, object]]:
    found = (tmp_path / "runs").rglob("trials/*/manifest.json")
    return [json.loads(path.read_text()) for path in found]


@pytest.mark.skipif(not MONGOD, reason="needs a mongod: make test-mongod MONGOD=/path")
@pytest.mark.parametrize("nodes", [1, 3])
def test_a_study_on_a_replica_set_ends_in_records(tmp_path: Path, nodes: int) -> None:
    more = ", write_concern: majority"
    done = run(tmp_path, version="7.0.0", home=MONGOD, nodes=nodes, more=more)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    (first, *_) = manifests(tmp_path)
    database = first["database"]
    assert isinstance(database, dict)
    states = sorted(member["state"] for member in database["set"])
    assert states == ["PRIMARY"] + ["SECONDARY"] * (nodes - 1)
    counts = first["server"]
    assert isinstance(counts, dict)
    assert counts["requests.update"] > 0


@pytest.mark.skipif(not FERRETDB, reason="needs FerretDB 1.24: FERRETDB=/path pytest")
def test_a_stand_in_is_refused_and_where_forced_marked_in_every_output(tmp_path: Path) -> None:
    refused = run(tmp_path, version="7.0.0", home=FERRETDB, nodes=1, more="")
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "cannot be the target of a benchmark" in refused.stdout + refused.stderr
    forced = run(tmp_path, version="7.0.0", home=FERRETDB, nodes=1, more=", stand_in: true")
    assert forced.returncode == 3, forced.stdout + forced.stderr
    found = manifests(tmp_path)
    assert found
    for manifest in found:
        database = manifest["database"]
        assert isinstance(database, dict)
        assert "FerretDB" in database["stand_in"]
