"""What a run needs before its first trial: runtimes, verified files, images, load clients."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tare.artifacts import image
from tare.artifacts.binaries import find
from tare.artifacts.digest import file_digest
from tare.artifacts.tools import ToolName, fetch_tool
from tare.artifacts.tree import Tree, cassandra_tree
from tare.databases.cluster import Installed
from tare.databases.destination import Destination
from tare.databases.registry import declared as declared_database
from tare.errors import TareError
from tare.lab import on_hosts
from tare.lab.on_hosts import hosts_for
from tare.lab.undisturbed import undisturbed
from tare.load.client import ClientInstallation
from tare.machines.addresses import AddressPool
from tare.machines.facts import MachineFacts, local_facts
from tare.machines.made import made_for
from tare.runtimes.key import is_on_ssh, of_group, on_ssh, runtime_key
from tare.runtimes.registry import BARE, CONTAINER, declared, registered
from tare.runtimes.ssh.hosts import Hosts
from tare.runtimes.unit import Bits, Runtime
from tare.study.domains import Domains
from tare.study.schema import Database, Setup


@dataclass
class RunResources:
    """Everything that deployments and trials draw on."""

    run: str
    machine: MachineFacts
    runtimes: dict[str, Runtime]
    servers: dict[tuple[str, str], Installed] = field(default_factory=dict)
    clients: dict[str, ClientInstallation] = field(default_factory=dict)
    tools: dict[str, ClientInstallation] = field(default_factory=dict)
    trees: dict[str, Tree] = field(default_factory=dict)
    engine_directory: Path | None = None
    """where the engine keeps its data; None: not used, or not on this machine"""
    hosts: Hosts | None = None
    """hosts that SSH reaches; None: no setup needs them"""

    def server(self, setup: Setup) -> Installed:
        return self.servers[runtime_key(setup.platform), _bits_key(setup.database)]

    def tree(self, setup: Setup) -> Tree:
        """Cassandra's files on this machine, from which the setup's files come."""
        return self.trees[_bits_key(setup.database)]

    def client(self, setup: Setup) -> ClientInstallation:
        """Tare's own load generator, which fills tables and warms servers."""
        return self.clients[runtime_key(setup.client)]

    def tool(self, setup: Setup) -> ClientInstallation:
        """The load generator of the setup's trials."""
        return self.tools.get(setup.client.tool) or self.client(setup)

    def load_hosts(self, setup: Setup) -> int:
        """Number of clients that share the load of each cluster: hosts for clients, else one."""
        if self.hosts is None:
            return 1
        return max(len(self.hosts.clients) // setup.clusters, 1)

    def environment(self) -> dict[str, Any]:
        """Facts of the machine and the tools, for provenance."""
        facts: dict[str, Any] = {"machine": self.machine.as_dict(), "artifacts": {}}
        for tree in self.trees.values():
            facts["artifacts"][tree.version] = {
                "digest": tree.digest,
                "locked": tree.locked,
                "origin": tree.origin,
            }
        told = {name: runtime.environment() for name, runtime in self.runtimes.items()}
        facts |= {name: own for name, own in told.items() if own}
        if self.hosts is not None:
            facts["hosts"] = self.hosts.as_dict()
        return facts

    def close(self) -> list[TareError]:
        """Remove networks, addresses and namespaces; a failure does not keep the others.

        Returns:
            What went wrong; another exception than TareError, the first, is raised at the end.
        """
        faults: list[TareError] = []
        other: BaseException | None = None
        for close in (*(one.close for one in self.runtimes.values()), self._close_hosts):
            try:
                close()
            except TareError as error:
                faults.append(error)
            except BaseException as error:
                other = other or error
        if other is not None:
            for fault in faults:
                other.add_note(f"something was left, too: {fault}")
            raise other
        return faults

    def _close_hosts(self) -> None:
        if self.hosts is not None:
            self.hosts.close()


def runtimes_for(
    run: str,
    work: Path,
    setups: Sequence[Setup],
    say: Callable[[str], None],
    hosts: Hosts | None = None,
) -> dict[str, Runtime]:
    """The runtimes of these setups.

    - Native processes and plain containers, which share addresses.
    - What else a setup names: an orchestrator, a runtime of another package.
    - Those of hosts that SSH reaches, if there are any.

    Host addresses are routable where a client needs them.

    Raises:
        RuntimeUnavailableError: a setup names an orchestrator, and none is named here.
    """
    routable = any(
        s.client.network == "bridge"
        and s.platform.network == "host"
        and not declared(s.client.runtime).orchestrator
        for s in setups
    )
    pool = AddressPool(say)
    named = {name for s in setups for name in (s.platform.runtime, s.client.runtime)}
    wanted = {name: one for name, one in registered().items() if name in {BARE, CONTAINER, *named}}
    made = {name: one.make(run, work, pool, routable=routable) for name, one in wanted.items()}
    if hosts is not None:
        for group in ("", *hosts.groups):
            for name, one in wanted.items():
                if one.on_hosts:
                    key = of_group(on_ssh(name), group)
                    made[key] = one.make_on_hosts(work, hosts, group)
    return made


def prepare(
    run: str,
    work: Path,
    setups: list[Setup],
    say: Callable[[str], None],
    domains: Sequence[Domains] = (),
) -> RunResources:
    """Fetch, verify and build what the setups need; if that fails, nothing of it stays.

    Args:
        domains: virtual machines that the setups need.

    Raises:
        ArtifactError: files that cannot be had or are not the locked ones.
        RuntimeUnavailableError: a runtime that a setup names does not answer.
    """
    used = dict.fromkeys(part.runtime for s in setups for part in (s.platform, s.client))
    stores = (declared(name).store() for name in used)
    engine = next((place for place in stores if place is not None), None)
    hosts = hosts_for(run, setups, made_for(run, domains, say))
    runtimes = runtimes_for(run, work, setups, say, hosts)
    resources = RunResources(run, local_facts(work.parent), runtimes, hosts=hosts)
    resources.engine_directory = engine
    try:
        _provide(resources, setups, say)
    except BaseException:
        with undisturbed():
            for fault in resources.close():
                say(f"something was left: {fault}")
        raise
    return resources


def _provide(resources: RunResources, setups: list[Setup], say: Callable[[str], None]) -> None:
    if resources.hosts is not None:
        resources.hosts.prepare(say)
    for runtime in resources.runtimes.values():
        runtime.prepare(say)
    for setup in setups:
        database, own = setup.database, runtime_key(setup.platform)
        key = _bits_key(database)
        if (own, key) not in resources.servers:
            resources.servers[own, key] = _server(resources, database, own, say)
        client = runtime_key(setup.client)
        if client not in resources.clients:
            resources.clients[client] = _client(resources, client, say)
        tool = setup.client.tool
        if tool != "tare" and tool not in resources.tools:
            resources.tools[tool] = _tool(tool, say)
    if resources.hosts is not None:
        resources.hosts.keep()


def _bits_key(database: Database) -> str:
    return f"{database.kind}|{database.version}|{database.home or ''}|{database.image or ''}"


def _server(
    resources: RunResources, database: Database, runtime: str, say: Callable[[str], None]
) -> Installed:
    hosts = resources.hosts if is_on_ssh(runtime) else None
    images = resources.runtimes[runtime].images()
    to = Destination(runtime, images, hosts, lambda one: _tree(resources, one, say), say)
    return declared_database(database.kind).bring(database, to)


def _tree(resources: RunResources, database: Database, say: Callable[[str], None]) -> Tree:
    """Its files on this machine, verified once a run."""
    key = _bits_key(database)
    if key not in resources.trees:
        home = Path(database.home) if database.home else None
        resources.trees[key] = cassandra_tree(database.version, home, say=say)
    return resources.trees[key]


def _tool(name: ToolName, say: Callable[[str], None]) -> ClientInstallation:
    """Another tool; this Python runs it and converts its output into records."""
    tool = fetch_tool(name, say=say)
    return ClientInstallation(
        sys.executable,
        Bits(tool.digest),
        words=("-m", "tare.load.tools.drive"),
        tool={"name": tool.name, "version": tool.version, "command": list(tool.command)},
    )


def _client(
    resources: RunResources, runtime: str, say: Callable[[str], None]
) -> ClientInstallation:
    binary = find("tare-load")
    digest = file_digest(binary)
    if resources.hosts is not None and is_on_ssh(runtime):
        return on_hosts.client(resources.hosts, digest, runtime, say)
    images = resources.runtimes[runtime].images()
    if images is None:
        return ClientInstallation(str(binary), Bits(digest))
    built = image.build_program_image(images.engine, "load", binary)
    if not images.clients_by_engine:
        built = images.bring(built, say)
    return ClientInstallation(image.LOAD, Bits(digest, built))
