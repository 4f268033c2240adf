"""Prepares hosts by pyinfra, which runs as a separate program in its own environment."""
