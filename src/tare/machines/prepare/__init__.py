"""Hosts made ready by pyinfra, which runs as a program of its own, in an environment of its own."""
