"""The kind of a virtual machine's processor: this machine's own, or QEMU's emulation."""

from __future__ import annotations

KVM, TCG = "kvm", "tcg"
"""accelerators, as QEMU calls them"""
EMULATED = "emulated"
"""the word for a machine whose processor is QEMU's"""
