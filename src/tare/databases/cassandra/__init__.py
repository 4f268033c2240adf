"""Apache Cassandra: its configuration, its units, its cluster and its schema."""
