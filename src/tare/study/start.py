"""How a deployment gets its rows: from a snapshot of filled data directories, or by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.study.schema import Design, Setup


def why_not(setup: Setup, design: Design) -> str:
    """Why a deployment of this setup fills its own table; empty: it starts from a snapshot."""
    database = setup.database
    if design.data != "snapshot":
        return "the study asks for it: design.data: populate"
    if design.reset != "keep":
        return f"design.reset: {design.reset} fills the table anew for every trial"
    if database.kind != "cassandra":
        return f"there are none of {database.kind}"
    if database.image is not None:
        return "it runs another's image"
    if not starts_here(setup):
        return "its data is not on this machine's disk"
    return ""


def starts_here(setup: Setup) -> bool:
    """Whether this process starts the servers, on this machine: no orchestrator, no other host."""
    return setup.platform.machines == "local" and setup.platform.runtime in ("native", "docker")
