"""QEMU's command line, and a process that is stopped, goes on and ends."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.kvm import qemu
from tare.machines.kvm.image import Image
from tare.machines.kvm.kinds import KVM, TCG

IMAGE = Image(Path("/image"), "digest")


def test_an_emulated_processor_is_an_old_one_and_kvm_s_is_the_machine_s_own() -> None:
    emulated = " ".join(qemu.command(IMAGE, TCG, 2, 2**30, ""))
    assert "-accel tcg,thread=multi -cpu Nehalem" in emulated
    real = " ".join(qemu.command(IMAGE, KVM, 2, 2**30, ""))
    assert "-accel kvm -cpu host" in real
    assert "-smp 2 -m 1024M" in real
    assert "-kernel /image/vmlinuz -initrd /image/initrd.img" in real


@pytest.fixture
def process() -> psutil.Process:
    return psutil.Process(subprocess.Popen(["sleep", "60"]).pid)


def test_it_stands_still_goes_on_and_ends(process: psutil.Process) -> None:
    qemu.signalled(process, signal.SIGSTOP)
    deadline = time.monotonic() + 5.0
    while process.status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert qemu.alive(process)
    qemu.signalled(process, signal.SIGCONT)
    qemu.signalled(process, signal.SIGSTOP)
    qemu.end(process)
    assert not qemu.alive(process)
    qemu.end(process)
    qemu.signalled(process, signal.SIGCONT)


def test_what_is_no_qemu_is_said_with_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailableError) as told:
        qemu.start([str(tmp_path / "no-qemu")], "", tmp_path / "pid", {})
    assert "apt-get install qemu-system-x86" in told.value.remedy


def test_one_that_refuses_its_words_is_told_with_its_own(tmp_path: Path) -> None:
    refuses = tmp_path / "qemu"
    refuses.write_text("#!/bin/sh\necho no such machine >&2\nexit 1\n")
    refuses.chmod(0o700)
    with pytest.raises(RuntimeUnavailableError) as told:
        qemu.start([str(refuses)], "0", tmp_path / "pid", {})
    assert told.value.why == "no such machine"
