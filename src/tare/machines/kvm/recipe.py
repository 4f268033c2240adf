"""The recipe of a virtual machine's image: Debian's packages, and two scripts of Tare's."""

from __future__ import annotations

import hashlib
from importlib.resources import files

RELEASE = "bookworm"
"""of Debian; its C library (2.36) is older than on most machines on which Tare is built"""
_PACKAGES = "packages.list"
INIT, CHECK = "init.sh", "check.sh"
INIT_AT = "/sbin/tare-init"
_CHECK_AT = "/etc/initramfs-tools/scripts/init-top/tare-check"
_RAMDISK = "MODULES=list\\nCOMPRESS=gzip\\nRESUME=none\\n"
_MODULES = "virtio_ring\\nvirtio_pci\\nvirtio_blk\\next4\\ncrc32c_generic\\n"
"""Linux's modules that the initial ramdisk loads to find the disk"""
SIZE = "32G"
"""of the disk; only written parts take room here"""
_LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*")


def script(name: str) -> str:
    """The text of one of the files beside this one."""
    return (files(__package__) / name).read_text(encoding="ascii")


def debian(root: str, init: str, check: str) -> list[str]:
    """The command that puts the image's files into a directory.

    Args:
        root: that directory.
        init, check: files of the two scripts.
    """
    at = "$1/etc/initramfs-tools"
    ramdisk = f"mkdir -p {at}/conf.d {at}/scripts/init-top $1/usr/share/initramfs-tools/modules.d"
    return [
        *("mmdebstrap", "--mode=root", "--variant=minbase", "--quiet"),
        f"--include={','.join(script(_PACKAGES).split())}",
        *(f"--dpkgopt=path-exclude={one}" for one in _LEFT_OUT),
        f"--essential-hook={ramdisk}",
        f"--essential-hook=printf '{_RAMDISK}' >{at}/conf.d/tare",
        f"--essential-hook=printf '{_MODULES}' >$1/usr/share/initramfs-tools/modules.d/tare",
        f"--essential-hook=install -m 755 {check} $1{_CHECK_AT}",
        f"--customize-hook=install -m 755 {init} $1{INIT_AT}",
        *(RELEASE, root),
    ]


def digest() -> str:
    """SHA-256 of the recipe: another one makes another image."""
    words = [*debian("", "", ""), SIZE, script(INIT), script(CHECK)]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()
