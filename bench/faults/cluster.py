"""The Kubernetes of `make rig` for a campaign: stops its API server, lists its namespaces."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import psutil
from kubernetes import client, config
from tests.integration.rigs import KUBERNETES

from tare.runtimes.kubernetes.settings import VARIABLE

ANSWERS_S = 30
NAMESPACES: dict[str, dict[str, str]] = {
    "tare-r0": {},
    "tare-r1-elsewhere": {"tare.run": "r1", "tare.host": "another-host"},
}
"""Of others, with their labels: one with a name as Tare gives, one that another machine made."""


class Cluster:
    """A rig that is up, which the environment names."""

    def __init__(self) -> None:
        servers = [one for one in psutil.process_iter() if _serves(one)]
        if not servers or VARIABLE not in os.environ:
            raise SystemExit("no rig is up, or none is named: make rig, and export what it says")
        self._server = servers[0]
        self._api: Any = client.CoreV1Api(config.new_client_from_config())

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """The API server takes requests and answers none."""
        self._server.suspend()
        try:
            yield
        finally:
            self._server.resume()

    def namespaces(self) -> set[str]:
        """Those that have Tare's label or a name as Tare gives, decoys included."""
        return {
            f"{name} {metadata.uid[:8]}"
            for name, metadata in self._listed().items()
            if "tare.run" in (metadata.labels or {}) or name.startswith("tare-")
        }

    def decoys(self) -> dict[str, str]:
        """Namespaces of others that are there, with what each is known by."""
        return {
            f"namespace {name}": f"{metadata.uid} {metadata.deletion_timestamp}"
            for name, metadata in self._listed().items()
            if name in NAMESPACES
        }

    def make_decoys(self) -> None:
        for name, labels in NAMESPACES.items():
            metadata = client.V1ObjectMeta(name=name, labels=labels)
            self._api.create_namespace(client.V1Namespace(metadata=metadata))

    def remove_decoys(self) -> None:
        for name in NAMESPACES:
            with contextlib.suppress(client.ApiException):
                self._api.delete_namespace(name)

    def _listed(self) -> dict[str, Any]:
        """Names of all namespaces to what the cluster tells of each."""
        listed = self._api.list_namespace(_request_timeout=ANSWERS_S)
        return {one.metadata.name: one.metadata for one in listed.items}


def _serves(process: psutil.Process) -> bool:
    """Whether this is the API server of the rig."""
    with contextlib.suppress(psutil.Error):
        rig = process.environ().get("TARE_RIG")
        return process.name() == "kube-apiserver" and rig == str(KUBERNETES.state)
    return False
