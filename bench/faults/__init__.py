"""Kills, stops and breaks running studies at random instants, and checks what they promise."""
