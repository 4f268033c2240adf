"""Two runs compared: which of their conditions match, how they differ, and by how much."""
