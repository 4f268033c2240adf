"""The conditions of a plan: a row for each, or if there are many, a row for each level."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.table import Table

from tare.databases.registry import declared
from tare.enumeration import first_of, listing
from tare.study.patch import assignments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tare.study.plan import Plan
    from tare.study.schema import Setup

MOST_ROWS = 24
"""With more conditions, levels are listed instead."""
MOST_LEVELS = 8
"""Of more levels with equally many conditions each, only the first and the last are listed."""
UNBROKEN = 32
"""Longest condition name that is not broken, in characters; a terminal has 80."""
FEW_NAMES = 3
"""Conditions named per deployment or block if there are many."""


def grouped(plan: Plan, *, whole: bool) -> bool:
    """Whether levels are listed instead of conditions.

    Args:
        whole: every condition is asked for.
    """
    return not whole and len(plan.conditions) > MOST_ROWS and bool(plan.study.factors)


def conditions_table(plan: Plan) -> Table:
    """Each condition's platform, nodes and load."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    longest = max((len(one.name) for one in plan.conditions), default=0)
    table.add_column("condition", overflow="fold", no_wrap=longest <= UNBROKEN)
    for title in ("runs on", "nodes", "load", "own deployment"):
        table.add_column(title, overflow="fold")
    for one in plan.conditions:
        again = f"\n(A/A of {one.aa_of})" if one.aa_of else ""
        setup = one.setup
        table.add_row(
            one.name + again, _runs_on(setup), _nodes(setup), _load(setup), one.deployment
        )
    return table


def levels_table(plan: Plan) -> Table:
    """Each factor's levels, their settings, and their numbers of conditions."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("factor", "level", "sets"):
        table.add_column(title, overflow="fold")
    table.add_column("conditions", justify="right")
    for factor, levels in plan.study.factors.items():
        having = Counter(one.levels.get(factor, "") for one in plan.conditions)
        rows = [
            (level, ", ".join(_sets(patch or {})) or "nothing", having[level])
            for level, patch in levels.items()
            if having[level]
        ]
        if len(rows) > MOST_LEVELS and len({each for *_, each in rows}) == 1:
            rows = [_in_one(rows)]
        for shown, (level, sets, each) in zip((factor, *[""] * len(rows)), rows, strict=False):
            table.add_row(shown, level, sets, f"{each:,}")
    return table


def _in_one(rows: Sequence[tuple[str, str, int]]) -> tuple[str, str, int]:
    """The first and the last of many levels that have equally many conditions."""
    (first, sets, each), (last, its, _) = rows[0], rows[-1]
    return f"{first} to {last}, {len(rows)} levels", f"{sets} to {its}", each


def levels_note(plan: Plan) -> str:
    """The number of conditions, and how to list them all."""
    servers = len({one.deployment for one in plan.conditions})
    again = sum(one.aa_of is not None for one in plan.conditions)
    control = f", {again:,} of them A/A controls" if again else ""
    return (
        f"{len(plan.conditions):,} conditions{control}, on {servers:,} deployments per round; "
        "--all lists each"
    )


def names_in_short(names: Sequence[str]) -> str:
    """How many there are, and the first of them."""
    return f"{len(names):,}: {first_of(list(names), FEW_NAMES)}"


def _sets(patch: Mapping[str, Any]) -> Iterator[str]:
    for one in assignments(patch):
        path = ".".join(str(part) for part in one.path)
        yield f"{path} {one.value}" if one.sets else f"{path}, left as it is"


def _runs_on(setup: Setup) -> str:
    platform = setup.platform
    on = f" on {platform.group}" if platform.group else ""
    return f"{platform.runtime}{on}, {platform.attachment}, {platform.storage}"


def _nodes(setup: Setup) -> str:
    """Clusters, nodes of each, copies of a row, and how many of them answer."""
    database = setup.database
    copies = [f"RF {database.replication_factor}", declared(database.kind).acknowledged(database)]
    return ", ".join([f"{setup.clusters} x {database.nodes}", *(one for one in copies if one)])


def _load(setup: Setup) -> str:
    """Workload, the study's own mix and rows, intensity, and the tool if it is not Tare's."""
    load, tool = setup.load, "" if setup.client.tool == "tare" else f", by {setup.client.tool}"
    whole = sum(load.mix.values())
    shares = [f"{100 * weight / whole:.3g}% {name}" for name, weight in load.mix.items() if weight]
    mix = f" with {listing(shares)}" if shares else ""
    own_rows = load.fields is not None or load.field_length is not None
    rows = f", rows of {load.columns} x {load.column_bytes:,} B" if own_rows else ""
    return f"{load.label}{mix}{rows}, {load.intensity}{tool}"
