"""The Docker engine's entry for runsc: whether there is one, and whether its containers run here.

The engine starts runsc if its configuration names it, with the flags that it has there. Tare reads
that entry and never writes it: it belongs to the machine, and other containers depend on it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docker.errors import DockerException

from tare import scratch
from tare.errors import RuntimeUnavailableError
from tare.runtimes.docker_engine import connect

_CANNOT = "gVisor cannot be used"
_INSTALL = "apt-get install runsc"
_CONFIGURATION = "/etc/docker/daemon.json"
_RELOAD = "systemctl reload docker, or kill -HUP $(pidof dockerd); docs/gvisor.md"
_BOOTED_S = 10.0
"""how long a sandbox may take to start and to end"""
_BUNDLE = {
    "ociVersion": "1.0.0",
    "process": {"args": ["/bin/true"], "cwd": "/", "user": {"uid": 0, "gid": 0}},
    "root": {"path": "/", "readonly": True},
    "linux": {"namespaces": [{"type": kind} for kind in ("network", "pid", "mount")]},
}
"""A container that ends at once, in its own namespaces, in the format of the runtime specification
of the Open Container Initiative"""


@dataclass(frozen=True)
class Entry:
    """What the engine starts."""

    name: str
    path: str
    arguments: tuple[str, ...]
    version: str
    """as runsc tells it"""

    @property
    def words(self) -> str:
        flags = "".join(f" {one}" for one in self.arguments)
        return f"{self.version}, Docker's entry {self.name}: {self.path}{flags}"


def usable(name: str, platform: str) -> Entry:
    """The engine's entry of this name.

    Args:
        platform: that it must name; empty: any, or none.

    Raises:
        RuntimeUnavailableError: there is none, or its containers do not start here.
    """
    entry = _read(name, platform)
    if fault := _not_booted(entry):
        why = f"a sandbox by {entry.words} does not run here: {fault}"
        raise _unfit(why, "another release of gVisor, or another platform; docs/gvisor.md")
    return entry


def _read(name: str, platform: str) -> Entry:
    try:
        client = connect(timeout_s=5)
        told = (client.info().get("Runtimes") or {}).get(name)
    except (DockerException, OSError) as error:
        raise _unfit(f"the Docker engine does not answer: {error}", "docker info") from error
    option = f"--platform={platform}"
    wanted = (option,) if platform else ()
    if told is None:
        path = shutil.which("runsc")
        before = "" if path else f"{_INSTALL}; "
        add = f'"{name}": {_written(path or "/usr/bin/runsc", wanted)}'
        remedy = f'{before}add {add} to "runtimes" in {_CONFIGURATION}, then {_RELOAD}'
        raise _unfit(f"the Docker engine has no runtime {name}", remedy)
    path, arguments = told.get("path"), tuple(told.get("runtimeArgs") or ())
    if not path:
        why = f"Docker's entry {name} names a shim, whose flags Tare cannot read"
        remedy = f"have it as {_written('/usr/bin/runsc', wanted)} in {_CONFIGURATION}"
        raise _unfit(why, f"{remedy}, then {_RELOAD}")
    if platform and platform_of(arguments) != platform:
        why = f"Docker's entry {name} does not have {option}"
        remedy = f"have it as {_written(path, wanted)} in {_CONFIGURATION}, then {_RELOAD}"
        raise _unfit(why, remedy)
    return Entry(name, path, arguments, _version(name, path))


def _written(path: str, arguments: tuple[str, ...]) -> str:
    flags = "".join(f', "runtimeArgs": ["{one}"]' for one in arguments)
    return f'{{"path": "{path}"{flags}}}'


def platform_of(arguments: tuple[str, ...]) -> str:
    """The platform that flags of runsc name; empty: they leave it to the release's default."""
    named = [one.lstrip("-") for one in arguments if one.startswith("-")]
    told = [one.partition("=")[2] for one in named if one.startswith("platform=")]
    return told[-1] if told else ""


def _version(name: str, path: str) -> str:
    """The version that the program reports.

    Raises:
        RuntimeUnavailableError: the program is missing, or is no runsc.
    """
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=_BOOTED_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unfit(f"Docker's entry {name} cannot be started: {error}", _INSTALL) from error
    first = done.stdout.partition("\n")[0].strip()
    if not first.startswith("runsc version"):
        why = f"Docker's entry {name} starts {path}, which is no runsc ({first or 'it is silent'})"
        raise _unfit(why, f"{_INSTALL}; see {_CONFIGURATION}")
    return first.replace("runsc version", "gVisor")


@cache
def _not_booted(entry: Entry) -> str:
    """Why a sandbox does not start; empty: it does.

    A device such as /dev/kvm is no proof, and a release may not know the kernel's namespaces.
    """
    with scratch.directory("runsc") as place:
        (Path(place) / "config.json").write_text(json.dumps(_BUNDLE), encoding="utf-8")
        own = ("--ignore-cgroups", f"--root={place}/state", "run", f"--bundle={place}", "tare-try")
        try:
            done = subprocess.run(
                [entry.path, *entry.arguments, *own],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_BOOTED_S,
            )
        except subprocess.TimeoutExpired:
            return f"it is silent after {_BOOTED_S:.0f} s"
    if done.returncode == 0:
        return ""
    said = (done.stderr or done.stdout).strip().splitlines()
    return said[-1] if said else f"exit status {done.returncode}"


def _unfit(why: str, remedy: str) -> RuntimeUnavailableError:
    return RuntimeUnavailableError(_CANNOT, why=why, remedy=remedy)
