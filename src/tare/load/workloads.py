"""Workloads in tare-load's specification: YCSB's and cassandra-stress's mixes, or the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.errors import StudyError
from tare.study.generators import generator
from tare.study.load_rules import DISTRIBUTIONS, MIXES
from tare.study.problems import remedy_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.study.load import Load
    from tare.study.schema import Consistency, Setup
    from tare.study.statements import Populate, Statement

WORKLOADS: dict[str, dict[str, Any]] = {
    # YCSB core workloads A to F: ten fields of 100 bytes, (scrambled) zipfian, D latest
    "ycsb-a": {"kind": "ycsb", "read": 0.5, "update": 0.5},
    "ycsb-b": {"kind": "ycsb", "read": 0.95, "update": 0.05},
    "ycsb-c": {"kind": "ycsb", "read": 1.0, "update": 0.0},
    "ycsb-d": {"kind": "ycsb", "read": 0.95, "update": 0.0, "insert": 0.05},
    "ycsb-e": {"kind": "ycsb", "read": 0.0, "update": 0.0, "scan": 0.95, "insert": 0.05},
    "ycsb-f": {"kind": "ycsb", "read": 0.5, "update": 0.0, "readmodifywrite": 0.5},
    # cassandra-stress mixed, read and write on standard1: five columns of 34 bytes, gaussian
    "stress-mixed": {"kind": "stress", "read": 1.0, "write": 1.0},
    "stress-read": {"kind": "stress", "read": 1.0, "write": 0.0},
    "stress-write": {"kind": "stress", "read": 0.0, "write": 1.0},
    "stress-counter-write": {"kind": "stress", "read": 0.0, "write": 1.0, "counter": True},
    "stress-counter-read": {"kind": "stress", "read": 1.0, "write": 0.0, "counter": True},
}
_READING = ("read", "scan")


def sides(load: Load) -> tuple[dict[str, float], dict[str, float]]:
    """The reading and the writing operations, each with its weight; none of weight 0."""
    if load.statements is not None:
        own = load.statements.operations
        named = [(name, one.weight, one.writes) for name, one in own.items()]
    else:
        weights = _weights(load)
        named = [
            (name, float(weights.get(name, 0.0)), name not in _READING) for name in MIXES[load.kind]
        ]
    reads = {name: weight for name, weight, writes in named if weight and not writes}
    return reads, {name: weight for name, weight, writes in named if weight and writes}


def _weights(load: Load) -> dict[str, Any]:
    """A named workload with the study's mix instead of its own."""
    made = dict(WORKLOADS[load.workload])
    if load.mix:
        made.update({name: 0.0 for name in MIXES[made["kind"]] if name in made})
        made.update({str(name): weight for name, weight in load.mix.items()})
    return made


def workload(setup: Setup) -> dict[str, Any]:
    """The workload of a condition.

    Raises:
        StudyError: the workload does not exist.
    """
    load = setup.load
    if load.statements is not None:
        return _statements(setup)
    if load.workload not in WORKLOADS:
        raise StudyError(
            f"no workload {load.workload}",
            where="load.workload",
            remedy=remedy_for(load.workload, WORKLOADS),
        )
    made = _weights(load)
    kind = made["kind"]
    usual = (
        "latest" if load.workload == "ycsb-d" else DISTRIBUTIONS[kind][0]
    )  # the first is the default
    made["distribution"] = load.distribution or usual
    if kind == "ycsb":
        return made | {"fields": load.columns, "field_length": load.column_bytes}
    if made["distribution"] == "sequential":
        made["distribution"] = "sequence"  # as cassandra-stress calls it
    size = 34 if load.counters else load.column_bytes
    return made | {"columns": load.columns, "column_size": size}


def _statements(setup: Setup) -> dict[str, Any]:
    load, own = setup.load, setup.load.statements
    assert own is not None  # noqa: S101  # the caller looked
    levels = setup.database.consistency
    operations = [
        _operation(name, one, levels, load.records) for name, one in own.operations.items()
    ]
    populate = None if own.populate is None else _populate(own.populate, load, levels)
    return {"kind": "statements", "operations": operations, "populate": populate}


def _operation(
    name: str, statement: Statement, levels: Consistency, records: int
) -> dict[str, Any]:
    return {
        "name": name.upper(),
        "cql": statement.cql,
        "weight": statement.weight,
        "consistency": statement.consistency or (levels.write if statement.writes else levels.read),
        "serial_consistency": statement.serial,
        "page_size": statement.page,
        "rows": statement.rows,
        "values": _values(statement.values, records),
    }


def _populate(populate: Populate, load: Load, levels: Consistency) -> dict[str, Any]:
    """The statement that fills the rows; a named operation's, with the generators given here."""
    assert load.statements is not None  # noqa: S101  # it is a part of these
    if populate.operation is not None:
        named = load.statements.operations[populate.operation]
        merged = named.model_copy(update={"values": {**named.values, **populate.values}})
        return _operation(populate.operation, merged, levels, load.records) | {"weight": 1.0}
    return {
        "name": "POPULATE",
        "cql": populate.cql,
        "weight": 1.0,
        "consistency": levels.write,
        "serial_consistency": None,
        "page_size": None,
        "rows": "any",
        "values": _values(populate.values, load.records),
    }


def _values(values: Mapping[str, Any], records: int) -> dict[str, Any]:
    return {marker: generator(one, records) for marker, one in values.items()}


def schedule(load: Load, clusters: int = 1) -> list[dict[str, float]] | None:
    """Corners of one client's rate, seconds from the start of the measured part; None without
    phases."""
    if not load.phases:
        return None
    corners: list[dict[str, float]] = []
    at = 0.0
    for phase in load.phases:
        last = phase.to if phase.to is not None else phase.rate
        corners.append({"at_s": at, "rate": load.each(phase.rate, clusters)})
        at += phase.length
        corners.append({"at_s": at, "rate": load.each(last, clusters)})
    return corners


def mixes(load: Load) -> list[dict[str, Any]] | None:
    """Weights of the operations over time; None where no phase changes them."""
    if load.statements is None or not any(phase.mix for phase in load.phases):
        return None
    declared = {name: one.weight for name, one in load.statements.operations.items()}
    found: list[dict[str, Any]] = []
    at = 0.0
    for phase in load.phases:
        weights = dict.fromkeys(declared, 0.0) | phase.mix if phase.mix else declared
        found.append({"at_s": at, "weights": {n.upper(): w for n, w in weights.items()}})
        at += phase.length
    return found
