"""How near a finding's conditions are to those asked about, and in what they differ.

A weighted mean, over what the question states, of differences between 0 (the same) and 1 (another
thing); Gower's coefficient with the weights below (docs/advice.md has the tables). What a source
does not say counts as half a difference. The weights are a judgement, not a measurement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tare.knowledge.rendering import load_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tare.knowledge.asked import Asked
    from tare.knowledge.schema import Finding

Word = Literal["alike", "near", "related", "far"]

WEIGHTS: Mapping[str, float] = {
    "platform": 4.0,
    "over": 3.0,
    "database": 3.0,
    "operation": 2.0,
    "network": 2.0,
    "load": 1.5,
    "client": 1.0,
    "storage": 1.0,
    "version": 0.5,
    "workload": 0.5,
    "nodes": 0.5,
    "replication factor": 0.5,
    "clusters": 0.5,
}
UNKNOWN = 0.5
NEAR = 0.15
ALIKE = 0.03
RELATED = 0.30
"""Findings farther away than this do not enter a pooled range."""

_WRITES = frozenset({"update", "insert", "write", "rmw"})
_PACKETS = {"host": 0.0, "bridge": 1.0, "published": 1.25, "host-port": 1.25}
"""Steps between client and server: none, a virtual bridge, address translation on top of it."""
_FAR_NETWORK = 3.25
"""An overlay or service address, or anything else that is not listed."""
_LEAST_STEPS, _MOST_STEPS = 0.25, 2.0
_PLATFORMS: Mapping[frozenset[str], float] = {
    frozenset({"docker", "swarm"}): 0.6,
    frozenset({"docker", "kubernetes"}): 0.6,
    frozenset({"swarm", "kubernetes"}): 0.4,
    frozenset({"kvm", "vmware"}): 0.4,
}


@dataclass(frozen=True)
class Nearness:
    """How far a finding is from the question.

    Attributes:
        distance: 0 to 1.
        differs: one phrase per difference, the weightiest first.
    """

    distance: float
    differs: list[str]

    @property
    def word(self) -> Word:
        """The distance in a word."""
        if self.distance <= ALIKE:
            return "alike"
        if self.distance <= NEAR:
            return "near"
        return "related" if self.distance <= RELATED else "far"


def nearness(asked: Asked, finding: Finding) -> Nearness:
    """Compare what was asked with the finding's conditions."""
    parts = list(_differences(asked, finding))
    total = sum(WEIGHTS[field] for field, _, _ in parts)
    distance = sum(WEIGHTS[field] * much for field, much, _ in parts) / total if total else 0.0
    ranked = sorted(parts, key=lambda part: -WEIGHTS[part[0]] * part[1])
    return Nearness(distance, [text for _, much, text in ranked if much > 0])


def _differences(asked: Asked, finding: Finding) -> Iterator[tuple[str, float, str]]:
    """(field, difference 0 to 1, phrase) of everything that the question states."""
    side = finding.treatment or finding.baseline
    yield "platform", _platforms(asked.platform, side.platform), f"platform {side.platform}"
    over = finding.baseline.platform
    yield "over", _platforms(asked.over, over), f"compared with {over}"
    if asked.database:
        yield "database", float(asked.database != finding.database), f"database {finding.database}"
    if asked.operation:
        much = operations_apart(asked.operation, finding.operation)
        yield "operation", much, f"operation {finding.operation}"
    if asked.network:
        yield "network", _networks(asked.network, side.network), _say("network", side.network)
    if asked.storage:
        yield "storage", _plain(asked.storage, side.storage), _say("storage", side.storage)
    if asked.client:
        yield "client", _plain(asked.client, side.client), _say("client", side.client)
    yield from _load(asked, finding)
    yield from _cluster(asked, finding)


def _cluster(asked: Asked, finding: Finding) -> Iterator[tuple[str, float, str]]:
    if asked.version:
        known = finding.version or None
        yield "version", _versions(asked.version, known), _say("version", known)
    if asked.workload:
        alike = asked.workload in finding.workload
        yield (
            "workload",
            float(not alike),
            f"workload {', '.join(finding.workload) or 'not stated'}",
        )
    for field, wanted, found in (
        ("nodes", asked.nodes, finding.nodes),
        ("replication factor", asked.replication_factor, finding.replication_factor),
        ("clusters", asked.clusters, (finding.treatment or finding.baseline).clusters),
    ):
        if wanted is not None:
            yield field, _counts(wanted, found), _say(field, found)


def _load(asked: Asked, finding: Finding) -> Iterator[tuple[str, float, str]]:
    load = finding.load
    if asked.share is not None:
        share, said = load.share, f"load {load.share:.0%} of the maximum" if load.share else ""
        if share is None and load.threads and load.threads_at_maximum:
            share = min(1.0, load.threads / load.threads_at_maximum)
            said = f"load {share:.0%} of the saturating threads"
        much = UNKNOWN if share is None else abs(asked.share - share)
        yield "load", much, said or f"load {load.label or 'not stated as a share'}"
    elif asked.threads is not None:
        much = UNKNOWN if load.threads is None else _counts(asked.threads, load.threads)
        yield "load", much, f"{load.threads or 'unknown'} operations in flight"
    elif asked.at_rate:  # which does not say how hard that is, least of all elsewhere
        said = load_of(load) or "not stated"
        yield "load", UNKNOWN, f"load {said}, against a rate"


def _say(field: str, value: object) -> str:
    return f"{field} {value}" if value is not None else f"{field} not stated"


def _plain(wanted: str, found: str | None) -> float:
    return UNKNOWN if found is None else float(wanted != found)


def _platforms(wanted: str, found: str) -> float:
    return 0.0 if wanted == found else _PLATFORMS.get(frozenset({wanted, found}), 1.0)


def _networks(wanted: str, found: str | None) -> float:
    """Steps apart on the packets' way, as a share of the most."""
    if found is None:
        return UNKNOWN
    if wanted == found:
        return 0.0
    steps = abs(_PACKETS.get(wanted, _FAR_NETWORK) - _PACKETS.get(found, _FAR_NETWORK))
    return min(1.0, max(steps, _LEAST_STEPS) / _MOST_STEPS)


def operations_apart(wanted: str, found: str) -> float:
    """0: the same; a quarter among writes; a half to a mix; 1 between reads and writes."""
    if wanted == found:
        return 0.0
    pair = {wanted, found}
    if pair <= _WRITES or pair == {"all", "mixed"}:
        return 0.25
    return 0.5 if pair & {"all", "mixed"} else 1.0


def _versions(wanted: str, found: str | None) -> float:
    if found is None:
        return UNKNOWN
    ours, theirs = wanted.split("."), found.split(".")
    if ours[:2] == theirs[:2]:
        return 0.0
    return 0.5 if ours[0] == theirs[0] else 1.0


def _counts(wanted: int, found: int | None) -> float:
    """Doublings apart, three of which are as different as can be."""
    if found is None:
        return UNKNOWN
    return min(1.0, abs(math.log2(wanted / found)) / 3)
