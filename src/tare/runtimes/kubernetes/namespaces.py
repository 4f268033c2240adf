"""Namespaces of runs: made, noted on this machine, removed, found again after a crash."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import shlex
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.artifacts.tree import default_cache
from tare.errors import RuntimeUnavailableError, TareError
from tare.machines import cgroups
from tare.runtimes.kubernetes import local_pods, manifests
from tare.runtimes.kubernetes.api import ClientApi
from tare.runtimes.kubernetes.host_data import remove_host_data
from tare.runtimes.kubernetes.names import HOST_LABEL, RUN_LABEL
from tare.runtimes.kubernetes.pod_parts import MAIN
from tare.runtimes.kubernetes.pods import container_id, forget_lost
from tare.runtimes.kubernetes.refusals import ApiError
from tare.runtimes.kubernetes.settings import ClusterSettings
from tare.runtimes.slug import slug
from tare.study.part import StudyPart
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tare.runtimes.kubernetes.api import Api, Document

_GONE_S = 60.0
_POLL_S, _LOOK_S = 0.5, 4.0
HELPER_NOTE, PULL_NOTE = "tare/helper", "tare/pull"
"""annotations: the image of tare-pod, and whether nodes may fetch it; who cleans up needs both"""


@dataclass(frozen=True)
class Namespace:
    """A run's existing namespace."""

    name: str
    run: str
    api: Api
    note: Path
    helper: str
    pull: bool


def notes_directory() -> Path:
    """Where this machine notes which clusters hold something of Tare: `tare clean` asks these."""
    return default_cache() / "kubernetes"


class _Note(StudyPart):
    """What is noted of a namespace: how its cluster is reached, and which one that led to."""

    namespace: str
    cluster: ClusterSettings
    server: str


def _note_of(api: Api, name: str, settings: ClusterSettings) -> Path:
    """The file that notes a namespace; other clusters may have one of that name."""
    cluster = "\n".join((settings.kubeconfig, settings.context, api.server))
    digest = hashlib.sha256(cluster.encode()).hexdigest()[:10]
    return notes_directory() / f"{name}.{digest}.json"


def make(
    api: Api, name: str, run: str, settings: ClusterSettings, helper: str, *, pull: bool
) -> Namespace:
    """Make a run's namespace, noted before it exists, so that a crash cannot hide it.

    Raises:
        RuntimeUnavailableError: it exists already, or may not be made.
    """
    note = _note_of(api, name, settings)
    noted = _Note(namespace=name, cluster=settings, server=api.server)
    replace_file(note, noted.model_dump_json(by_alias=True))
    document = manifests.namespace(name, run, platform.node())
    document["metadata"]["annotations"] |= {HELPER_NOTE: helper, PULL_NOTE: str(pull).lower()}
    try:
        api.create(document)
    except ApiError as error:
        if not error.exists:
            raise
        found = api.get("Namespace", name)
        if found["metadata"].get("deletionTimestamp"):
            raise _stuck(api, found) from error
        if not _ours_and_empty(api, found, document):
            raise RuntimeUnavailableError(
                f"the namespace {name} exists already",
                where=api.server,
                why="another run of that name uses it, or one was interrupted",
                remedy="tare clean, or give this run another name with --name",
            ) from error
    return Namespace(name, run, api, note, helper, pull)


def _ours_and_empty(api: Api, found: Document, wanted: Document) -> bool:
    """Whether an earlier run of this name here could not remove this namespace."""
    metadata = found["metadata"]
    own = wanted["metadata"]["labels"].items() <= (metadata.get("labels") or {}).items()
    return own and not api.find("Pod", str(metadata["name"]))


def remove(
    one: Namespace,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Remove a namespace with all that is in it, and what its pods left in directories of nodes.

    If a node still holds its data, the empty namespace stays: by it `tare clean` finds the data.

    Raises:
        RuntimeUnavailableError: a node holds data that could not be removed, or the namespace is
            stuck in deletion, with the cluster's reason.
    """
    thaw_pods(one.api, one.name)
    try:
        remove_host_data(
            one.api, one.name, one.run, one.helper, pull=one.pull, clock=clock, wait=wait
        )
    except ApiError:
        raise
    except TareError:
        _empty(one)
        raise
    one.api.delete("Namespace", one.name)
    looked = clock()
    deadline = looked + _GONE_S
    while True:
        try:
            left = one.api.get("Namespace", one.name)
        except ApiError as error:
            if not error.gone:
                raise
            break
        if clock() > deadline:
            raise _stuck(one.api, left)
        if clock() - looked >= _LOOK_S:
            looked = clock()
            forget_lost(one.api, one.name, one.api.find("Pod", one.name))
        wait(_POLL_S)
    one.note.unlink(missing_ok=True)


def _empty(one: Namespace) -> None:
    """Delete what runs in a namespace, and everything that would hinder the next run there."""
    for pod in one.api.find("Pod", one.name):
        for owner in pod["metadata"].get("ownerReferences") or []:
            for kind in (str(owner["kind"]), "Service", "ConfigMap"):
                one.api.delete(kind, str(owner["name"]), one.name)
        one.api.delete("Service", str(pod["metadata"]["name"]), one.name)
    forget_lost(one.api, one.name, one.api.find("Pod", one.name))


def thaw_pods(api: Api, namespace: str) -> None:
    """Continue pods of this machine that a dead run left paused."""
    for pod in api.find("Pod", namespace):
        container = container_id(pod, MAIN)
        cgroups.thaw_left(local_pods.accounting_of(container, lambda: 0.0).paths)


def _stuck(api: Api, document: Document) -> RuntimeUnavailableError:
    """The error for a namespace that is stuck in deletion."""
    name = str(document["metadata"]["name"])
    conditions = (document.get("status") or {}).get("conditions") or []
    told = [
        f"{entry.get('type')}: {entry.get('message')}"
        for entry in conditions
        if entry.get("status") == "True"
    ]
    return RuntimeUnavailableError(
        f"the namespace {name} is stuck in deletion",
        where=api.server,
        why="; ".join([*told, *_held(api, name)]) or "it is still there, and no reason is told",
        remedy=f"kubectl describe namespace {name}; tare clean, once what holds it is gone",
    )


def _held(api: Api, namespace: str) -> list[str]:
    """Objects with finalizers, of the kinds that Tare may list."""
    found: list[str] = []
    for kind in ("Pod", "ConfigMap"):
        with contextlib.suppress(TareError):
            for one in api.find(kind, namespace):
                holders = one["metadata"].get("finalizers") or []
                if holders:
                    found.append(f"{kind} {one['metadata']['name']} waits for {', '.join(holders)}")
    return found


def leftovers(
    connect: Callable[[ClusterSettings], Api] = ClientApi,
) -> tuple[list[Namespace], list[str]]:
    """Namespaces that runs on this machine left, in every cluster that was noted.

    A cluster without a note is not asked: a kubeconfig may lead to somebody else's cluster.

    Returns:
        The namespaces, and a line for each cluster that does not answer or is no longer known. It
        keeps its note, to be asked again.
    """
    found: list[Namespace] = []
    unanswered: list[str] = []
    for file in sorted(notes_directory().glob("*.json")):
        try:
            found += _ours(connect, _read(file), file)
        except TareError as error:
            unanswered.append(
                f"the cluster of {file.name.partition('.')[0]}: {error.what} ({error.where}); "
                f"if it is gone for good: rm {shlex.quote(str(file))}"
            )
    return found, unanswered


def _read(file: Path) -> _Note:
    try:
        return _Note.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RuntimeUnavailableError(
            "its note cannot be read", where=str(file), why=str(error)
        ) from error


def _ours(connect: Callable[[ClusterSettings], Api], note: _Note, file: Path) -> list[Namespace]:
    """The namespace of a note, if it is still there; else the note is removed.

    Raises:
        RuntimeUnavailableError: its cluster does not answer, or is not the one that is named now.
    """
    api = connect(note.cluster)
    if api.server != note.server:
        raise RuntimeUnavailableError(
            "the kubeconfig leads to another one now", where=f"{api.server}, not {note.server}"
        )
    labels = f"{RUN_LABEL},{HOST_LABEL}={slug(platform.node(), 63)}"
    documents = api.find("Namespace", labels=labels)
    found = [
        _namespace(document, api, file)
        for document in documents
        if document["metadata"]["name"] == note.namespace
    ]
    if not found:
        file.unlink(missing_ok=True)
    return found


def _namespace(document: Document, api: Api, note: Path) -> Namespace:
    metadata = document["metadata"]
    notes = metadata.get("annotations") or {}
    return Namespace(
        name=str(metadata["name"]),
        run=str(notes.get("tare/run") or ""),
        api=api,
        note=note,
        helper=str(notes.get(HELPER_NOTE) or ""),
        pull=notes.get(PULL_NOTE) == "true",
    )
