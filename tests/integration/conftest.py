"""Real studies on real engines: a Cassandra node or three, native and in Docker."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tare.artifacts.tree import cassandra_tree
from tare.lab import clean
from tare.lab.run_lock import RunLock
from tare.records.prices import Weighing

TARE = str(Path(sys.executable).with_name("tare"))
FROM_A_TERMINAL = ("env", "--default-signal=HUP,INT")
"""prefix of a command, which would ignore these signals if the tests ignore them"""

QUICK = 'jvm: ["-XX:TieredStopAtLevel=1"]'
"""settings of a study's database: only the JVM's quick compiler, with which nodes start sooner"""

STUDY = """\
study: {name}
question: Does everything work end to end?
database: {{nodes: {nodes}, replication_factor: {nodes}, heap: 256MiB, {quick}}}
platform: {platform}
client: {client}
load: {{records: 2000, threads: 8, warmup: 300ms, measure: {measure}}}
factors:
  {factor}:
{levels}
baseline: {{{factor}: {baseline}}}
design: {{slice: off, deployments: {deployments}, blocks: {blocks}, reset: {reset}, fresh: {fresh},
         warm: {{at_least: 500ms, at_most: 500ms, window: 125ms}}}}
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
        platform: str = "{}",
        client: str = "{}",
        measure: str = "1s",
        factor: str = "platform",
    ) -> Path:
        """A study of one factor, with a line for each level; the first is the baseline."""
        path = self.root / f"{name}.yaml"
        text = STUDY.format(
            name=name,
            nodes=nodes,
            quick=QUICK,
            deployments=deployments,
            blocks=blocks,
            reset=reset,
            fresh=fresh,
            platform=platform,
            client=client,
            measure=measure,
            factor=factor,
            levels="\n".join(levels),
            baseline=levels[0].partition(":")[0].strip(),
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

    def measured(
        self, *arguments: str | Path, timeout: float = 900
    ) -> subprocess.CompletedProcess[str]:
        """The same for a command that must measure; status 3: not valid, as on a busy machine."""
        done = self.tare(*arguments, timeout=timeout)
        assert done.returncode in (0, 3), done.stdout + done.stderr
        return done

    def cleaned(self) -> str:
        """What `tare clean` says it removed; nothing of it is left."""
        done = self.tare("clean")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

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

    def done(self, run: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
        """Condition to its manifest; all were measured without errors."""
        assert run.returncode in (0, 3), run.stdout + run.stderr
        manifests = {one["condition"]: one for one in self.manifests().values()}
        assert {one["status"] for one in manifests.values()} == {"done"}
        assert all(client["ok"] > 100 for one in manifests.values() for client in one["clients"])
        assert all(client["errors"] == 0 for one in manifests.values() for client in one["clients"])
        return manifests

    def journal(self, run: str = "small") -> list[dict[str, Any]]:
        """All events; none if the run has not begun."""
        file = self.root / "runs" / run / "journal.jsonl"
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def await_event(
        self,
        process: subprocess.Popen[str],
        event: str,
        count: int = 1,
        *,
        run: str = "small",
        of: str = "",
    ) -> None:
        """Let a run go on until its journal has this event this many times.

        Args:
            of: part of the name of the events' trial.
        """

        def seen(one: dict[str, Any]) -> bool:
            return one["event"] == event and of in one.get("trial", "")

        while sum(map(seen, self.journal(run))) < count:
            let_run(process)


def let_run(process: subprocess.Popen[str]) -> None:
    """Let a run go on for a moment, which it must: real work is waited for, and not a clock."""
    assert process.poll() is None, process.communicate()[0]
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.1)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with Cassandra's files, and nothing made from them."""
    made = cassandra_cache(tmp_path / "cache")
    monkeypatch.setenv("TARE_CACHE", str(made))
    return made


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another cache, for tests that may find what others have made from the files."""
    return cassandra_cache(tmp_path_factory.mktemp("shared") / "cache")


def cassandra_cache(path: Path) -> Path:
    """A cache at this place."""
    tree = cassandra_tree("5.0.9", None).root
    path.mkdir()
    (path / tree.name).symlink_to(tree)
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


def weighed(*words: str, **environment: str) -> Weighing:
    """What `tare weigh` says in JSON after three rounds."""
    return Weighing.model_validate_json(weighed_json(words, environment))


def weighed_json(
    words: Sequence[str], environment: Mapping[str, str], good: Collection[int] = (0, 3)
) -> str:
    """The same as printed text; exit status 3 means a busy machine."""
    done = subprocess.run(
        [TARE, "weigh", "--rounds", "3", "--json", *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in good, done.stderr
    return done.stdout


def leftovers() -> list[str]:
    """Tare's leftovers on this machine, as `tare clean` finds them."""
    with RunLock("tests"):
        return clean.find(Path("runs").absolute()).words()
