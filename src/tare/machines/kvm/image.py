"""The image of all virtual machines: made once of Debian's packages, and kept in the cache."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts.cache_entry import MAKE_ROOM, only_maker, whole_entry
from tare.artifacts.digest import file_digest
from tare.artifacts.program import run_to_end
from tare.artifacts.tree import default_cache
from tare.errors import ArtifactError, DiskFullError
from tare.machines.kvm import recipe

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALL = "apt-get install qemu-system-x86 qemu-utils mmdebstrap debian-archive-keyring e2fsprogs"
"""installs all programs with which virtual machines are made"""
ROOM = 4 * 2**30
"""free disk that making the image takes, bytes; it then keeps 1 GiB"""
_MADE_S = 1800.0
"""longest wait for Debian's packages; 2 to 5 minutes are usual"""
_INODES = "500000"


@dataclass(frozen=True)
class Image:
    """A disk, and what boots it.

    Attributes:
        root: the directory of its files.
        digest: SHA-256 of its packages' names and versions.
    """

    root: Path
    digest: str

    @property
    def kernel(self) -> Path:
        return self.root / "vmlinuz"

    @property
    def ramdisk(self) -> Path:
        return self.root / "initrd.img"

    @property
    def disk(self) -> Path:
        """Raw and sparse; never written to."""
        return self.root / "disk.raw"


def _key() -> str:
    return f"vm-{recipe.RELEASE}-{recipe.digest()[:12]}"


def kept(cache: Path | None = None) -> Image | None:
    """The image, if it was made before."""
    root = (cache or default_cache()) / _key()
    packages = root / "packages.txt"
    return Image(root, file_digest(packages)) if packages.exists() else None


def made(say: Callable[[str], None], cache: Path | None = None) -> Image:
    """The image, which is made if there is none yet.

    Raises:
        ArtifactError: it cannot be made.
        DiskFullError: there is no room for it.
    """
    cache = cache or default_cache()
    with only_maker(cache, _key()):
        found = kept(cache)
        if found is not None:
            return found
        free = shutil.disk_usage(cache).free
        if free < ROOM:
            raise DiskFullError(
                "No space left on device for the image of virtual machines",
                where=str(cache),
                why=f"{ROOM // 2**20} MiB are needed, {free // 2**20} MiB are free",
                remedy=MAKE_ROOM,
            )
        say(f"making the image of virtual machines of Debian's packages ({recipe.RELEASE})")
        with whole_entry(cache, _key(), "the image of virtual machines") as aside:
            _make(aside)
    image = kept(cache)
    if image is None:
        raise ArtifactError("the image of virtual machines is gone again", where=str(cache))
    return image


def _make(aside: Path) -> None:
    root, scripts = aside / "root", {}
    for name in (recipe.INIT, recipe.CHECK):
        scripts[name] = aside / name
        scripts[name].write_text(recipe.script(name), encoding="ascii")
    words = recipe.debian(str(root), str(scripts[recipe.INIT]), str(scripts[recipe.CHECK]))
    _run(words, "Debian's packages could not be had")
    kernel, ramdisk = sorted(root.glob("boot/vmlinuz-*")), sorted(root.glob("boot/initrd.img-*"))
    if not kernel or not ramdisk:
        raise ArtifactError("Debian's kernel is not among the packages", where=str(root / "boot"))
    shutil.move(kernel[-1], aside / "vmlinuz")
    shutil.move(ramdisk[-1], aside / "initrd.img")
    listed = _run(
        ["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Package} ${Version}\\n"],
        "the packages could not be listed",
    )
    words = ["mkfs.ext4", "-q", "-F", "-N", _INODES, "-d", str(root), str(aside / "disk.raw")]
    _run([*words, recipe.SIZE], "the disk could not be made")
    shutil.rmtree(root)
    for script in scripts.values():
        script.unlink()
    (aside / "packages.txt").write_text("\n".join(listed) + "\n", encoding="utf-8")


def _run(words: list[str], what: str) -> tuple[str, ...]:
    """The output of a program.

    Raises:
        ArtifactError: it failed.
    """
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": path}
    try:
        done = run_to_end(words, _MADE_S, env=environment)
    except OSError as error:
        raise ArtifactError(what, where=words[0], why=str(error), remedy=INSTALL) from error
    if not done.ok:
        raise ArtifactError(
            what,
            where=words[0],
            why=done.last(5),
            remedy="see that Debian's mirrors are reached (apt-get update), then the same again",
        )
    return done.lines
