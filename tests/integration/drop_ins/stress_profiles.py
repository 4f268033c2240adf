"""User profiles of cassandra-stress; `{keyspace}` is to be filled in."""

from __future__ import annotations

TYPES = """\
keyspace: {keyspace}
keyspace_definition: |
  CREATE KEYSPACE IF NOT EXISTS {keyspace}
    WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}};
table: types
table_definition: |
  CREATE TABLE IF NOT EXISTS types (
    name text, choice boolean, at timestamp, address inet, dbl double, lval bigint, ival int,
    uid timeuuid, value blob, t_ascii ascii, t_float float, t_decimal decimal, t_varint varint,
    t_date date, t_time time, t_uuid uuid, t_tiny tinyint, t_small smallint, t_set set<int>,
    t_list list<text>,
    PRIMARY KEY ((name, choice), at, address, dbl, lval, ival, uid))
columnspec:
  - {{name: name, size: uniform(1..10), population: uniform(1..1B)}}
  - {{name: at, cluster: fixed(2)}}
  - {{name: lval, population: gaussian(1..1000), cluster: uniform(1..4)}}
  - {{name: t_set, size: fixed(3)}}
  - {{name: t_list, size: fixed(2)}}
insert: {{partitions: fixed(2), batchtype: UNLOGGED}}
queries: {{}}
"""

ROWS = """\
keyspace: {keyspace}
keyspace_definition: |
  CREATE KEYSPACE IF NOT EXISTS {keyspace}
    WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}};
table: many
table_definition: |
  CREATE TABLE IF NOT EXISTS many (
    id uuid, c1 int, c2 text, v blob, w text static, x double, PRIMARY KEY (id, c1, c2))
columnspec:
  - {{name: c1, population: uniform(1..1M), cluster: uniform(1..5)}}
  - {{name: c2, cluster: fixed(3)}}
insert: {{batchtype: UNLOGGED}}
queries:
  one: {{cql: 'select * from many where id = ? and c1 = ? and c2 = ?', fields: samerow}}
  all: {{cql: 'select * from many where id = ?', fields: multirow}}
token_range_queries:
  sweep: {{columns: '*', page_size: 50}}
"""


VISITED = """\
keyspace: {keyspace}
keyspace_definition: |
  CREATE KEYSPACE IF NOT EXISTS {keyspace}
    WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}};
table: visited
table_definition: |
  CREATE TABLE IF NOT EXISTS visited (
    id uuid, c1 timeuuid, c2 text, v blob, PRIMARY KEY (id, c1, c2))
columnspec:
  - {{name: c1, cluster: fixed(4)}}
  - {{name: c2, cluster: fixed(3)}}
insert: {{batchtype: UNLOGGED}}
queries: {{}}
"""
