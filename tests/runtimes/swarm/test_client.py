"""Files are put into a client's container before its start, and come out as plain files."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from tare.runtimes.swarm import client
from tare.runtimes.swarm.client import packed, unpack
from tests.archives import member, tar_of


def test_files_are_given_below_their_directory() -> None:
    with tarfile.open(fileobj=io.BytesIO(packed({"load.json": b"{}"}, "/opt/tare/conf"))) as made:
        assert made.getnames() == ["opt/tare", "opt/tare/conf", "opt/tare/conf/load.json"]
        content = made.extractfile("opt/tare/conf/load.json")
        assert content is not None
        assert content.read() == b"{}"


def test_what_comes_out_lies_in_the_directory_and_nowhere_else(tmp_path: Path) -> None:
    names = "conf/latency-c1.hlog", "../../outside", "conf/.."
    link = member("conf/link", kind=tarfile.SYMTYPE, link="/etc/passwd")
    made = tar_of(*(member(name, b"abc") for name in names), link)
    into = tmp_path / "into"
    into.mkdir()
    unpack([made], into)
    assert sorted(file.name for file in into.iterdir()) == ["latency-c1.hlog", "outside"]
    assert [file.name for file in tmp_path.iterdir()] == ["into"]


def test_a_file_longer_than_any_record_does_not_come_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LONGEST", 5)
    archive = packed({"latency-c1.hlog": b"12345", "bomb.hlog": b"123456"}, "/conf")
    unpack([archive], tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["latency-c1.hlog"]
