"""latte as the load client: Tare's workload script, and latte's JSON report."""

from __future__ import annotations

import re
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tare.imports import latte
from tare.load.tools.call import Call, Lines, ToolOutcome, hosts, one_level, read_text, share

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGINS = re.compile(r"Running benchmark\.\.\.")
RATE = re.compile(r"^\s+\d+\.\d+\s+\d+\s+\d+\s+(\d+)\s")
REPORT, KEYS, SCRIPT = "latte.json", "keys.txt", "latte.rn"
_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(1099511628211)


def call(specification: dict[str, Any], program: Sequence[str], where: Path) -> Call:
    """A run of latte. It reads YCSB's keys from a file, because its scripts cannot compute them."""
    workload = specification["workload"]
    addresses, port = hosts(specification["targets"])
    (where / KEYS).write_text("\n".join(ycsb_keys(specification["records"])) + "\n", "ascii")
    script = (resources.files("tare.load.tools") / SCRIPT).read_text("utf-8")
    (where / SCRIPT).write_text(script, "utf-8")
    read, update = share(workload, "read", "update")
    functions = {"read": round(read * 100), "update": round(update * 100)}
    command = [*program, "run", str(where / SCRIPT), "--quiet"]
    command += ["--functions", ",".join(f"{n}:{w}" for n, w in functions.items() if w)]
    command += ["--warmup", _seconds(specification["warmup_s"])]
    command += ["--duration", _seconds(specification["measure_s"])]
    command += ["--threads", "1", "--concurrency", str(specification["threads"])]
    command += ["--consistency", one_level(specification)]
    command += ["--request-timeout", _seconds(specification["timeout_s"]), "--retries", "0"]
    if specification["rate"]:
        command += ["--rate", f"{specification['rate']:g}"]
    for name, value in {
        "keys": f'"{where / KEYS}"',
        "rows": specification["records"],
        "fields": workload["fields"],
        "length": workload["field_length"],
    }.items():
        command += ["-P", f"{name}={value}"]
    command += ["--output", str(where / REPORT), "--"]
    command += [f"{address}:{port}" for address in addresses]
    return Call(command, BEGINS, RATE, partial(outcome, where=where))


def _seconds(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"


def ycsb_keys(records: int) -> list[str]:
    """YCSB's keys of the first records in hashed insert order: FNV-1a 64, lowest octet first."""
    numbers = np.arange(records, dtype=np.uint64)
    hashed = np.full(records, _OFFSET)
    with np.errstate(over="ignore"):
        for _ in range(8):
            hashed = (hashed ^ (numbers & np.uint64(0xFF))) * _PRIME
            numbers >>= np.uint64(8)
    return [f"user{abs(value)}" for value in hashed.view(np.int64).tolist()]


def outcome(text: str, where: Path) -> ToolOutcome:
    """The report; its histograms count nanoseconds over the whole run."""
    (reading,) = latte.read(read_text(where / REPORT))
    found = []
    for line in reading.histograms:
        tag, _, rest = line.removeprefix("Tag=").partition(",")
        found.append(Lines(tag.rpartition("-")[0], "rt", [rest]))
    return ToolOutcome(reading, found)
