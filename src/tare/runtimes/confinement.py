"""What a container may do: nothing that a database or a load client does not need.

On every runtime it has no capability and no new privileges. With Docker itself, it also has its own
user, and a root file system that cannot be written if the data lies elsewhere.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tare.runtimes.unit import Unit

OWN_USER = 60_618
"""user and group of databases where root starts them: in no range that Debian or systemd gives to
people, services or containers (https://systemd.io/UIDS-GIDS/)"""
NO_RIGHTS: dict[str, Any] = {"cap_drop": ["ALL"], "security_opt": ["no-new-privileges"]}
"""arguments of `create_host_config`"""
IN_POD: dict[str, Any] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""the same as a security context of Kubernetes"""
IN_SERVICE: dict[str, Any] = {
    "CapabilityDrop": ["ALL"],
    "Privileges": {"NoNewPrivileges": True},
}
"""the same in the container of a Swarm's service"""
_SCRATCH = {"/tmp": "exec,mode=1777"}  # noqa: S108 - the container's; Java unpacks libraries there


def settings(unit: Unit) -> dict[str, Any]:
    """Arguments of `create_host_config` that deny a container what its unit does not need."""
    if unit.storage == "layer":
        return dict(NO_RIGHTS)
    return {**NO_RIGHTS, "read_only": True, "tmpfs": _SCRATCH}


def user_of(unit: Unit, login: int | None = None) -> int:
    """Number of a container's user, on this machine or where somebody logs in.

    A client writes its records into a directory of the user who starts it, so it runs as that user.
    """
    starts = os.getuid() if login is None else login
    return OWN_USER if unit.role == "database" and starts == 0 else starts


def identity(unit: Unit) -> str:
    """USER:GROUP of a container on this machine."""
    user = user_of(unit)
    return f"{user}:{user if user == OWN_USER else os.getgid()}"


def hand_over(unit: Unit) -> None:
    """Give a database's directories on this machine to its user, if that is another user."""
    owner = user_of(unit)
    if owner == os.getuid():
        return
    readable = unit.site.conf_on_host
    for path in (readable, *readable.iterdir()):
        if path.is_symlink():
            continue  # a link has no rights of its own, and its target is one inside
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    data = unit.site.data_on_host
    if data is not None:
        for path in (data, *data.rglob("*")):
            os.chown(path, owner, owner, follow_symlinks=False)
