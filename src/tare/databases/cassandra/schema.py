"""Keyspaces and tables of the workloads, as YCSB and cassandra-stress define them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tare.study.load import Load


@dataclass(frozen=True)
class Table:
    """A workload's table."""

    keyspace: str
    name: str
    columns: str
    options: str = ""


def ycsb_table(fields: int = 10) -> Table:
    """YCSB's cassandra-cql binding: its README's table."""
    columns = ["y_id varchar PRIMARY KEY", *(f"field{i} varchar" for i in range(fields))]
    return Table("ycsb", "usertable", ", ".join(columns))


def stress_table(columns: int = 5) -> Table:
    """cassandra-stress: its default table, without compression."""
    named = ["key blob PRIMARY KEY", *(f'"C{i}" blob' for i in range(columns))]
    return Table("keyspace1", "standard1", ", ".join(named), "compression = {'enabled': false}")


def counter_table(columns: int = 5) -> Table:
    """cassandra-stress: its table of counters."""
    named = ["key blob PRIMARY KEY", *(f'"C{i}" counter' for i in range(columns))]
    return Table("keyspace1", "counter1", ", ".join(named), "compression = {'enabled': false}")


def table_of(load: Load) -> Table | None:
    """The table that a workload uses; None for the user's statements, which name their tables."""
    if load.kind == "statements":
        return None
    if load.kind == "ycsb":
        return ycsb_table(load.columns)
    return counter_table(load.columns) if load.counters else stress_table(load.columns)


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
