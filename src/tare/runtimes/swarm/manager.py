"""A Swarm's manager for Tare: plain documents in and out, errors in the user's words."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal, Protocol

from docker.errors import APIError, DockerException
from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

from tare.runtimes.orchestrated import OrchestratorError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import docker

Document = dict[str, Any]
Kind = Literal["node", "service", "task", "config", "network", "container"]
_LIST = {"container": "containers", "network": "networks", "node": "nodes", "service": "services",
         "task": "tasks", "config": "configs"}  # fmt: skip
_ANSWERED_NOT = "docker node ls; if the Swarm has lost its manager: docker swarm init \
--force-new-cluster on a node that was one"


class SwarmError(OrchestratorError):
    """The manager refused something, or does not answer."""


class Manager(Protocol):
    """What Tare asks of a manager's engine. Every call may raise SwarmError."""

    where: str

    def info(self) -> Document: ...
    def find(self, kind: Kind, filters: Mapping[str, Any]) -> list[Document]:
        """All matching objects of a kind, as the engine lists them."""
        ...

    def inspect(self, kind: Kind, name: str) -> Document: ...
    def create_network(self, name: str, labels: Mapping[str, str]) -> str:
        """An attachable overlay network; its id."""
        ...

    def create_config(self, name: str, text: str, labels: Mapping[str, str]) -> str: ...
    def create_service(self, name: str, document: Document) -> str:
        """A service of `TaskTemplate`, `Labels` and `EndpointSpec`, with one task; its id."""
        ...

    def remove(self, kind: Kind, name: str) -> None:
        """Remove it, if it is still there."""
        ...

    def logs(self, service: str) -> Iterator[bytes]:
        """The output of a service's tasks so far."""
        ...

    def run(
        self, name: str, document: Mapping[str, Any], network: str, within_s: float
    ) -> tuple[int, bytes]:
        """Run a container of the manager's own engine to its end; its status and its output."""
        ...


class EngineManager:
    """The manager that a Docker engine is."""

    def __init__(self, client: docker.DockerClient, where: str) -> None:
        self.client = client
        self.where = where

    def _ask(self, what: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except APIError as error:
            status = int(error.status_code or 0)
            raise self._refused(what, str(error.explanation or error), status) from error
        except (DockerException, RequestException, OSError) as error:
            raise self._refused(what, str(error), 0) from error

    def _refused(self, what: str, why: str, status: int) -> SwarmError:
        if status == 0:
            return SwarmError(
                "the Swarm's manager does not answer",
                where=self.where, why=f"{what}: {why}", remedy=_ANSWERED_NOT, status=0,
            )  # fmt: skip
        return SwarmError(
            f"the Swarm's manager refused to {what}",
            where=self.where,
            why=why,
            remedy=_ANSWERED_NOT if "swarm" in why.lower() else "docker service ls; docker node ls",
            status=status,
        )

    def info(self) -> Document:
        return dict(self._ask("describe itself", self.client.api.info))

    def find(self, kind: Kind, filters: Mapping[str, Any]) -> list[Document]:
        api, wanted = self.client.api, dict(filters)
        if kind == "container":
            found = self._ask("list containers", lambda: api.containers(all=True, filters=wanted))
        else:
            found = self._ask(
                f"list {_LIST[kind]}", lambda: getattr(api, _LIST[kind])(filters=wanted)
            )
        return list(found)

    def inspect(self, kind: Kind, name: str) -> Document:
        return dict(
            self._ask(
                f"show {kind} {name}", lambda: getattr(self.client.api, f"inspect_{kind}")(name)
            )
        )

    def create_network(self, name: str, labels: Mapping[str, str]) -> str:
        made = self._ask(
            f"create network {name}",
            lambda: self.client.api.create_network(
                name, driver="overlay", attachable=True, labels=dict(labels), check_duplicate=True
            ),
        )
        return str(made["Id"])

    def create_config(self, name: str, text: str, labels: Mapping[str, str]) -> str:
        made = self._ask(
            f"create config {name}",
            lambda: self.client.api.create_config(name, text.encode(), labels=dict(labels)),
        )
        return str(made["ID"])

    def create_service(self, name: str, document: Document) -> str:
        api: Any = self.client.api  # the stubs leave services untyped
        made = self._ask(
            f"create service {name}",
            lambda: api.create_service(
                document["TaskTemplate"],
                name=name,
                labels=document["Labels"],
                mode={"Replicated": {"Replicas": 1}},
                endpoint_spec=document["EndpointSpec"],
            ),
        )
        return str(made["ID"])

    def remove(self, kind: Kind, name: str) -> None:
        api: Any = self.client.api
        calls: dict[str, Callable[[], Any]] = {
            "service": lambda: api.remove_service(name),
            "config": lambda: api.remove_config(name),
            "network": lambda: api.remove_network(name),
            "container": lambda: api.remove_container(name, force=True, v=True),
        }
        try:
            self._ask(f"remove {kind} {name}", calls[kind])
        except SwarmError as error:
            if not error.gone:
                raise

    def logs(self, service: str) -> Iterator[bytes]:
        api = self.client.api
        pieces = self._ask(
            "show logs", lambda: api.service_logs(service, stdout=True, stderr=True, is_tty=False)
        )
        try:
            yield from pieces
        except (DockerException, HTTPError, OSError) as error:  # it goes away in the middle
            raise self._refused("show logs", str(error), 0) from error

    def run(
        self, name: str, document: Mapping[str, Any], network: str, within_s: float
    ) -> tuple[int, bytes]:
        api = self.client.api
        settings = api.create_host_config(network_mode=network)
        made = self._ask(
            f"create container {name}",
            lambda: api.create_container(name=name, host_config=settings, **document),
        )
        try:
            self._ask(f"start container {name}", lambda: api.start(made["Id"]))
            status = self._ask("wait", lambda: api.wait(made["Id"], timeout=int(within_s)))
            text = self._ask("show logs", lambda: api.logs(made["Id"], stdout=True, stderr=False))
            return int(status["StatusCode"]), bytes(text)
        finally:
            with contextlib.suppress(SwarmError):
                self.remove("container", made["Id"])


def label_filter(labels: Sequence[str] | Mapping[str, str]) -> dict[str, Any]:
    """A filter by labels, NAME or NAME=VALUE."""
    if isinstance(labels, dict):
        return {"label": [f"{key}={value}" for key, value in labels.items()]}
    return {"label": list(labels)}
