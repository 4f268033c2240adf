"""Opens directories and files that others may have made, without following their links."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextlib.contextmanager
def opened(path: Path) -> Iterator[int]:
    """Open a directory; its path may contain links, which are the user's own or the kernel's."""
    descriptor = os.open(path, _DIRECTORY & ~os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def within(directory: int, names: tuple[str, ...]) -> Iterator[int]:
    """Open a directory below an open one, never through a link."""
    with contextlib.ExitStack() as stack:
        for name in names:
            directory = os.open(name, _DIRECTORY, dir_fd=directory)
            stack.callback(os.close, directory)
        yield directory


def plain_file(directory: int, name: str) -> BufferedReader:
    """Open a file of an open directory for reading.

    Raises:
        OSError: it is missing, or is no plain file but a link, a pipe or the like.
    """
    descriptor = os.open(name, _FILE, dir_fd=directory)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "no plain file", name)
    return os.fdopen(descriptor, "rb")
