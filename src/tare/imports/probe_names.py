"""A machine's series under tare-probe's names, translated from sar, iostat and dstat."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tare.imports.file_content import SeriesValue, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KIB = 1024.0
SECTOR = 512.0
MOST_CPUS = 8192

# Shares of the machine's CPU time, in percent. sysstat's short names are those of -u ALL.
CPU = {
    "user": "cpu_user", "usr": "cpu_user", "nice": "cpu_nice", "system": "cpu_system",
    "sys": "cpu_system", "iowait": "cpu_iowait", "steal": "cpu_steal", "irq": "cpu_irq",
    "soft": "cpu_softirq", "idle": "cpu_idle",
}  # fmt: skip
GUESTS = ("guest", "gnice")
"""Time of virtual machines: a part of user and nice already, but not in sysstat's columns."""

DISK = {
    "rkB/s": ("disk_read_bytes_per_s", KIB), "rkB": ("disk_read_bytes_per_s", KIB),
    "wkB/s": ("disk_write_bytes_per_s", KIB), "wkB": ("disk_write_bytes_per_s", KIB),
    "rMB/s": ("disk_read_bytes_per_s", KIB * KIB), "wMB/s": ("disk_write_bytes_per_s", KIB * KIB),
    "rd_sec/s": ("disk_read_bytes_per_s", SECTOR), "rd_sec": ("disk_read_bytes_per_s", SECTOR),
    "wr_sec/s": ("disk_write_bytes_per_s", SECTOR), "wr_sec": ("disk_write_bytes_per_s", SECTOR),
    "rsec/s": ("disk_read_bytes_per_s", SECTOR), "wsec/s": ("disk_write_bytes_per_s", SECTOR),
    "r/s": ("disk_reads_per_s", 1.0), "w/s": ("disk_writes_per_s", 1.0),
}  # fmt: skip
NETWORK = {
    "rxkB": ("net_rx_bytes_per_s", KIB), "txkB": ("net_tx_bytes_per_s", KIB),
    "rxpck": ("net_rx_packets_per_s", 1.0), "txpck": ("net_tx_packets_per_s", 1.0),
    "rxbyt": ("net_rx_bytes_per_s", 1.0), "txbyt": ("net_tx_bytes_per_s", 1.0),
}  # fmt: skip
SYSTEM = {
    "cswch": "ctxt_per_s",
    "intr": "intr_per_s",
    "ldavg-1": "load1",
    "blocked": "procs_blocked",
}

_WHOLE_DISK = re.compile(
    r"(sd[a-z]+|vd[a-z]+|xvd[a-z]+|hd[a-z]+|nvme\d+n\d+|mmcblk\d+|dev\d+-\d+)$"
)
_NO_DISK = re.compile(r"dev(1|7|9|11|25[2-4])-\d+$")
"""Majors of ram, loop, md, optical and mapped devices, as sar without -p names them."""


def cpu_samples(t: float, shares: Mapping[str, float], cpus: int) -> Iterator[SeriesValue]:
    """CPU time per mode in cores, from shares of all CPUs in percent."""
    found: dict[str, float] = {}
    for name, share in shares.items():
        mode = name.lstrip("%")
        metric = CPU.get(mode) or ("cpu_user" if mode in GUESTS else None)
        if metric is not None:
            found[metric] = found.get(metric, 0.0) + share / 100 * cpus
    for metric, value in found.items():
        yield SeriesValue(t, metric, value)


def disk_sums(rows: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Traffic of all whole disks: partitions and mapped devices would count it twice."""
    sums: dict[str, float] = {}
    for device, row in rows.items():
        if not _WHOLE_DISK.match(device) or _NO_DISK.match(device):
            continue
        own: dict[str, float] = {}
        for name, (metric, factor) in DISK.items():
            if name in row:  # sadf prints kB and sectors: the first counts
                own.setdefault(metric, row[name] * factor)
        for metric, value in own.items():
            sums[metric] = sums.get(metric, 0.0) + value
    return sums


def network_sums(rows: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Traffic of all interfaces; bytes of the loopback by themselves."""
    sums: dict[str, float] = {}
    for interface, row in rows.items():
        for name, value in row.items():
            metric, factor = NETWORK.get(name.removesuffix("/s"), ("", 0.0))
            if not metric:
                continue
            sums[metric] = sums.get(metric, 0.0) + value * factor
            if interface == "lo" and "bytes" in metric:
                own = metric.replace("net_", "lo_")
                sums[own] = sums.get(own, 0.0) + value * factor
    return sums


def as_samples(t: float, values: Mapping[str, float]) -> list[SeriesValue]:
    """One sample per metric."""
    return [SeriesValue(t, metric, value) for metric, value in values.items()]


def checked_cpus(cpus: int | None, remedy: str) -> int:
    """The number of CPUs.

    Raises:
        UnreadableError: it is not known, or absurd.
    """
    if cpus is None:
        raise UnreadableError(f"it does not say how many CPUs the machine has; {remedy}")
    if not 1 <= cpus <= MOST_CPUS:
        raise UnreadableError(f"{cpus} CPUs")
    return cpus
