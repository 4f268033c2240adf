"""What load generators cost: Tare's, its peers and the floor, against one real Cassandra node."""
