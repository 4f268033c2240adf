"""A unit that an orchestrator runs: this machine's kernel pauses it, and gives it its CPUs."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.machines import cgroups
from tare.no_links import opened, plain_file, within
from tare.runtimes.kept_log import keep_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.machines.cgroups import Accounting
    from tare.runtimes.unit import Unit


_AWAY = "on another machine"


@dataclass(frozen=True)
class Orchestrated:
    """How an orchestrator calls what it runs, and what it cannot do itself.

    Attributes:
        noun: of one unit, such as "pod".
        no_pause: that it pauses none.
        no_cpus: that it does not choose their CPUs.
    """

    noun: str
    no_pause: str
    no_cpus: str


def freeze(name: str, accounting: Accounting, frozen: bool, of: Orchestrated) -> None:
    """Pause a unit, or let it go on.

    Args:
        name: the unit's.
        accounting: where its use is read; its process is 0 where that is another machine.
        of: what runs it.

    Raises:
        RuntimeUnavailableError: it runs elsewhere, where nothing can pause it, or its groups are
            not ours to write.
    """
    remedy = "set design.idle to run, or design.fresh to trial or block"
    _refuse_elsewhere(
        name, accounting, f"a {of.noun} {_AWAY} cannot be paused", of.no_pause, remedy
    )
    try:
        cgroups.freeze(accounting.paths, frozen)
    except OSError as error:
        raise RuntimeUnavailableError(
            f"a {of.noun}'s control group cannot be frozen",
            where=name,
            why=str(error),
            remedy="run as root, or set design.idle to run",
        ) from error


def confine(name: str, accounting: Accounting, cpuset: str, of: Orchestrated) -> None:
    """Let a unit run on these CPUs only.

    Args:
        name, accounting, of: as `freeze`.
        cpuset: such as 0-1.

    Raises:
        RuntimeUnavailableError: it runs elsewhere, or its groups are not ours to write.
    """
    remedy = "leave limits.cpuset out; limits.cpus holds everywhere"
    what = f"a {of.noun} {_AWAY} cannot be put on chosen CPUs"
    _refuse_elsewhere(name, accounting, what, of.no_cpus, remedy)
    try:
        cgroups.confine(accounting.paths, cpuset)
    except (OSError, KeyError) as error:
        raise RuntimeUnavailableError(
            f"a {of.noun}'s CPUs cannot be set", where=name, why=str(error), remedy="run as root"
        ) from error


def _refuse_elsewhere(name: str, accounting: Accounting, what: str, why: str, remedy: str) -> None:
    if accounting.pid == 0:
        raise RuntimeUnavailableError(what, where=name, why=why, remedy=remedy)


class OrchestratedRunning:
    """What running units of every orchestrator have in common; see `unit.Running`."""

    of: Orchestrated
    unit: Unit
    _accounting: Accounting

    def accounting(self) -> Accounting:
        return self._accounting

    def lines(self) -> Iterator[str]:
        yield from ()

    def facts(self) -> dict[str, str]:
        return {}

    def pause(self) -> None:
        freeze(self.unit.site.name, self._accounting, True, self.of)

    def resume(self) -> None:
        if self._accounting.pid:
            freeze(self.unit.site.name, self._accounting, False, self.of)

    def confine(self, cpuset: str) -> None:
        confine(self.unit.site.name, self._accounting, cpuset, self.of)


def keep_log(unit: Unit, pid: int, into: Path, proc: Path = Path("/proc")) -> None:
    """Copy the end of the software's own log file, as its process sees it; nothing where it cannot.

    It made what is there: a link would lead to this machine's own files, and a pipe has no end.

    Args:
        pid: its process on this machine; 0: it runs on another.
        into: directory of the copy.
        proc: where the kernel shows processes.
    """
    if not pid or not unit.log:
        return
    *above, name = PurePosixPath(unit.site.data.lstrip("/"), unit.log).parts
    with (
        contextlib.suppress(OSError),
        opened(proc / str(pid) / "root") as root,
        within(root, tuple(above)) as directory,
        plain_file(directory, name) as source,
    ):
        keep_end(source, os.fstat(source.fileno()).st_size, into / unit.log_copy)
