//! What `ycsb --help` says.

pub const USAGE: &str = "\
Usage: ycsb load|run BINDING [options]

Inserts records (load) or runs transactions (run), with the command line, the property files and
the output of YCSB 0.17.

Bindings:
  cassandra-cql, scylla, mongodb

Options, in any order:
  -P FILE        read properties from a file; later files win; workloads/workload[a-f] are built in
  -p KEY=VALUE   set a property; wins over every file
  -s             print a status line every status.interval seconds to stderr
  -threads N     operations in flight (threadcount, default 1)
  -target N      operations per second of all threads (default 0: as many as possible)
  -l LABEL       put a label before every status line
  -db CLASS, -load, -t, -cp, -jvm-args   as YCSB's own scripts pass them

Example:
  ycsb load cassandra-cql -P workloads/workloada -p hosts=127.0.0.1 -p recordcount=100000 -threads 16
  ycsb run cassandra-cql -P workloads/workloada -p hosts=127.0.0.1 -p recordcount=100000 \\
      -p operationcount=1000000 -threads 16 -s

  ycsb load mongodb -P workloads/workloada -p mongodb.url=mongodb://127.0.0.1:27017/ycsb?w=1 \\
      -p recordcount=100000 -threads 16

With CQL, the keyspace ycsb and the table usertable must exist.
";
