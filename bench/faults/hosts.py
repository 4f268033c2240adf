"""Makes SSH hosts for a campaign, and finds what runs there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psutil
from tests.integration import ssh_hosts
from tests.integration.ssh_hosts import LISTENER, SshHost, SshHosts

NODES, CLIENTS = ("db1", "db2"), ("load1",)
SSH = "native ssh"
"""The process here that keeps a connection, as a target."""
SESSION = "SSH session on a host"
"""The process there that belongs to it."""
SUPERVISOR = "supervise.sh"
MARK = "TARE_HOST_RUN"
ANOTHER = "0123456789"
ANOTHERS = f"{ANOTHER}.r1"
"""Another machine that uses the hosts too, and the mark of a run of its."""


@contextlib.contextmanager
def made(wanted: bool) -> Iterator[SshHosts | None]:
    """Hosts for nodes and for clients, and one to spare; None where they are not wanted."""
    if not wanted:
        yield None
        return
    if reason := ssh_hosts.why_not():
        raise SystemExit(f"--hosts cannot be had here: {reason}")
    with ssh_hosts.ssh_hosts(*NODES, *CLIENTS) as hosts:
        yield hosts


def inventory(hosts: SshHosts) -> Path:
    """Names the hosts and what each is for."""
    return hosts.inventory(nodes=list(NODES), clients=list(CLIENTS))


def of_run(host: SshHost) -> dict[str, list[int]]:
    """Processes of a run on a host, by kind: units and probes, supervisors, sessions."""
    found: dict[str, list[int]] = {}
    for process in host.processes():
        with contextlib.suppress(psutil.Error):
            if kind := _kind(process):
                found.setdefault(kind, []).append(process.pid)
    return found


def _kind(process: psutil.Process) -> str:
    line = " ".join(process.cmdline())
    if process.name() == "sshd":
        return "" if LISTENER in line else SESSION
    if SUPERVISOR in line:
        return "supervisor on a host"
    ours = process.environ().get(MARK, ANOTHERS) != ANOTHERS
    return f"{process.name()} on a host" if ours else ""


def deployment_of(pid: int) -> str:
    """Of which deployment a process on a host is, by its control group; empty: of none."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii").splitlines():
            group = line.rpartition(":")[2]
            if group.startswith("/tare-ssh/"):
                return Path(group).name.partition("-k")[0]
    return ""
