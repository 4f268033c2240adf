"""What dead runs left on this machine, found by label, and its removal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tare import scratch
from tare.errors import RuntimeUnavailableError, TareError
from tare.lab import marked
from tare.lab.undisturbed import undisturbed
from tare.machines import addresses, cgroups, neighbours
from tare.machines.registry import registered as kinds_of_machines
from tare.records.layout import RunFiles
from tare.runtimes.left import Left
from tare.runtimes.registry import registered
from tare.runtimes.ssh import leftovers as ssh
from tare.runtimes.ssh.leftovers import HostLeftovers

if TYPE_CHECKING:
    from tare.machines.declaration import MachinesDeclaration
    from tare.runtimes.declaration import Declaration


@dataclass
class Leftovers:
    """Everything that carries Tare's labels and belongs to no live run."""

    of_runtimes: list[Left] = field(default_factory=list)
    """in the order in which runtimes are listed"""
    hosts: HostLeftovers = field(default_factory=HostLeftovers)
    """of the inventory that is named here"""
    of_machines: list[Left] = field(default_factory=list)
    """of machines that were made here; what runs of them goes as processes"""
    addresses: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    """firewall rules that keep neighbours from these addresses"""
    groups: list[Path] = field(default_factory=list)
    directories: list[Path] = field(default_factory=list)
    """working directories and half-written trials of runs under the given directory, by mark"""
    temporary: list[Path] = field(default_factory=list)
    """temporary directories of dead commands, by mark"""
    unanswered: list[str] = field(default_factory=list)
    """engines, clusters and hosts that could not be asked for leftovers, and why"""

    def __bool__(self) -> bool:
        return bool(self.words())

    def words(self) -> list[str]:
        """A line per kind, for people."""
        kinds: dict[str, list[str]] = {
            **_together(one.words for one in self.of_runtimes),
            **self.hosts.words(),
            **_together(one.words for one in self.of_machines),
            "addresses": self.addresses,
            "firewall rules": self.rules,
            "control groups": [str(g) for g in self.groups],
            "directories": [str(d) for d in self.directories],
            "temporary directories": [str(d) for d in self.temporary],
        }
        return [
            f"{len(items)} {kind}: {', '.join(items)}" for kind, items in kinds.items() if items
        ]


def find(runs: Path, *, hosts: bool = True, directories: bool = True) -> Leftovers:
    """Look for leftovers. Call it with the lab held: all that is found then belongs to dead runs.

    Args:
        runs: directory that holds all runs.
        hosts: look on the inventory's hosts too, where one is named.
        directories: look into the directories of runs, too.

    Raises:
        InventoryError: the inventory that is named cannot be read.
    """
    found = [one for each in registered().values() if (one := _left(each)) is not None]
    kinds = kinds_of_machines().values()
    of_machines = [one for each in kinds if (one := _left(each)) is not None]
    on_hosts = ssh.leftovers() if hosts else HostLeftovers()
    return Leftovers(
        of_runtimes=found,
        hosts=on_hosts,
        of_machines=of_machines,
        addresses=addresses.leftovers(),
        rules=neighbours.kept_out(),
        groups=cgroups.leftovers(),
        directories=marked.leftovers(runs) if directories else [],
        temporary=scratch.leftovers(),
        unanswered=[
            *(line for one in (*found, *of_machines) for line in one.unanswered),
            *(f"{one.where}: {one.why}" for one in on_hosts.unseen),
        ],
    )


@contextmanager
def swept(say: Callable[[str], None]) -> Iterator[None]:
    """Removes leftovers before and after a command.

    Before: those of a killed command. After: its own, if it is stopped while its servers start.
    Directories of runs are not searched. Call it with the lab held.

    Args:
        say: told what could not be searched, and what could not be removed.
    """

    def sweep() -> list[str]:
        found = find(Path(), hosts=False, directories=False)
        for fault in remove(found):
            say(f"something was left: {fault}")
        return found.unanswered

    for line in sweep():
        say(f"could not look into {line}")
    try:
        yield
    finally:
        with undisturbed():
            sweep()


@undisturbed()
def remove(found: Leftovers) -> list[TareError]:
    """Remove everything that was found; an interruption is raised afterwards.

    Of all that runs, processes go last, because other units keep some of them alive.

    Returns:
        What could not be removed, and why.
    """
    faults = ssh.remove(found.hosts)
    for left in reversed(found.of_runtimes):
        faults += _removed(left)
    for left in found.of_machines:
        faults += _removed(left)
    addresses.remove(found.addresses)
    if found.rules:
        neighbours.let_in()
    for directory in found.directories:
        marked.remove(directory, RunFiles(_run_of(directory)))
    for place in found.temporary:
        scratch.remove(place)
    return faults + _still_here(found)


def _left(declared: Declaration | MachinesDeclaration) -> Left | None:
    """Leftovers of one runtime or kind of machines; an error of its code stops no other search."""
    try:
        return declared.left()
    except Exception as error:
        return Left({}, lambda: [], [f"{declared.name}: {_told(error)}"])


def _removed(left: Left) -> list[TareError]:
    """What of one runtime could not be removed; an error of its code is one of these."""
    try:
        return left.remove()
    except Exception as error:
        return [
            RuntimeUnavailableError(
                "what a run left was not removed",
                where="; ".join(f"{kind}: {', '.join(own)}" for kind, own in left.words.items()),
                why=_told(error),
                remedy="tare clean; or remove it by hand",
            )
        ]


def _remaining(left: Left) -> Mapping[str, list[str]]:
    """Leftovers of one runtime that are still there; all of them where that is unknown."""
    try:
        return left.remain()
    except Exception:
        return left.words


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, TareError) else f"{type(error).__name__}: {error}"


def _together(told: Iterable[Mapping[str, list[str]]]) -> dict[str, list[str]]:
    """Kind to names of all: two engines may both have containers."""
    found: dict[str, list[str]] = {}
    for one in told:
        for kind, names in one.items():
            found.setdefault(kind, []).extend(names)
    return found


def _still_here(found: Leftovers) -> list[TareError]:
    """Leftovers on this machine that should be gone and are not."""
    left = {
        **_together(_remaining(one) for one in (*found.of_runtimes, *found.of_machines)),
        "addresses": [one for one in found.addresses if one in addresses.leftovers()],
        "firewall rules": neighbours.kept_out() if found.rules else [],
        "control groups": [str(one) for one in found.groups if one.exists()],
        "directories": [str(one) for one in found.directories if one.exists()],
        "temporary directories": [str(one) for one in found.temporary if one.exists()],
    }
    return [
        RuntimeUnavailableError(
            f"{kind} of a dead run could not be removed",
            where=", ".join(items),
            why="this user may not, or something holds them",
            remedy="tare clean, as the user who ran it",
        )
        for kind, items in left.items()
        if items
    ]


def _run_of(directory: Path) -> Path:
    """The run that a working directory or a half-written trial lies in."""
    return directory.parent if directory.name == marked.WORK else directory.parent.parent
