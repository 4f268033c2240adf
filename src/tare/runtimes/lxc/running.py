"""A running container: lxc-execute, the container's first process, and the unit below that."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import psutil

from tare.errors import RuntimeUnavailableError
from tare.machines.cgroups import ControlGroup
from tare.runtimes.lxc import groups, program
from tare.runtimes.native import NativeRunning

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.machines.cgroups import Accounting
    from tare.runtimes.unit import Unit

_STARTS_S, _LOOK_AGAIN_S = 30.0, 0.005
"""within what time a unit must be there, and how often that is looked at, seconds"""
_ENDS_S = 10.0
"""within what time lxc-execute must end once its container is killed"""


class LxcRunning(NativeRunning):
    """A unit in a container, whose control group LXC makes and removes."""

    def __init__(self, unit: Unit, process: subprocess.Popen[str], run: str) -> None:
        """Take over a container that starts.

        Args:
            unit: what was launched.
            process: lxc-execute.
            run: the run's name, which is part of the names of the container's groups.
        """
        self._run, self._pid = run, 0
        self._container = ControlGroup(run, unit.site.name)
        super().__init__(unit, process, self._container)

    def await_unit(self) -> None:
        """Wait until the unit's process is there, which later becomes its program.

        Raises:
            RuntimeUnavailableError: LXC could not make the container.
        """
        ends = time.monotonic() + _STARTS_S
        while not self._pid and self._process.poll() is None:
            if time.monotonic() > ends:
                raise self._failed(f"no process of its unit is there after {_STARTS_S:.0f} s")
            for first in _children(self._process.pid):
                self._pid = next((one.pid for one in _children(first.pid)), 0)
            time.sleep(_LOOK_AGAIN_S)
        if not self._pid and self._process.poll() and (why := self._fault()):
            raise self._failed(why)

    def _fault(self) -> str:
        return program.failure(self.unit.site.conf_on_host)

    def _failed(self, why: str) -> RuntimeUnavailableError:
        return RuntimeUnavailableError(
            "LXC could not start a container",
            where=self.unit.site.name,
            why=why,
            remedy="tare doctor says whether containers of LXC start here",
        )

    def accounting(self) -> Accounting:
        return self._container.accounting((self._pid,) if self._pid else ())

    def pause(self) -> None:
        self._change(super().pause)

    def resume(self) -> None:
        self._change(super().resume)

    def confine(self, cpuset: str) -> None:
        self._change(lambda: super(LxcRunning, self).confine(cpuset))

    def _change(self, change: Callable[[], None]) -> None:
        """Change the container's group, which LXC removes when the container ends.

        Raises:
            RuntimeUnavailableError: it cannot be changed, though the container has not ended.
        """
        try:
            change()
        except OSError as error:
            if self.exited() is None:
                raise RuntimeUnavailableError(
                    "a container's control group cannot be changed",
                    where=self.unit.site.name,
                    why=str(error),
                ) from error

    def stop(self) -> None:
        super().stop()
        groups.remove_unit(self._run, self.unit.site.name)

    def _signal_tree(self, number: signal.Signals) -> None:
        """Signal the unit; kill by way of the container's first process, which takes all along.

        lxc-execute then removes what it made and ends; one that does not is killed, too.
        """
        if self._process.poll() is not None:
            return
        with contextlib.suppress(psutil.Error):
            if number != signal.SIGKILL:
                unit = psutil.Process(self._pid)
                tree = [unit, *unit.children(recursive=True)]
            else:
                tree = _children(self._process.pid) or [psutil.Process(self._process.pid)]
            for process in tree:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.send_signal(number)
        if number == signal.SIGKILL:
            try:
                self._process.wait(_ENDS_S)
            except subprocess.TimeoutExpired:
                self._process.kill()


def _children(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children())
    except psutil.Error:  # it has ended
        return []
