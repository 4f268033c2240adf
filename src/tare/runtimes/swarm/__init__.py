"""The Docker Swarm runtime: a service for each unit, on the nodes of a Swarm."""
