"""cassandra-stress as the load client: its arguments, and its -log hdrfile."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from tare.imports import cassandra_stress, histograms
from tare.load.tools.call import (
    Call,
    Lines,
    ToolOutcome,
    hosts,
    one_level,
    read_text,
    share,
    whole_seconds,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BEGINS = re.compile(r"^Running .*\bwith \d+ thread")
RATE = re.compile(r"^total,\s*\d+,\s*(\d+),")
ENDS = re.compile(r"^Results:")
LOG = "stress.hdr"


def call(specification: dict[str, Any], program: Sequence[str], where: Path) -> Call:
    """A run for a time, without a count; the tool's own warm-up is a quarter of its count."""
    workload = specification["workload"]
    addresses, port = hosts(specification["targets"])
    command = [*program, *_mode(workload)]
    command += [f"duration={whole_seconds(specification['measure_s'])}s"]
    command += [] if specification["warmup_s"] > 0 else ["no-warmup"]
    command += [f"cl={one_level(specification)}"]
    command += ["-rate", f"threads={specification['threads']}"]
    if specification["rate"]:
        command.append(f"fixed={specification['rate']:.0f}/s")
    command += ["-pop", _keys(workload["distribution"], specification["records"])]
    command += ["-col", f"n=FIXED({workload['columns']})", f"size=FIXED({workload['column_size']})"]
    command += ["-mode", "native", "cql3", "-node", ",".join(addresses), "-port", f"native={port}"]
    # an error is counted, and does not end the run
    command += ["-errors", "ignore", "-log", "interval=1s", f"hdrfile={where / LOG}"]
    return Call(command, BEGINS, RATE, partial(outcome, where=where), ENDS)


def _keys(distribution: str, records: int) -> str:
    """Which of the existing rows: one after the other, or drawn."""
    if distribution == "sequence":
        return f"seq=1..{records}"
    return f"dist={distribution.upper()}(1..{records})"


def _mode(workload: dict[str, Any]) -> list[str]:
    read, write = share(workload, "read", "write")
    counter = "counter_" if workload.get("counter") else ""
    if not write:
        return [f"{counter}read"]
    if not read:
        return [f"{counter}write"]
    return ["mixed", f"ratio({counter}read={read:g},{counter}write={write:g})"]


def outcome(text: str, where: Path) -> ToolOutcome:
    """The results block, and the log, which counts nanoseconds."""
    reading = cassandra_stress.read(text.encode())[-1]
    (log,) = histograms.read(read_text(where / LOG), 1, None)
    lines: dict[tuple[str, str], list[str]] = {}
    for line in log.histograms:
        tag, _, rest = line.removeprefix("Tag=").partition(",")
        operation, _, kind = tag.rpartition("-")
        lines.setdefault((operation, kind), []).append(rest)
    found = [Lines(name, kind, own) for (name, kind), own in lines.items()]
    return ToolOutcome(reading, found, failures_inside=True)
