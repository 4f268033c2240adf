"""How near a finding's conditions are to the question's, and where they differ.

The distance is a weighted mean, over what the question states, of differences between 0 (the same)
and 1 (another thing): Gower's coefficient with the weights below (docs/advice.md has the tables). A
field that a source does not state counts as half a difference. The weights are a judgement, not a
measurement.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tare.enumeration import listing
from tare.knowledge.levels import levels_apart
from tare.knowledge.mixes import mixes_apart, reads_of
from tare.knowledge.rendering import load_of
from tare.knowledge.schema import compared
from tare.knowledge.wording import not_stated
from tare.machines.registry import guests
from tare.runtimes.registry import registered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tare.knowledge.query import Query
    from tare.knowledge.schema import Finding, Side

Word = Literal["alike", "near", "related", "far"]

WEIGHTS: Mapping[str, float] = {
    "platform": 4.0,
    "over": 3.0,
    "database": 3.0,
    "operation": 2.0,
    "network": 2.0,
    "load": 1.5,
    "instance": 1.5,
    "client": 1.0,
    "storage": 1.0,
    "plugin": 1.0,
    "machines": 1.0,
    "workload": 1.0,
    "address": 0.5,
    "version": 0.5,
    "nodes": 0.5,
    "replication factor": 0.5,
    "consistency": 0.5,
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
_HYPERVISORS_APART = 0.4


@dataclass(frozen=True)
class Nearness:
    """How far a finding is from the question.

    Attributes:
        distance: 0 to 1.
        differs: one phrase per difference, the weightiest first.
        fields: field that differs to its phrase.
    """

    distance: float
    differs: list[str]
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def word(self) -> Word:
        """The word for the distance."""
        if self.distance <= ALIKE:
            return "alike"
        if self.distance <= NEAR:
            return "near"
        return "related" if self.distance <= RELATED else "far"


@dataclass(frozen=True)
class Near:
    """A finding and how near it is."""

    finding: Finding
    nearness: Nearness


def nearness(asked: Query, finding: Finding) -> Nearness:
    """Compare the question with the finding's conditions."""
    parts = list(_differences(asked, finding))
    total = sum(WEIGHTS[name] for name, _, _ in parts)
    distance = sum(WEIGHTS[name] * much for name, much, _ in parts) / total if total else 0.0
    ranked = sorted(parts, key=lambda part: -WEIGHTS[part[0]] * part[1])
    fields = {name: text for name, much, text in ranked if much > 0}
    return Nearness(distance, list(fields.values()), fields)


def _differences(asked: Query, finding: Finding) -> Iterator[tuple[str, float, str]]:
    """(field, difference 0 to 1, phrase) of everything that the question states."""
    side = finding.side
    platform, over = as_asked(asked, side, finding.baseline)
    yield "platform", _platforms(asked.platform, platform), f"platform {platform}"
    yield "over", _platforms(asked.over, over), f"compared with {over}"
    if asked.database:
        yield "database", float(asked.database != finding.database), f"database {finding.database}"
    if asked.operation:
        much = operations_apart(asked.operation, finding.operation)
        yield "operation", much, _operation(finding)
    if asked.network:
        yield "network", _networks(asked.network, side.network), _say("network", side.network)
    if asked.storage:
        yield "storage", _plain(asked.storage, side.storage), _say("storage", side.storage)
    if asked.client:
        yield "client", _plain(asked.client, side.client), _say("client", side.client)
    yield from _place(asked, finding)
    yield from _load(asked, finding)
    yield from _cluster(asked, finding)


def as_asked(asked: Query, side: Side, base: Side) -> tuple[str, str]:
    """The two sides of a comparison, by the question's names.

    A comparison inside virtual machines of one kind is found by the name of that kind, or as a
    comparison on virtual machines.
    """
    inside = asked.platform == asked.over and asked.machines != "vm"
    return (side.platform, base.platform) if inside else compared(side, base)


def _place(asked: Query, finding: Finding) -> Iterator[tuple[str, float, str]]:
    """The network between client and node, and the machines of both."""
    side, base = finding.side, finding.baseline
    if asked.plugin:
        known = side.plugin or None
        much = UNKNOWN if known is None else float(not same_plugin(asked.plugin, known))
        yield "plugin", much, _say("plugin", known)
    if asked.address:
        own = [_plain(asked.address, side.address or None)]
        if "address" not in asked.replaced:  # the question has the same on both sides
            own.append(_plain(asked.address, base.address or None))
        said = side.address if own[0] else base.address
        yield "address", sum(own) / len(own), _say("address", said or None)
    if asked.machines:
        kind = machine_kind(base.machines)
        yield "machines", _plain(asked.machines, kind), _say("machines", kind)
    if asked.instance:
        named = names_machine(finding.hardware, asked.instance)
        yield "instance", float(not named), f"other machines than {asked.instance}"


def machine_kind(machines: str | None) -> str | None:
    """`vm` or `physical`: a hypervisor's guest is a virtual machine."""
    return "vm" if machines in guests() else machines


def names_machine(hardware: str, name: str) -> bool:
    """Whether the source's hardware has this name: m3.large, m3-large."""
    return f"-{_key(name)}-" in f"-{_key(hardware)}-"


def same_plugin(wanted: str, found: str) -> bool:
    """Whether the plugins agree; `flannel` alone matches any backend."""
    pair = {wanted, found}
    return wanted == found or ("flannel" in pair and all(one.startswith("flannel") for one in pair))


def other_path(asked: Query, finding: Finding) -> bool:
    """Whether the finding's clients take another network path, so that its numbers do not answer.

    A port of a bridge is reached through the bridge, so these two are one path. A path that the
    source does not state is no other path.
    """
    side = finding.side
    if side.plugin and asked.plugin and not same_plugin(asked.plugin, side.plugin):
        return True
    pair = {asked.network, side.network}
    if pair & {"", None} or len(pair) == 1:
        return False
    return pair != {"bridge", "published"}


def other_operation(asked: Query, finding: Finding) -> bool:
    """A read says nothing of a write."""
    return bool(asked.operation) and operations_apart(asked.operation, finding.operation) == 1


def _key(text: str) -> str:
    """A text as a key: lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _cluster(asked: Query, finding: Finding) -> Iterator[tuple[str, float, str]]:
    if asked.version:
        known = finding.version or None
        yield "version", _versions(asked.version, known), _say("version", known)
    if asked.workload:
        apart = mixes_apart(asked.workload, asked.reads, finding.workload)
        yield "workload", UNKNOWN if apart is None else apart, _workload(finding)
    for name, wanted, found in (
        ("nodes", asked.nodes, finding.nodes),
        ("replication factor", asked.replication_factor, copies_of(finding)),
        ("clusters", asked.clusters, finding.side.clusters),
    ):
        if wanted is not None:
            yield name, _counts(wanted, found), _say(name, found)
    yield from _levels(asked, finding)


def _levels(asked: Query, finding: Finding) -> Iterator[tuple[str, float, str]]:
    """How many copies answer; with one copy it is this one, at any level."""
    if not asked.consistency:
        return
    found = finding.consistency
    apart = levels_apart(asked.consistency, found, finding.operation)
    if apart is not None:
        alone = asked.replication_factor == copies_of(finding) == 1
        yield "consistency", 0.0 if alone else apart, _say("consistency", found or None)


def _operation(finding: Finding) -> str:
    """`all` in words, because no load has that name."""
    if finding.operation != "all":
        return f"operation {finding.operation}"
    of = f" of {listing(finding.workload)}" if finding.workload else ""
    return f"all operations{of} together"


def _workload(finding: Finding) -> str:
    """The workload's name, and the mix that makes it near or far; of several the mean is meant."""
    if len(finding.workload) != 1:
        several = f"workloads {listing(finding.workload)} together"
        return several if finding.workload else not_stated("workload")
    (name,) = finding.workload
    reads = reads_of(name)
    return f"workload {name}" + (f" ({reads:.0%} reads)" if reads is not None else "")


def copies_of(finding: Finding) -> int | None:
    """Copies of each row: the treatment's, where the two sides differ in it."""
    own = finding.treatment.replication_factor if finding.treatment else None
    return own or finding.replication_factor


def _load(asked: Query, finding: Finding) -> Iterator[tuple[str, float, str]]:
    load = finding.load
    if asked.share is not None:
        share = load.measured
        much = UNKNOWN if share is None else abs(asked.share - share)
        other = f"load {load_of(load)} as a share of the maximum" if load_of(load) else "load"
        yield "load", much, f"load {share:.0%} of the maximum" if share else not_stated(other)
    elif asked.threads is not None:
        much = UNKNOWN if load.threads is None else _counts(asked.threads, load.threads)
        said = not_stated("operations in flight")
        yield "load", much, f"{load.threads} operations in flight" if load.threads else said
    elif asked.at_rate:  # a rate does not say how hard it drives, least of all elsewhere
        said = load_of(load)
        yield "load", UNKNOWN, f"load {said}, against a rate" if said else not_stated("load")


def _say(name: str, value: object) -> str:
    return f"{name} {value}" if value is not None else not_stated(name)


def _plain(wanted: str, found: str | None) -> float:
    return UNKNOWN if found is None else float(wanted != found)


def _platforms(wanted: str, found: str) -> float:
    if wanted == found:
        return 0.0
    if wanted != found and {wanted, found} <= set(guests()):
        return _HYPERVISORS_APART
    said = [dict(registered()[one].near) for one in (wanted, found) if one in registered()]
    return next((near[one] for near in said for one in (wanted, found) if one in near), 1.0)


def _networks(wanted: str, found: str | None) -> float:
    """Steps apart on the packets' path, as a share of the most."""
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
    """Doublings apart; three are as different as can be."""
    if found is None:
        return UNKNOWN
    return min(1.0, abs(math.log2(wanted / found)) / 3)
