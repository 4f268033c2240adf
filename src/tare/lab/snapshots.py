"""The snapshots of a run: found in the cache, or made once by a separate native cluster."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts import snapshot
from tare.artifacts.cache_entry import only_maker
from tare.artifacts.digest import text_digest
from tare.artifacts.snapshot import Snapshot
from tare.artifacts.tree import default_cache
from tare.databases.registry import declared
from tare.errors import ArtifactError, ClusterError, DiskFullError, TareError
from tare.lab.own_deployment import end_by_themselves, own_deployment
from tare.study.quantities import GIB
from tare.study.schema import Client, Platform
from tare.study.server_needs import node_memory
from tare.study.start import snapshot_content, why_not

if TYPE_CHECKING:
    from tare.databases.declaration import Stopped
    from tare.lab.progress import Watcher
    from tare.lab.run_resources import RunResources
    from tare.runtimes.unit import Running
    from tare.study.schema import Design, Setup

FORMAT = 2
_STOP_S = 90.0
"""longest wait for nodes that drain; 8 to 13 s were seen"""


def maker(setup: Setup) -> Setup:
    """The setup of the nodes that make a snapshot: native, without limits, on this machine."""
    return setup.model_copy(update={"platform": Platform(), "client": Client(), "clusters": 1})


def makers(setups: Sequence[Setup], design: Design) -> list[Setup]:
    """The setups of the nodes that would make these setups' snapshots, each once."""
    made = {maker(one).model_dump_json(): maker(one) for one in setups if not why_not(one, design)}
    return list(made.values())


def key_of(setup: Setup, bits: str, seed: int) -> str:
    """The key of a snapshot: everything that the data depends on.

    Args:
        setup: the database and its load.
        bits: digest of the database's files.
        seed: of the rows.
    """
    content = [FORMAT, bits, seed, *snapshot_content(setup)]
    return text_digest(json.dumps(content, sort_keys=True))[:16]


def refuse_too_large(setup: Setup, memory: int) -> None:
    """Refuse a snapshot whose nodes do not fit into this machine: others may be larger.

    Args:
        setup: of these nodes.
        memory: of this machine, bytes.

    Raises:
        ArtifactError: they do not.
    """
    needed = setup.database.nodes * node_memory(setup, memory)
    if needed > memory:
        raise ArtifactError(
            "its nodes do not fit into this machine",
            why=f"{setup.database.nodes} of them take {needed / GIB:.1f} GiB of {memory / GIB:.1f}",
            remedy="run Tare on a larger machine, lower database.heap, or set design.data to "
            "populate",
        )


class Snapshots:
    """Gives each deployment the snapshot that it starts from."""

    def __init__(
        self,
        resources: RunResources,
        design: Design,
        watcher: Watcher,
        seed: int,
        cache: Path | None = None,
    ) -> None:
        self._resources = resources
        self._design = design
        self._watcher = watcher
        self._seed = seed
        self._cache = cache or default_cache() / "snapshots"
        self._found: dict[str, Snapshot] = {}
        self._faults: dict[str, str] = {}
        self._told: set[str] = set()

    def of(self, setup: Setup) -> tuple[Snapshot | None, str]:
        """The snapshot that a deployment starts from, or None and why there is none.

        Raises:
            DiskFullError: there is no room for it.
        """
        own = maker(setup)
        reason = why_not(setup, self._design, here=True)
        reason = reason or self._resources.server(own).unsnapshotted
        if reason:
            self._tell_once(f"deployments fill their own tables: {reason}")
            return None, reason
        key = key_of(own, self._resources.server(own).bits.digest, self._seed)
        if key in self._faults:
            return None, self._faults[key]
        if key not in self._found:
            try:
                with only_maker(self._cache, key):
                    found = snapshot.find(self._cache, key)
                    self._found[key] = found or self._make(own, key)
            except DiskFullError:
                raise
            except TareError as error:
                self._faults[key] = f"no snapshot could be made: {error.what}: {error.why}"
                self._tell_once(f"deployments fill their own tables: {self._faults[key]}")
                return None, self._faults[key]
        return self._found[key], ""

    def _make(self, setup: Setup, key: str) -> Snapshot:
        refuse_too_large(setup, self._resources.machine.memory_bytes)
        self._watcher.say("making the snapshot that deployments start from, once: half a minute")
        with own_deployment(
            f"snapshot-{key}", setup, self._design, self._resources, self._watcher
        ) as made:
            made.deploy()
            made.populate(self._seed)
            (cluster,) = made.clusters
            stopped = declared(setup.database.kind).stopped
            self._drain(cluster.nodes, stopped)
            # of native nodes: on this machine
            directories = [Path(node.unit.site.data) for node in cluster.nodes]
            return snapshot.keep(self._cache, key, directories, stopped.parts, stopped.leave_out)

    def _drain(self, nodes: Sequence[Running], stopped: Stopped) -> None:
        """Let all nodes write their data to their tables and end, together.

        Raises:
            ClusterError: a node did not end in time, or not by itself: data may be missing.
        """
        for node, ended in zip(nodes, end_by_themselves(nodes, _STOP_S), strict=True):
            if ended.status != stopped.status:
                raise ClusterError(
                    "a node did not stop cleanly", where=node.unit.site.name, why=ended.detail
                )

    def _tell_once(self, text: str) -> None:
        if text not in self._told and self._design.data == "snapshot":
            self._told.add(text)
            self._watcher.say(text)
