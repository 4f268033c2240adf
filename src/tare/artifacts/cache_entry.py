"""Cache entries: one process at a time makes one, and it is complete or absent."""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tare.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAKE_ROOM = "make room, or set TARE_CACHE to a directory where there is some"


@contextmanager
def only_maker(cache: Path, key: str) -> Iterator[None]:
    """Hold a lock, so that one process at a time makes an entry; it is always released.

    Raises:
        ArtifactError: the cache cannot be written.
    """
    try:
        cache.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(cache / f".{key}.lock", flags, 0o600)
    except OSError as error:
        raise ArtifactError(
            "the cache cannot be written",
            where=str(cache),
            why=str(error),
            remedy="set TARE_CACHE to a directory of your own",
        ) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


@contextmanager
def whole_entry(cache: Path, key: str, what: str) -> Iterator[Path]:
    """Yield an empty directory that becomes the entry once filled; hold `only_maker` first.

    Args:
        what: the entry's kind, for an error.

    Raises:
        ArtifactError: there is no room, or the cache cannot be written.
    """
    aside, root = cache / f".{key}.partial", cache / key
    try:
        # left by a maker that was killed
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        yield aside
        shutil.rmtree(root, ignore_errors=True)
        aside.rename(root)
    except OSError as error:
        raise ArtifactError(
            f"{what} could not be kept",
            where=str(cache),
            why=str(error),
            remedy=MAKE_ROOM,
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
