"""Fetch a tool with the client of its own package registry: mvn for the Java ones, cargo for latte.

The versions are pinned. Maven checks each file against the repository's checksum, or Tare checks it
against a pinned one; cargo checks against the index. On every use, the fetched files are verified
against their own digests.
"""

from __future__ import annotations

import shutil
import tarfile
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from tare.artifacts.digest import text_digest
from tare.artifacts.maven import copy_file, copy_with_dependencies
from tare.artifacts.program import find_program, run_to_end
from tare.artifacts.tools import jdk
from tare.artifacts.tools.cache import Tool, kept
from tare.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.resources.abc import Traversable

ToolName = Literal["ycsb", "cassandra-stress", "latte"]
TOOL_NAMES: tuple[ToolName, ...] = get_args(ToolName)
VERSIONS: dict[ToolName, str] = {
    "ycsb": "0.17.0",
    "cassandra-stress": "3.11.2",
    "latte": "0.29.0",
}
HDR_HISTOGRAM = "org.hdrhistogram:HdrHistogram:2.1.12"
"""YCSB and cassandra-stress ask for an older one, which needs javax.xml.bind. Java 11 and later do
not have it. YCSB then fails when it writes histograms; cassandra-stress dies while it prints
(`-log hdrfile=`) and still ends with status 0."""
YCSB_JARS = (
    HDR_HISTOGRAM,  # first of these: a direct dependency wins
    "site.ycsb:core:0.17.0",
    "com.datastax.cassandra:cassandra-driver-core:3.11.5",
    "org.slf4j:slf4j-simple:1.7.36",
)
"""YCSB without its bindings, which are in no registry, and the driver that its binding uses."""
BINDING = "tare.ycsb.CassandraCQLClient"
"""Our binding with the statements and properties of YCSB's own cassandra-cql."""
STRESS_TARBALL = "org.apache.cassandra:apache-cassandra:3.11.2:tar.gz:bin"
STRESS_SHA256 = "e922770ad95d5288d42442c3cfa1475938597b38418b7be5c4234a9de388c720"
"""Digest of the tarball as Apache released it: not every mirror has the repository's checksum."""
STRESS_OPENS = tuple(
    f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.io", "sun.nio.ch")
)
"""cassandra-stress uses these packages to make time UUIDs. Java 16 and later close them: its
threads then die, and it ends with status 0 and no operation."""
_LATTE_SECONDS = 3600


def fetch_tool(
    name: ToolName,
    cache: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Tool:
    """The tool, fetched once and verified on every call.

    Args:
        name: which one.
        cache: Tare's cache; None is $TARE_CACHE or ~/.cache/tare.
        say: receives one line for each long step.

    Raises:
        ArtifactError: it cannot be fetched or compiled, or its files were altered.
        RuntimeUnavailableError: mvn, a JDK or cargo is missing.
    """
    version = VERSIONS[name]
    fill = {"ycsb": _ycsb, "cassandra-stress": _stress, "latte": _latte}[name]
    root, digest = kept(f"{name}-{version}{_own(name)}", cache, partial(fill, say=say))
    return Tool(name, version, root, _command(name, root), digest)


def _own(name: ToolName) -> str:
    """Suffix that tells apart trees with different versions of Tare's own part."""
    own = [*YCSB_JARS, _binding().read_text("utf-8")]
    return f"-{text_digest(chr(10).join(own))[:8]}" if name == "ycsb" else ""


def _binding() -> Traversable:
    return resources.files("tare.artifacts.tools") / "CassandraCQLClient.java"


def _command(name: ToolName, root: Path) -> tuple[str, ...]:
    if name == "latte":
        return (str(root / "bin" / "latte"),)
    java = str(jdk.program("java"))
    if name == "ycsb":
        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        return (java, quiet, "-cp", f"{root / 'classes'}:{_jars(root / 'lib')}", BINDING)
    path = f"{_jars(root / 'first')}:{root / 'conf'}:{_jars(root / 'tools')}:{_jars(root / 'lib')}"
    # -server -ea and the log settings as in the tarball's own tools/bin/cassandra-stress
    return (java, "-server", "-ea", *STRESS_OPENS, "-Dlogback.configurationFile=logback-tools.xml",
            "-cp", path, "org.apache.cassandra.stress.Stress")  # fmt: skip


def _jars(directory: Path) -> str:
    """A class path in the order of names; the JVM's own `*` takes the file system's order."""
    return ":".join(map(str, sorted(directory.glob("*.jar"))))


def _ycsb(root: Path, say: Callable[[str], None]) -> None:
    jdk.program("javac")  # before a long fetch
    say(f"fetching YCSB {VERSIONS['ycsb']} with Maven")
    copy_with_dependencies(YCSB_JARS, root / "lib")
    (root / "classes").mkdir()
    with resources.as_file(_binding()) as file:
        jdk.compile_java(file, sorted((root / "lib").glob("*.jar")), root / "classes")


def _stress(root: Path, say: Callable[[str], None]) -> None:
    jdk.program("java")
    say(f"fetching cassandra-stress {VERSIONS['cassandra-stress']} with Maven")
    scratch = root / "scratch"
    copy_file(STRESS_TARBALL, scratch, STRESS_SHA256)
    copy_file(HDR_HISTOGRAM, root / "first")
    for tarball in scratch.glob("*.tar.gz"):
        _unpack(tarball, root)
    shutil.rmtree(scratch)


_PARTS = {("conf",): "conf", ("lib",): "lib", ("tools", "lib"): "tools"}
"""Directories of the tarball that are kept, and their names here."""


def _unpack(tarball: Path, root: Path) -> None:
    """Unpack the jars and settings that cassandra-stress needs, as plain files."""
    try:
        with tarfile.open(tarball) as archive:
            for member in archive:
                path = Path(member.name)
                kept_as = _PARTS.get(path.parts[1:-1])
                if not member.isfile() or kept_as is None:
                    continue
                content = archive.extractfile(member)
                (root / kept_as).mkdir(exist_ok=True)
                if content is not None:
                    (root / kept_as / path.name).write_bytes(content.read())
    except tarfile.TarError as error:
        raise ArtifactError(
            "the tarball of Cassandra is damaged",
            where=tarball.name,
            why=str(error),
            remedy="remove it from ~/.m2/repository, then run the same again",
        ) from error
    if not (root / "tools" / "stress.jar").is_file():
        raise ArtifactError("the tarball holds no cassandra-stress", where=tarball.name)


def _latte(root: Path, say: Callable[[str], None]) -> None:
    why, remedy = "latte is installed by cargo", "apt-get install cargo, or install Rust"
    cargo = find_program("cargo", why, remedy)
    say(f"building latte {VERSIONS['latte']} with cargo: some ten minutes")
    command = [cargo, "install", "latte-cli", "--version", VERSIONS["latte"], "--root", str(root)]
    ended = run_to_end(command, _LATTE_SECONDS)
    if not (root / "bin" / "latte").is_file():
        raise ArtifactError(
            "cargo could not install latte-cli",
            why=ended.last(6),
            remedy="look at what cargo says; it needs Rust 1.85 or later and a C compiler",
        )
