"""A build context holds the named files and nothing else, byte for byte the same each time."""

from __future__ import annotations

import io
import os
import tarfile
from typing import TYPE_CHECKING

import pytest

from tare.artifacts.image_context import write_context

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "program").write_bytes(b"run me")
    (tmp_path / "program").chmod(0o500)
    (tmp_path / "data").write_bytes(b"read me")
    (tmp_path / "link").symlink_to("data")
    return {
        "/opt/x/program": tmp_path / "program",
        "/opt/x/data": tmp_path / "data",
        "/lib/link": tmp_path / "link",
    }


def context(files: dict[str, Path]) -> bytes:
    sink = io.BytesIO()
    write_context(sink, files, "/opt/x")
    return sink.getvalue()


def members(content: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        return {member.name: member for member in tar}


def test_the_image_is_made_from_nothing_and_declares_no_volume(files: dict[str, Path]) -> None:
    with tarfile.open(fileobj=io.BytesIO(context(files))) as tar:
        stream = tar.extractfile("Dockerfile")
        assert stream is not None
        lines = stream.read().decode().splitlines()

    assert lines == ["FROM scratch", "COPY root/ /", "ENV PATH=/opt/x"]


def test_files_keep_content_and_executable_bit_and_links_are_followed(
    files: dict[str, Path],
) -> None:
    found = members(context(files))

    assert found["root/opt/x/program"].mode == 0o755
    assert found["root/opt/x/data"].mode == 0o644
    assert found["root/lib/link"].isreg()
    assert found["root/lib/link"].size == len(b"read me")
    assert {name for name, member in found.items() if member.isreg()} == {
        "Dockerfile",
        "root/etc/group",
        "root/etc/nsswitch.conf",
        "root/etc/passwd",
        "root/lib/link",
        "root/opt/x/data",
        "root/opt/x/program",
    }


def test_everyone_may_write_into_its_scratch_directory(files: dict[str, Path]) -> None:
    assert members(context(files))["root/tmp"].mode == 0o1777


def test_neither_time_nor_owner_nor_order_changes_a_byte(files: dict[str, Path]) -> None:
    before = context(files)
    os.utime(files["/opt/x/data"], (1, 1))

    assert context(dict(reversed(files.items()))) == before
