"""How many files a unit may have open, on every runtime alike."""

from __future__ import annotations

import resource

WANTED_OPEN_FILES = 100_000
"""open files that a unit may have, where the machine allows it; Cassandra's own recommendation"""


def open_files() -> int:
    """Open files that units get on this machine."""
    return min(WANTED_OPEN_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
