"""The tables are those of YCSB and cassandra-stress, whatever the compaction options say."""

from __future__ import annotations

from tare.databases.cassandra import schema


def test_each_family_of_workloads_has_its_table() -> None:
    assert schema.table_of("ycsb-a") is schema.YCSB
    assert schema.table_of("stress-mixed") is schema.STRESS


def test_compaction_and_its_options_become_string_literals() -> None:
    text = schema.create_table(
        schema.YCSB, "LeveledCompactionStrategy", {"sstable_size_in_mb": 80, "enabled": True}
    )
    assert "'class': 'LeveledCompactionStrategy'" in text
    assert "'sstable_size_in_mb': '80'" in text
    assert "'enabled': 'true'" in text


def test_an_option_cannot_end_its_literal() -> None:
    text = schema.create_table(schema.YCSB, "X", {"a": "'}; DROP TABLE t; --"})
    assert "'''}; DROP TABLE t; --'" in text


def test_the_stress_table_is_not_compressed() -> None:
    assert "compression = {'enabled': false}" in schema.create_table(schema.STRESS, "X", {})


def test_the_replication_factor_stands_in_the_keyspace() -> None:
    assert "'replication_factor': 3" in schema.create_keyspace("ycsb", 3)
