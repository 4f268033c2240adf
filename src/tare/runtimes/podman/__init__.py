"""Podman: containers without a daemon, which conmon holds and netavark connects."""
