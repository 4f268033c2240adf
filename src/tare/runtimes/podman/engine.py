"""This machine's Podman: its own facts, and a service of Tare's own with Docker's API.

Podman is a command, not a daemon. `podman system service` is a process with its API. It holds
nothing, so that containers outlive it. Each run has one at a private socket.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
from docker.errors import DockerException

from tare import scratch
from tare.errors import RuntimeUnavailableError
from tare.machines import cgroups
from tare.starter import RUN_VARIABLE, STARTER_VARIABLE, mark

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINE = "Podman"
COMMAND = "podman"
PROCESSES = ("podman", "conmon", "netavark", "aardvark-dns")
"""programs that work for containers; root's containers have no rootlessport"""
_OLDEST = (4, 3)
"""the release with which `podman update` came"""
_CANNOT = "Podman cannot be used"
_INSTALL = "apt-get install podman netavark aardvark-dns crun"
_TEMPORARY = "TMPDIR"
"""where it keeps unfinished images; they are removed with the service's own directory"""
_ANSWER_S, _POLL_S = 30.0, 0.05
"""how long the command may take to tell, and the service to answer; and how often it is asked"""


class UnfitPodmanError(RuntimeUnavailableError):
    """There is no Podman here that Tare can use, so it holds nothing of Tare's."""


@dataclass(frozen=True)
class Engine:
    """A Podman that can be used."""

    version: str
    oci: str
    """the program that makes containers: crun or runc"""
    network: str
    """what connects them: netavark"""
    store: Path
    """where images, layers and volumes lie"""

    @property
    def words(self) -> str:
        return f"Podman {self.version} with {self.oci} and {self.network}"


def usable(cgroup_root: Path = cgroups.ROOT, *, oci: str = "") -> Engine:
    """This machine's Podman.

    Args:
        oci: what must make containers; empty: as Podman is set up.

    Raises:
        UnfitPodmanError: there is none, or it cannot be used as Tare needs it.
        RuntimeUnavailableError: it does not answer.
    """
    if shutil.which(COMMAND) is None:
        raise _unfit("the command podman is missing", _INSTALL)
    if os.geteuid() != 0:
        why = "only root's containers are on a bridge of this machine and in control groups"
        raise _unfit(why, "run as root")
    told = _info()
    host, version = told["host"], str(told["version"]["Version"])
    if _number(version) < _OLDEST:
        why = f"Podman {version} cannot move containers to other CPUs"
        raise _unfit(why, "install Podman 4.3 or later")
    if host["networkBackend"] != "netavark":
        why = f"its networks are made by {host['networkBackend']}, and Tare knows netavark's"
        remedy = f'{_INSTALL}; network_backend = "netavark" in /etc/containers/containers.conf'
        raise _unfit(why, remedy)
    if shutil.which("iptables") is None:
        why = "iptables is missing, by which netavark leads packets to published ports"
        raise _unfit(why, "apt-get install iptables")
    makes = _oci_runtime(str(host["ociRuntime"]["name"]), cgroup_root, oci)
    return Engine(version, makes, host["networkBackend"], Path(told["store"]["graphRoot"]))


def _oci_runtime(usual: str, cgroup_root: Path, wanted: str) -> str:
    """The program that makes containers: the wanted one, else the one that Podman is set up with.

    A crun that refuses this machine is not used: it starts nothing if control groups of both
    versions have controllers; runc does.
    """
    both = cgroup_root / "unified" / "cgroup.controllers"
    hybrid = cgroups.version(cgroup_root) == 1 and both.is_file() and both.read_text().strip()
    if wanted and shutil.which(wanted) is None:
        raise _unfit(f"the command {wanted} is missing", f"apt-get install {wanted}")
    if (wanted or usual) != "crun" or not hybrid:
        return wanted or usual
    why = "crun runs nothing where control groups of version 1 and 2 both have controllers"
    if wanted:
        raise _unfit(why, "set platform.runtime to podman-runc, or boot with one version")
    if shutil.which("runc") is None:
        raise _unfit(why, "apt-get install runc")
    return "runc"


@contextlib.contextmanager
def serving(timeout_s: int = 60, *, oci: str = "") -> Iterator[docker.DockerClient]:
    """A client of a service that ends with this block.

    Its environment has this process's mark, by which `services` finds it if this is killed. It has
    no run's mark, because aardvark-dns, which serves others' networks too, inherits it.

    Args:
        oci: what must make containers; empty: as Podman is set up.

    Raises:
        RuntimeUnavailableError: Podman cannot be used, or does not answer.
    """
    engine, place = usable(oci=oci), scratch.make(COMMAND)
    socket, log = place / "socket", place / "log"
    command = [
        COMMAND,
        "--runtime",
        engine.oci,
        "system",
        "service",
        "--time=0",
        f"unix://{socket}",
    ]
    try:
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**_environment(), STARTER_VARIABLE: mark(), _TEMPORARY: str(place)},
                start_new_session=True,  # Ctrl-C is for Tare, which still needs it then
            )
        try:
            client = _answering(process, socket, log, timeout_s)
            with contextlib.closing(client):
                yield client
        finally:
            _end(process)
    finally:
        scratch.remove(place)


def _answering(
    process: subprocess.Popen[bytes], socket: Path, log: Path, timeout_s: int
) -> docker.DockerClient:
    deadline, why = time.monotonic() + _ANSWER_S, "it is silent"
    while process.poll() is None and time.monotonic() < deadline:
        if socket.exists():
            try:
                return docker.DockerClient(base_url=f"unix://{socket}", timeout=timeout_s)
            except (DockerException, OSError) as error:  # not yet, or never
                why = str(error)
        time.sleep(_POLL_S)
    why = log.read_text(encoding="utf-8", errors="replace").strip() or why
    raise _silent(f"its service does not answer: {why}", f"{COMMAND} info; tare doctor")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _info() -> dict[str, Any]:
    command = [COMMAND, "info", "--format", "json"]
    remedy = f"{COMMAND} info; {_INSTALL}"
    try:
        done = subprocess.run(
            command, env=_environment(), capture_output=True, text=True, timeout=_ANSWER_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _silent(str(error), remedy) from error
    if done.returncode != 0:
        raise _silent(done.stderr.strip() or f"exit status {done.returncode}", remedy)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _environment() -> dict[str, str]:
    """This process's environment, but Podman is this machine's, and no unit of a run."""
    away = ("CONTAINER_HOST", "CONTAINER_CONNECTION", RUN_VARIABLE)
    return {name: value for name, value in os.environ.items() if name not in away}


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".")[:2])


def _unfit(why: str, remedy: str) -> UnfitPodmanError:
    return UnfitPodmanError(_CANNOT, why=why, remedy=remedy)


def _silent(why: str, remedy: str) -> RuntimeUnavailableError:
    return RuntimeUnavailableError(_CANNOT, why=why, remedy=remedy)
