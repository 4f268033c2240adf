"""What a run needs before its first trial: runtimes, verified files, images, load clients."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tare.artifacts import image
from tare.artifacts.binaries import find
from tare.artifacts.digest import file_digest
from tare.artifacts.image_files import find_file
from tare.artifacts.tools import ToolName, fetch_tool
from tare.artifacts.tree import Tree, cassandra_tree
from tare.databases.cassandra.cluster import Installation
from tare.databases.cluster import Installed
from tare.databases.mongodb import installation as mongodb
from tare.errors import ArtifactError, RuntimeUnavailableError, StudyError, TareError
from tare.lab import on_hosts
from tare.lab.on_hosts import hosts_for
from tare.lab.undisturbed import undisturbed
from tare.load.client import ClientInstallation
from tare.machines.addresses import AddressPool
from tare.machines.facts import MachineFacts, local_facts
from tare.runtimes.availability import no_cluster
from tare.runtimes.docker import DockerRuntime
from tare.runtimes.docker_engine import connect, data_directory
from tare.runtimes.key import SSH, of_group, runtime_key
from tare.runtimes.kubernetes.runtime import KubernetesRuntime
from tare.runtimes.kubernetes.settings import cluster_settings
from tare.runtimes.native import NativeRuntime
from tare.runtimes.ssh.docker import DOCKER, SshDockerRuntime
from tare.runtimes.ssh.hosts import Hosts
from tare.runtimes.ssh.native import NATIVE, SshNativeRuntime
from tare.runtimes.swarm.runtime import SwarmRuntime
from tare.runtimes.swarm.settings import swarm_settings
from tare.runtimes.unit import Bits, Runtime
from tare.study.schema import Database, Setup

_KUBERNETES, _SWARM = "kubernetes", "swarm"


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
    """where the Docker engine keeps its data; None: not used, or not on this machine"""
    hosts: Hosts | None = None
    """that SSH reaches; None: no setup needs them"""

    def server(self, setup: Setup) -> Installed:
        return self.servers[runtime_key(setup.platform), _bits_key(setup.database)]

    def tree(self, setup: Setup) -> Tree:
        """Cassandra's files on this machine, from which a setup's own come."""
        return self.trees[_bits_key(setup.database)]

    def client(self, setup: Setup) -> ClientInstallation:
        """Tare's own load generator, which fills tables and warms servers."""
        return self.clients[runtime_key(setup.client)]

    def tool(self, setup: Setup) -> ClientInstallation:
        """The load generator of the setup's trials."""
        return self.tools.get(setup.client.tool) or self.client(setup)

    def load_hosts(self, setup: Setup) -> int:
        """How many clients share the load of each cluster: hosts for clients, else one."""
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
        engine = self.runtimes.get("docker")
        if isinstance(engine, DockerRuntime) and engine.probe() is None:
            version = engine.client.version()
            info = engine.client.info()
            facts["docker"] = {
                "version": version.get("Version"),
                "storage driver": info.get("Driver"),
                "cgroup version": info.get("CgroupVersion"),
                "cgroup driver": info.get("CgroupDriver"),
                "security": info.get("SecurityOptions"),
            }
        cluster = self.runtimes.get("kubernetes")
        if isinstance(cluster, KubernetesRuntime):
            facts["kubernetes"] = cluster.cluster_facts().as_dict()
        swarm = self.runtimes.get("swarm")
        if isinstance(swarm, SwarmRuntime):
            facts["swarm"] = swarm.swarm_facts().as_dict()
        if self.hosts is not None:
            facts["hosts"] = self.hosts.as_dict()
        return facts

    def close(self) -> list[TareError]:
        """Take away networks, addresses and namespaces, each whatever becomes of the others.

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
    """The runtimes of this machine, sharing addresses, and others that a setup names: an
    orchestrator's, those of hosts that SSH reaches.

    Host addresses are routable where a client needs them.

    Raises:
        RuntimeUnavailableError: a setup names Kubernetes, and nobody has named a cluster.
    """
    routable = any(
        s.client.runtime == "docker"
        and s.client.network == "bridge"
        and s.platform.network == "host"
        for s in setups
    )
    pool = AddressPool(say)
    made: dict[str, Runtime] = {
        "native": NativeRuntime(run, work, pool, routable=routable),
        "docker": DockerRuntime(run, work, pool, routable=routable),
    }
    if any(_KUBERNETES in (s.platform.runtime, s.client.runtime) for s in setups):
        settings = cluster_settings()
        if settings is None:
            raise no_cluster()
        made[_KUBERNETES] = KubernetesRuntime(run, work, settings)
    if any(_SWARM in (s.platform.runtime, s.client.runtime) for s in setups):
        made[_SWARM] = SwarmRuntime(run, work, swarm_settings())
    if hosts is not None:
        for group in ("", *hosts.groups):
            made[of_group(NATIVE, group)] = SshNativeRuntime(work, hosts, group)
            made[of_group(DOCKER, group)] = SshDockerRuntime(work, hosts, group)
    return made


def prepare(run: str, work: Path, setups: list[Setup], say: Callable[[str], None]) -> RunResources:
    """Fetch, verify and build what the setups need; where that fails, nothing of it stays.

    Raises:
        ArtifactError: files that cannot be had or are not the locked ones.
        RuntimeUnavailableError: a runtime that a setup names does not answer.
    """
    uses_engine = any(
        {"docker", _KUBERNETES} & {s.platform.runtime, s.client.runtime} for s in setups
    )
    engine = data_directory() if uses_engine else None
    hosts = hosts_for(run, setups)
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
    cluster = resources.runtimes.get(_KUBERNETES)
    if isinstance(cluster, KubernetesRuntime):
        helper = image.build_program_image(connect(), "pod", find("tare-pod"), say)
        cluster.use_helper(cluster.provide(connect(), helper, say))
    swarm = resources.runtimes.get(_SWARM)
    if isinstance(swarm, SwarmRuntime):
        helper = image.build_program_image(swarm.engine, "pod", find("tare-pod"), say)
        swarm.use_helper(swarm.provide(helper, say))
    for setup in setups:
        database, runtime = setup.database, runtime_key(setup.platform)
        key = _bits_key(database)
        if (runtime, key) not in resources.servers:
            resources.servers[runtime, key] = _server(resources, database, runtime, say)
        client = runtime_key(setup.client)
        if client not in resources.clients:
            resources.clients[client] = _client(resources, client, say)
        tool = setup.client.tool
        if tool != "tare" and tool not in resources.tools:
            resources.tools[tool] = _tool(tool, say)


def _bits_key(database: Database) -> str:
    kind = "" if database.kind == "cassandra" else f"{database.kind}|"
    return f"{kind}{database.version}|{database.home or ''}|{database.image or ''}"


def _engine(resources: RunResources) -> Any:
    runtime = resources.runtimes["docker"]
    if not isinstance(runtime, DockerRuntime):
        raise RuntimeUnavailableError("the docker runtime has been replaced by another")
    return runtime.client


def _engine_of(resources: RunResources, runtime: str) -> Any:
    """The Docker engine that makes a runtime's images."""
    return _swarm(resources).engine if runtime == _SWARM else _engine(resources)


def _cluster(resources: RunResources) -> KubernetesRuntime:
    runtime = resources.runtimes[_KUBERNETES]
    if not isinstance(runtime, KubernetesRuntime):
        raise RuntimeUnavailableError("the kubernetes runtime has been replaced by another")
    return runtime


def _swarm(resources: RunResources) -> SwarmRuntime:
    runtime = resources.runtimes[_SWARM]
    if not isinstance(runtime, SwarmRuntime):
        raise RuntimeUnavailableError("the swarm runtime has been replaced by another")
    return runtime


def _server(
    resources: RunResources, database: Database, runtime: str, say: Callable[[str], None]
) -> Installed:
    if database.kind == "mongodb":
        return _mongodb_server(resources, database, runtime, say)
    if database.image and runtime == "docker":
        return _named_server(_engine(resources), database.image)
    if database.image and runtime == _SWARM:
        named = _named_server(_swarm(resources).engine, database.image)
        _swarm(resources).provide(named.bits.image, say)
        return named
    if database.image and runtime == _KUBERNETES:
        named = _named_server(_engine(resources), database.image)
        reference = _cluster(resources).use_image(database.image)
        return replace(named, bits=replace(named.bits, image=reference))
    key = _bits_key(database)
    if key not in resources.trees:
        home = Path(database.home) if database.home else None
        resources.trees[key] = cassandra_tree(database.version, home, say=say)
    tree = resources.trees[key]
    jamm = next((jar for jar in tree.jars if jar.startswith("jamm-")), None)
    if jamm is None:
        raise ArtifactError(
            "no jamm jar beside Cassandra's", where=str(tree.lib), why="Cassandra needs it as agent"
        )
    jars = tuple(tree.jars)
    if runtime == _SWARM:
        built = image.build_image(_swarm(resources).engine, tree, say)
        _swarm(resources).provide(built, say)
        return Installation(image.JAVA, image.LIB, jamm, jars, Bits(tree.digest, built))
    if resources.hosts is not None and runtime.startswith(f"{SSH}-"):
        return on_hosts.server(resources.hosts, tree, jamm, runtime, say)
    if runtime in ("docker", _KUBERNETES):
        built = image.build_image(_engine(resources), tree, say)
        if runtime == _KUBERNETES:
            built = _cluster(resources).provide(_engine(resources), built, say)
        return Installation(image.JAVA, image.LIB, jamm, jars, Bits(tree.digest, built))
    return Installation(str(tree.java), str(tree.lib), jamm, jars, Bits(tree.digest))


def _mongodb_server(
    resources: RunResources, database: Database, runtime: str, say: Callable[[str], None]
) -> mongodb.Installation:
    for fault in mongodb.unfit(database, runtime):
        raise StudyError(fault.why, where=".".join(fault.field), remedy=fault.remedy)
    contained = runtime in mongodb.IN_IMAGES
    if contained and database.image:
        return _named_mongodb(resources, database.image, runtime, say)
    if database.home is None and not database.stand_in:
        raise ArtifactError(
            "no MongoDB server to run",
            where="database.image" if contained else "database.home",
            why="no public package has its server, so that Tare cannot fetch it",
            remedy='set database.image to an image that you may use, such as "mongo:7"'
            if contained
            else "unpack a release of MongoDB's server and set database.home to its directory",
        )
    server = mongodb.installed(Path(database.home) if database.home else find("tare-stub"))
    if not server.stands_in:
        told = mongodb.release_of(server.program)
        mongodb.refuse_other_release(database.version, {"version": told})
    if resources.hosts is not None and runtime.startswith(f"{SSH}-"):
        return on_hosts.mongodb_server(resources.hosts, server, runtime, say)
    if not contained:
        return server
    engine = _engine_of(resources, runtime)
    built = image.build_server_image(engine, Path(server.program), say)
    if runtime == _SWARM:
        _swarm(resources).provide(built, say)
    elif runtime == _KUBERNETES:
        built = _cluster(resources).provide(engine, built, say)
    return replace(server, program=image.MONGOD, bits=Bits(server.bits.digest, built))


def _named_mongodb(
    resources: RunResources, name: str, runtime: str, say: Callable[[str], None]
) -> mongodb.Installation:
    """An image that the study names, whose mongod is in its path."""
    identity, digest = image.named_image(_engine_of(resources, runtime), name)
    bits = Bits(digest or identity, identity, named=name)
    if runtime == _SWARM:
        _swarm(resources).provide(identity, say)
    elif runtime == _KUBERNETES:
        bits = replace(bits, image=_cluster(resources).use_image(name))
    return mongodb.Installation("mongod", bits)


def _named_server(engine: Any, name: str) -> Installation:
    """An image that the study names: where its files lie is read from its own environment."""
    identity, digest = image.named_image(engine, name)
    settings = engine.images.get(identity).attrs["Config"].get("Env") or []
    environment = dict(entry.split("=", 1) for entry in settings)
    home = environment.get("CASSANDRA_HOME", "/opt/cassandra")
    java = environment.get("JAVA_HOME", "/opt/java/openjdk")
    lib = f"{home}/lib"
    jamm = find_file(engine, identity, lib, "jamm-", ".jar")
    return Installation(
        f"{java}/bin/java", lib, jamm, (), Bits(digest or identity, identity, named=name)
    )


def _tool(name: ToolName, say: Callable[[str], None]) -> ClientInstallation:
    """Another tool, run by this Python, which makes its output into records."""
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
    if runtime == "native":
        return ClientInstallation(str(binary), Bits(digest))
    if resources.hosts is not None and runtime.startswith(f"{SSH}-"):
        return on_hosts.client(resources.hosts, digest, runtime, say)
    if runtime == _SWARM:
        built = image.build_program_image(_swarm(resources).engine, "load", binary)
        return ClientInstallation(image.LOAD, Bits(digest, built))
    built = image.build_program_image(_engine(resources), "load", binary)
    if runtime == _KUBERNETES:
        built = _cluster(resources).provide(_engine(resources), built, say)
    return ClientInstallation(image.LOAD, Bits(digest, built))
