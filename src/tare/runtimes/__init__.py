"""How a unit runs on a machine: as a plain process, or in a container."""
