"""A cluster's events of an object, which give the reasons for most failures."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.runtimes.kubernetes.refusals import ApiError

if TYPE_CHECKING:
    from tare.runtimes.kubernetes.api import Api, Document

_SHOWN = 6
"""number of latest events in an error's reason; logs hold all"""


@dataclass(frozen=True)
class ObjectEvent:
    """Something that the cluster did with an object, or failed to do."""

    when: str
    """ISO 8601, UTC; the last time if it happened more than once"""
    warning: bool
    reason: str
    message: str
    count: int

    def __str__(self) -> str:
        again = f" ({self.count} times)" if self.count > 1 else ""
        return f"{self.reason}: {self.message}{again}"


def events_of(api: Api, name: str, namespace: str) -> list[ObjectEvent]:
    """The events of every object of that name, oldest first; empty: they cannot be read."""
    with contextlib.suppress(ApiError):
        found = api.find("Event", namespace, fields=f"involvedObject.name={name}")
        return sorted((_event(one) for one in found), key=lambda event: event.when)
    return []


def _event(document: Document) -> ObjectEvent:
    when = document.get("lastTimestamp") or document.get("eventTime") or ""
    series = document.get("series") or {}
    return ObjectEvent(
        when=str(series.get("lastObservedTime") or when),
        warning=document.get("type") == "Warning",
        reason=str(document.get("reason") or ""),
        message=" ".join(str(document.get("message") or "").split()),
        count=int(series.get("count") or document.get("count") or 1),
    )


def events_in_words(events: list[ObjectEvent]) -> str:
    """Events as the reason of an error: warnings if there are any, else the latest."""
    chosen = [event for event in events if event.warning] or events
    return "; ".join(str(event) for event in chosen[-_SHOWN:])
