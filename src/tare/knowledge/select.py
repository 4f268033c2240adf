"""Selects findings by filters over their conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.knowledge.library import Entry
    from tare.knowledge.schema import Finding


@dataclass(frozen=True)
class Filters:
    """Empty: not asked for. Each is compared without regard to case.

    Attributes:
        platform: of either side; `over` is only the baseline's.
        metric: a whole name (read.mean), its operation or its kind (read, mean, cpu, disk).
    """

    database: str = ""
    platform: str = ""
    over: str = ""
    network: str = ""
    storage: str = ""
    client: str = ""
    workload: str = ""
    operation: str = ""
    metric: str = ""
    study: str = ""

    def __bool__(self) -> bool:
        return any(vars(self).values())


def select(entries: Iterable[Entry], wanted: Filters) -> list[Entry]:
    """The entries that fit every filter."""
    return [entry for entry in entries if _fits(entry.finding, wanted)]


def _fits(finding: Finding, wanted: Filters) -> bool:
    sides = [side for side in (finding.treatment, finding.baseline) if side is not None]
    return (
        _same(wanted.database, finding.database)
        and _any(wanted.platform, (side.platform for side in sides))
        and _same(wanted.over, finding.baseline.platform)
        and _same(wanted.network, finding.side.network)
        and _same(wanted.storage, finding.side.storage)
        and _same(wanted.client, finding.side.client)
        and _any(wanted.workload, finding.workload)
        and _same(wanted.operation, finding.operation)
        and _metric(wanted.metric, finding.metric)
        and _any(wanted.study, (finding.study, finding.id))
    )


def _same(wanted: str, value: str | None) -> bool:
    return not wanted or wanted.lower() == (value or "").lower()


def _any(wanted: str, values: Iterable[str | None]) -> bool:
    return not wanted or any(_same(wanted, value) for value in values)


def _metric(wanted: str, metric: str) -> bool:
    return not wanted or wanted.lower() == metric or wanted.lower() in metric.split(".")
