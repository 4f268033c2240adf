"""The Cassandra node for all tools, from Tare's own locked artifact tree."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from tare.artifacts.lock import locked_versions
from tare.artifacts.tree import Tree, cassandra_tree
from tare.databases.cassandra import configuration
from tare.errors import ClusterError
from tare.runtimes.unit import Site

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_START_SECONDS = 240
_STOP_SECONDS = 60
_CPU_CLOCK = 2


@dataclass(frozen=True)
class Server:
    """A running node.

    Attributes:
        address: where it listens for CQL, without the port.
        version: of Cassandra.
        process: the Java virtual machine.
    """

    address: str
    version: str
    process: subprocess.Popen[bytes]

    def cpu_seconds(self) -> float:
        """User and system time of all its threads so far."""
        return cpu_seconds(self.process.pid)

    def stop(self) -> None:
        """Ask it to end, then end it; safe to call twice."""
        if self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def kill(self) -> None:
        """End it at once: what it holds is of no use any more."""
        self.process.kill()
        self.process.wait()


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads of a process so far, to the nanosecond.

    The clock's number is made as clock_getcpuclockid(3) makes it: Linux's CPUCLOCK_SCHED.
    """
    return time.clock_gettime((~pid << 3) | _CPU_CLOCK)


def start(
    address: str,
    directory: Path,
    cpus: str,
    heap_mib: int = 512,
    *,
    again: bool = False,
    ring: Sequence[str] = (),
    settings: Mapping[str, object] = MappingProxyType({}),
    jvm: Sequence[str] = (),
) -> Server:
    """Start a node and wait until it answers.

    Args:
        address: a loopback address on which ports 9042 and 7000 are free.
        directory: its configuration, data and log; emptied first.
        cpus: the CPUs that it may use, as taskset(1) takes them.
        heap_mib: size of the Java heap.
        again: keep the data that an earlier start left there.
        ring: addresses of all nodes of its cluster, in their order on the ring, the first of which
            is the seed; empty is a node alone.
        settings: of its cassandra.yaml, over all others.
        jvm: further options of its JVM.

    Raises:
        ClusterError: it ended, or did not answer in time; the log says why.
    """
    tree = cassandra_tree(locked_versions()[-1], None)
    site = Site.in_place("bench-load", directory, address, "loopback")
    if not again:
        shutil.rmtree(directory, ignore_errors=True)
        _configure(tree, site, heap_mib, ring or [address], settings, jvm)
    jamm = next(name for name in tree.jars if name.startswith("jamm"))
    command = configuration.command(java=str(tree.java), lib=str(tree.lib), jamm=jamm, site=site)
    log = directory / "output.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            ["taskset", "-c", cpus, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(address, tree.version, process)
    try:
        _await(server, log)
    except BaseException:
        server.stop()
        raise
    return server


def _configure(
    tree: Tree,
    site: Site,
    heap_mib: int,
    ring: Sequence[str],
    settings: Mapping[str, object],
    jvm: Sequence[str],
) -> None:
    for path in (site.conf_on_host, Path(configuration.temporary(site))):
        path.mkdir(parents=True)
    document = configuration.cassandra_yaml(
        cluster_name="bench-load",
        site=site,
        seeds=[ring[0]],
        node=ring.index(site.listen),
        nodes=len(ring),
        key_cache="auto",
        settings=settings,
    )
    arguments = configuration.jvm_arguments(
        heap_bytes=heap_mib << 20,
        extra=jvm,
        class_path=[site.conf, *(f"{tree.lib}/{jar}" for jar in tree.jars)],
    )
    for name, text in {
        "cassandra.yaml": configuration.yaml_text(document),
        "jvm.args": arguments,
        "logback.xml": configuration.logback(),
    }.items():
        (site.conf_on_host / name).write_text(text, "utf-8")


def _await(server: Server, log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if server.process.poll() is not None:
            raise ClusterError(
                f"Cassandra ended with status {server.process.returncode} while it started",
                where=str(log),
                remedy="read the log; another node may hold the address's ports",
            )
        try:
            with socket.create_connection((server.address, configuration.NATIVE_PORT), 1.0):
                return
        except OSError:
            time.sleep(0.2)
    raise ClusterError(
        f"Cassandra did not answer within {_START_SECONDS} s", where=str(log), remedy="read the log"
    )
