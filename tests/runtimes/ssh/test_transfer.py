"""Files are transferred once and whole; files that come back stay below their directory."""

from __future__ import annotations

import io
import os
import signal
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from tare.machines.inventory.host import Inventory
from tare.machines.ssh import HostError
from tare.runtimes import kept_log
from tare.runtimes.ssh.leftovers import leftovers
from tare.runtimes.ssh.transfer import _unpack, bring, fetch, send, send_directory
from tests.archives import member, tar_of
from tests.machines.fake_ssh import FakeHost, a_fake_host

fake = pytest.fixture(a_fake_host)


def brought(fake: FakeHost, source: Path, said: list[str]) -> PurePosixPath:
    files = [("bin/run", source / "run"), ("text", source / "text")]
    below = PurePosixPath(fake.host.directory / "files")
    return bring(fake.connection, files, below, "things", said.append)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "source"
    made.mkdir()
    (made / "run").write_text("#!/bin/sh\n", encoding="ascii")
    (made / "run").chmod(0o755)
    (made / "text").write_text("text", encoding="ascii")
    return made


def test_files_are_brought_once_with_their_bits(fake: FakeHost, source: Path) -> None:
    said: list[str] = []
    at = Path(brought(fake, source, said))
    assert (at / "text").read_text(encoding="ascii") == "text"
    assert (at / "bin" / "run").stat().st_mode & 0o111
    assert brought(fake, source, said) == PurePosixPath(at)
    assert len(said) == 1


def test_files_that_were_altered_there_are_brought_again(fake: FakeHost, source: Path) -> None:
    said: list[str] = []
    at = Path(brought(fake, source, said))
    (at / "text").write_text("other", encoding="ascii")
    brought(fake, source, said)
    assert (at / "text").read_text(encoding="ascii") == "text"
    assert len(said) == 2


def test_a_place_that_cannot_be_written_is_told_with_the_host(
    fake: FakeHost, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="ascii")
    with pytest.raises(HostError, match="did not arrive") as caught:
        send_directory(fake.connection, source, str(tmp_path / "file" / "below"))
    assert "h1" in caught.value.where


def test_what_is_there_comes_back_and_what_is_not_is_left_out(
    fake: FakeHost, source: Path, tmp_path: Path
) -> None:
    send_directory(fake.connection, source, str(fake.host.directory))
    into = tmp_path / "back"
    names = fetch(fake.connection, str(fake.host.directory), "te* none*", into, "p-")
    assert names == ["p-text"]
    assert (into / "p-text").read_text(encoding="ascii") == "text"
    assert fetch(fake.connection, str(fake.host.directory), "none*", into) == []


def test_of_a_long_log_the_end_comes_back_and_says_what_was_cut(
    fake: FakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_log, "LONGEST", 4)
    there, into = tmp_path / "there", tmp_path / "back"
    there.mkdir()
    (there / "system.log").write_text("begin and end.", encoding="ascii")
    fetch(fake.connection, str(there), "system.log", into, growing=True)
    kept = (into / "system.log").read_text(encoding="ascii")
    assert kept == "[Tare: the first 10 bytes of this log were not kept]\nend."


def test_an_archive_from_elsewhere_writes_nowhere_else(tmp_path: Path) -> None:
    link = member("link", kind=tarfile.SYMTYPE, link="/etc/passwd")
    made = tar_of(member("../../out", b"x"), member("/abs", b"x"), link)
    into = tmp_path / "deep" / "into"
    into.mkdir(parents=True)
    _unpack(io.BytesIO(made), into, "", ends_only=False)
    assert sorted(path.name for path in into.iterdir()) == ["abs", "out"]
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


_HANGS = """\
#!/bin/sh
sleep 600 >/dev/null &
echo $! $$ >{pids}
exec sleep 600
"""
"""a hanging tar; as with a standing connection, another process holds its standard error"""


@pytest.fixture
def hanging(fake: FakeHost, tmp_path: Path) -> Iterator[Path]:
    """A file that gets the process ids of the hanging `tar` once it runs."""
    own, pids = tmp_path / "bin", tmp_path / "pids"
    own.mkdir()
    (own / "tar").write_text(_HANGS.format(pids=pids), encoding="ascii")
    (own / "tar").chmod(0o755)
    fake.connection._environment["PATH"] = f"{own}:{os.environ['PATH']}"
    yield pids
    os.kill(int(pids.read_text(encoding="ascii").split()[0]), signal.SIGKILL)


def ended(pids: Path) -> bool:
    return not Path("/proc", pids.read_text(encoding="ascii").split()[1]).exists()


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_disk_that_hangs_there_holds_up_no_run(
    fake: FakeHost, hanging: Path, tmp_path: Path, size: int
) -> None:
    def write(tar: tarfile.TarFile) -> None:
        entry, content = member("file", bytes(size))
        tar.addfile(entry, io.BytesIO(content))

    with pytest.raises(HostError, match="did not arrive") as caught:
        send(fake.connection, write, str(tmp_path / "there"), within_s=1.0)
    assert caught.value.why == "it did not end within 1 s"
    assert ended(hanging)


def test_neither_do_files_that_are_to_come_back(
    fake: FakeHost, hanging: Path, tmp_path: Path
) -> None:
    with pytest.raises(HostError, match="did not come back") as caught:
        fetch(fake.connection, str(tmp_path), "*", tmp_path / "back", within_s=1.0)
    assert caught.value.why == "it did not end within 1 s"
    assert ended(hanging)


def test_what_a_transfer_left_is_its_owner_s_alone_to_find(
    fake: FakeHost, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = f"test{os.getpid()}"
    for module in ("transfer", "leftovers"):
        monkeypatch.setattr(f"tare.runtimes.ssh.{module}.owner", lambda: own)
    files = Path(fake.host.directory / "files")
    (files / ".0123456789abcdef.another.partial").mkdir(parents=True)
    inventory = Inventory(tmp_path / "inventory", (fake.host,), ())
    assert leftovers(inventory, lambda _: fake.connect()).found == {}
    failing = tmp_path / "tar"
    failing.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
    failing.chmod(0o755)
    fake.connection._environment["PATH"] = f"{tmp_path}:{os.environ['PATH']}"
    with pytest.raises(HostError, match="did not arrive"):
        brought(fake, source, [])
    (line,) = leftovers(inventory, lambda _: fake.connect()).found[fake.host]
    assert line.startswith(f"part {files}/.")
    assert line.endswith(f".{own}.partial")
