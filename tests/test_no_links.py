"""Opening a name gives that file, never a link or pipe in its place."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from tare.no_links import opened, plain_file, within


def test_a_file_below_directories_is_read(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").write_bytes(b"text")
    with (
        opened(tmp_path) as root,
        within(root, ("a", "b")) as directory,
        plain_file(directory, "file") as file,
    ):
        assert file.read() == b"text"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["link", "pipe", "directory", "none"])
def test_what_is_no_plain_file_is_not_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    gc.collect()  # else files that other tests left are closed in between
    before = len(list(Path("/proc/self/fd").iterdir()))
    with opened(tmp_path) as root, pytest.raises(OSError):
        plain_file(root, name)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_directory_that_is_a_link_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/file").write_bytes(b"text")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    with opened(tmp_path / "link") as root, plain_file(root, "file") as file:
        assert file.read() == b"text", "the user's own way may lead through links"
    with opened(tmp_path) as root, pytest.raises(OSError), within(root, ("link",)):
        raise AssertionError("it was entered")
