"""A unit of an orchestrator: this machine's kernel pauses it, and sets its CPUs."""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.machines import cgroups
from tare.no_links import opened, plain_file, within
from tare.runtimes.kept_log import keep_end
from tare.runtimes.poll import RateLimitedPoll

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tare.machines.cgroups import Accounting
    from tare.runtimes.unit import Exit, Site, Unit


_NOT_FOUND = 404
_AWAY = "on another machine"


class OrchestratorError(RuntimeUnavailableError):
    """An orchestrator refused something, or did not answer.

    Attributes:
        status: of the answer, as in HTTP; 0: there was no answer.
    """

    def __init__(
        self, what: str, *, status: int, where: str = "", why: str = "", remedy: str = ""
    ) -> None:
        super().__init__(what, where=where, why=why, remedy=remedy)
        self.status = status

    @property
    def gone(self) -> bool:
        """Whether the requested object is not there."""
        return self.status == _NOT_FOUND


@dataclass(frozen=True)
class Orchestrated:
    """How an orchestrator calls what it runs, and what it cannot do itself.

    Attributes:
        noun: of one unit, such as "pod".
        no_pause: says that it pauses no unit.
        no_cpus: says that it does not choose units' CPUs.
    """

    noun: str
    no_pause: str
    no_cpus: str


def pause_unit(name: str, accounting: Accounting, frozen: bool, of: Orchestrated) -> None:
    """Pause a unit, or let it go on.

    Args:
        name: the unit's.
        accounting: where its use is read; its process is 0 on another machine.
        of: the orchestrator that runs it.

    Raises:
        RuntimeUnavailableError: it runs elsewhere, where nothing can pause it, or this process may
            not write its groups.
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
        name, accounting, of: as `pause_unit`.
        cpuset: such as 0-1.

    Raises:
        RuntimeUnavailableError: it runs elsewhere, or this process may not write its groups.
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
    """Common part of all orchestrators' running units; see `unit.Running`."""

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
        pause_unit(self.unit.site.name, self._accounting, True, self.of)

    def resume(self) -> None:
        if self._accounting.pid:
            pause_unit(self.unit.site.name, self._accounting, False, self.of)

    def confine(self, cpuset: str) -> None:
        confine(self.unit.site.name, self._accounting, cpuset, self.of)


class OrchestratedNode(OrchestratedRunning, ABC):
    """Common part of all orchestrators' database nodes."""

    def __init__(
        self,
        unit: Unit,
        site: Site,
        container: str,
        accounting: Accounting,
        clock: Callable[[], float],
    ) -> None:
        """Take over a node that runs.

        Args:
            unit: what was launched.
            site: its site, settled by where it came to run.
            container: the engine's id of its container.
            accounting: where its use is read.
            clock: monotonic seconds.
        """
        self.unit = replace(unit, site=site)
        self._container = container
        self._accounting = accounting
        self._poll = RateLimitedPoll(self._poll_once, clock)
        if unit.limits.cpuset is not None:
            self.confine(unit.limits.cpuset)

    def exited(self) -> Exit | None:
        return self._poll.exited()

    @abstractmethod
    def _poll_once(self) -> Exit | None:
        """How it ended, as the orchestrator says now; None: it runs."""

    @abstractmethod
    def _machine_fault(self) -> str:
        """Why its machine ends nothing; empty: it does.

        Raises:
            RuntimeUnavailableError: the orchestrator does not answer.
        """

    def stop(self) -> None:
        """Let it die with its group, whose release removes it; a frozen one cannot.

        If its machine's part of the orchestrator is gone, nobody would end it. Then it is killed
        if it runs on this machine.
        """
        with contextlib.suppress(RuntimeUnavailableError):
            self.resume()
        if self._accounting.pid and self._is_abandoned():
            cgroups.kill(self._accounting.pid, self._container)

    def _is_abandoned(self) -> bool:
        try:
            return bool(self._machine_fault())
        except RuntimeUnavailableError:
            return True


def keep_log(unit: Unit, pid: int, into: Path, proc: Path = Path("/proc")) -> None:
    """Copy the end of the software's own log file, as its process sees it, if that is possible.

    The software may have made a link to this machine's own files, or a pipe without end.

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
