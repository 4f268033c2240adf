"""Volumes of tasks on a Swarm's nodes, made and filled by the nodes' engines before tasks start.

A Swarm brings no files to its nodes, but their engines do, if they are named. Such a volume has the
name that its service mounts, and is removed once the service is gone.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from docker.errors import APIError, DockerException, NotFound
from docker.types import Mount
from requests.exceptions import RequestException

from tare.errors import RuntimeUnavailableError, TareError
from tare.runtimes.docker_data import put_snapshot
from tare.runtimes.docker_engine import own_volume, remove_volume
from tare.runtimes.swarm.documents import DATA
from tare.runtimes.swarm.names import own_labels
from tare.runtimes.swarm.settings import connect_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import docker

    from tare.artifacts.snapshot import NodeSnapshot

_ROOT = 0
"""the user of a task's software: the container's root, without any capability"""
FREE_S = 20.0
"""longest wait until a node has removed the container of a task that is gone"""
_POLL_S = 0.5
OF_A_TASK = "com.docker.swarm.task.id"
"""the engine's own label of a task's container, which goes with its service"""
_UNNAMED = "name the node's engine in the file of TARE_SWARM, or set design.data to populate"
_ANSWER_S, _GONE_S = 60, 10
"""longest wait for an answer of an engine that fills a volume, or removes one"""


class NodeVolumes:
    """The volumes that a run has filled."""

    def __init__(
        self,
        engines: Mapping[str, str],
        connect: Callable[[str, int], docker.DockerClient] = connect_engine,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """Nothing is asked yet.

        Args:
            engines: host name of a node to its engine.
            connect: makes a client of an engine, with its longest wait in seconds.
            clock, wait: monotonic seconds, and letting them pass.
        """
        self._engines = engines
        self._connect = connect
        self._clock = clock
        self._wait = wait
        self._made: dict[str, tuple[str, dict[str, str]]] = {}
        """name to node and labels"""

    def fill(
        self, node: str, name: str, labels: dict[str, str], image: str, snapshot: NodeSnapshot
    ) -> None:
        """Make a volume on a node that holds only a snapshot.

        Args:
            node: host name.
            name: of the volume; there is none yet.
            labels: of the volume.
            image: that the node has; nothing of it is started.
            snapshot: what the volume is to hold.

        Raises:
            ArtifactError: it then held something else.
            RuntimeUnavailableError: the node's engine is not named, or could not do it.
        """
        if node not in self._engines:
            raise RuntimeUnavailableError(
                "a task's volume cannot be filled",
                where=node,
                why="the engine of its node is not named",
                remedy=_UNNAMED,
            )
        client = self._connect(self._engines[node], _ANSWER_S)
        self._made[name] = node, labels
        api: Any = client.api
        try:
            own_volume(client, name, labels)
            settings = api.create_host_config(mounts=[Mount(DATA, name, type="volume")])
            made = api.create_container(image, ["none"], host_config=settings, labels=labels)["Id"]
            try:
                put_snapshot(api, made, snapshot, DATA, _ROOT)
            finally:
                api.remove_container(made, force=True)
        except (DockerException, RequestException, OSError) as error:
            raise RuntimeUnavailableError(
                "a task's volume could not be filled",
                where=f"{name} on {node}",
                why=str(error),
                remedy="docker info with that node's engine; or set design.data to populate",
            ) from error

    def remove(self, names: Iterable[str] | None = None) -> None:
        """Remove volumes whose tasks are gone.

        Args:
            names: of the volumes to remove; None: all.

        Raises:
            RuntimeUnavailableError: some are still there; they may be tried again.
        """
        deadline = self._clock() + FREE_S
        faults: list[str] = []
        for name in list(self._made) if names is None else names:
            fault = self._remove(name, deadline) if name in self._made else ""
            if fault:
                faults.append(f"{name} on {self._made[name][0]}: {fault}")
            else:
                self._made.pop(name, None)
        if faults:
            raise RuntimeUnavailableError(
                "volumes of this run are left on nodes of the Swarm",
                where=", ".join(sorted({node for node, _ in self._made.values()})),
                why="; ".join(faults),
                remedy="tare clean, once their engines answer",
            )

    def _remove(self, name: str, deadline: float) -> str:
        """Why it is still there; empty: it is not."""
        node, labels = self._made[name]
        while True:
            try:
                remove_volume(self._connect(self._engines[node], _GONE_S), name, labels)
            except NotFound:
                return ""
            except APIError as error:  # its container is still there
                if self._clock() > deadline:
                    return str(error.explanation or error)
                self._wait(_POLL_S)
            except (TareError, DockerException, RequestException, OSError) as error:
                return error.why if isinstance(error, TareError) else str(error)
            else:
                return ""


def left_on(client: docker.DockerClient) -> list[Any]:
    """Containers that filled volumes, and the volumes, which runs of this machine left on a node.

    Raises:
        DockerException: the engine did not tell.
    """
    wanted: dict[str, Any] = {"label": own_labels()}
    containers = client.containers.list(all=True, filters=wanted)
    found: list[Any] = [one for one in containers if OF_A_TASK not in one.labels]
    return [*found, *client.volumes.list(filters=wanted)]
