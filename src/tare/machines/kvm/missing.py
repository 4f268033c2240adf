"""What this machine lacks for making virtual machines, and how to get it."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

from tare.machines.declaration import Missing
from tare.machines.kvm import image, qemu, works

_PROGRAMS = {
    qemu.QEMU: "qemu-system-x86",
    qemu.DISKS: "qemu-utils",
    "ip": "iproute2",
    "ssh-keygen": "openssh-client",
    "taskset": "util-linux",
}
_MAKERS = {
    "mmdebstrap": "mmdebstrap debian-archive-keyring",
    "mkfs.ext4": "e2fsprogs",
    "dpkg-query": "dpkg",
}
"""for the image alone"""
_TUN = Path("/dev/net/tun")


def missing() -> Missing | None:
    """Why no domain can be made here; None: one can, as far as is known without trying."""
    if platform.machine() != "x86_64":
        return Missing(
            f"this version makes virtual machines on x86_64 only, not on {platform.machine()}",
            "have them as hosts of a group (platform.machines: ssh, docs/machines.md)",
        )
    needed = _PROGRAMS if image.kept() is not None else _PROGRAMS | _MAKERS
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    gone = {name: package for name, package in needed.items() if not shutil.which(name, path=path)}
    if gone:
        return Missing(
            f"virtual machines are made with {', '.join(gone)}, which is not here",
            f"apt-get install {' '.join(dict.fromkeys(gone.values()))}",
        )
    if os.geteuid() != 0:
        return Missing("only root makes a network for virtual machines", "run as root")
    if not _TUN.exists():
        return Missing(f"there is no {_TUN} for their network", "modprobe tun")
    return None


def kind() -> str:
    """The kind of domains here, as far as it was seen: KVM, or emulated and why; empty: it
    was not tried since this machine was started."""
    found = image.kept()
    told = works.seen(found) if found is not None else None
    return str(told) if told is not None else ""
