"""A Kubernetes runtime over a scripted API, with helpers for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tare.runtimes.kubernetes import namespaces
from tare.runtimes.kubernetes.member import MemberRunning
from tare.runtimes.kubernetes.runtime import KubernetesRuntime
from tare.runtimes.kubernetes.settings import ClusterSettings
from tare.runtimes.replies import Reply
from tare.runtimes.unit import Bits, Site, Unit
from tare.study.platform import Limits, Placement, Platform
from tests.runtimes.kubernetes.scripted_api import Clock, ScriptedApi

RUN, NAMESPACE = "a-run", "tare-a-run"
PORTS = (9042, 7000)


class Scene:
    """A runtime over a scripted cluster, in a network where every pod answers."""

    def __init__(self, work: Path, api: ScriptedApi | None = None) -> None:
        self.api = api or ScriptedApi()
        self.clock = Clock()
        self.work = work
        self.silent: set[str] = set()
        self.asked: list[str] = []
        self.runtime = KubernetesRuntime(
            RUN,
            work,
            ClusterSettings(),
            connect=lambda settings: self.api,
            clock=self.clock,
            wait=self.clock.wait,
            ask=self.ask,
        )
        self.runtime.use_helper("tare/pod:1")

    def ask(self, targets: Sequence[str], within_s: float) -> list[Reply]:
        """The right pod answers at every target, unless the network is silent."""
        self.asked += targets
        if self.silent:
            return [Reply(target, why="timed out") for target in targets]
        return [
            Reply(
                target, "10.0.0.9:1", target, f"tare-path-{index}", "10.0.0.9:1", target,
                {"eth0": 1450},
            )
            for index, target in enumerate(targets)
        ]  # fmt: skip

    def prove(self, platform: Platform, clients: Sequence[str] = ("native",)) -> dict[str, Any]:
        return self.runtime.prove(platform, 2, 9042, clients)

    def cluster(
        self,
        network: str = "container-dns",
        storage: str = "layer",
        group: str = "d1-k1",
        *,
        several: bool = False,
    ) -> list[MemberRunning]:
        """Launch two nodes as a database does: all sites and files first."""
        sites = [
            self.runtime.site(
                f"{group}-n{index + 1}", role="database", network=network, storage=storage,
                group=group, several=several,
            )
            for index in range(2)
        ]  # fmt: skip
        for site in sites:
            (site.conf_on_host / "cassandra.yaml").write_text(f"of: {site.name}", encoding="utf-8")
        return [self.launch(site, storage) for site in sites]

    def launch(self, site: Site, storage: str = "layer") -> MemberRunning:
        unit = Unit(
            site, "database", ["/java"], {}, Limits(), Bits("d", "tare/cassandra:5"),
            storage=storage, ports=PORTS, placement=Placement(), grace_s=0,
        )  # fmt: skip
        running = self.runtime.launch(unit)
        assert isinstance(running, MemberRunning)
        return running


def notes_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the notes of used clusters in a directory of the test."""
    monkeypatch.setattr(namespaces, "notes_directory", lambda: tmp_path / "notes")
    return tmp_path / "notes"


def a_scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def client(scene: Scene, network: str = "bridge") -> Any:
    site = scene.runtime.site(
        "d1-k1-trial-c1", role="client", network=network, storage="directory", group="d1-k1"
    )
    (site.conf_on_host / "load.json").write_text("{}", encoding="utf-8")
    unit = Unit(site, "client", ["/tare-load"], {}, Limits(), Bits("d", "tare/load:1"))
    return scene.runtime.launch(unit)
