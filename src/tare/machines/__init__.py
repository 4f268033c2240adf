"""Places where units can run: this machine's facts, addresses and control groups."""
