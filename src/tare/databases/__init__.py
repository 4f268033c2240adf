"""Turns units into a database cluster that answers."""
