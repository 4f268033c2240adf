"""The Kubernetes API for Tare: plain documents in and out, errors in the user's words.

The official client logs in by any kubeconfig and opens connections and streams. Its models are not
used, because manifests are documents.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

from urllib3 import Retry, Timeout

from tare.runtimes.kubernetes.refusals import ApiError, message_of, refused, translated

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from urllib3 import BaseHTTPResponse

    from tare.runtimes.kubernetes.settings import ClusterSettings

Document = dict[str, Any]

_PATHS = {
    "Namespace": ("/api/v1", "namespaces", False),
    "Node": ("/api/v1", "nodes", False),
    "Pod": ("/api/v1", "pods", True),
    "Service": ("/api/v1", "services", True),
    "ConfigMap": ("/api/v1", "configmaps", True),
    "Event": ("/api/v1", "events", True),
    "StatefulSet": ("/apis/apps/v1", "statefulsets", True),
    "Job": ("/apis/batch/v1", "jobs", True),
    "SelfSubjectAccessReview": ("/apis/authorization.k8s.io/v1", "selfsubjectaccessreviews", False),
}
"""Kind to its place in the API: group and version, name in the path, whether in a namespace."""
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError)
"""what the official client raises if a kubeconfig has not the form that it expects"""
_CONNECT_S, _ANSWER_S = 5.0, 20.0
_REFUSALS = 400
_AGAIN = Retry(total=1, connect=0, redirect=0, other=0)
"""a request is repeated once if the connection was lost, as kept ones are now and then"""


class Api(Protocol):
    """What the runtime asks of a cluster."""

    @property
    def server(self) -> str:
        """The address of the API, for messages."""
        ...

    def version(self) -> str:
        """The cluster's version, e.g. v1.33.13."""
        ...

    def get(self, kind: str, name: str, namespace: str = "") -> Document: ...
    def find(
        self, kind: str, namespace: str = "", *, labels: str = "", fields: str = ""
    ) -> list[Document]: ...
    def create(self, manifest: Document, namespace: str = "") -> Document: ...
    def patch(self, kind: str, name: str, change: Document, namespace: str = "") -> Document:
        """Merge a change into an object."""
        ...

    def delete(
        self, kind: str, name: str, namespace: str = "", *, grace_s: int | None = None
    ) -> None:
        """Delete an object and what it owns. One that is not there is no error."""
        ...

    def log(
        self, pod: str, container: str, namespace: str, *, follow: bool = False, last: bool = False
    ) -> Iterator[bytes]:
        """A container's output, in pieces; with `last`, of the container that ran before it."""
        ...

    def connect(self, pod: str, port: int, namespace: str) -> socket.socket:
        """A connection to a port inside a pod, through the API."""
        ...

    def statistics(self, node: str) -> Document:
        """The counts of a node's kubelet for its pods."""
        ...


class ClientApi:
    """The API through the official client."""

    def __init__(self, settings: ClusterSettings) -> None:
        """Read the kubeconfig; nothing is asked yet.

        Raises:
            ApiError: there is no kubeconfig, or it cannot be used.
        """
        from kubernetes import client, config
        from yaml import YAMLError

        wanted = client.Configuration()
        try:
            config.load_kube_config(
                config_file=settings.files,
                context=settings.context or None,
                client_configuration=wanted,
                persist_config=False,
            )
        except (config.ConfigException, YAMLError, OSError, *_MALFORMED) as error:
            raise ApiError(
                "the kubeconfig cannot be used",
                status=0,
                where=settings.files or "",
                why=str(error) or type(error).__name__,
                remedy="kubectl config view; kubectl config get-contexts",
            ) from error
        self._configuration = wanted
        # its connections, with the kubeconfig's certificates; its way of calling changes by version
        self._pool = client.ApiClient(wanted).rest_client.pool_manager

    @property
    def server(self) -> str:
        return str(self._configuration.host)

    def version(self) -> str:
        return str(self._ask("GET", "/version")["gitVersion"])

    def get(self, kind: str, name: str, namespace: str = "") -> Document:
        return self._ask("GET", f"{_path(kind, namespace)}/{name}")

    def find(
        self, kind: str, namespace: str = "", *, labels: str = "", fields: str = ""
    ) -> list[Document]:
        wanted = {"labelSelector": labels, "fieldSelector": fields}
        query = [(key, value) for key, value in wanted.items() if value]
        return list(self._ask("GET", _path(kind, namespace), query=query).get("items") or [])

    def create(self, manifest: Document, namespace: str = "") -> Document:
        return self._ask("POST", _path(manifest["kind"], namespace), body=manifest)

    def patch(self, kind: str, name: str, change: Document, namespace: str = "") -> Document:
        return self._ask(
            "PATCH",
            f"{_path(kind, namespace)}/{name}",
            body=change,
            content="application/merge-patch+json",
        )

    def delete(
        self, kind: str, name: str, namespace: str = "", *, grace_s: int | None = None
    ) -> None:
        options: Document = {"propagationPolicy": "Background"}
        if grace_s is not None:
            options["gracePeriodSeconds"] = grace_s
        try:
            self._ask("DELETE", f"{_path(kind, namespace)}/{name}", body=options)
        except ApiError as error:
            if not error.gone:
                raise

    def log(
        self, pod: str, container: str, namespace: str, *, follow: bool = False, last: bool = False
    ) -> Iterator[bytes]:
        query = [("container", container), ("follow", str(follow).lower())]
        query += [("previous", "true")] if last else []
        path = f"{_path('Pod', namespace)}/{pod}/log"
        patience = None if follow else _ANSWER_S
        answer = self._send("GET", path, query, whole=False, patience=patience)
        try:
            with translated(self.server):
                yield from answer.stream()
        finally:
            answer.release_conn()

    def connect(self, pod: str, port: int, namespace: str) -> socket.socket:
        from kubernetes.stream.ws_client import portforward_call

        with translated(self.server):
            forwarded = portforward_call(
                self._configuration,
                "GET",
                f"{self.server}{_path('Pod', namespace)}/{pod}/portforward",
                query_params=[("ports", str(port))],
                headers=self._login(),
            )
            made: socket.socket = forwarded.socket(port)
        return made

    def statistics(self, node: str) -> Document:
        return self._ask("GET", f"/api/v1/nodes/{node}/proxy/stats/summary")

    def _ask(self, method: str, path: str, **options: Any) -> Document:
        """The document in the answer to a request; arguments as in `_send`."""
        found: Document = json.loads(self._send(method, path, **options).data)
        return found

    def _send(
        self,
        method: str,
        path: str,
        query: list[tuple[str, str]] | None = None,
        *,
        body: Document | None = None,
        content: str = "application/json",
        whole: bool = True,
        patience: float | None = _ANSWER_S,
    ) -> BaseHTTPResponse:
        """The answer to a request; with `whole`, all of it.

        Raises:
            ApiError: there is no answer, or it is a refusal.
        """
        headers = {"Accept": "application/json, */*", "Content-Type": content, **self._login()}
        asked = f"?{urlencode(query)}" if query else ""
        with translated(self.server):
            answer: BaseHTTPResponse = self._pool.request(
                method,
                f"{self.server}{path}{asked}",
                headers=headers,
                body=None if body is None else json.dumps(body),
                timeout=Timeout(connect=_CONNECT_S, read=patience),
                retries=_AGAIN if method == "GET" else False,
                preload_content=whole,
            )
            if answer.status >= _REFUSALS:
                raise refused(self.server, answer.status, message_of(answer))
        return answer

    def _login(self) -> dict[str, str]:
        """Headers for authentication; empty if a certificate is used."""
        token = self._configuration.auth_settings().get("BearerToken")
        return {token["key"]: token["value"]} if token and token["value"] else {}


def _path(kind: str, namespace: str) -> str:
    base, plural, namespaced = _PATHS[kind]
    inside = f"/namespaces/{namespace}" if namespaced and namespace else ""
    return f"{base}{inside}/{plural}"


def may(api: Api, verb: str, resource: str, group: str = "") -> bool:
    """Whether the cluster lets Tare do this everywhere: `resource` may be "pods/log"."""
    name, _, part = resource.partition("/")
    asked = {"verb": verb, "resource": name, "group": group, "subresource": part}
    answer = api.create(
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {k: v for k, v in asked.items() if v}},
        }
    )
    return bool(answer.get("status", {}).get("allowed"))
