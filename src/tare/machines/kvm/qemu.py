"""QEMU's command line, and how a QEMU in the background is found, stopped and ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tare.artifacts.program import run_to_end
from tare.errors import RuntimeUnavailableError
from tare.machines.kvm.image import INSTALL
from tare.machines.kvm.kinds import KVM, TCG
from tare.starter import labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.machines.kvm.image import Image

QEMU, DISKS = "qemu-system-x86_64", "qemu-img"
PROCESSORS = {KVM: "host", TCG: "Nehalem,+rdrand"}
"""CPU models. Emulation makes many instructions of each wide vector one: so one of 2008 is used."""
_STARTED_S = 60.0
_ENDED_S = 10.0


@dataclass(frozen=True)
class Shape:
    """How large a domain is, how its disk is kept, and which network it is on.

    Attributes:
        cpus: number of its own CPUs.
        cpuset: CPUs of this machine on which they run; empty: any.
        memory: bytes.
        cache: QEMU's cache mode of the disk.
        format: of the disk's file.
        network: its name, as studies have it.
    """

    cpus: int
    memory: int
    cpuset: str = ""
    cache: str = "none"
    format: str = "qcow2"
    network: str = "bridge"


def version() -> str:
    """QEMU's version; empty: there is none."""
    if shutil.which(QEMU) is None:
        return ""
    lines = run_to_end([QEMU, "--version"], 10.0).lines
    return lines[0].removeprefix("QEMU emulator version ").strip() if lines else ""


def command(image: Image, accelerator: str, cpus: int, memory: int, append: str) -> list[str]:
    """QEMU with a machine that boots the image's kernel, without disk and network yet."""
    kind = {KVM: "kvm", TCG: "tcg,thread=multi"}[accelerator]
    return [
        *(QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none"),
        *("-machine", "q35", "-accel", kind, "-cpu", PROCESSORS[accelerator]),
        *("-smp", str(cpus), "-m", f"{memory // 2**20}M", "-no-reboot"),
        *("-kernel", str(image.kernel), "-initrd", str(image.ramdisk)),
        *("-append", f"console=ttyS0 quiet panic=-1 nowatchdog {append}"),
        *("-object", "rng-random,id=entropy,filename=/dev/urandom"),
        *("-device", "virtio-rng-pci,rng=entropy"),
    ]


def start(
    words: Sequence[str],
    cpuset: str,
    pid_file: Path,
    environment: Mapping[str, str],
    open_files: Sequence[int] = (),
) -> psutil.Process:
    """Start QEMU in the background.

    Args:
        words: its command line.
        cpuset: CPUs on which all of its threads run; empty: any.
        pid_file: where it notes its process id.
        environment: labels of the run.
        open_files: file descriptors that it inherits.

    Raises:
        RuntimeUnavailableError: it does not start.
    """
    pid_file.unlink(missing_ok=True)
    pinned = ["taskset", "-c", cpuset] if cpuset else []
    full = [*pinned, *words, "-daemonize", "-pidfile", str(pid_file)]
    try:
        env = {**os.environ, **environment}
        done = run_to_end(full, _STARTED_S, env=env, open_files=open_files)
    except OSError as error:
        raise RuntimeUnavailableError(
            "QEMU cannot be started", why=str(error), remedy=INSTALL
        ) from error
    if not done.ok:
        raise RuntimeUnavailableError("QEMU does not start", where=QEMU, why=done.last(3))
    return psutil.Process(int(pid_file.read_text(encoding="ascii")))


def alive(process: psutil.Process | None) -> bool:
    """Whether it runs or is stopped."""
    try:
        return process is not None and process.status() not in ("zombie", "dead")
    except psutil.Error:
        return False


def signalled(process: psutil.Process, what: signal.Signals) -> None:
    """Send it a signal, unless it is gone, or another process has its id."""
    if alive(process) and process.is_running():
        os.kill(process.pid, what)


def end(process: psutil.Process) -> None:
    """End it at once: its disk is discarded.

    Raises:
        RuntimeUnavailableError: it does not end.
    """
    signalled(process, signal.SIGKILL)
    deadline = time.monotonic() + _ENDED_S
    while alive(process):
        if time.monotonic() > deadline:
            raise RuntimeUnavailableError("QEMU does not end", where=f"process {process.pid}")
        time.sleep(0.05)


def boots(image: Image, accelerator: str, seconds: float) -> str:
    """Boot the image's kernel and its ramdisk, which say so and go off; empty, or why they do not.

    Args:
        seconds: after so long it is taken for hung.
    """
    words = command(image, accelerator, 1, 256 * 2**20, "tare.check")
    environment = {**os.environ, **labels("virtual-machines")}
    try:
        done = run_to_end([*words, "-serial", "stdio"], seconds, env=environment)
    except OSError as error:
        return str(error)
    if any("tare: boots" in line for line in done.lines):
        return ""
    if done.status is None:
        return f"a kernel hangs in it: it says nothing within {seconds:.0f} s"
    return done.first(1).removeprefix(f"{QEMU}: ") or "it ends without a word"


def disk(base: Path, at: Path, shape: Shape) -> None:
    """A disk of a domain's own, as the image's is.

    Raises:
        RuntimeUnavailableError: it cannot be made.
    """
    words = ["cp", "--sparse=always", "--reflink=auto", str(base), str(at)]
    if shape.format != "raw":
        words = [DISKS, "create", "-q", "-f", shape.format, "-b", str(base), "-F", "raw", str(at)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeUnavailableError(
            "a domain's disk cannot be made", where=str(at), why=done.stderr.strip()
        )
