"""The machine's own Java launcher and compiler, for tools that are written in Java."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts.program import run_to_end
from tare.errors import ArtifactError, RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

RELEASE = 11
"""Java release that our own class is compiled for; every tool here runs on it and on later ones."""
_COMPILE_SECONDS = 120


def program(name: str) -> Path:
    """`java` or `javac` of $JAVA_HOME, else on PATH.

    Raises:
        RuntimeUnavailableError: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    named = Path(home) / "bin" / name if home else None
    found = str(named) if named is not None and named.is_file() else shutil.which(name)
    if found is None:
        raise RuntimeUnavailableError(
            f"{name} is missing",
            why="YCSB and cassandra-stress are Java programs; YCSB's binding is compiled here",
            remedy="apt-get install default-jdk-headless, or set JAVA_HOME",
        )
    return Path(found).absolute()


def compile_java(source: Path, class_path: Sequence[Path], into: Path) -> None:
    """Compile one source file into class files below `into`.

    Raises:
        RuntimeUnavailableError: no compiler.
        ArtifactError: it does not compile; the compiler's output is the reason.
    """
    command = [str(program("javac")), "--release", str(RELEASE), "-nowarn", "-d", str(into)]
    command += ["-cp", ":".join(map(str, class_path)), str(source)]
    ended = run_to_end(command, _COMPILE_SECONDS)
    if not ended.ok:
        raise ArtifactError(
            f"{source.name} does not compile",
            where=str(program("javac")),
            why=ended.first(6),
            remedy="apt-get install default-jdk-headless (Java 11 or later)",
        )
