"""The machine of a unit, for readings that the kernel gives only there."""

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
        """Its name in the inventory."""
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
        """Identifier of its kernel's start, which a machine's names share; empty: unknown."""
        ...

    @property
    def inside_here(self) -> bool:
        """Whether it is a virtual machine made here: its use is part of this machine's."""
        ...

    @property
    def traits(self) -> Mapping[str, str]:
        """Facts that all its units share: kernel, clock source, CPUs, memory, hypervisor, ..."""
        ...

    def read_clock(self) -> None:
        """Compare its clock with this machine's again.

        Raises:
            RuntimeUnavailableError: it cannot be read.
        """
        ...

    def read(self, *patterns: str) -> dict[str, str]:
        """Text of the files that match these patterns, by path; unreadable files are left out.

        Raises:
            RuntimeUnavailableError: the machine does not answer.
        """
        ...

    def probe(self, run: str) -> subprocess.Popen[bytes]:
        """A tare-probe there, which reads its configuration and ends when its input ends."""
        ...


class Here:
    """This machine. Its probe is started by those who watch it."""

    name = ""
    ahead_s = 0.0
    clock = SAME
    inside_here = False
    ticks = os.sysconf("SC_CLK_TCK")
    traits: Mapping[str, str] = {}
    boot = ""  # it is never among machines that could be this one under another name

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
