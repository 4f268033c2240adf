"""The page cache of this machine's kernel: whether this process may drop it, and how."""

from __future__ import annotations

import os
from pathlib import Path

SWITCH = Path("/proc/sys/vm/drop_caches")
"""Documentation/admin-guide/sysctl/vm.rst; 3 also drops directories and inodes"""


def can_drop(switch: Path = SWITCH) -> bool:
    """Whether this process may drop it; root may not in a container with a read-only /proc/sys."""
    return os.access(switch, os.W_OK)


def drop(switch: Path = SWITCH) -> bool:
    """Write dirty pages out and drop the page cache. False: that is not permitted."""
    os.sync()
    try:
        switch.write_text("3", encoding="ascii")
    except OSError:
        return False
    return True
