"""A replica set as its members describe it: their states, missing ones, elections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

PRIMARY, SECONDARY = "PRIMARY", "SECONDARY"
LONGEST_SILENCE_S = 5.0
"""members hear from each other every 2 s (heartbeatIntervalMillis): an older state is from before
they were paused, and says nothing of now"""


@dataclass(frozen=True)
class Member:
    """One line of `replSetGetStatus`.

    Attributes:
        host: host:port, as the set knows it.
        state: PRIMARY, SECONDARY, STARTUP2, RECOVERING, ...
        healthy: the queried member heard from it when it last listened.
        elected: Unix time at which it became primary; None: it is not primary.
        applied: Unix time of the last operation that it has applied; None: not known.
        silent: seconds since the queried member has heard from it; 0 for itself.
    """

    host: str
    state: str
    healthy: bool
    elected: float | None
    applied: float | None
    silent: float = 0.0


def initiation(name: str, hosts: Sequence[str]) -> dict[str, Any]:
    """The document of `replSetInitiate`: all members alike, in this order."""
    members = [{"_id": number, "host": host} for number, host in enumerate(hosts)]
    return {"_id": name, "members": members}


def members(status: Mapping[str, Any]) -> list[Member]:
    """The members of an answer to `replSetGetStatus`, in its order.

    `optimeDate` is in whole seconds; MongoDB 5.0 and newer tell `lastAppliedWallTime` too, to the
    millisecond. Source: MongoDB manual, replSetGetStatus.
    """
    now = _unix(status.get("date"))
    return [
        Member(
            host=str(line.get("name", "")),
            state=str(line.get("stateStr", "UNKNOWN")),
            healthy=line.get("health") == 1,
            elected=_unix(line.get("electionDate")),
            applied=_unix(line.get("lastAppliedWallTime", line.get("optimeDate"))),
            silent=_since(_unix(line.get("lastHeartbeat")), now),
        )
        for line in status.get("members", [])
    ]


def missing(found: Sequence[Member], hosts: Sequence[str]) -> str:
    """Why the set is not ready (one primary, all others secondaries); empty: it is."""
    known = {member.host: member for member in found}
    unknown = [host for host in hosts if host not in known]
    if unknown:
        return f"{', '.join(unknown)} not in the set yet"
    unwell = [
        f"{m.host} is {m.state}" for m in known.values() if m.state not in (PRIMARY, SECONDARY)
    ]
    unheard = [
        f"{m.host} is not heard of"
        for m in known.values()
        if not m.healthy or m.silent > LONGEST_SILENCE_S
    ]
    if unwell or unheard:
        return "; ".join(unwell + unheard)
    primaries = [member.host for member in known.values() if member.state == PRIMARY]
    if len(primaries) != 1:
        return f"{len(primaries)} primaries"
    return ""


def primary(found: Sequence[Member]) -> Member | None:
    """The primary that was elected last."""
    primaries = [member for member in found if member.state == PRIMARY]
    return max(primaries, key=lambda m: m.elected or 0.0, default=None)


def lag(found: Sequence[Member]) -> float:
    """Seconds by which the secondary that is farthest behind trails the primary; 0 without one."""
    first = primary(found)
    if first is None or first.applied is None:
        return 0.0
    behind = [
        first.applied - member.applied
        for member in found
        if member.state == SECONDARY and member.applied is not None
    ]
    return max([0.0, *behind])


def _since(heard: float | None, now: float | None) -> float:
    return 0.0 if heard is None or now is None else now - heard


def _unix(moment: object) -> float | None:
    """The driver's dates are in UTC and do not say so."""
    if not isinstance(moment, datetime):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.timestamp()
