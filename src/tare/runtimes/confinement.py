"""What a container may do: nothing that a database or a load client on this machine does not need.

No capability, no new privileges, a root file system that it cannot write where its data lies
elsewhere, and a user of its own. It is root without capabilities where a host's login is root.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tare.runtimes.unit import Unit

OWN_USER = 60_618
"""user and group of databases where Tare runs as root: in no range that Debian or systemd gives to
people, services or containers (https://systemd.io/UIDS-GIDS/)"""
NO_RIGHTS: dict[str, Any] = {"cap_drop": ["ALL"], "security_opt": ["no-new-privileges"]}
_SCRATCH = {"/tmp": "exec,mode=1777"}  # noqa: S108 - the container's; Java unpacks libraries there


def settings(unit: Unit) -> dict[str, Any]:
    """Arguments of `create_host_config` that take from a container what its unit does not need."""
    if unit.storage == "layer":
        return dict(NO_RIGHTS)
    return {**NO_RIGHTS, "read_only": True, "tmpfs": _SCRATCH}


def user_of(unit: Unit) -> int:
    """Number of the user that a container on this machine runs as.

    A client writes its records into a directory of this process, so it is this process's user.
    """
    return OWN_USER if unit.role == "database" and os.getuid() == 0 else os.getuid()


def identity(unit: Unit) -> str:
    """USER:GROUP of a container on this machine."""
    user = user_of(unit)
    return f"{user}:{user if user == OWN_USER else os.getgid()}"


def hand_over(unit: Unit) -> None:
    """Give a database's directories on this machine to its user, where that is not this one."""
    owner = user_of(unit)
    if owner == os.getuid():
        return
    readable = unit.site.conf_on_host
    for path in (readable, *readable.iterdir()):
        if path.is_symlink():
            continue  # it leads to where it does inside, and has no rights of its own
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    data = unit.site.data_on_host
    if data is not None:
        for path in (data, *data.rglob("*")):
            os.chown(path, owner, owner, follow_symlinks=False)
