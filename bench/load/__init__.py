"""The cost of load generators (Tare's, its peers' and the floor) on one real Cassandra node."""
