"""sysstat's JSON: `sadf -j` and `iostat -o JSON`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tare.imports.file_content import FileReading, SeriesValue, UnreadableError
from tare.imports.parsing import json_document, json_number, whole
from tare.imports.probe_names import (
    CPU,
    GUESTS,
    SYSTEM,
    as_samples,
    checked_cpus,
    cpu_samples,
    disk_sums,
    network_sums,
)

if TYPE_CHECKING:
    from collections.abc import Collection

WRONG = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError)
"""Errors of a document with an unexpected structure."""


def host_of(text: str) -> dict[str, Any]:
    """The single host of a document.

    Raises:
        UnreadableError: it is no JSON of sysstat's, cut off, or of several hosts.
    """
    try:
        document = json_document(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"cut off or damaged JSON: {error}") from None
    try:
        hosts = document["sysstat"]["hosts"]
        if len(hosts) != 1:
            raise UnreadableError(f"{len(hosts)} hosts in one file")
        host = hosts[0]
        if not isinstance(host["statistics"], list):
            raise TypeError("statistics")
    except WRONG as error:
        raise UnreadableError(f"not sysstat's JSON: {type(error).__name__} {error}") from None
    if not isinstance(host, dict):
        raise UnreadableError("not sysstat's JSON: a host is a mapping")
    return host


def read(text: str) -> FileReading:
    """The series of `sadf -j`.

    Raises:
        UnreadableError: as `host_of`, or a value that makes no sense.
    """
    host = host_of(text)
    reading = FileReading(summary=False)
    try:
        cpus = checked_cpus(whole(host["number-of-cpus"], "number-of-cpus"), "sadf prints it")
        for entry in host["statistics"]:
            if entry:
                reading.samples += _samples(entry, cpus)
    except WRONG as error:
        raise UnreadableError(f"not sadf's JSON: {type(error).__name__} {error}") from None
    if not reading.samples:
        raise UnreadableError("no interval of CPU, disks or network")
    return reading


def _samples(entry: dict[str, Any], cpus: int) -> list[SeriesValue]:
    stamp = entry["timestamp"]
    clock = datetime.fromisoformat(f"{stamp['date']}T{stamp['time']}").replace(tzinfo=UTC)
    t = clock.timestamp()
    found: list[SeriesValue] = []
    for row in entry.get("cpu-load") or []:
        if row.get("cpu") in ("all", "-1"):
            found += cpu_samples(t, numbers(row, (*CPU, *GUESTS)), cpus)
    found += as_samples(t, disk_sums(by_name(entry.get("disk"), "disk-device")))
    network = (entry.get("network") or {}).get("net-dev")
    found += as_samples(t, network_sums(by_name(network, "iface")))
    for part in ("process-and-context-switch", "queue"):
        row = entry.get(part) or {}
        found += as_samples(t, {SYSTEM[n]: v for n, v in numbers(row, SYSTEM).items()})
    for row in entry.get("interrupts") or []:
        if row.get("intr") == "sum":
            value = json_number(row.get("all", row.get("value")), "intr")
            found += as_samples(t, {"intr_per_s": value})
    return found


def by_name(rows: Any, key: str) -> dict[str, dict[str, float]]:
    """Rows under their names, with only their numbers."""
    return {
        str(row[key]): {
            name: json_number(value, name)
            for name, value in row.items()
            if name != key and isinstance(value, (int, float))
        }
        for row in rows or []
    }


def numbers(row: dict[str, Any], wanted: Collection[str]) -> dict[str, float]:
    """The wanted numbers of a row."""
    return {name: json_number(value, name) for name, value in row.items() if name in wanted}
