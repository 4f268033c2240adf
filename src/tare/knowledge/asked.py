"""What somebody asks about: the conditions of a cluster to be, from options or from a study."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tare.knowledge.from_run import side_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.knowledge.schema import Side
    from tare.study.conditions import Condition
    from tare.study.schema import Setup

_OPERATIONS = {
    "ycsb-c": "read",
    "stress-read": "read",
    "stress-write": "write",
    "stress-mixed": "mixed",
}
"""Workloads of one kind of operation; YCSB A and B read and update, so they are asked as `all`."""


@dataclass(frozen=True)
class Asked:
    """The conditions asked about. Empty or None: not said, and so not compared.

    Attributes:
        platform, over: what is asked about, and what it replaces.
        client: how the load client is run; native where nobody says otherwise.
        against_network, against_storage: what is replaced, where the platform is the same.
        share: load as a share of the maximum, 0 to 1.
        at_rate: operations come at a set rate; how many are then in flight, and what share of the
            maximum they are, is not said.
        clusters: side by side, where they are more than one.
    """

    database: str = ""
    version: str = ""
    platform: str = "docker"
    over: str = "native"
    network: str = ""
    storage: str = ""
    against_network: str = ""
    against_storage: str = ""
    client: str = "native"
    operation: str = ""
    workload: str = ""
    share: float | None = None
    threads: int | None = None
    at_rate: bool | None = None
    nodes: int | None = None
    replication_factor: int | None = None
    clusters: int | None = None

    def stated(self) -> dict[str, Any]:
        """What was said, as a report repeats it."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}

    def words(self) -> str:
        """One line: cassandra on docker rather than native, network bridge, ..."""
        said = self.stated()
        head = f"{said.pop('database', 'any database')}"
        version = said.pop("version", "")
        for name in ("platform", "over", "against_network", "against_storage"):
            said.pop(name, None)
        for name in ("network", "storage"):
            if getattr(self, f"against_{name}"):
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
        """What is compared: docker rather than native, or what else changes inside docker."""
        if self.platform != self.over:
            return f"{self.platform} rather than {self.over}"
        moved = [
            f"{name} {new or 'another'} rather than {old}"
            for name, new, old in (
                ("network", self.network, self.against_network),
                ("storage", self.storage, self.against_storage),
            )
            if old
        ]
        if not moved:
            return f"{self.platform} with another client, network, plugin or storage"
        return f"{self.platform} with {' and '.join(moved)}"


def asked_of(setup: Setup, baseline: Setup) -> Asked:
    """The question that a treatment condition of a study asks."""
    side, base = side_of(setup), side_of(baseline)
    platform, over = _platforms(side, base)
    inside = platform == over
    return Asked(
        database=setup.database.kind,
        version=setup.database.version,
        platform=platform,
        over=over,
        network=side.network or "",
        storage=side.storage or "",
        against_network=base.network or "" if inside and side.network != base.network else "",
        against_storage=base.storage or "" if inside and side.storage != base.storage else "",
        client=side.client or "native",
        operation=_OPERATIONS.get(setup.load.label, "all"),
        workload=setup.load.label,
        threads=_threads(setup),
        at_rate=_at_rate(setup) or None,
        nodes=setup.database.nodes,
        replication_factor=setup.database.replication_factor,
        clusters=setup.clusters if setup.clusters > 1 else None,
    )


def _platforms(side: Side, base: Side) -> tuple[str, str]:
    """What is asked about and what it replaces, each in one word.

    With the same runtime in both, other machines are the question: Docker in KVM against Docker
    asks about KVM.
    """
    if side.runtime == base.runtime and side.machines != base.machines:
        return side.machines or "native", base.machines or "native"
    return side.platform, base.platform


def _threads(setup: Setup) -> int | None:
    """In flight in a closed loop; None where it is open, or the number is yet to be found."""
    load = setup.load
    open_loop = load.rate is not None or bool(load.phases)
    return None if open_loop or load.sought is not None else int(load.threads)


def _at_rate(setup: Setup) -> bool:
    """An open loop whose rate is a number, rather than a share of a maximum."""
    load = setup.load
    return bool(load.phases) or (load.rate is not None and load.sought is None)


def questions_of(conditions: Sequence[Condition], baseline: Condition) -> dict[str, Asked]:
    """Condition to its question, of every condition whose platform is not the baseline's.

    Conditions that ask the same question give it once, under the first one's name.
    """
    found: dict[str, Asked] = {}
    for one in conditions:
        question = asked_of(one.setup, baseline.setup)
        moved = _place(one.setup) != _place(baseline.setup)
        if moved and question not in found.values():
            found[one.name] = question
    return found


def _place(setup: Setup) -> object:
    """What a setup runs on, however many of it there are."""
    return side_of(setup).model_copy(update={"clusters": None})
