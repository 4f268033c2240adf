"""The host's shared libraries that a program needs and an image must hold, as ldd names them."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from tare import scratch
from tare.artifacts.program import find_program
from tare.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.artifacts.tree import Tree

# Java's desktop: Cassandra is headless, and X11 has no place in an image.
_DESKTOP = ("libawt", "libjawt", "libfontmanager", "libsplashscreen", "libjsound")
# Opened by name at run time, so that ldd cannot know: thread cancellation and name lookup of the
# C library, and NUMA support of the JVM (-XX:+UseNUMA is in Cassandra's own options).
_OPENED_BY_NAME = ("libgcc_s.so.1", "libnss_files.so.2", "libnss_dns.so.2", "libnuma.so.1")


def libraries_of_tree(tree: Tree) -> dict[str, Path]:
    """The host's libraries for the tree's Java and for the native code inside its jars.

    Returns:
        The files (links resolved) by the absolute path under which the loader finds them.

    Raises:
        ArtifactError: java is not a program of this machine.
        RuntimeUnavailableError: no ldd.
    """
    native = [
        path
        for name, path in tree.files()
        if ".so" in path.name and name.startswith("jre/") and not path.name.startswith(_DESKTOP)
    ]
    with scratch.directory("native") as place:
        packed = _unpack_native(tree, Path(place))
        found = libraries_of([tree.java, *native, *packed])
    home = tree.java_home
    return {
        name: path for name, path in found.items() if not Path(name).resolve().is_relative_to(home)
    }


def libraries_of(files: Iterable[Path]) -> dict[str, Path]:
    """The libraries that ldd names for these files, and the libraries opened by name.

    A library that ldd cannot find is left out: the jars also carry code for other systems.

    Raises:
        RuntimeUnavailableError: no ldd.
    """
    why = "it names the shared libraries that an image must hold"
    ldd = find_program("ldd", why, "apt-get install libc-bin", "the program ldd")
    # The measured process does not get this process's LD_LIBRARY_PATH.
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    done = subprocess.run(
        [ldd, *map(str, files)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        check=False,  # 1 when one of the files is static or for another system: not a failure
    )
    found = parse_ldd(done.stdout)
    directories = {path.parent for path in found if path.name.startswith("libc.so")}
    found |= {d / name for d in directories for name in _OPENED_BY_NAME if (d / name).is_file()}
    return {str(path): path.resolve() for path in sorted(found)}


def parse_ldd(text: str) -> set[Path]:
    """The absolute paths in ldd's output: ``name => /path (0x...)`` and ``/loader (0x...)``.

    >>> parse_ldd("/bin/true:\\n\\tlibc.so.6 => /lib/libc.so.6 (0x7f)\\n\\tlibx.so => not found\\n")
    {PosixPath('/lib/libc.so.6')}
    """
    lines = (line.strip() for line in text.splitlines() if line.startswith("\t"))
    targets = (line.rsplit(" (0x", 1)[0].split(" => ")[-1] for line in lines)
    return {Path(target) for target in targets if target.startswith("/")}


def _unpack_native(tree: Tree, directory: Path) -> list[Path]:
    """Unpack the jars' shared libraries for the processor type of java."""
    with tree.java.open("rb") as stream:
        wanted = _elf_machine(stream.read(20))
    if wanted is None:
        raise ArtifactError(f"{tree.java} is not an ELF program", remedy="set JAVA_HOME")
    files: list[Path] = []
    for jar in sorted(tree.lib.glob("*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if not name.endswith(".so"):
                    continue
                content = archive.read(name)
                if _elf_machine(content[:20]) == wanted:
                    file = directory / f"{len(files)}.so"
                    file.write_bytes(content)
                    file.chmod(0o700)
                    files.append(file)
    return files


def _elf_machine(header: bytes) -> bytes | None:
    """Word size, byte order and processor type of an ELF header (System V ABI, ELF header)."""
    return header[4:6] + header[18:20] if header.startswith(b"\x7fELF") else None
