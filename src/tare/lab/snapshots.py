"""The snapshots of a run: found in the cache, or made once by a native node of their own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts import snapshot
from tare.artifacts.digest import text_digest
from tare.artifacts.snapshot import Snapshot
from tare.artifacts.tree import default_cache
from tare.errors import ClusterError, DiskFullError, TareError
from tare.lab.deployment import Deployment
from tare.study.schema import Client, Platform

if TYPE_CHECKING:
    from tare.lab.outfit import Outfit
    from tare.lab.progress import Watcher
    from tare.study.schema import Design, Setup

FORMAT = 1
PARTS = ("data", "hints", "saved_caches")
"""What of a Cassandra data directory is kept: after a drain its commit log holds nothing."""
_STOP_S = 90.0
"""longest wait for a node that drains; 13 s were seen"""
_POLL_S = 0.1


def maker(setup: Setup) -> Setup:
    """The setup whose node a snapshot is made by: native, without limits, on this machine."""
    return setup.model_copy(update={"platform": Platform(), "client": Client(), "clusters": 1})


def makers(setups: Sequence[Setup], design: Design) -> list[Setup]:
    """The setups whose nodes the snapshots of these would be made by, each once."""
    made = {maker(one).model_dump_json(): maker(one) for one in setups if not why_not(one, design)}
    return list(made.values())


def key_of(setup: Setup, bits: str, seed: int) -> str:
    """What a snapshot is found by: everything that the data depends on.

    Args:
        setup: the database and its load; the platform is none of it.
        bits: digest of the database's files.
        seed: of the rows.
    """
    database = setup.database.model_dump(mode="json", exclude={"jvm", "heap", "consistency"})
    load = setup.load.model_dump(
        mode="json", include={"records", "fields", "field_length", "statements"}
    )
    told = [FORMAT, bits, seed, database, load, setup.load.table, setup.load.counters]
    return text_digest(json.dumps(told, sort_keys=True))[:16]


def why_not(setup: Setup, design: Design) -> str:
    """Why a deployment of this setup fills its own table; empty: it starts from a snapshot."""
    platform, database = setup.platform, setup.database
    if design.data != "snapshot":
        return "the study asks for it: design.data: populate"
    if design.reset != "keep":
        return f"design.reset: {design.reset} fills the table anew for every trial"
    if database.kind != "cassandra":
        return f"there are none of {database.kind}"
    if database.nodes > 1:
        return "nodes of a cluster know each other's addresses, which change"
    if database.image is not None:
        return "it runs another's image"
    if platform.machines != "local" or platform.runtime not in ("native", "docker"):
        return "its data is not on this machine's disk"
    return ""


class Snapshots:
    """Gives each deployment what it starts from."""

    def __init__(
        self,
        outfit: Outfit,
        design: Design,
        watcher: Watcher,
        seed: int,
        cache: Path | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._outfit = outfit
        self._design = design
        self._watcher = watcher
        self._seed = seed
        self._cache = cache or default_cache() / "snapshots"
        self._wait = wait
        self._found: dict[str, Snapshot] = {}
        self._faults: dict[str, str] = {}

    def of(self, setup: Setup) -> tuple[Snapshot | None, str]:
        """The snapshot that a deployment starts from, or None and why it does not.

        Raises:
            DiskFullError: there is no room for it.
        """
        reason = why_not(setup, self._design)
        if reason:
            return None, reason
        own = maker(setup)
        key = key_of(own, self._outfit.server(own).bits.digest, self._seed)
        if key in self._faults:
            return None, self._faults[key]
        if key not in self._found:
            try:
                self._found[key] = snapshot.find(self._cache, key) or self._make(own, key)
            except DiskFullError:
                raise
            except TareError as error:
                self._faults[key] = f"no snapshot could be made: {error.what}: {error.why}"
                self._watcher.say(f"{self._faults[key]}; deployments fill their own tables")
                return None, self._faults[key]
        return self._found[key], ""

    def _make(self, setup: Setup, key: str) -> Snapshot:
        self._watcher.say("making the snapshot that deployments start from, once: half a minute")
        made = Deployment(
            f"snapshot-{key}", [setup], self._design.warm, self._outfit, self._watcher
        )
        try:
            made.deploy()
            made.populate(self._seed)
            (cluster,) = made.clusters
            (node,) = cluster.nodes
            node.terminate()
            deadline = time.monotonic() + _STOP_S
            while node.exited() is None:
                if time.monotonic() > deadline:
                    raise ClusterError("a node did not stop", where=node.unit.site.name)
                self._wait(_POLL_S)
            data = Path(node.unit.site.data)  # of a native node, on this machine
            return snapshot.keep(self._cache, key, data, PARTS)
        finally:
            for fault in made.destroy():
                self._watcher.say(f"something was left: {fault}")
