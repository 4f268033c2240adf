"""What is missing for virtual machines is named with the command that gets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.machines.kvm import missing, qemu
from tare.machines.kvm.missing import missing as gone


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of root's with a cache of its own, and every program."""
    monkeypatch.setenv("TARE_CACHE", str(tmp_path))
    monkeypatch.setattr(missing.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(missing.os, "geteuid", lambda: 0)
    monkeypatch.setattr(missing, "_TUN", tmp_path)
    has(monkeypatch, *missing._PROGRAMS, *missing._MAKERS)


def has(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(missing.shutil, "which", lambda name, path=None: name in names or None)


def test_where_everything_is_there_nothing_is_missing() -> None:
    assert gone() is None


def test_qemu_is_named_with_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, "ip", "ssh-keygen", "taskset", *missing._MAKERS)
    found = gone()
    assert found is not None
    assert qemu.QEMU in found.why
    assert found.remedy == "apt-get install qemu-system-x86 qemu-utils"


def test_who_is_not_root_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing.os, "geteuid", lambda: 1000)
    found = gone()
    assert found is not None
    assert found.remedy == "run as root"


def test_another_architecture_is_told_of_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing.platform, "machine", lambda: "aarch64")
    found = gone()
    assert found is not None
    assert "platform.machines: ssh" in found.remedy


def test_without_a_device_for_networks_its_module_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing, "_TUN", tmp_path / "none")
    found = gone()
    assert found is not None
    assert found.remedy == "modprobe tun"


def test_what_makes_the_image_is_needed_until_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has(monkeypatch, *missing._PROGRAMS)
    found = gone()
    assert found is not None
    assert "mmdebstrap" in found.remedy
    made = tmp_path / missing.image._key()
    made.mkdir()
    (made / "packages.txt").write_text("bash 5\n")
    assert gone() is None
