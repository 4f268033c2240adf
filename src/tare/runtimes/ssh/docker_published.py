"""Containers on hosts that are reached by published ports: their bridge, and the way to them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING, Any

from docker.errors import DockerException
from docker.types import IPAMConfig, IPAMPool, NetworkingConfig

from tare.artifacts.binaries import find
from tare.artifacts.image import POD, build_program_image
from tare.errors import RuntimeUnavailableError
from tare.machines.survey import printable
from tare.runtimes.confinement import NO_RIGHTS
from tare.runtimes.docker_engine import published_path
from tare.runtimes.ssh.names import MARK_LABEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tare.runtimes.ssh.host_machine import HostMachine
    from tare.runtimes.unit import Site

PUBLISHED = "published"
"""the network of a study's platform that this module makes on hosts"""
_UNIT = "proof"
_NODE = 99
"""the engine numbers other containers from the bottom; the node's number is above them"""
_RESOLVED = 'getent ahostsv4 "$1" | { read -r address _; printf "%s" "$address"; }'
_NAT_RULES = "iptables -w -t nat -S DOCKER 2>/dev/null || true"


@dataclass(frozen=True)
class OwnNetwork:
    """A bridge with only one container of a host.

    Attributes:
        name: its name in the engine.
        address: of the container on it.
    """

    name: str
    address: str


def own_network(machine: HostMachine, unit: str) -> OwnNetwork:
    """Make a unit's bridge on its host, in a subnet that the host's engine found to be free.

    An engine gives a container a requested address only if the subnet was requested, too. Only the
    engine knows which subnet is free. So it chooses one, which is then requested.

    Raises:
        RuntimeUnavailableError: the engine made none.
    """
    name = network_name(machine, unit)
    with _engine_of(machine, f"make the network {name}"):
        remove_network(machine, name)
        client, labels = machine.engine(), {MARK_LABEL: machine.mark}
        chosen = client.networks.create(name, driver="bridge", labels=labels)
        try:
            config = client.api.inspect_network(str(chosen.id))["IPAM"]["Config"]
        finally:
            chosen.remove()
        subnet = _subnet(config)
        pool = IPAMPool(subnet=str(subnet), gateway=str(subnet[1]))
        ipam = IPAMConfig(pool_configs=[pool])
        client.networks.create(name, driver="bridge", ipam=ipam, labels=labels)
    return OwnNetwork(name, str(subnet[min(_NODE, subnet.num_addresses - 2)]))


def network_name(machine: HostMachine, unit: str) -> str:
    """The name of a unit's bridge on its host."""
    return f"tare-{machine.run}-{unit}"


def remove_network(machine: HostMachine, name: str) -> None:
    """Remove this run's network of that name, whose containers are gone; others' stay.

    Raises:
        DockerException: the engine could not do it.
    """
    own = {"name": f"^{name}$", "label": f"{MARK_LABEL}={machine.mark}"}
    for one in machine.engine().networks.list(filters=own):
        one.remove()


def bindings(
    machine: HostMachine, address: str, ports: Iterable[int]
) -> dict[int | str, tuple[str, int]]:
    """Where a host publishes these ports of a container, port to address and port.

    Args:
        address: of the host for others, or a name that has an address there.

    Raises:
        RuntimeUnavailableError: the name has no address there.
    """
    found = _resolved(machine, address)
    return {port: (found, port) for port in ports}


def on_its_network(client: Any, site: Site) -> NetworkingConfig:
    """The settings by which a container has its site's address on its site's network."""
    by_network: Any = {site.network: client.api.create_endpoint_config(ipv4_address=site.listen)}
    return NetworkingConfig(by_network)


def path_into(machine: HostMachine, address: str) -> str:
    """The path of packets from other machines behind the host's card, by its NAT table if
    readable."""
    rules = machine.connection.script(_NAT_RULES).text
    return published_path(_resolved(machine, address), rules)


class PublishedAnswer:
    """Programs that answer as the nodes will be reached: from containers with published ports."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """Nothing is made yet.

        Args:
            say: told of images that are made.
        """
        self._say = say
        self._made: dict[str, Any] = {}

    def begin(self, machine: HostMachine, ports: list[int]) -> None:
        """Let a host answer at these ports.

        Raises:
            RuntimeUnavailableError: its engine could not.
        """
        with _engine_of(machine, "publish ports for a check of the way to them"):
            client = machine.engine()
            image = build_program_image(client, "pod", find("tare-pod"), self._say)
            network = own_network(machine, _UNIT)
            wanted = bindings(machine, machine.host.service_address, ports)
            made = client.api.create_container(
                image,
                name=network.name,
                entrypoint=[POD],
                command=["answer", "--name", machine.name, *map(str, ports)],
                labels={MARK_LABEL: machine.mark},
                ports=list(wanted),
                host_config=client.api.create_host_config(
                    network_mode=network.name, port_bindings=wanted, **NO_RIGHTS
                ),
            )
            self._made[machine.name] = client.containers.get(made["Id"])
            client.api.start(made["Id"])

    def fault(self, machine: HostMachine) -> str:
        """The last line of its error output: why it does not answer; empty: none."""
        with contextlib.suppress(DockerException, OSError, KeyError):
            told = self._made[machine.name].logs(stdout=False).decode(errors="replace")
            return printable(told.strip().rpartition("\n")[2])
        return ""

    def end(self, machine: HostMachine) -> None:
        """Take its container and network away.

        Raises:
            RuntimeUnavailableError: something is still there.
        """
        with _engine_of(machine, "remove what a check of published ports left"):
            made = self._made.pop(machine.name, None)
            if made is not None:
                made.remove(force=True, v=True)
            remove_network(machine, network_name(machine, _UNIT))


def _subnet(config: Any) -> IPv4Network:
    """The IPv4 subnet among those that the engine chose."""
    return next(
        found
        for found in (_read(one.get("Subnet", "")) for one in config or [])
        if found is not None
    )


def _read(text: str) -> IPv4Network | None:
    try:
        return IPv4Network(text)
    except ValueError:  # of another version
        return None


def _resolved(machine: HostMachine, name: str) -> str:
    """The IPv4 address of a name on the host.

    Raises:
        RuntimeUnavailableError: it has none there.
    """
    with contextlib.suppress(ValueError):
        return str(IPv4Address(name))
    told = machine.connection.script(_RESOLVED, name).text
    with contextlib.suppress(ValueError):
        return str(IPv4Address(told))
    raise RuntimeUnavailableError(
        "no port can be published where the others would look for it",
        where=str(machine.host),
        why=f"{name} is no IPv4 address there",
        remedy="name the address of one of its interfaces in the inventory (service)",
    )


@contextlib.contextmanager
def _engine_of(machine: HostMachine, what: str) -> Iterator[None]:
    """An engine's refusals, in words.

    Raises:
        RuntimeUnavailableError: it refused, or is gone.
    """
    try:
        yield
    except (DockerException, OSError, StopIteration) as error:
        raise RuntimeUnavailableError(
            f"docker could not {what}",
            where=str(machine.host),
            why=str(error) or "its engine chose no IPv4 subnet",
            remedy=f"{machine.connection.by_hand()} docker info",
        ) from error
