//! The columns of the system tables, as in Cassandra 3.11, and of system.peers_v2 as in 4.0.

/// A CREATE statement for each.
pub const DECLARED: [&str; 13] = [
    "CREATE TABLE system.local (key text PRIMARY KEY, bootstrapped text, broadcast_address inet, \
     cluster_name text, cql_version text, data_center text, gossip_generation int, host_id uuid, \
     listen_address inet, native_protocol_version text, partitioner text, rack text, \
     release_version text, rpc_address inet, schema_version uuid, thrift_version text, \
     tokens set<varchar>, truncated_at map<uuid, blob>)",
    "CREATE TABLE system.peers (peer inet PRIMARY KEY, data_center text, host_id uuid, \
     preferred_ip inet, rack text, release_version text, rpc_address inet, schema_version uuid, \
     tokens set<varchar>)",
    "CREATE TABLE system.peers_v2 (peer inet, peer_port int, data_center text, host_id uuid, \
     native_address inet, native_port int, preferred_ip inet, preferred_port int, rack text, \
     release_version text, schema_version uuid, tokens set<varchar>, PRIMARY KEY (peer, peer_port))",
    "CREATE TABLE system_schema.keyspaces (keyspace_name text PRIMARY KEY, durable_writes boolean, \
     replication map<text, text>)",
    "CREATE TABLE system_schema.tables (keyspace_name text, table_name text, \
     bloom_filter_fp_chance double, caching map<text, text>, cdc boolean, comment text, \
     compaction map<text, text>, compression map<text, text>, crc_check_chance double, \
     dclocal_read_repair_chance double, default_time_to_live int, extensions map<text, blob>, \
     flags set<text>, gc_grace_seconds int, id uuid, max_index_interval int, \
     memtable_flush_period_in_ms int, min_index_interval int, read_repair_chance double, \
     speculative_retry text, PRIMARY KEY (keyspace_name, table_name))",
    "CREATE TABLE system_schema.columns (keyspace_name text, table_name text, column_name text, \
     clustering_order text, column_name_bytes blob, kind text, position int, type text, \
     PRIMARY KEY (keyspace_name, table_name, column_name))",
    "CREATE TABLE system_schema.types (keyspace_name text, type_name text, field_names list<text>, \
     field_types list<text>, PRIMARY KEY (keyspace_name, type_name))",
    "CREATE TABLE system_schema.functions (keyspace_name text, function_name text, \
     argument_types list<text>, argument_names list<text>, body text, called_on_null_input boolean, \
     language text, return_type text, PRIMARY KEY (keyspace_name, function_name, argument_types))",
    "CREATE TABLE system_schema.aggregates (keyspace_name text, aggregate_name text, \
     argument_types list<text>, final_func text, initcond text, return_type text, state_func text, \
     state_type text, PRIMARY KEY (keyspace_name, aggregate_name, argument_types))",
    "CREATE TABLE system_schema.indexes (keyspace_name text, table_name text, index_name text, \
     kind text, options map<text, text>, PRIMARY KEY (keyspace_name, table_name, index_name))",
    "CREATE TABLE system_schema.triggers (keyspace_name text, table_name text, trigger_name text, \
     options map<text, text>, PRIMARY KEY (keyspace_name, table_name, trigger_name))",
    "CREATE TABLE system_schema.views (keyspace_name text, view_name text, base_table_id uuid, \
     base_table_name text, include_all_columns boolean, where_clause text, \
     PRIMARY KEY (keyspace_name, view_name))",
    "CREATE TABLE system_schema.dropped_columns (keyspace_name text, table_name text, \
     column_name text, dropped_time timestamp, type text, \
     PRIMARY KEY (keyspace_name, table_name, column_name))",
];
