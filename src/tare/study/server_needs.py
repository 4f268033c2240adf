"""Needs of one server of a database: memory, disk, and time to start and to fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.databases.registry import declared
from tare.study.quantities import GIB
from tare.study.start import why_no_archive

if TYPE_CHECKING:
    from tare.databases.declaration import ServerNeeds
    from tare.study.origins import FieldPath
    from tare.study.schema import Setup

ARCHIVED_START_S = 4.0
"""A node that maps an archive of its classes: 2.3 s natively, 3.3 s in a container, with margin."""


def needs_of(setup: Setup) -> ServerNeeds:
    """The needs of a server of the setup's database."""
    return declared(setup.database.kind).needs


def deploy_s(setup: Setup) -> float:
    """Seconds until one cluster takes the load, without what its runtime adds."""
    own, nodes = needs_of(setup), setup.database.nodes
    election = own.election_s if nodes > 1 else 0.0
    start_s = own.start_s if why_no_archive(setup) else ARCHIVED_START_S
    return nodes * start_s + own.form_s + election


def node_memory(setup: Setup, machine: int | None) -> int:
    """Bytes that one server may come to hold in memory, at most its limit.

    Args:
        machine: memory of the machine, which a server without a limit sees; None: not known.
    """
    limit = setup.platform.limits.memory
    own = declared(setup.database.kind)
    node = own.kept_in_memory(setup, machine) + own.beside_data(setup)
    return node if limit is None else int(min(node, limit))


def memory_in_words(setup: Setup, machine: int) -> tuple[FieldPath, str, str]:
    """The field that decides a server's memory, how much it holds, and what lowers it."""
    own = declared(setup.database.kind)
    return own.memory_in_words(setup, f"{own.kept_in_memory(setup, machine) / GIB:.1f}GiB a node")
