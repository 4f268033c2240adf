"""Files come from directories and archives; hostile files are named and not read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from tare.imports import limits
from tare.imports.sources import File, Skipped, files, shown
from tests.archives import member, tar_of

CONTENT = b"hello\n"


def read(*paths: Path) -> dict[str, str | bytes]:
    """The label's last part to the content, or to the reason why there is none."""
    return {
        one.label.rpartition("/")[2]: one.data if isinstance(one, File) else one.reason
        for one in files(paths)
    }


def test_a_directory_is_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.txt", "a.txt", "sub/c.txt"):
        (tmp_path / name).write_bytes(CONTENT)
    assert list(read(tmp_path)) == ["a.txt", "b.txt", "c.txt"]


def test_a_zip_is_read_in_place(tmp_path: Path) -> None:
    path = tmp_path / "results.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one/a.txt", CONTENT)
        archive.mkdir("empty")
    (found,) = files([path])
    assert isinstance(found, File)
    assert (found.label, found.name, found.data) == (f"{path}::one/a.txt", "one/a.txt", CONTENT)
    assert sorted(tmp_path.iterdir()) == [path], "nothing is unpacked"


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_is_read_in_place_whatever_its_name(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "results.dat"
    path.write_bytes(tar_of(member("a.txt", CONTENT), mode=mode))
    assert read(path) == {"results.dat::a.txt": CONTENT}


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_has_its_name_without_the_suffix(
    tmp_path: Path, compress: object
) -> None:
    path = tmp_path / "a.txt.z"
    path.write_bytes(compress(CONTENT))  # type: ignore[operator]
    (found,) = files([path])
    assert isinstance(found, File)
    assert (found.name, found.data) == ("a.txt", CONTENT)


def test_a_zip_bomb_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", CONTENT)
        archive.writestr("bomb.txt", bytes(16 * limits.MIB))
    found = read(path)
    assert found["bomb.zip::bomb.txt"] == f"unpacks to more than {limits.RATIO} times its size"
    assert found["bomb.zip::a.txt"] == CONTENT


def test_a_zip_that_lies_about_a_size_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lie.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", bytes(100_000))
    data = path.read_bytes()
    path.write_bytes(data.replace((100_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    assert "damaged" in str(read(path)["lie.zip::a.txt"])


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_bomb_is_named(tmp_path: Path, compress: object) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(compress(bytes(16 * limits.MIB)))  # type: ignore[operator]
    assert "unpacks to more than" in str(read(path)["bomb.gz"])


def test_a_bomb_inside_a_tar_ends_the_archive_and_keeps_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tgz"
    members = member("a.txt", CONTENT), member("b.txt", bytes(32 * limits.MIB))
    path.write_bytes(tar_of(*members, mode="w:gz"))
    found = read(path)
    assert found["bomb.tgz::a.txt"] == CONTENT
    assert "unpacks to more than" in str(found["bomb.tgz"])


def test_names_are_labels_and_no_paths(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    path = inside / "evil.tar"
    names = "../escaped.txt", "/etc/absolute.txt", "\x1b[31mred\n.txt"
    path.write_bytes(tar_of(*(member(name, CONTENT) for name in names)))
    labels = [one.label for one in files([path])]
    assert labels[0] == f"{path}::../escaped.txt"
    assert labels[2] == f"{path}::\\x1b[31mred\\x0a.txt"
    assert not (tmp_path / "escaped.txt").exists()


def test_links_and_devices_in_a_tar_are_named(tmp_path: Path) -> None:
    path = tmp_path / "links.tar"
    members = (
        member("soft", kind=tarfile.SYMTYPE, link="/etc/passwd"),
        member("hard", kind=tarfile.LNKTYPE, link="../x"),
        member("pipe", kind=tarfile.FIFOTYPE),
    )
    path.write_bytes(tar_of(*members))
    assert read(path) == {
        "links.tar::soft": "a link, which is not followed",
        "links.tar::hard": "a link, which is not followed",
        "links.tar::pipe": "not a regular file",
    }


def test_a_link_in_a_zip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "links.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("soft")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    assert read(path) == {"links.zip::soft": "a link, which is not followed"}


def test_an_encrypted_member_is_named(tmp_path: Path) -> None:
    path = tmp_path / "secret.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", CONTENT)
    data = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + offset] |= 1
    path.write_bytes(bytes(data))
    assert read(path) == {"secret.zip::a.txt": "encrypted"}


def test_an_archive_in_an_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "outer.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner.gz", gzip.compress(CONTENT))
    assert "inside an archive" in str(read(path)["outer.zip::inner.gz"])


@pytest.mark.parametrize("keep", [40, 200, -30])
def test_a_cut_archive_is_named(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "cut.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"{number}.txt", os.urandom(200))
    path.write_bytes(path.read_bytes()[:keep])
    (reason,) = read(path).values()
    assert "a damaged archive" in str(reason)


def test_links_inside_a_directory_are_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_bytes(CONTENT)
    (inside / "file").symlink_to(outside / "secret.txt")
    (inside / "directory").symlink_to(outside)
    assert set(read(inside).values()) == {"a link, which is not followed"}


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read(tmp_path) == {"pipe": "not a regular file"}
    assert read(tmp_path / "nothing") == {"nothing": "there is no such file"}


def test_a_large_file_is_named_unread(tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(limits.LARGEST_FILE + 1)
    assert "larger than" in str(read(tmp_path)["large.txt"])


def test_too_many_files_end_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tare.imports.sources.MOST_FILES", 2)
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).write_bytes(CONTENT)
    found = list(files([tmp_path]))
    assert len(found) == 3
    assert isinstance(found[2], Skipped)
    assert "more than 2 files" in found[2].reason


def test_shown_names_are_short_and_printable() -> None:
    assert shown("a\x00b\u202e") == "a\\x00b\\x202e"
    assert len(shown("x" * 5000)) == 300
    assert shown("größe.txt") == "größe.txt"
