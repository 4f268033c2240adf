"""Real nodes map one archive of their classes, natively and in containers, and load few jars."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tare.lab.class_archives import ClassArchives, recorder
from tare.lab.deployment import Deployment
from tare.lab.progress import Silent
from tare.lab.run_lock import RunLock
from tare.lab.run_resources import RunResources, prepare
from tare.monitor.parity import parity_facts
from tare.study.schema import Design, Setup, Warm

pytestmark = pytest.mark.engine

TELLING = ["-XX:TieredStopAtLevel=1", "-Xlog:class+load"]
PLATFORMS: list[dict[str, Any]] = [
    {},
    {"runtime": "docker", "network": "bridge", "storage": "volume"},
    {"runtime": "docker", "network": "host", "storage": "layer"},
    {"runtime": "docker", "network": "published", "storage": "directory"},
]


def setup(platform: dict[str, Any]) -> Setup:
    one = {"nodes": 1, "replication_factor": 1}
    database = {"heap": "256MiB", "jvm": TELLING, **one}
    return Setup.model_validate({"database": database, "platform": platform})


def loaded(logs: Path) -> tuple[int, int]:
    """How many of Cassandra's own classes came from the archive, and how many from elsewhere."""
    (file,) = logs.glob("*stderr.log")
    pattern = r"org\.apache\.cassandra\.[\w.$]+ source: (.*)"
    sources = re.findall(pattern, file.read_text(encoding="utf-8"))
    shared = sum(source.startswith("shared objects file") for source in sources)
    return shared, len(sources) - shared


def begin(
    stack: ExitStack,
    name: str,
    one: Setup,
    archives: ClassArchives,
    resources: RunResources,
) -> Deployment:
    """A deployment that starts beside others, as in a run, and is taken down with them."""
    made = Deployment(name, [one], Warm(), resources, Silent())
    stack.callback(taken_down, made)
    made.load_from(*archives.of(one))
    made.begin()
    return made


def taken_down(made: Deployment) -> None:
    assert made.destroy() == []


def test_one_archive_serves_every_platform(cache: Path, tmp_path: Path) -> None:
    setups = [setup(platform) for platform in PLATFORMS]
    told = []
    with RunLock("classes"):
        needed = [*setups, recorder(setups[0])]
        resources = prepare("classes", tmp_path / "work", needed, print)
        try:
            archives = ClassArchives(resources, Design(), Silent(), setups)
            with ExitStack() as stack:
                begun = [
                    begin(stack, f"D{number}", one, archives, resources)
                    for number, one in enumerate(setups)
                ]
                for made in begun:
                    made.deploy()
                    (node,) = made.clusters[0].nodes
                    facts = parity_facts(node.accounting(), node.unit.site.data, resources.machine)
                    assert facts["class archive"] == "mapped", made.setup.platform
                    made.collect_logs(tmp_path / made.identity)
                    told.append(made.description["classes"])
                    shared, others = loaded(tmp_path / made.identity)
                    assert shared > 1000
                    assert others < shared / 5
        finally:
            assert resources.close() == []
    assert all(classes == told[0] and "archive" in classes for classes in told)
    assert len([path for path in (cache / "classes").iterdir() if path.is_dir()]) == 1
