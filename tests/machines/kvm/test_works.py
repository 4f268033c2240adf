"""Whether KVM works is seen once after each start of the machine, by booting something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.machines.kvm import works
from tare.machines.kvm.image import Image
from tare.machines.kvm.kinds import KVM, TCG

IMAGE = Image(Path("/none"), "digest")


@pytest.fixture(autouse=True)
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A /dev/kvm that is there, which proves nothing."""
    (tmp_path / "kvm").touch()
    monkeypatch.setattr(works, "_DEVICE", tmp_path / "kvm")


class Boots:
    """QEMU, which is asked to boot something and says why that failed."""

    def __init__(self, why_not: str) -> None:
        self.why_not = why_not
        self.asked: list[str] = []

    def __call__(self, image: Image, accelerator: str, seconds: float) -> str:
        self.asked.append(accelerator)
        return self.why_not


def test_where_something_boots_it_is_kvm(tmp_path: Path) -> None:
    boots = Boots("")
    found = works.tried(IMAGE, tmp_path, boots)
    assert found.accelerator == KVM
    assert str(found) == "KVM"
    assert boots.asked == [KVM]


def test_a_device_in_which_a_kernel_hangs_is_no_kvm(tmp_path: Path) -> None:
    found = works.tried(IMAGE, tmp_path, Boots("a kernel hangs in it"))
    assert found.accelerator == TCG
    assert str(found).startswith("emulated")
    assert "a kernel hangs in it" in str(found)


def test_without_the_device_nothing_is_booted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(works, "_DEVICE", tmp_path / "no-device")
    boots = Boots("")
    assert works.tried(IMAGE, tmp_path, boots).accelerator == TCG
    assert boots.asked == []


def test_it_is_tried_once_until_the_machine_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boots = Boots("")
    assert works.seen(IMAGE, tmp_path) is None
    works.tried(IMAGE, tmp_path, boots)
    works.tried(IMAGE, tmp_path, boots)
    assert len(boots.asked) == 1
    boot = tmp_path / "boot_id"
    boot.write_text("another\n")
    monkeypatch.setattr(works, "_BOOT", boot)
    assert works.seen(IMAGE, tmp_path) is None
    works.tried(IMAGE, tmp_path, boots)
    assert len(boots.asked) == 2


def test_another_kernel_is_tried_again_and_a_damaged_note_is_none(tmp_path: Path) -> None:
    works.tried(IMAGE, tmp_path, Boots(""))
    assert works.seen(Image(Path("/none"), "another"), tmp_path) is None
    (tmp_path / "kvm-works.json").write_text("{")
    assert works.seen(IMAGE, tmp_path) is None
