"""Real studies on real engines: a Cassandra node or three, native and in Docker."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tare.artifacts.tree import cassandra_tree
from tare.lab import clean
from tare.lab.run_lock import RunLock

TARE = str(Path(sys.executable).with_name("tare"))
FROM_A_TERMINAL = ("env", "--default-signal=HUP,INT")
"""before a command: it would ignore these for ever where the tests themselves ignore them"""

QUICK = 'jvm: ["-XX:TieredStopAtLevel=1"]'
"""of a study's database: the JVM's quick compiler only, with which nodes start sooner"""

STUDY = """\
study: {name}
question: Does everything work end to end?
database: {{nodes: {nodes}, replication_factor: {nodes}, heap: 256MiB, {quick}}}
load: {{records: 2000, threads: 8, warmup: 500ms, measure: 1500ms}}
factors:
  platform:
{levels}
baseline: {{platform: native}}
design: {{slice: off, deployments: {deployments}, blocks: {blocks}, reset: {reset}, fresh: {fresh},
         warm: {{at_least: 500ms, at_most: 1s, window: 250ms}}}}
"""

NATIVE = "    native: {}"
HOST = "    docker-host: {platform: {runtime: docker, network: host, storage: volume}}"
BRIDGE = "    docker-bridge: {platform: {runtime: docker, network: bridge, storage: directory}}"
PUBLISHED = (
    "    docker-published: {platform: {runtime: docker, network: published, storage: layer}}"
)


def without_weighing(arguments: Sequence[str | Path]) -> list[str]:
    """The words of a command; a run would weigh the ways to a server first, for two minutes."""
    words = [str(one) for one in arguments]
    unsaid = words[:1] == ["run"] and "--weigh" not in words
    return [*words, "--no-weigh"] if unsaid else words


@dataclass
class Bench:
    """A directory in which studies are written and run, as a user would."""

    root: Path

    def study(
        self,
        *levels: str,
        name: str = "small",
        nodes: int = 1,
        deployments: int = 1,
        blocks: int = 1,
        reset: str = "keep",
        fresh: str = "deployment",
    ) -> Path:
        path = self.root / f"{name}.yaml"
        text = STUDY.format(
            name=name,
            nodes=nodes,
            quick=QUICK,
            deployments=deployments,
            blocks=blocks,
            reset=reset,
            fresh=fresh,
            levels="\n".join(levels),
        )
        path.write_text(text, encoding="utf-8")
        return path

    def tare(
        self, *arguments: str | Path, timeout: float = 900
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TARE, *without_weighing(arguments)],
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*FROM_A_TERMINAL, TARE, *without_weighing(arguments)],
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def manifests(self, run: str = "small") -> dict[str, dict[str, Any]]:
        trials = self.root / "runs" / run / "trials"
        return {
            path.parent.name: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(trials.glob("[!.]*/manifest.json"))
        }

    def journal(self, run: str = "small") -> list[dict[str, Any]]:
        text = (self.root / "runs" / run / "journal.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with Cassandra's files, and nothing that was made of them."""
    return cassandra_cache(tmp_path / "cache", monkeypatch)


def cassandra_cache(path: Path, environment: pytest.MonkeyPatch) -> Path:
    """The same at this place, named in the environment."""
    tree = cassandra_tree("5.0.9", None).root
    path.mkdir()
    (path / tree.name).symlink_to(tree)
    environment.setenv("TARE_CACHE", str(path))
    return path


def running(name: str, *words: str) -> list[psutil.Process]:
    """Processes of this name with these words, in small letters, in their command line.

    Others may end while they are looked at: then they are not among them.
    """
    return [
        one
        for one in psutil.process_iter(["name", "cmdline"])
        if one.info["name"] == name
        and all(word in " ".join(one.info["cmdline"] or []).lower() for word in words)
    ]


def leftovers() -> list[str]:
    """What Tare has left on this machine, as `tare clean` finds it."""
    with RunLock("tests"):
        return clean.find(Path("runs").absolute()).words()
