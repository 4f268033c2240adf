"""The Docker runtime: a unit is a container on the host's network, a bridge, or published ports."""

from __future__ import annotations

import contextlib
import resource
import shutil
import tarfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import docker
from docker.errors import APIError, DockerException, NotFound
from docker.types import IPAMConfig, IPAMPool, LogConfig, Mount, NetworkingConfig, Ulimit
from urllib3.exceptions import HTTPError

from tare.errors import RuntimeUnavailableError
from tare.machines.addresses import FIRST_NODE, AddressPool, bridge_of, can_claim
from tare.machines.cgroups import Accounting, group_paths, kill
from tare.runtimes import confinement, docker_ways
from tare.runtimes.docker_data import give_volume, make_directory, put_snapshot
from tare.runtimes.docker_engine import (
    ENGINE,
    ENGINE_PROCESSES,
    PUBLISHED,
    RUN_LABEL,
    asking,
    connect,
    labelled,
    labels_of,
    own_volume,
    published_path,
    remove,
    remove_volume,
)
from tare.runtimes.images import Images
from tare.runtimes.kept_log import keep_end_of_archived
from tare.runtimes.open_files import open_files
from tare.runtimes.unit import Exit, Site, SiteOptions, Unit, Way

if TYPE_CHECKING:
    from tare.runtimes.images import Say
    from tare.study.platform import Platform

UNIT_LABEL = "tare.unit"
CONF = "/opt/tare/conf"
DATA = "/var/lib/cassandra"
_PATHS = {
    "host": "loopback of the host",
    "bridge": docker_ways.BRIDGE,
    "published": PUBLISHED,
}


@dataclass(frozen=True)
class _Network:
    """A bridge network of one group, and the node addresses on it that are still free."""

    made: Any
    addresses: Iterator[IPv4Address]


def container_name(run: str, site: str) -> str:
    """The name of the container at a site, also on its networks."""
    return f"tare-{run}-{site}"


class DockerRunning:
    """A container."""

    engine = ENGINE
    """the name of what runs it"""
    run_label = RUN_LABEL
    """the label that names the run, on everything that was made for it"""

    def __init__(
        self,
        unit: Unit,
        container: Any,
        client: docker.DockerClient,
        left: Callable[[Unit], None] = lambda _: None,
    ) -> None:
        """Take over a container that runs.

        Args:
            unit: what was launched.
            container: of the engine.
            client: the engine.
            left: told if something that was made for the unit could not be removed.
        """
        self.unit = unit
        self._left = left
        self._container = container
        self._client = client
        self._stopped = False
        self._accounting: Accounting | None = None

    def accounting(self) -> Accounting:
        if self._accounting is None:
            state = self._inspect()
            pid = int(state["State"]["Pid"])
            paths = group_paths(pid, self._container.id)
            self._accounting = Accounting(paths, (pid,), paused=self._paused)
        return self._accounting

    def _inspect(self) -> dict[str, Any]:
        try:
            return dict(self._client.api.inspect_container(self._container.id))
        except NotFound as error:
            raise self._removed() from error
        except (DockerException, OSError) as error:
            raise RuntimeUnavailableError(
                f"the {self.engine} engine does not answer",
                where=self.unit.site.name,
                why=str(error),
                remedy=asking(self.engine),
            ) from error

    def _removed(self) -> RuntimeUnavailableError:
        return RuntimeUnavailableError(
            "a container has been removed while it was needed",
            where=self.unit.site.name,
            why="the engine answers, and has it no more; Tare did not remove it",
            remedy="let nothing else remove containers here, then give the same command again",
        )

    def _failed(self, verb: str, error: Exception) -> RuntimeUnavailableError:
        return RuntimeUnavailableError(
            f"{self.engine.lower()} {verb} failed", where=self.unit.site.name, why=str(error)
        )

    def exited(self) -> Exit | None:
        state = self._inspect()["State"]
        if state["Status"] in ("running", "paused", "created", "restarting"):
            return None
        ended = Exit.of(int(state["ExitCode"]), out_of_memory=bool(state.get("OOMKilled")))
        return replace(ended, detail=f"{ended.detail} {state.get('Error', '')}".strip())

    def lines(self) -> Iterator[str]:
        pending = b""
        try:
            for chunk in self._container.logs(stream=True, follow=True, stdout=True, stderr=False):
                *whole, pending = (pending + chunk).split(b"\n")
                for line in whole:
                    yield line.decode(errors="replace")
        except NotFound as error:
            raise self._removed() from error
        except (DockerException, HTTPError, OSError) as error:
            raise RuntimeUnavailableError(
                f"the {self.engine} engine went away", where=self.unit.site.name, why=str(error)
            ) from error
        if pending:
            yield pending.decode(errors="replace")

    def packet_path(self) -> str:
        site = self.unit.site
        return self.published_path(site.endpoint_host) if site.path == PUBLISHED else site.path

    def published_path(self, address: str) -> str:
        """The path of packets to a port published on this address, as far as it can be seen."""
        return published_path(address)

    def facts(self) -> dict[str, str]:
        return {}

    def pause(self) -> None:
        self._ask("pause")

    def _paused(self) -> bool:
        return bool(self._inspect()["State"]["Paused"])

    def resume(self) -> None:
        if self._paused():
            self._ask("unpause")

    def confine(self, cpuset: str) -> None:
        try:
            self._container.update(cpuset_cpus=cpuset)
        except NotFound as error:
            raise self._removed() from error
        except (DockerException, OSError) as error:
            raise self._failed("update", error) from error

    def terminate(self) -> None:
        try:
            self._ask("kill", "SIGTERM")
        except RuntimeUnavailableError:
            if self.exited() is None:  # else it has ended by itself meanwhile
                raise

    def _ask(self, verb: str, *arguments: str) -> None:
        try:
            getattr(self._container, verb)(*arguments)
        except NotFound:
            return
        except (DockerException, OSError) as error:
            raise self._failed(verb, error) from error

    def stop(self) -> None:
        if self._stopped:
            return
        self._stopped = True
        with contextlib.suppress(RuntimeUnavailableError):
            self.resume()
            if self.unit.grace_s > 0 and self.exited() is None:
                with contextlib.suppress(DockerException, OSError):
                    self._container.stop(timeout=int(self.unit.grace_s))
        try:
            with contextlib.suppress(NotFound):
                self._container.remove(force=True, v=True)
            with contextlib.suppress(NotFound):
                self._remove_volume()
        except (DockerException, OSError):
            self._left(self.unit)
            self._kill_without_engine()
        if self.unit.site.data_on_host is not None:
            shutil.rmtree(self.unit.site.data_on_host, ignore_errors=True)

    def _remove_volume(self) -> None:
        """Remove the unit's volume, if it has one of this run."""
        if self.unit.role == "database" and self.unit.storage == "volume":
            labels = {self.run_label: self._container.labels[self.run_label]}
            remove_volume(self._client, _volume_name(self.unit), labels)

    def _kill_without_engine(self) -> None:
        """Kill the first process if the engine is gone; its containers outlive it."""
        if self._accounting is not None:
            kill(self._accounting.pid, self._container.id)

    def collect_logs(self, into: Path) -> None:
        into.mkdir(parents=True, exist_ok=True)
        name = self.unit.site.name
        with contextlib.suppress(DockerException, OSError):
            output = self._container.logs(stdout=self.unit.role == "database", stderr=True)
            (into / f"{name}-stderr.log").write_bytes(output)
        if not self.unit.log:
            return
        with contextlib.suppress(DockerException, OSError, tarfile.TarError):
            stream, _ = self._container.get_archive(f"{DATA}/{self.unit.log}")
            keep_end_of_archived(stream, into / self.unit.log_copy)


class DockerRuntime:
    """Runs units in containers of images that are made from the artifact tree."""

    name = "docker"
    engine = ENGINE
    running: type[DockerRunning] = DockerRunning
    """what a launched unit is"""
    engine_processes: tuple[str, ...] = ENGINE_PROCESSES
    head_start_s = 2.0

    def __init__(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> None:
        """As NativeRuntime: the run's label, a working directory, addresses."""
        self._run = run
        self._work = work
        self._pool = pool
        self._routable = routable
        self._client: docker.DockerClient | None = None
        self._networks: dict[str, _Network] = {}
        self._left: list[Unit] = []
        """units of which something could not be removed"""

    @property
    def client(self) -> docker.DockerClient:
        if self._client is None:
            self._client = connect()
        return self._client

    def probe(self) -> str | None:
        try:
            connect(timeout_s=5)
        except RuntimeUnavailableError as error:
            return f"{error.what}: {error.why}"
        return None

    def images(self) -> Images:
        return Images(self.client, labels=labels_of(self._run))

    def prepare(self, say: Say) -> None:
        pass

    def environment(self) -> dict[str, Any]:
        if self.probe() is not None:
            return {}
        version, info = self.client.version(), self.client.info()
        return {
            "version": version.get("Version"),
            "storage driver": info.get("Driver"),
            "cgroup version": info.get("CgroupVersion"),
            "cgroup driver": info.get("CgroupDriver"),
            "security": info.get("SecurityOptions"),
        }

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        role, network = wanted["role"], wanted["network"]
        storage, group = wanted["storage"], wanted["group"]
        several = wanted.get("several", False)
        home = self._work / name
        conf = home / "conf"
        conf.mkdir(parents=True, exist_ok=True)
        data_on_host: Path | None = None
        if storage == "directory":
            data_on_host = home / "data"
            data_on_host.mkdir(parents=True, exist_ok=True)
        joined = self._network(group) if network != "host" else ""
        listen = peers = ""
        if role == "database":
            listen = peers = self._address(network, group)
            if network == "published":
                peers = self._pool.host() if can_claim() is None else self._pool.loopback()
        ways = {}
        if several and role == "database" and network == "bridge":
            ways = docker_ways.all_ways(listen, self._pool)
        return Site(
            name=name,
            conf=CONF,
            conf_on_host=conf,
            data=DATA,
            data_on_host=data_on_host,
            listen=listen,
            peers=peers,
            endpoint_host=peers,
            path=_PATHS[network],
            network=joined,
            everywhere=bool(ways),
            ways=ways,
        )

    def _address(self, network: str, group: str) -> str:
        if network != "host":
            return str(next(self._networks[group].addresses))
        return self._pool.host() if self._routable else self._pool.loopback()

    def _network(self, group: str) -> str:
        """The name of the group's bridge network, made at first use."""
        if group not in self._networks:
            self._pool.guard()
            subnet = self._pool.network()
            pool = IPAMPool(subnet=str(subnet), gateway=str(subnet[1]))
            made = self._client_call(
                lambda: self.client.networks.create(
                    f"tare-{self._run}-{group}",
                    driver="bridge",
                    ipam=IPAMConfig(pool_configs=[pool]),
                    options={"com.docker.network.bridge.name": bridge_of(subnet)},
                    labels=labels_of(self._run),
                ),
                f"create network {group}",
            )
            # the engine numbers clients from the bottom; nodes start above them
            self._networks[group] = _Network(made, iter(list(subnet.hosts())[FIRST_NODE:]))
        return str(self._networks[group].made.name)

    def release_group(self, group: str) -> None:
        """Remove a group's network and leftovers once its units have stopped.

        Raises:
            RuntimeUnavailableError: something of a unit is still there.
        """
        self._remove_left()
        self._remove_network(group)

    def _remove_network(self, group: str) -> None:
        network = self._networks.pop(group, None)
        if network is not None:
            with contextlib.suppress(DockerException, OSError):
                network.made.remove()

    def prove(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str]
    ) -> dict[str, Any]:
        return {}

    def launch(self, unit: Unit) -> DockerRunning:
        self._remove_left()
        client = self.client
        try:
            container = self._start(unit)
            if unit.site.ways:
                ways = self._seen(unit.site.ways)
                unit = replace(unit, site=replace(unit.site, ways=ways))
        except BaseException:  # the answer may be lost, and the container there
            self._left.append(unit)
            with contextlib.suppress(RuntimeUnavailableError):
                self._remove_left()
            raise
        return self.running(unit, container, client, self._left.append)

    def _seen(self, ways: Mapping[str, Way]) -> dict[str, Way]:
        """The ways of a started container, with what was seen of its published ports."""
        return docker_ways.seen(ways)

    def _remove_left(self) -> None:
        """Remove what is left of units: it would share the machine with the next units.

        Raises:
            RuntimeUnavailableError: something is still there.
        """
        for unit in list(self._left):
            labels = [f"{name}={value}" for name, value in self._labels(unit).items()]
            look = partial(labelled, self.client, *labels)
            found = self._client_call(look, f"look for what is left of {unit.site.name}")
            faults = remove(found, self.engine)
            if faults:
                raise faults[0]
            self._left.remove(unit)

    def _labels(self, unit: Unit) -> dict[str, str]:
        return {**labels_of(self._run), UNIT_LABEL: unit.site.name}

    def _start(self, unit: Unit) -> Any:
        site, api = unit.site, self.client.api
        published = _published(unit)
        host_config = api.create_host_config(
            network_mode=site.network or "host",
            mounts=self._mounts(unit),
            port_bindings=published,
            nano_cpus=round(unit.limits.cpus * 1e9) if unit.limits.cpus else None,
            cpuset_cpus=unit.limits.cpuset,
            mem_limit=unit.limits.memory,
            log_config=LogConfig(type="json-file", config={"max-size": "64m"}),
            **self._bounds(),
            **confinement.settings(unit),
        )
        networking = None
        if site.network:
            endpoint = api.create_endpoint_config(ipv4_address=site.listen or None)
            by_network: Any = {site.network: endpoint}  # the stubs miss the mapping
            networking = NetworkingConfig(by_network)
        user = confinement.user_of(unit)
        if unit.snapshot is not None and site.data_on_host is not None:
            unit.snapshot.fill(site.data_on_host)
        confinement.hand_over(unit)

        def create_and_start() -> Any:
            created = api.create_container(
                unit.bits.image,
                name=container_name(self._run, site.name),
                entrypoint=unit.command[:1],
                command=unit.command[1:],
                environment=dict(unit.environment),
                labels=self._labels(unit),
                host_config=host_config,
                networking_config=networking,
                ports=list(published),
                user=confinement.identity(unit),
                # as for native units; the class path of `shown` archives needs it, too
                working_dir=site.conf if unit.shown else None,
            )
            if unit.role == "database" and unit.storage == "layer":
                make_directory(api, created["Id"], DATA, user)
            if unit.snapshot is not None and site.data_on_host is None:
                put_snapshot(api, created["Id"], unit.snapshot, DATA, user)
            api.start(created["Id"])
            return self.client.containers.get(created["Id"])

        return self._client_call(create_and_start, f"start container {site.name}")

    def _bounds(self) -> dict[str, Any]:
        """The limits of any process: those of a native unit, so that only the platform differs."""
        memlock = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        files = Ulimit(name="nofile", soft=open_files(), hard=open_files())
        return {"ulimits": [files, Ulimit(name="memlock", soft=memlock[0], hard=memlock[1])]}

    def _mounts(self, unit: Unit) -> list[Mount]:
        site = unit.site
        mounts = [
            Mount(
                CONF,
                str(site.conf_on_host.absolute()),
                type="bind",
                read_only=unit.role == "database",
            )
        ]
        if unit.role == "database":
            if site.data_on_host is not None:
                mounts.append(Mount(DATA, str(site.data_on_host.absolute()), type="bind"))
            elif unit.storage == "volume":
                mounts.append(self._client_call(lambda: self._volume(unit), "create volume"))
        for name, file in unit.shown.items():
            (site.conf_on_host / name).touch()  # the mount point must exist
            inside = f"{CONF}/{name}"
            mounts.append(Mount(inside, str(file.absolute()), type="bind", read_only=True))
        mounts += [
            Mount(inside, str(host.absolute()), type="bind") for host, inside in unit.mounts.items()
        ]
        return mounts

    def _volume(self, unit: Unit) -> Mount:
        """The unit's own volume, which belongs to its user."""
        name, labels = _volume_name(unit), self._labels(unit)
        own_volume(self.client, name, labels=labels, engine=self.engine)
        mount = Mount(DATA, name, type="volume")
        user = confinement.user_of(unit)
        give_volume(self.client.api, unit.bits.image, mount, user, labels)
        return mount

    def _client_call(self, call: Any, what: str) -> Any:
        try:
            return call()
        except (APIError, DockerException, OSError) as error:
            raise RuntimeUnavailableError(
                f"{self.engine.lower()} could not {what}",
                why=str(error),
                remedy=asking(self.engine),
            ) from error

    def close(self) -> None:
        try:
            self._remove_left()
        finally:
            for group in list(self._networks):
                self._remove_network(group)
            self._pool.release()


def _published(unit: Unit) -> dict[int | str, Any]:
    """Port of the container to where the host publishes it.

    These are all ports if its network publishes ports; with several endpoints only the clients'
    port, which is the first.
    """
    site = unit.site
    if site.ways:
        hosts = docker_ways.published_on(site.ways)
        return {port: [(host, port) for host in hosts] for port in unit.ports[:1]}
    behind = site.network and site.peers != site.listen
    return {port: [(site.peers, port)] for port in unit.ports} if behind else {}


def _volume_name(unit: Unit) -> str:
    return f"tare-{unit.site.name}-data"
