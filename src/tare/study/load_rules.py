"""Impossible loads, and the loads that another tool's client can send."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.runtimes.registry import BARE, declared
from tare.study.generators import generator
from tare.study.intensity import share_of_max
from tare.study.problems import Problem, remedy_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tare.study.load import Load
    from tare.study.origins import FieldPath, Origins
    from tare.study.problems import ConditionProblems
    from tare.study.schema import Setup
    from tare.study.statements import Statements

MIXES = {
    "ycsb": ("read", "update", "insert", "scan", "readmodifywrite"),
    "stress": ("read", "write"),
}
"""The operations that the mix of a kind of workload may name."""
DISTRIBUTIONS = {
    "ycsb": ("zipfian", "uniform", "latest", "hotspot", "exponential", "sequential"),
    "stress": ("gaussian", "uniform", "sequential"),
}
TOOL_WORKLOADS: Mapping[str, tuple[str, ...]] = {
    # not F: YCSB's histogram of reads also holds the reads inside its read-modify-writes
    "ycsb": ("ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e"),
    "cassandra-stress": (
        "stress-mixed",
        "stress-read",
        "stress-write",
        "stress-counter-write",
        "stress-counter-read",
    ),
    "latte": ("ycsb-a", "ycsb-b", "ycsb-c"),
}
"""Per tool, the workloads that Tare can ask it for."""
ONE_WAY = ("ycsb-c", "stress-read", "stress-counter-read", "stress-write", "stress-counter-write")
"""Workloads that only read, or only write."""
TOOL_DISTRIBUTIONS = {
    "ycsb": DISTRIBUTIONS["ycsb"],
    "cassandra-stress": ("gaussian", "uniform", "sequential"),
    "latte": ("uniform",),
}


def load_problems(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    """Contradictions in this condition's load."""
    load = setup.load
    yield from _intensity(load, setup.clusters, problems)
    if load.statements is None:
        yield from _workload(load, problems)
    else:
        yield from _own(load, load.statements, problems)
    if setup.client.tool != "tare":
        yield from _tool(setup, problems)


def _intensity(load: Load, clusters: int, problems: ConditionProblems) -> Iterator[Problem]:
    if load.phases and load.rate is not None:
        yield problems.of(
            "load.phases",
            "with load.rate there are two rates",
            "every phase has a rate of its own",
            "remove load.rate, or the phases",
        )
    if share_of_max(load.threads) is not None and (load.rate is not None or load.phases):
        yield problems.of(
            "load.threads",
            f"{load.threads} in an open loop",
            "there, threads are only the most operations in flight; the rate is the load",
            "give load.threads a number, or remove the rate",
        )
    if load.sought is not None and clusters > 1:
        yield problems.of(
            f"load.{load.sought}",
            f"a share of the maximum, with {clusters} clusters side by side",
            "the search loads one cluster, while the others idle",
            f"give load.{load.sought} a number, found in a study with one cluster",
        )
    for index, phase in enumerate(load.phases):
        known = list(load.statements.operations) if load.statements else []
        for name in phase.mix:
            if name not in known:
                yield Problem(
                    problems.origins.of(("load", "phases", index, "mix")),
                    f"load.phases.{index}.mix: no operation {name}",
                    f"operations of load.statements: {', '.join(known) or 'none'}",
                    remedy_for(name, known),
                )


def _workload(load: Load, problems: ConditionProblems) -> Iterator[Problem]:
    for field, named, known in (
        ("mix", list(load.mix), MIXES[load.kind]),
        ("distribution", [load.distribution or ""], ("", *DISTRIBUTIONS[load.kind])),
    ):
        for name in named:
            if name not in known:
                listed = ", ".join(filter(None, known))
                yield problems.of(
                    f"load.{field}",
                    f"{name} is not for {load.workload}",
                    f"it is one of {listed}",
                    f"write one of {listed}, or take another workload",
                )
    if load.mix and not sum(load.mix.values()):
        yield Problem(
            problems.origins.of(("load", "mix")),
            "load.mix: no operation has a weight",
            "nothing would be sent",
            "give an operation more than 0",
        )


def _own(load: Load, own: Statements, problems: ConditionProblems) -> Iterator[Problem]:
    at: FieldPath = ("load", "statements")
    origins = problems.origins
    for field in ("mix", "distribution", "fields", "field_length"):
        if getattr(load, field):
            yield problems.of(
                f"load.{field}",
                "not for load.statements",
                "the statements say it themselves",
                "remove one of both",
            )
    if not sum(one.weight for one in own.operations.values()):
        yield Problem(
            origins.of((*at, "operations")),
            "load.statements.operations: no operation has a weight",
            "nothing would be sent",
            "add an operation with its cql, or give one a weight",
        )
    for name, statement in own.operations.items():
        yield from _markers(own, (*at, "operations", name, "values"), statement.values, origins)
    if own.populate is not None:
        yield from _populate(own, origins)


def _populate(own: Statements, origins: Origins) -> Iterator[Problem]:
    populate = own.populate
    if populate is None:
        return
    at: FieldPath = ("load", "statements", "populate")
    if (populate.operation is None) == (populate.cql is None):
        yield Problem(
            origins.of(at),
            "load.statements.populate: needs operation or cql, one of both",
            "it fills the rows with one statement",
            "name an operation, or write the statement in cql",
        )
    elif populate.operation is not None and populate.operation not in own.operations:
        yield Problem(
            origins.of((*at, "operation")),
            f"load.statements.populate.operation: no operation {populate.operation}",
            f"operations: {', '.join(own.operations) or 'none'}",
            remedy_for(populate.operation, own.operations),
        )
    else:
        named = own.operations[populate.operation].values if populate.operation else {}
        yield from _markers(own, (*at, "values"), {**named, **populate.values}, origins)


def _markers(
    own: Statements, at: FieldPath, values: Mapping[str, object], origins: Origins
) -> Iterator[Problem]:
    """`like` names another marker of the statement, `grown_by` an operation."""
    made = {marker: generator(value, 1) for marker, value in values.items()}
    numbers = [marker for marker, one in made.items() if one["kind"] == "number"]
    names = [name.upper() for name in own.operations]
    for marker, one in made.items():
        field = ".".join(map(str, (*at, marker)))
        if one["kind"] == "like" and one["marker"] not in numbers:
            yield Problem(
                origins.of((*at, marker)),
                f"{field}: like {one['marker']}, which draws no number here",
                f"markers of this statement with a number: {', '.join(numbers) or 'none'}",
                remedy_for(one["marker"], numbers),
            )
        if one.get("grown_by") is not None and one["grown_by"] not in names:
            yield Problem(
                origins.of((*at, marker)),
                f"{field}: grown_by {one['grown_by'].lower()}, which is no operation",
                f"operations: {', '.join(own.operations)}",
                remedy_for(one["grown_by"].lower(), own.operations),
            )


def _tool(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    load, tool = setup.load, setup.client.tool
    known = TOOL_WORKLOADS[tool]
    said: list[tuple[str, str, str]] = []
    if not declared(setup.client.runtime).in_place:
        said.append((f"runs in {setup.client.runtime}", "it runs natively only",
                     f"set client.runtime to {BARE}"))  # fmt: skip
    if load.statements is not None or load.workload not in known:
        said.append((f"with {load.label}", f"it can send {', '.join(known)}",
                     f"set load.workload to {known[0]}"))  # fmt: skip
    elif load.distribution not in (None, *TOOL_DISTRIBUTIONS[tool]):
        listed = ", ".join(TOOL_DISTRIBUTIONS[tool])
        said.append((f"with {load.distribution} keys", f"it can draw {listed}",
                     f"set load.distribution to {TOOL_DISTRIBUTIONS[tool][0]}"))  # fmt: skip
    elif tool == "latte" and load.distribution is None:
        said.append(("with zipfian keys", "it draws uniform ones only",
                     "set load.distribution to uniform, for Tare's client too"))  # fmt: skip
    levels = setup.database.consistency
    if tool != "ycsb" and levels.read != levels.write and load.workload not in ONE_WAY:
        said.append((f"reads at {levels.read}, writes at {levels.write}",
                     "it knows one consistency level", "make both alike"))  # fmt: skip
    if load.phases:
        said.append(("with load.phases", "it sends one rate", "set load.rate"))
    if load.mix and (tool == "latte" or "readmodifywrite" in load.mix):
        said.append(("with this load.mix", "it sends other mixes only", "remove load.mix"))
    for what, why, remedy in said:
        yield problems.of("client.tool", f"{tool} {what}", why, remedy)
