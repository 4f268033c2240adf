"""Documents of a unit as a Swarm's service: its task, its placement, its published ports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.runtimes.confinement import IN_SERVICE
from tare.runtimes.swarm.declaration import PROXIED
from tare.runtimes.swarm.names import labels_of, own_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.machines.cgroups import LimitValues
    from tare.runtimes.swarm.manager import Document

CONF, DATA = "/opt/tare/conf", "/var/lib/cassandra"
"""where a task finds its configuration and keeps its data"""
HOST = "host"
"""the predefined network of a node's machine"""
_LOG_SIZE = "64m"
_NS = 1_000_000_000


@dataclass(frozen=True)
class Software:
    """The software of a unit's task.

    Attributes:
        image: id of the image on the nodes: no registry is asked for an id.
        command: the program and its arguments.
        limits: applied as they stand.
        requests: what the scheduler sets aside; None: as much as the limits.
        environment: of the program.
        ulimits: name to the number for both limits.
        grace_s: how long it may take to end, seconds; 0: it is killed.
        storage: volume or layer.
        volume: name of a volume that its node has already; empty: a new one with the task.
    """

    image: str
    command: Sequence[str]
    limits: LimitValues
    requests: LimitValues | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    ulimits: Mapping[str, int] = field(default_factory=dict)
    grace_s: float = 1.0
    storage: str = "layer"
    volume: str = ""


@dataclass(frozen=True)
class Reach:
    """How a service is reached.

    Attributes:
        endpoint: as in a study.
        network: id of the network that its task joins; `host` for its machine's own.
        port: of the software, for clients.
        published: port of its node that leads to it, too; on the machine's own network, the
            software's port instead.
    """

    endpoint: str
    network: str
    port: int
    published: int
    proxied: bool = False
    """clients name endpoints: the Swarm's own proxy leads to it too"""

    @property
    def own(self) -> int:
        """The port on which the software listens."""
        return self.published if self.network == HOST else self.port


def service_document(
    name: str,
    run: str,
    unit: str,
    software: Software,
    reach: Reach,
    constraints: Sequence[str],
    configs: Mapping[str, tuple[str, str]],
) -> Document:
    """A service with one task, which is never started again: a node that dies fails its trial.

    Args:
        name: of the service.
        run, unit: for its labels.
        software: what runs.
        reach: how clients get there.
        constraints: where it may run.
        configs: file name to id and name of the config that holds it, shown below CONF.
    """
    labels = labels_of(run, unit)
    container: Document = {
        "Image": software.image,
        "Command": list(software.command[:1]),
        "Args": list(software.command[1:]),
        "Env": [f"{key}={value}" for key, value in software.environment.items()],
        "Labels": labels,
        "Configs": [_config(file, *held) for file, held in sorted(configs.items())],
        "Ulimits": [{"Name": k, "Soft": v, "Hard": v} for k, v in software.ulimits.items()],
        "StopGracePeriod": int(max(software.grace_s, 1) * _NS),
        **({} if software.grace_s > 0 else {"StopSignal": "SIGKILL"}),
        **IN_SERVICE,
    }
    if reach.network != HOST:
        container["Hostname"] = own_name(name)
    if software.storage == "volume":
        # without a name: a volume that is removed with its task's container, on any node
        volume = {"Type": "volume", "Target": DATA, "VolumeOptions": {"Labels": labels}}
        container["Mounts"] = [volume | ({"Source": software.volume} if software.volume else {})]
    return {
        "Labels": labels,
        "TaskTemplate": {
            "ContainerSpec": container,
            "Resources": _resources(software),
            "RestartPolicy": {"Condition": "none"},
            "Placement": {"Constraints": list(constraints)},
            "Networks": [{"Target": reach.network}],
            "LogDriver": {"Name": "json-file", "Options": {"max-size": _LOG_SIZE}},
        },
        "EndpointSpec": _endpoint(reach),
    }


def _config(file: str, identity: str, name: str) -> Document:
    place = {"Name": f"{CONF}/{file}", "UID": "0", "GID": "0", "Mode": 0o444}
    return {"ConfigID": identity, "ConfigName": name, "File": place}


def _resources(software: Software) -> Document:
    aside = software.limits if software.requests is None else software.requests
    made = {"Limits": _amounts(software.limits), "Reservations": _amounts(aside)}
    return {key: amounts for key, amounts in made.items() if amounts}


def _amounts(values: LimitValues) -> dict[str, int]:
    made: dict[str, int] = {}
    if values.cpus is not None:
        made["NanoCPUs"] = round(values.cpus * _NS)
    if values.memory is not None:
        made["MemoryBytes"] = values.memory
    return made


def _endpoint(reach: Reach) -> Document:
    """The node's port is always there: through it, this machine asks what only containers reach."""
    if reach.network == HOST:
        return {"Mode": "dnsrr"}
    ports = [_port(reach.port, "host", reach.published)]
    if reach.endpoint == "node-port" or reach.proxied:
        ports.append(_port(reach.port, "ingress", None))
    proxied = reach.proxied or reach.endpoint in PROXIED
    return {"Mode": "vip" if proxied else "dnsrr", "Ports": ports}


def _port(target: int, mode: str, published: int | None) -> Document:
    made: Document = {"Protocol": "tcp", "TargetPort": target, "PublishMode": mode}
    if published is not None:
        made["PublishedPort"] = published
    return made
