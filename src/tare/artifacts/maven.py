"""Jars from Maven Central, fetched by the ordinary Maven client."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from tare import scratch
from tare.artifacts.digest import file_digest
from tare.artifacts.program import find_program, run_to_end
from tare.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.artifacts.lock import Jar

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
# A first fetch into an empty repository is 70 MB and a hundred requests; longer is a hang.
_MOST_SECONDS = 1800


def pom(jars: Iterable[Jar]) -> str:
    """A pom whose direct dependencies are exactly these jars, with nothing transitive."""
    dependencies = "".join(_dependency(jar) for jar in jars)
    return _project(f"<dependencies>{dependencies}\n</dependencies>")


def copy_locked(jars: Iterable[Jar], directory: Path, plugin: str = PLUGIN) -> None:
    """Copy the jars into `directory` under their Maven file names (digests not yet checked).

    Raises:
        RuntimeUnavailableError: no Maven client.
        ArtifactError: Maven failed; its last lines are the reason.
    """
    _run(
        pom(jars),
        [
            f"{plugin}:copy-dependencies",
            f"-DoutputDirectory={directory}",
            "-DexcludeTransitive=true",
        ],
    )


def copy_resolved(root: Jar, directory: Path) -> list[Path]:
    """Resolve `root` and its runtime dependencies into `directory`, in Maven's own layout.

    Returns:
        The jars, each at GROUP/AS/DIRECTORIES/ARTIFACT/VERSION/FILE under `directory`.

    Raises:
        RuntimeUnavailableError: no Maven client.
        ArtifactError: Maven failed.
    """
    _run(
        _project(f"<dependencies>{_dependency(root, exclude=False)}\n</dependencies>"),
        [
            f"{PLUGIN}:copy-dependencies",
            f"-DoutputDirectory={directory}",
            "-Dmdep.useRepositoryLayout=true",
            "-DincludeScope=runtime",
        ],
    )
    return sorted(directory.rglob("*.jar"))


def copy_with_dependencies(roots: Iterable[str], directory: Path) -> None:
    """Copy the jars `group:artifact:version` and their runtime dependencies to one directory.

    Raises:
        RuntimeUnavailableError: no Maven client.
        ArtifactError: Maven failed.
    """
    jars = "".join(_coordinates(*root.split(":")) for root in roots)
    _run(
        _project(f"<dependencies>{jars}\n</dependencies>"),
        [
            f"{PLUGIN}:copy-dependencies",
            f"-DoutputDirectory={directory}",
            "-DincludeScope=runtime",
        ],
    )


def copy_file(artifact: str, directory: Path, sha256: str | None = None) -> None:
    """Copy one file, `group:artifact:version[:packaging[:classifier]]`, into an empty directory.

    Args:
        sha256: the expected digest. It replaces the repository's own checksum, which
            mirrors do not have for every file.

    Raises:
        RuntimeUnavailableError: no Maven client.
        ArtifactError: Maven failed, or the digest differs: the file is then removed.
    """
    _run(
        _project(""),
        [f"{PLUGIN}:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={directory}"],
        strict=sha256 is None,
    )
    for file in directory.iterdir() if sha256 is not None else ():
        if (found := file_digest(file)) != sha256:
            file.unlink()
            raise ArtifactError(
                f"{file.name} is not the file that was expected",
                why=f"expected SHA-256 {sha256}\nfound SHA-256    {found}",
                remedy="remove it from Maven's local repository (~/.m2/repository), then run the "
                "same again",
            )


def _project(body: str) -> str:
    return f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>tare</groupId><artifactId>cassandra-bits</artifactId><version>1</version>
<packaging>pom</packaging>
{body}
</project>
"""


def _dependency(jar: Jar, *, exclude: bool = True) -> str:
    return _coordinates(jar.group, jar.artifact, jar.version, jar.classifier, exclude=exclude)


def _coordinates(
    group: str, artifact: str, version: str, classifier: str | None = None, *, exclude: bool = False
) -> str:
    fields = {
        "groupId": group,
        "artifactId": artifact,
        "version": version,
        "classifier": classifier,
    }
    inner = "".join(f"<{key}>{escape(value)}</{key}>" for key, value in fields.items() if value)
    if exclude:
        any_other = "<groupId>*</groupId><artifactId>*</artifactId>"
        inner += f"<exclusions><exclusion>{any_other}</exclusion></exclusions>"
    return f"\n<dependency>{inner}</dependency>"


def _run(pom_text: str, arguments: list[str], *, strict: bool = True) -> None:
    why = "jars are fetched from Maven Central with mvn"
    mvn = find_program("mvn", why, "apt-get install maven", "the Maven client")
    with scratch.directory("maven") as place:
        file = Path(place) / "pom.xml"
        file.write_text(pom_text, "utf-8")
        # Strict: Maven refuses a file that differs from the repository's checksum, or has none.
        checksums = "--strict-checksums" if strict else "--lax-checksums"
        command = [mvn, "--batch-mode", checksums, "--file", str(file), *arguments]
        ended = run_to_end(command, _MOST_SECONDS, cwd=place)
    if not ended.ok:
        reasons = [line for line in ended.lines if "ERROR" in line]
        raise _failed("\n".join(reasons[:6]) or ended.last(1) or f"exit status {ended.status}")


def _failed(why: str) -> ArtifactError:
    return ArtifactError(
        "Maven could not fetch the jars",
        why=why,
        remedy="check the network and the mirror in ~/.m2/settings.xml, then run the same again",
    )
