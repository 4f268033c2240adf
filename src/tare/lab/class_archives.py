"""Class-data archives: all deployments of a run start with one, or none does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts import class_archive
from tare.artifacts.cache_entry import only_maker
from tare.artifacts.digest import text_digest
from tare.artifacts.tree import default_cache
from tare.databases.cassandra import configuration
from tare.databases.cassandra.cluster import CassandraCluster
from tare.databases.registry import declared
from tare.errors import ArtifactError, DiskFullError, TareError
from tare.lab.own_deployment import end_by_themselves, own_deployment
from tare.study.schema import Client, Platform
from tare.study.start import why_no_archive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.artifacts.class_archive import ClassArchive
    from tare.artifacts.tree import Tree
    from tare.lab.progress import Watcher
    from tare.lab.run_resources import RunResources
    from tare.study.schema import Database, Design, Setup

FORMAT = 1
_CLASSES = "classes.txt"
"""in the data directory of the node that lists the classes it loads"""
_STOP_S = 60.0
"""longest wait for the end of that node"""


def recorder(setup: Setup) -> Setup:
    """The setup of the node that lists its classes: one native node on this machine."""
    alone = {"nodes": 1, "replication_factor": 1}
    return setup.model_copy(
        update={
            "database": setup.database.model_copy(update=alone),
            "platform": Platform(),
            "client": Client(),
            "clusters": 1,
        }
    )


def recorders(setups: Sequence[Setup]) -> list[Setup]:
    """The recorders of a run; none where a deployment can have no archive."""
    return [] if why_none(setups) else [recorder(one) for one in setups]


def why_none(setups: Sequence[Setup]) -> str:
    """Why no deployment of a run gets an archive; empty: all do."""
    return next((why for one in setups if (why := why_no_archive(one))), "")


def key_of(database: Database, bits: str) -> str:
    """The key of an archive: the files and all arguments of the JVM."""
    arguments = configuration.jvm_arguments(
        heap_bytes=database.heap, extra=database.jvm, class_path=()
    )
    return text_digest(json.dumps([FORMAT, bits, arguments]))[:16]


class ClassArchives:
    """Gives each deployment the archive that it starts with."""

    def __init__(
        self,
        resources: RunResources,
        design: Design,
        watcher: Watcher,
        setups: Sequence[Setup],
        cache: Path | None = None,
    ) -> None:
        """Nothing is looked up yet; `setups` are the setups of all conditions of the run."""
        self._resources = resources
        self._design = design
        self._watcher = watcher
        self._cache = cache or default_cache() / "classes"
        self._setups = setups
        self._found: dict[str, ClassArchive] = {}
        self._settled = False
        self._why = ""

    def of(self, setup: Setup) -> tuple[ClassArchive | None, str]:
        """The archive that a deployment starts with, or None and why it has none.

        The first call finds or makes all archives of the run. Nothing fails without them: if one
        is not available, no deployment of the run gets any.

        Raises:
            DiskFullError: there is no room.
        """
        if not self._settled:
            self._settle()
        if self._why:
            return None, self._why
        return self._found[self._key(recorder(setup))], ""

    def _settle(self) -> None:
        self._why = why_none(self._setups)
        for one in () if self._why else self._setups:
            try:
                self._provide(recorder(one))
            except DiskFullError:
                raise
            except (TareError, OSError) as error:
                self._why = str(error)
                break
        self._settled = True
        if self._why and any(declared(one.database.kind).archives_classes for one in self._setups):
            self._watcher.say(f"nodes load their classes from their jars: {self._why}")

    def _key(self, own: Setup) -> str:
        return key_of(own.database, self._resources.server(own).bits.digest)

    def _provide(self, own: Setup) -> None:
        key = self._key(own)
        if key in self._found:
            return
        tree = self._resources.tree(own)
        if why_not := class_archive.clear_jar_times(tree):
            raise ArtifactError(why_not)
        with only_maker(self._cache, key):
            found = class_archive.find(self._cache, key)
            self._found[key] = found or self._make(own, key, tree)

    def _make(self, own: Setup, key: str, tree: Tree) -> ClassArchive:
        self._watcher.say("making the class archive that nodes start with, once: half a minute")
        with own_deployment(
            f"classes-{key}", own, self._design, self._resources, self._watcher
        ) as made:
            (cluster,) = made.clusters
            if not isinstance(cluster, CassandraCluster):
                raise ArtifactError("a cluster of another database has no classes")
            cluster.record_classes = _CLASSES
            made.deploy()
            (node,) = cluster.nodes
            end_by_themselves([node], _STOP_S)  # so that its list is whole
            arguments = configuration.jvm_arguments(
                heap_bytes=own.database.heap,
                extra=own.database.jvm,
                class_path=class_archive.class_path(tree.jars),
            )
            classes = Path(node.unit.site.data) / _CLASSES
            return class_archive.make(self._cache, key, tree, arguments, classes)
