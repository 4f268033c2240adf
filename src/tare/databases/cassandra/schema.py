"""Keyspaces and tables of the workloads, as YCSB and cassandra-stress define them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A workload's table."""

    keyspace: str
    name: str
    columns: str
    options: str = ""


YCSB = Table(
    "ycsb",
    "usertable",
    "y_id varchar PRIMARY KEY, " + ", ".join(f"field{i} varchar" for i in range(10)),
)
"""YCSB's cassandra-cql binding: its README's table"""

STRESS = Table(
    "keyspace1",
    "standard1",
    "key blob PRIMARY KEY, " + ", ".join(f'"C{i}" blob' for i in range(5)),
    "compression = {'enabled': false}",
)
"""cassandra-stress: its default table, five columns, no compression"""


def table_of(workload: str) -> Table:
    """The table that a workload of the study uses."""
    return YCSB if workload.startswith("ycsb") else STRESS


def create_keyspace(keyspace: str, replication_factor: int) -> str:
    return (
        f"CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = "
        f"{{'class': 'SimpleStrategy', 'replication_factor': {replication_factor}}}"
    )


def create_table(table: Table, strategy: str, options: Mapping[str, object]) -> str:
    """The CREATE TABLE statement with the study's compaction strategy and its options."""
    compaction = {"class": strategy, **options}
    pairs = ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in compaction.items())
    clauses = [f"compaction = {{{pairs}}}", *([table.options] if table.options else [])]
    return (
        f"CREATE TABLE IF NOT EXISTS {table.keyspace}.{table.name} ({table.columns}) "
        f"WITH {' AND '.join(clauses)}"
    )


def _literal(value: object) -> str:
    """A CQL string literal; quotes are doubled, so that no option can end it early."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return "'" + text.replace("'", "''") + "'"
