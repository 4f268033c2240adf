"""Tare: what the platform under a NoSQL database cluster costs, with honest intervals."""

__version__ = "0.1.0"
