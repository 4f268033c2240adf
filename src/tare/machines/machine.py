"""Where a unit runs, as far as what the kernel tells of it must be read from there."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tare.machines.clocks import SAME, Offset

if TYPE_CHECKING:
    import subprocess


class Elsewhere(Protocol):
    """Another machine, which can be asked."""

    @property
    def name(self) -> str:
        """As the inventory calls it."""
        ...

    @property
    def clock(self) -> Offset:
        """Its clock against this machine's, when it was last read."""
        ...

    @property
    def ahead_s(self) -> float:
        """By how much its clock is ahead of this machine's, seconds."""
        ...

    @property
    def ticks(self) -> int:
        """The kernel's ticks per second, in which it counts CPU time."""
        ...

    @property
    def boot(self) -> str:
        """Identifier of its kernel's start, which names of one machine share; empty: unknown."""
        ...

    @property
    def inside_here(self) -> bool:
        """Whether it is a virtual machine made here: what it uses is this machine's too."""
        ...

    @property
    def traits(self) -> Mapping[str, str]:
        """What is alike for all its units: kernel, clock source, CPUs, memory, hypervisor, ..."""
        ...

    def read_clock(self) -> None:
        """Compare its clock with this machine's again.

        Raises:
            RuntimeUnavailableError: it cannot be read.
        """
        ...

    def read(self, *patterns: str) -> dict[str, str]:
        """Text of the files that these patterns fit, by path; what cannot be read is left out.

        Raises:
            RuntimeUnavailableError: the machine does not answer.
        """
        ...

    def probe(self, run: str) -> subprocess.Popen[bytes]:
        """tare-probe, started there: reads its configuration, and ends when its input does."""
        ...


class Here:
    """This machine. Its probe is started by those who watch it."""

    name = ""
    ahead_s = 0.0
    clock = SAME
    inside_here = False
    ticks = os.sysconf("SC_CLK_TCK")
    traits: Mapping[str, str] = {}
    boot = ""  # it is never among others that could be this machine too

    def read(self, *patterns: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for pattern in patterns:
            for name in sorted(glob.glob(pattern)) if "*" in pattern else [pattern]:  # noqa: PTH207
                try:
                    found[name] = Path(name).read_text(encoding="utf-8", errors="replace")
                except OSError:  # gone, or not for us
                    continue
        return found


Machine = Here | Elsewhere
HERE = Here()
