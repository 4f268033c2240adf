"""Clusters that a test starts on this machine for itself, by the scripts of `rig/`."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tare.runtimes.kubernetes import settings as kubernetes
from tare.runtimes.swarm import settings as swarm

SCRIPTS = Path(__file__).parents[2] / "rig"


@dataclass(frozen=True)
class Rig:
    """One kind of cluster.

    Attributes:
        state: directory of one that is up.
        script: that starts one.
        files: environment variable to the file in `state` that it names; the first one is that by
            which users name a cluster of theirs.
        why_not: why none can be started here; empty where one can.
    """

    state: Path
    script: str
    files: Mapping[str, str]
    why_not: Callable[[], str]

    def is_up(self) -> bool:
        """Whether it runs from its directory; leftovers of a kill or a reboot do not count."""
        return self.state.exists() and any(
            one.info["environ"] and one.info["environ"].get("TARE_RIG") == str(self.state)
            for one in psutil.process_iter(["environ"])
        )

    @contextlib.contextmanager
    def new(self, test: str, **settings: str) -> Iterator[None]:
        """A new one, named in the environment until it is taken down; the test is skipped where
        one is up, which others may need, or none can be started.

        Args:
            test: its file in this directory, for the command that runs it then.
            settings: variables of the rig's script.
        """
        again = f"then pytest tests/integration/{test}"
        if self.is_up():
            pytest.skip(f"one is up, and this one would be broken: make rig-down; {again}")
        if why := self.why_not():
            pytest.skip(f"{why}; {again}")
        if self.state.exists():
            self._take_down()
        try:
            script = [SCRIPTS / self.script]
            subprocess.run(script, env={**os.environ, **settings}, check=True, timeout=300)
            with self._named():
                yield
        finally:
            self._take_down()

    @contextlib.contextmanager
    def at_hand(self, test: str) -> Iterator[None]:
        """One is named in the environment: the user's own, a rig that is up, or a new one."""
        if next(iter(self.files)) in os.environ:
            yield
        elif self.is_up():  # a rig of the user's stays up
            with self._named():
                yield
        else:
            with self.new(test):
                yield

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as environment:
            for variable, file in self.files.items():
                environment.setenv(variable, str(self.state / file))
            yield

    def _take_down(self) -> None:
        down = {**os.environ, "RIG_NAME": self.state.name}
        subprocess.run([SCRIPTS / "down.sh"], env=down, check=True, timeout=120)


def _no_kubernetes() -> str:
    built = subprocess.run([SCRIPTS / "build.sh", "--check"], check=False).returncode == 0
    return "" if built and os.geteuid() == 0 else "no cluster: make rig (as root)"


def _no_swarm() -> str:
    can = os.geteuid() == 0 and shutil.which("dockerd") is not None
    return "" if can else "no Swarm: make rig-swarm (as root)"


KUBERNETES = Rig(
    Path("/var/lib/tare-rig"),
    "up.sh",
    {kubernetes.VARIABLE: "cluster.yaml", "KUBECONFIG": "tare.kubeconfig"},
    _no_kubernetes,
)
SWARM = Rig(Path("/var/lib/tare-swarm"), "swarm.sh", {swarm.VARIABLE: "swarm.yaml"}, _no_swarm)
