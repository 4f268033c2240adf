"""Runs pyinfra over hosts: what it would change, and, if asked for, the change."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from tare import scratch
from tare.artifacts.program import Ended, run_to_end
from tare.errors import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tare.machines.inventory.host import Host

PROGRAM = "TARE_PYINFRA"
"""environment variable that names pyinfra's command, where it is not on the PATH"""
Step = Literal["directory", "programs", "clock", "docker", "java"]
STEPS: tuple[Step, ...] = get_args(Step)
USUAL: tuple[Step, ...] = ("directory", "programs", "clock")
"""what every host needs; docker and java are asked for"""
_WITHIN_S = 1800.0
Starter = Callable[[Sequence[str], float, Mapping[str, str], str], Ended]


@dataclass(frozen=True)
class Prepared:
    """What pyinfra found of one host.

    Attributes:
        host: its name.
        reached: whether pyinfra got there and asked everything.
        changes: what is to be changed; after changes, what is still to be changed.
        notes: what it cannot do itself.
    """

    host: str
    reached: bool
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PrepareOutcome:
    """What is to be changed on all hosts, and pyinfra's last words if it failed."""

    hosts: tuple[Prepared, ...]
    said: str = ""

    @property
    def done(self) -> bool:
        """Whether nothing is left to change anywhere."""
        return all(one.reached and not one.changes and not one.notes for one in self.hosts)


def find_pyinfra(environment: Mapping[str, str] = os.environ) -> str:
    """pyinfra's command.

    Raises:
        RuntimeUnavailableError: pyinfra is missing.
    """
    named = environment.get(PROGRAM)
    found = shutil.which(named or "pyinfra", path=environment.get("PATH"))
    if found is None:
        raise RuntimeUnavailableError(
            f"{named or 'pyinfra'} is missing",
            why="hosts are prepared by pyinfra 3, which lives in an environment of its own",
            remedy=f"pipx install pyinfra, or name its command with {PROGRAM}",
        )
    return str(Path(found).absolute())  # it is started in another directory


def prepare(
    hosts: Sequence[Host],
    steps: Collection[Step],
    *,
    change: bool,
    run: Starter | None = None,
) -> PrepareOutcome:
    """What must be changed on these hosts, each in the order given.

    Args:
        hosts: of the inventory.
        steps: what they need.
        change: do it, then ask again; else nothing is changed.
        run: runs a program: its arguments, longest time, environment, and directory. The directory
            is empty, as pyinfra obeys files of the directory that it is started in.

    Raises:
        RuntimeUnavailableError: pyinfra is missing, or gets to no host.
    """
    start = run or _start
    program = find_pyinfra()
    said = ""
    if change:
        _, ended = _once(program, hosts, steps, ("--yes",), start)
        said = "" if ended.ok else ended.last(12)
    found, ended = _once(program, hosts, steps, ("--yes", "--dry"), start)
    if not any(one.reached for one in found):
        raise RuntimeUnavailableError(
            "pyinfra reaches none of the hosts",
            why=ended.last(12),
            remedy="tare doctor --machines says what each of them lacks",
        )
    return PrepareOutcome(tuple(found), said or ("" if ended.ok else ended.last(12)))


def _once(
    program: str,
    hosts: Sequence[Host],
    steps: Collection[Step],
    options: Iterable[str],
    start: Starter,
) -> tuple[list[Prepared], Ended]:
    here = files(__package__)
    with scratch.directory("prepare") as place:
        listed, told = Path(place) / "hosts.json", Path(place) / "told"
        listed.write_text(json.dumps([_data(one, steps) for one in hosts]), encoding="utf-8")
        environment = {
            **os.environ,
            "TARE_PREPARE_HOSTS": str(listed),
            "TARE_PREPARE_TOLD": str(told),
        }
        words = [program, *options, str(here / "hosts.py"), str(here / "deploy.py")]
        ended = start(words, _WITHIN_S, environment, place)
        lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    by_host = {one["host"]: one for one in map(json.loads, lines)}
    return [_prepared(one.name, by_host.get(one.name)) for one in hosts], ended


def _prepared(name: str, told: dict[str, Any] | None) -> Prepared:
    if told is None:
        return Prepared(name, reached=False)
    return Prepared(name, True, tuple(told["changes"]), tuple(told["notes"]))


def _data(host: Host, steps: Collection[Step]) -> dict[str, Any]:
    """A host in pyinfra's format: its key is known before, and no agent is forwarded."""
    data: dict[str, Any] = {
        "ssh_hostname": host.address,
        "ssh_port": host.port,
        "ssh_strict_host_key_checking": "yes",
        "ssh_forward_agent": False,
        "tare_directory": str(host.directory),
        "tare_steps": sorted(steps),
        "_sudo": host.sudo,
    }
    if host.user:
        data["ssh_user"] = host.user
    if host.key is not None:
        data["ssh_key"] = str(host.key)
    if host.known_hosts is not None:
        data["ssh_known_hosts_file"] = str(host.known_hosts)
    return {"name": host.name, "data": data}


def _start(
    words: Sequence[str], within_s: float, environment: Mapping[str, str], where: str
) -> Ended:
    return run_to_end(words, within_s, env=environment, cwd=where)
