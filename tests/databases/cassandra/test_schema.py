"""The tables of YCSB and cassandra-stress, with any compaction options."""

from __future__ import annotations

from tare.databases.cassandra import schema
from tare.study.load import Load
from tare.study.statements import Statements

YCSB, STRESS = schema.ycsb_table(), schema.stress_table()


def test_each_family_of_workloads_has_its_table() -> None:
    assert schema.table_of(Load(workload="ycsb-a")) == YCSB
    assert schema.table_of(Load(workload="stress-mixed")) == STRESS


def test_the_table_has_as_many_columns_as_the_load() -> None:
    table = schema.table_of(Load(workload="ycsb-a", fields=3))
    assert table is not None
    assert table.columns.endswith("field0 varchar, field1 varchar, field2 varchar")


def test_counter_workloads_have_a_table_of_counters() -> None:
    table = schema.table_of(Load(workload="stress-counter-write"))
    assert table is not None
    assert (table.name, table.columns.count("counter")) == ("counter1", 5)


def test_statements_of_ones_own_name_their_tables_themselves() -> None:
    assert schema.table_of(Load(statements=Statements())) is None


def test_compaction_and_its_options_become_string_literals() -> None:
    text = schema.create_table(
        YCSB, "LeveledCompactionStrategy", {"sstable_size_in_mb": 80, "enabled": True}
    )
    assert "'class': 'LeveledCompactionStrategy'" in text
    assert "'sstable_size_in_mb': '80'" in text
    assert "'enabled': 'true'" in text


def test_an_option_cannot_end_its_literal() -> None:
    text = schema.create_table(YCSB, "X", {"a": "'}; DROP TABLE t; --"})
    assert "'''}; DROP TABLE t; --'" in text


def test_the_stress_table_is_not_compressed() -> None:
    assert "compression = {'enabled': false}" in schema.create_table(STRESS, "X", {})


def test_the_replication_factor_stands_in_the_keyspace() -> None:
    assert "'replication_factor': 3" in schema.create_keyspace("ycsb", 3)
