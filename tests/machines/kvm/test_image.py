"""The image is made once of its recipe, kept by its digest, and there whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import ArtifactError, DiskFullError
from tare.machines.kvm import image, recipe

MAKER = """#!/bin/sh
for root do :; done
mkdir -p "$root/boot"
echo kernel >"$root/boot/vmlinuz-6"
echo ramdisk >"$root/boot/initrd.img-6"
echo made >>"$MADE"
"""
LISTS = "#!/bin/sh\necho bash 5\n"
FORMATS = '#!/bin/sh\nfor size do :; done\nshift 6\necho disk >"$1"\n'


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that stand for Debian's, and the file to which each making adds a line."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in (("mmdebstrap", MAKER), ("dpkg-query", LISTS), ("mkfs.ext4", FORMATS)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("MADE", str(tmp_path / "made"))
    return tmp_path / "made"


def test_it_is_made_once(tmp_path: Path, made: Path) -> None:
    cache, said = tmp_path / "cache", list[str]()
    assert image.kept(cache) is None
    first = image.made(said.append, cache)
    assert image.made(said.append, cache) == first == image.kept(cache)
    assert made.read_text().splitlines() == ["made"]
    assert len(said) == 1
    assert first.kernel.read_text() == "kernel\n"
    assert first.ramdisk.read_text() == "ramdisk\n"
    assert first.disk.read_text() == "disk\n"
    assert not (first.root / "root").exists()


def test_a_maker_that_fails_leaves_nothing(
    tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = tmp_path / "programs" / "mmdebstrap"
    fails.write_text("#!/bin/sh\necho no mirror\nexit 1\n")
    with pytest.raises(ArtifactError) as told:
        image.made(lambda _: None, tmp_path / "cache")
    assert told.value.why == "no mirror"
    assert "apt-get update" in told.value.remedy
    assert image.kept(tmp_path / "cache") is None
    assert [one for one in (tmp_path / "cache").iterdir() if one.is_dir()] == []
    assert not made.exists()


def test_a_full_disk_is_said_before_anything_is_fetched(
    tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image, "ROOM", 2**60)
    with pytest.raises(DiskFullError):
        image.made(lambda _: None, tmp_path / "cache")
    assert not made.exists()


def test_another_recipe_is_another_image(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe.digest()
    monkeypatch.setattr(recipe, "RELEASE", "trixie")
    assert recipe.digest() != before
