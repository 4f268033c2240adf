"""Decoys: others' things that look like Tare's, and must be unchanged after every fault."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import docker
import psutil
from tests.integration.ssh_hosts import SshHost

from bench.faults.cluster import Cluster
from bench.faults.hosts import ANOTHER, ANOTHERS, MARK
from bench.faults.ours import GROUPS, addresses
from tare import starter

NAMES = {
    "container": "tare-r0-d1-docker-1-k1-n1",
    "network": "tare-r0-d1",
    "volume": "tare-d0-docker-1-k1-n1-data",
}
ADDRESS = "198.18.77.77"
LABELLED: dict[str, dict[str, str]] = {
    "tare-r1-elsewhere": {"tare.run": "r1", "tare.host": "another-host"},
    "tare-r1-beside": {"tare.run": "r1", "tare.starter": starter.label()},
}
"""Names and labels of containers that another machine made through an engine that both use, and
that a Tare with another lock made, which lives: it is this very process."""
ENDED = (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


class Decoys:
    """Made once for a campaign; `changed` says what became of them."""

    def __init__(
        self,
        runs: Path,
        *,
        engine: bool,
        hosts: Sequence[SshHost] = (),
        cluster: Cluster | None = None,
    ) -> None:
        self._runs = runs
        self._engine = engine
        self._hosts = hosts
        self._cluster = cluster
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._temporary = Path(tempfile.gettempdir()) / f"tare-weigh@mine.{os.getpid()}"
        self._before: dict[str, str] = {}

    @contextlib.contextmanager
    def standing(self) -> Iterator[Decoys]:
        try:
            self._files()
            self._start_processes()
            self._kernel()
            for host in self._hosts:
                self._on_host(host)
            if self._cluster is not None:
                self._cluster.make_decoys()
            if self._engine:
                self._in_engine()
            self._before = self._fingerprint()
            yield self
        finally:
            self._remove()

    def changed(self) -> list[str]:
        """A sentence per decoy that is gone or is not what it was."""
        now = self._fingerprint()
        return [
            f"{name}: was {was}, is {now.get(name, 'gone')}"
            for name, was in self._before.items()
            if now.get(name) != was
        ]

    def _files(self) -> None:
        thesis = self._runs / "mine" / "work" / "thesis.tex"
        half = self._runs / "mine" / "trials" / ".D1-B01-native.partial" / "data"
        outside = self._runs.parent / "outside" / "work" / "data"
        for file in (thesis, half, outside, self._temporary / "notes"):
            file.parent.mkdir(parents=True)
            file.write_text(f"of somebody else: {file.name}\n")
        (thesis.parent / ".tare-run.json").write_text('{"plan": "0000"}')
        (self._runs / "linked").symlink_to(outside.parent.parent)

    def _start_processes(self) -> None:
        """One that has Tare's variable, as a user's own shell may, and one that has a program's
        name of Tare's."""
        named = self._runs.parent / "tare-stub"
        shutil.copy(shutil.which("sleep") or "/bin/sleep", named)
        variables = {"sleep": {"TARE_RUN": "r1"}, str(named): dict[str, str]()}
        for program, own in variables.items():
            self._processes[program] = subprocess.Popen(
                [program, "1000000"], env={**os.environ, **own}, start_new_session=True
            )

    def _kernel(self) -> None:
        for group in self._groups():
            with contextlib.suppress(OSError):  # only root may make them
                group.mkdir(parents=True, exist_ok=True)
        _run("ip", "addr", "add", f"{ADDRESS}/32", "dev", "lo", "label", "lo:mine")

    def _on_host(self, host: SshHost) -> None:
        """What another machine's run has there, and what a user of the host's own has."""
        tare = host.files / "tare"
        for file in (
            tare / "runs" / ANOTHERS / "d1-native-1-k1-n1" / "data" / "rows",
            tare / "files" / f".programs.{ANOTHER}.partial" / "java",
            host.files / "tare-mine" / "runs" / "notes",
        ):
            file.parent.mkdir(parents=True)
            file.write_text(f"of somebody else: {file.name}\n")
        named = str(self._runs.parent / "tare-stub")
        for words in (["env", f"{MARK}={ANOTHERS}", "sleep"], [named]):
            self._processes[f"{words[-1]} on {host.name}"] = subprocess.Popen(
                [*host.inside, *words, "1000000"], start_new_session=True
            )

    def _groups(self) -> list[Path]:
        """Control groups: a user's own, one with the mark of another boot's process, and on hosts
        one of another machine's run."""
        unified = (GROUPS / "cgroup.controllers").exists()
        names = [f"tare/{name}" for name in ("mine", "r1@1-2-0123456789ab-3")]
        names += [f"tare-ssh/{host.name}/{ANOTHERS}/mine" for host in self._hosts]
        return [(GROUPS if unified else GROUPS / "freezer") / name for name in names]

    def _in_engine(self) -> None:
        """An image of one file is enough: the container is never started."""
        client = docker.from_env()
        if not client.images.list("tare-faults-decoy"):
            client.api.import_image_from_data(_EMPTY_TAR, repository="tare-faults-decoy")
        for name, labels in {NAMES["container"]: dict[str, str](), **LABELLED}.items():
            client.containers.create("tare-faults-decoy", ["none"], name=name, labels=labels)
        client.networks.create(NAMES["network"])
        client.volumes.create(NAMES["volume"])

    def _fingerprint(self) -> dict[str, str]:
        found = {
            f"file {file}": hashlib.sha256(file.read_bytes()).hexdigest()
            for base in self._trees()
            for file in sorted(base.rglob("*"))
            if file.is_file()
        }
        for program, process in self._processes.items():
            status = psutil.Process(process.pid).status()
            found[f"process {program}"] = status if status in ENDED else "runs"
        found |= {f"group {group}": "there" for group in self._groups() if group.is_dir()}
        found |= {one: "there" for one in addresses() if one.startswith(f"{ADDRESS} ")}
        if self._cluster is not None:
            found |= self._cluster.decoys()
        if self._engine:
            found |= _engine_decoys()
        return found

    def _trees(self) -> Iterator[Path]:
        """Directories in which files of others are."""
        yield from (self._runs / "mine", self._runs.parent / "outside", self._temporary)
        for host in self._hosts:
            yield host.files / "tare-mine"
            yield host.files / "tare" / "runs" / ANOTHERS
            yield from (host.files / "tare" / "files").glob(f".*.{ANOTHER}.partial")

    def _remove(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()
        shutil.rmtree(self._temporary, ignore_errors=True)
        for group in self._groups():
            with contextlib.suppress(OSError):  # up to the first one that others are in
                for one in (group, *group.parents):
                    one.rmdir()
        _run("ip", "addr", "del", f"{ADDRESS}/32", "dev", "lo")
        if self._cluster is not None:
            self._cluster.remove_decoys()
        if not self._engine:
            return
        client = docker.from_env()
        for find in (
            *(partial(client.containers.get, name) for name in (NAMES["container"], *LABELLED)),
            lambda: client.networks.get(NAMES["network"]),
            lambda: client.volumes.get(NAMES["volume"]),
        ):
            with contextlib.suppress(docker.errors.DockerException):
                find().remove()
        with contextlib.suppress(docker.errors.DockerException):
            client.images.remove("tare-faults-decoy")


_EMPTY_TAR = bytes(10240)


def _engine_decoys() -> dict[str, str]:
    client = docker.from_env(timeout=60)
    wanted: list[Any] = [
        *client.containers.list(all=True, sparse=True),
        *client.networks.list(),
        *client.volumes.list(),
    ]
    names = {*NAMES.values(), *LABELLED}
    return {f"docker {name}": str(one.id) for one in wanted if (name := _name(one)) in names}


def _name(item: Any) -> str:
    names = item.attrs.get("Names") or [item.attrs.get("Name", "")]
    return str(names[0]).lstrip("/")


def _run(*command: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        subprocess.run(command, capture_output=True, check=False)
