"""A query to the published findings: the conditions of a cluster, from options or a study."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tare.databases.registry import declared
from tare.knowledge.from_run import side_of
from tare.knowledge.nearness import machine_kind
from tare.knowledge.schema import compared
from tare.load.workloads import sides
from tare.runtimes.registry import BARE, CONTAINER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.knowledge.schema import Side
    from tare.study.conditions import Condition
    from tare.study.schema import Setup

_OPERATIONS = {
    "ycsb-c": "read",
    "stress-read": "read",
    "stress-write": "write",
    "stress-mixed": "mixed",
}
"""Workloads of one kind of operation; YCSB A and B read and update, so `all` is asked for them."""
_INSTANCE = "instance"
"""The levels of a factor of this name say what kind of machine a condition stands for."""
REPLACED = ("replication_factor", "network", "storage", "plugin", "address", "clusters")
"""Fields that may change while the platform stays: each has an `against_...` of its own."""


@dataclass(frozen=True)
class Query:
    """The conditions of the question. Empty or None: not stated, and so not compared.

    Attributes:
        platform, over: the platform in question, and the one it replaces.
        client: how the load client is run; native unless stated.
        against_...: the replaced value, where it is not the platform alone.
        machines: the kind that both sides run on: `vm` or `physical`.
        instance: the cloud's name of such a machine, as m3.large.
        share: load as a share of the maximum, 0 to 1.
        at_rate: operations come at a set rate; how many are then in flight, and their share of the
            maximum, are not stated.
        consistency: how many copies answer, as in a database's declaration: QUORUM.
        clusters: number side by side, if more than one.
        reads: share of reads in the workload, if it differs from the usual one of that name.
    """

    database: str = ""
    version: str = ""
    platform: str = CONTAINER
    over: str = BARE
    network: str = ""
    storage: str = ""
    plugin: str = ""
    address: str = ""
    against_network: str = ""
    against_storage: str = ""
    against_plugin: str = ""
    against_address: str = ""
    against_clusters: int | None = None
    against_replication_factor: int | None = None
    machines: str = ""
    instance: str = ""
    client: str = BARE
    operation: str = ""
    workload: str = ""
    share: float | None = None
    threads: int | None = None
    at_rate: bool | None = None
    nodes: int | None = None
    replication_factor: int | None = None
    consistency: str = ""
    clusters: int | None = None
    reads: float | None = None

    @property
    def replaced(self) -> dict[str, tuple[Any, Any]]:
        """Name to (new, old) of each change beside the platform, or while the platform stays."""
        pairs = {name: (getattr(self, name), getattr(self, f"against_{name}")) for name in REPLACED}
        return {name: pair for name, pair in pairs.items() if pair[1] not in ("", None)}

    def stated(self) -> dict[str, Any]:
        """The question in words, as a report repeats it."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}

    def words(self) -> str:
        """One line: cassandra on docker rather than native, network bridge, ..."""
        said = self.stated()
        head = f"{said.pop('database', 'any database')}"
        version = said.pop("version", "")
        for name in ("platform", "over", "reads", *(f"against_{one}" for one in REPLACED)):
            said.pop(name, None)
        if self.platform == self.over:
            for name in self.replaced:
                said.pop(name, None)  # the sides name it
        share = said.pop("share", None)
        at_rate = said.pop("at_rate", None)
        parts = [f"{name.replace('_', ' ')} {value}" for name, value in said.items()]
        if share is not None:
            parts.append(f"load {share:.0%} of the maximum")
        elif at_rate:
            parts.append("load at a set rate")
        what = f"{head} {version}".strip()
        return ", ".join([f"{what} on {self.sides()}", *parts])

    def sides(self) -> str:
        """The two sides: docker rather than native, or the change inside docker."""
        moved = [
            f"{name.replace('_', ' ')} {new or 'another'} rather than {old}"
            for name, (new, old) in self.replaced.items()
        ]
        if self.platform != self.over:
            old = "".join(f" {name} {old}" for name, (_, old) in self.replaced.items())
            return f"{self.platform} rather than {self.over}{' with' if old else ''}{old}"
        if not moved:
            return f"{self.platform} with another client, network, plugin or storage"
        return f"{self.platform} with {' and '.join(moved)}"


def query_of(
    setup: Setup,
    baseline: Setup,
    levels: Mapping[str, str] | None = None,
    machines: tuple[Any, Any] = (None, None),
) -> Query:
    """The question that a treatment condition of a study asks.

    Args:
        levels: factor to level of the condition; some name what a setup stands for.
        machines: the observed machines of both sides, as `side_of` takes them.
    """
    side, base = side_of(setup, machines[0]), side_of(baseline, machines[1])
    platform, over = compared(side, base)
    inside = platform == over
    against: dict[str, Any] = {
        f"against_{name}": getattr(base, name) or ""
        for name in ("network", "storage", "plugin", "address")
        if inside and getattr(side, name) != getattr(base, name)
    }
    return Query(
        database=setup.database.kind,
        version=setup.database.version,
        platform=platform,
        over=over,
        network=side.network or "",
        storage=side.storage or "",
        plugin=side.plugin,
        address=side.address,
        machines=_kind(side, base),
        instance=(levels or {}).get(_INSTANCE, ""),
        client=side.client or BARE,
        operation=_OPERATIONS.get(setup.load.label, "all"),
        workload=setup.load.label,
        threads=_threads(setup),
        at_rate=_at_rate(setup) or None,
        nodes=setup.database.nodes,
        replication_factor=setup.database.replication_factor,
        consistency=declared(setup.database.kind).acknowledged(setup.database),
        clusters=setup.clusters if setup.clusters > 1 else None,
        reads=_reads(setup),
        **against,
    )


def _kind(side: Side, base: Side) -> str:
    """The machines of both sides, if they are no part of the question: a guest is a machine."""
    return machine_kind(side.machines if side.machines == base.machines else None) or ""


def _reads(setup: Setup) -> float | None:
    """Share of reads in all operations of the load."""
    reads, writes = (sum(side.values()) for side in sides(setup.load))
    return reads / (reads + writes) if reads + writes else None


def _threads(setup: Setup) -> int | None:
    """Operations in flight in a closed loop; None where it is open, or the number must be found."""
    load = setup.load
    open_loop = load.rate is not None or bool(load.phases)
    return None if open_loop or load.sought is not None else int(load.threads)


def _at_rate(setup: Setup) -> bool:
    """An open loop whose rate is a number, rather than a share of a maximum."""
    load = setup.load
    return bool(load.phases) or (load.rate is not None and load.sought is None)


def queries_of(conditions: Sequence[Condition], baseline: Condition) -> dict[str, Query]:
    """Condition to its question, of every condition whose platform is not the baseline's.

    Conditions that ask the same question give it once, under the first one's name.
    """
    found: dict[str, Query] = {}
    for one in conditions:
        question = query_of(one.setup, baseline.setup, one.levels)
        moved = _place(one.setup) != _place(baseline.setup)
        if moved and question not in found.values():
            found[one.name] = question
    return found


def _place(setup: Setup) -> object:
    """The platform of a setup, whatever its number of clusters."""
    return side_of(setup).model_copy(update={"clusters": None})
