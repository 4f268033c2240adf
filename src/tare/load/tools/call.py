"""One call of another load generator: its command lines, and how its output is read."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare.errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tare.imports.file_content import FileReading

SEE_LOG = "see tool.log among the trial's logs for what it printed"


@dataclass(frozen=True)
class Lines:
    """Histogram log lines of one operation and kind, in nanoseconds.

    Attributes:
        operation: its name in the record, e.g. READ.
        kind: st (from the send), rt (from the intended time).
        lines: start, length, maximum and histogram, as in a log after the tag.
    """

    operation: str
    kind: str
    lines: list[str]


@dataclass(frozen=True)
class ToolOutcome:
    """The output of a tool.

    Attributes:
        reading: what it printed.
        histograms: its histograms.
        failures_inside: the histograms also hold operations that failed.
    """

    reading: FileReading
    histograms: list[Lines]
    failures_inside: bool = False


@dataclass(frozen=True)
class Call:
    """How a tool is run for one trial.

    Attributes:
        command: of the measured run.
        begins: the line of its output with which the measured part begins.
        rate: a line that it prints now and then while it measures, with the rate as its group.
        ends: the line with which the measured part ends; None: it ends with the tool.
        outcome: reads the result from all that it printed.
        own_time: the run time that it prints is the time of sending; else the time is taken between
            the lines `begins` and `ends`.
        warm: a run of the tool before the measured one, where it has no warm-up of its own.
    """

    command: list[str]
    begins: re.Pattern[str]
    rate: re.Pattern[str]
    outcome: Callable[[str], ToolOutcome]
    ends: re.Pattern[str] | None = None
    own_time: bool = True
    warm: list[str] | None = None


def hosts(targets: Sequence[str]) -> tuple[list[str], str]:
    """The addresses, and their common port.

    Raises:
        LoadError: they have several ports, which no other tool accepts.
    """
    pairs = [target.rpartition(":") for target in targets]
    ports = {port for _, _, port in pairs}
    if len(ports) != 1:
        raise LoadError(
            "the nodes have several ports",
            where=", ".join(targets),
            why="other tools take one port for all nodes",
            remedy="use client.tool tare, or another platform.network",
        )
    return [host for host, _, _ in pairs], ports.pop()


def whole_seconds(seconds: float) -> int:
    """Seconds for tools that take whole seconds: at least one."""
    return max(1, math.ceil(seconds))


def share(workload: dict[str, Any], *names: str) -> list[float]:
    """The weights of operations; an operation that is not in the workload has 0."""
    return [float(workload.get(name, 0.0)) for name in names]


def one_level(specification: dict[str, Any]) -> str:
    """The consistency level for tools that know only one: the level of the operations sent."""
    levels, workload = specification["consistency"], specification["workload"]
    return str(levels["read"] if workload.get("read") else levels["write"])


def read_text(path: Path) -> bytes:
    """A file that the tool should have written.

    Raises:
        LoadError: it did not.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise LoadError(
            "the tool left no result",
            where=path.name,
            why=error.strerror or str(error),
            remedy=SEE_LOG,
        ) from error
