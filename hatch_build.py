"""Puts the Rust programs and the Rust module into the wheel; one call of cargo makes them all.

With TARE_GLIBC=2.28, say, they run on every Linux with that glibc or a later one: cargo-zigbuild
then builds them. A wheel's tag says which glibc its files need, not which one was asked for.
TARE_PROFILE names another profile of Cargo.toml than release.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ("tare-load", "tare-probe", "tare-pod", "tare-stub", "tare-micro")
LIBRARY = "libtare_hlog.so"
MODULE = "quick_hlog.abi3.so"
"""The library's name beside the module's stub in tare/records."""


class RustHook(BuildHookInterface):  # type: ignore[type-arg]  # its configuration has no type
    """Called by hatchling before it writes a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, then name what goes into the wheel and what it needs of a machine.

        Args:
            version: "editable" for an installation that runs from this folder.
            build_data: taken by hatchling; added to here.
        """
        root = Path(self.root)
        built = _build(root, os.environ.get("TARE_GLIBC", ""))
        build_data["shared_scripts"] = {str(built / name): name for name in PROGRAMS}
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{_platform([*PROGRAMS, LIBRARY], built)}"
        if version == "editable":
            _replace_module(built / LIBRARY, root / "src" / "tare" / "records")
            return
        build_data["force_include"][str(built / LIBRARY)] = f"tare/records/{MODULE}"
        if commit := _commit(root):
            file = built / "commit.txt"
            file.write_text(f"{commit}\n", encoding="utf-8")
            build_data["force_include"][str(file)] = "tare/commit.txt"


def _build(root: Path, glibc: str) -> Path:
    """The folder of what cargo has built for this machine's glibc, or for another one."""
    profile = os.environ.get("TARE_PROFILE") or "release"
    target = Path(os.environ.get("CARGO_TARGET_DIR") or root / "target")
    command = ["cargo", "zigbuild" if glibc else "build", f"--profile={profile}", "--locked"]
    if glibc:
        triple = f"{platform.machine()}-unknown-linux-gnu"
        command.append(f"--target={triple}.{glibc}")
        target /= triple
    subprocess.run(command, cwd=root, check=True)
    return target / profile


def _platform(names: list[str], built: Path) -> str:
    """The platform tag (PEP 600) by the latest glibc whose symbols one of the files asks for."""
    found = {
        (int(major), int(minor))
        for name in names
        for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", (built / name).read_bytes())
    }
    major, minor = max(found)
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def _replace_module(library: Path, folder: Path) -> None:
    """Put the module beside its stub; one of another build or Python would be found before it."""
    for old in folder.glob("quick_hlog*.so"):
        old.unlink()
    shutil.copy2(library, folder / MODULE)


def _commit(root: Path) -> str | None:
    sys.path.insert(0, str(root / "src"))
    try:
        from tare.commit import commit

        return commit()
    finally:
        sys.path.pop(0)
