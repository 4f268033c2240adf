"""How a deployment starts: from a snapshot or not, with a class-data archive or not, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.databases import registry as databases
from tare.runtimes.registry import declared

if TYPE_CHECKING:
    from tare.study.schema import Design, Setup

_SHARING = (
    "-Xshare", "-XX:SharedArchiveFile", "-XX:SharedClassListFile", "-XX:DumpLoadedClassList",
    "-XX:ArchiveClassesAtExit", "-XX:+UseSharedSpaces", "-XX:-UseSharedSpaces",
)  # fmt: skip
"""JVM arguments that name the archive from which it takes its classes, or to which it writes."""


def why_not(setup: Setup, design: Design, *, here: bool = False) -> str:
    """Why a deployment of this setup fills its own table; empty: it starts from a snapshot.

    Args:
        here: judge also by what is named here; else as if all that could be named were named.
    """
    database = setup.database
    if design.data != "snapshot":
        return "the study asks for it: design.data: populate"
    if design.reset != "keep":
        return f"design.reset: {design.reset} fills the table anew for every trial"
    if database.stubbed:
        return "the stub keeps nothing"
    if why := databases.declared(database.kind).unsnapshotted(database):
        return why
    if database.image is not None:
        return "it runs another's image"
    return declared(setup.platform.runtime).data_out_of_reach(setup.platform, here=here)


def snapshot_content(setup: Setup) -> list[Any]:
    """Everything in a setup that its snapshot's data depends on; the platform is not part of it."""
    database = setup.database.model_dump(mode="json", exclude={"jvm", "heap", "consistency"})
    load = setup.load.model_dump(
        mode="json", include={"records", "fields", "field_length", "statements"}
    )
    return [database, load, setup.load.table, setup.load.counters]


def why_no_archive(setup: Setup) -> str:
    """Why the nodes of this setup cannot start from a class-data archive; empty: they can."""
    database = setup.database
    if not databases.declared(database.kind).archives_classes:
        return f"there are none of {database.kind}"
    if database.image is not None or database.home is not None:
        return "a condition runs other files than the locked ones"
    if not starts_here(setup):
        return "a condition's servers are not started by this machine"
    own = next((one for one in database.jvm if one.startswith(_SHARING)), "")
    return f"the study asks for something else: {own}" if own else ""


def starts_here(setup: Setup) -> bool:
    """Whether this process starts the servers on this machine: no orchestrator, no other host."""
    platform = setup.platform
    return platform.source.here and not declared(platform.runtime).orchestrator
