"""Whether KVM works here: it boots a kernel, because the device's presence proves nothing."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts.tree import default_cache
from tare.machines.kvm import qemu
from tare.machines.kvm.kinds import EMULATED, KVM, TCG
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.machines.kvm.image import Image

_DEVICE = Path("/dev/kvm")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_FILE = "kvm-works.json"
_WITHIN_S = 20.0
"""A kernel in KVM is at its ramdisk within 2 s."""


@dataclass(frozen=True)
class Works:
    """What was seen of KVM.

    Attributes:
        boot: the boot of this machine at which it was seen.
        image: digest of the image whose kernel was booted.
        qemu: its version.
        why_not: why KVM does not work; empty: it does.
    """

    boot: str
    image: str
    qemu: str
    why_not: str

    @property
    def accelerator(self) -> str:
        return TCG if self.why_not else KVM

    def __str__(self) -> str:
        return (
            f"{EMULATED} by QEMU: KVM does not work here ({self.why_not})"
            if self.why_not
            else "KVM"
        )


def seen(image: Image, cache: Path | None = None) -> Works | None:
    """What was seen of this image and this QEMU since this machine's start; None: nothing."""
    try:
        told = Works(**json.loads(((cache or default_cache()) / _FILE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return told if (told.boot, told.image, told.qemu) == _now(image) else None


def tried(
    image: Image, cache: Path | None = None, boots: Callable[[Image, str, float], str] = qemu.boots
) -> Works:
    """The same; KVM is tried if nothing was seen yet."""
    found = seen(image, cache)
    if found is None:
        why = "there is no /dev/kvm"
        if _DEVICE.exists():
            why = boots(image, KVM, _WITHIN_S)
        found = Works(*_now(image), why_not=why)
        replace_file((cache or default_cache()) / _FILE, json.dumps(asdict(found)))
    return found


def _now(image: Image) -> tuple[str, str, str]:
    return _BOOT.read_text(encoding="ascii").strip(), image.digest, qemu.version()
