"""A directory where studies run as a user would run them, and an engine that may be killed."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import requests
from tests.integration.ssh_hosts import SshHost, SshHosts

from bench.faults.cluster import Cluster
from bench.faults.hosts import inventory
from bench.faults.ours import Seen, see
from tare.artifacts.tree import default_cache
from tare.records.noise import Noise
from tare.records.prices import Weighing

TARE = str(Path(sys.executable).with_name("tare"))
AS_FROM_A_TERMINAL = ("env", "--default-signal=HUP,INT")
"""Before a command: under nohup, or in a shell's background, it would ignore these for ever."""
ENDS_WITHIN_S = 420.0
"""What has not ended by then hangs: a run may weigh for two minutes first, and its nodes are given
a minute each to end."""
DISK = "1500m"
LEFT_BY_ENGINE = (
    Path("/var/run/docker.pid"),
    Path("/var/run/docker/containerd/containerd.pid"),
)

IN_CONTAINER = "{platform: {runtime: docker, network: bridge, storage: volume, endpoint: proxy}}"
NATIVE = "{}"
"""The second level of the study, with an engine and without."""
ON_HOSTS = "platform: {machines: ssh}\nclient: {machines: ssh}"
CLIENT_HERE = "{client: {machines: local}}"
"""What all of the study runs on with hosts, and its second level."""
IN_POD = """{platform: {runtime: kubernetes, network: host-port, storage: emptydir,
            limits: {memory: 1GiB}}}"""
"""The second level with a cluster."""
STUDY = """\
study: {name}
question: Does everything survive?
database: {{heap: 256MiB}}
{machines}
load: {{workload: {workload}, records: 2000, threads: 8, warmup: 500ms, measure: {measure}}}
factors:
  platform:
    native: {{}}
    other: {other}
baseline: {{platform: native}}
design: {{deployments: 1, blocks: {blocks}, reset: keep, fresh: deployment{slices},
         warm: {{at_least: 1s, at_most: 4s, window: 1s}}}}
"""


WEIGHINGS = (
    ("weigh", "--rounds", "3", "--seconds", "60", "--in-flight", "1"),
    ("weigh", "--rounds", "3", "--what", "system,storage,machine"),
    ("doctor", "--noise", "--seconds", "20"),
)
"""Of ways, of parts, and the pilot: up to a minute each, where nothing strikes them."""


@dataclass
class Command:
    """One command of Tare's that was started, and where its output goes; a weighing has no name."""

    process: subprocess.Popen[bytes]
    output: Path
    name: str
    events_before: int = 0
    """lines that its run's journal had when it began"""

    def wait_s(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(seconds, 0.0))
        return self.process.poll() is not None

    def said(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")


class Scene:
    """Where a campaign takes place."""

    def __init__(
        self,
        root: Path,
        *,
        engine: Engine,
        hosts: SshHosts | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        self.root = root
        self.runs = root / "runs"
        self.engine = engine
        self.cluster = cluster
        self._inventory = {"TARE_INVENTORY": str(inventory(hosts))} if hosts else {}
        self.hosts: list[SshHost] = list(hosts.hosts.values()) if hosts else []
        self._cache = root / "cache"
        self._commands = 0
        self.runs.mkdir(parents=True)
        self._studies = [
            self._study(name, sliced=sliced)
            for name, sliced in (("whole", False), ("slices", True))
        ]

    @contextlib.contextmanager
    def disk(self) -> Iterator[None]:
        """A small file system of its own for the runs, where this user may mount one."""
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tare-faults", str(self.runs)]
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
        try:
            yield
        finally:
            if mounted:
                subprocess.run(["umount", "--lazy", str(self.runs)], check=True)

    def take_cache(self) -> None:
        """A cache of its own with what this user's holds, but for what was measured, as prices that
        are weighed under faults are for nobody, and for disks of virtual machines: files with
        holes, which a copy would fill with tens of gigabytes."""
        self._cache.mkdir()
        left = shutil.ignore_patterns(Weighing.kept_as, Noise.kept_as, "vm-*", "domains")
        if default_cache().is_dir():
            shutil.copytree(
                default_cache(), self._cache, symlinks=True, ignore=left, dirs_exist_ok=True
            )

    def ours(self) -> Seen:
        """Everything that is Tare's where its runs take place."""
        seen = see(self.runs, [host.files for host in self.hosts])
        if self.cluster is not None:
            seen.kinds["namespaces"] = self.cluster.namespaces()
        return seen

    @property
    def weighs(self) -> bool:
        """Whether weighings, which are of this machine alone, are among the commands."""
        return not self.hosts and self.cluster is None

    @property
    def on_own_disk(self) -> bool:
        return self.runs.is_mount()

    def _study(self, name: str, *, sliced: bool) -> Path:
        path = self.root / f"{name}.yaml"
        path.write_text(
            STUDY.format(
                name=name,
                machines=ON_HOSTS if self.hosts else "",
                other=self._other(),
                workload="ycsb-c" if sliced else "ycsb-a",
                measure="1500ms" if sliced else "2s",
                blocks=1 if sliced else 2,
                slices=", slice: 250ms" if sliced else ", slice: off",
            ),
            encoding="utf-8",
        )
        return path

    def _other(self) -> str:
        """What the study's second level is on."""
        if self.hosts:
            return CLIENT_HERE
        if self.cluster is not None:
            return IN_POD
        return IN_CONTAINER if self.engine.answers() else NATIVE

    def run(self, number: int, *, weigh: bool = False) -> Command:
        """Begin or resume the run of this number; each other one is in slices.

        Args:
            weigh: it weighs first, where it is in slices and has no prices yet.
        """
        study = self._studies[number % len(self._studies)]
        (self._cache / Weighing.kept_as).unlink(missing_ok=True)
        name, how = f"r{number}", "--weigh" if weigh else "--no-weigh"
        return self.start("run", str(study), how, "--name", name, name=name)

    def start(self, *words: str, name: str = "", before: tuple[str, ...] = ()) -> Command:
        """Start one command of Tare's in a session of its own, as a terminal does."""
        self._commands += 1
        before_it = len(self.journal(name)) if name else 0
        output = self.root / f"output-{self._commands}.txt"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*before, *AS_FROM_A_TERMINAL, TARE, *words],
                cwd=self.root,
                env={**os.environ, **self._environment()},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return Command(process, output, name, before_it)

    def _environment(self) -> dict[str, str]:
        cache = {"TARE_CACHE": str(self._cache)} if self._cache.is_dir() else {}
        return {**cache, **self._inventory}

    def journal(self, name: str) -> list[dict[str, Any]]:
        file = self.runs / name / "journal.jsonl"
        found = []
        if file.is_file():
            for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                with contextlib.suppress(ValueError):
                    found.append(json.loads(line))
        return found


class Engine:
    """The Docker engine: one that this campaign started may be killed, another's may not."""

    def __init__(self, command: str = "") -> None:
        self._command = shlex.split(command)
        self._process: subprocess.Popen[bytes] | None = None

    @contextlib.contextmanager
    def running(self) -> Iterator[Engine]:
        if self._command:
            if self.answers():
                raise SystemExit(
                    "an engine answers already: stop it, or leave --engine-command away"
                )
            self._begin()
        try:
            yield self
        finally:
            if self._process is not None:
                self._process.send_signal(signal.SIGTERM)
                self._process.wait(60)

    @property
    def ours(self) -> bool:
        return self._process is not None

    def answers(self) -> bool:
        with contextlib.suppress(docker.errors.DockerException, requests.RequestException):
            return bool(docker.from_env(timeout=10).ping())
        return False

    def kill(self) -> None:
        """Kill it, and with it the containerd that it started, as the kernel does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """It takes requests and answers none."""
        if self._process is None:
            yield
            return
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def restart(self) -> None:
        """After it died. What it left to find itself by goes: an engine waits in vain for it."""
        if self._process is not None and self._process.poll() is not None:
            for left in LEFT_BY_ENGINE:
                left.unlink(missing_ok=True)
            self._begin()

    def _begin(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 90
        while not self.answers():
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise SystemExit("the engine does not answer")
            time.sleep(0.2)
