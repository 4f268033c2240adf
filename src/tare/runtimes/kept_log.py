"""Copies the end of a server's own log file; the copy says what was cut."""

from __future__ import annotations

import tarfile
import time
from functools import partial
from typing import IO, TYPE_CHECKING, cast

from tare.artifacts.image_files import Chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

LONGEST = 64 << 20
"""bytes of a log that are kept, as many as the Docker engine keeps of an output"""
WITHIN_S = 60.0
"""longest wait for an engine to send one, seconds"""
_BUFFER = 1 << 20


def keep_end(
    source: IO[bytes], size: int, into: Path, skip: Callable[[int], object] | None = None
) -> None:
    """Copy the last bytes of a log, read from its beginning; a line before them says what was cut.

    Args:
        size: of the log, bytes.
        into: the copy.
        skip: skips a number of bytes of the source; None: `source.seek`.
    """
    cut = max(size - LONGEST, 0)
    (skip or source.seek)(cut)
    said = f"[Tare: the first {cut:,} bytes of this log were not kept]\n" if cut else ""
    into.write_bytes(said.encode() + source.read(LONGEST))


def keep_end_of_archived(
    chunks: Iterable[bytes], into: Path, clock: Callable[[], float] = time.monotonic
) -> None:
    """The same of the one plain file in an archive, as an engine sends it.

    Raises:
        TarError, OSError: the archive does not arrive whole.
    """
    try:
        for _, size, content in plain_files(chunks, clock):
            keep_end(content, size, into, partial(read_over, content))
    except TimeoutError:
        into.write_text(
            f"[Tare: this log was not kept: the engine did not send it within {WITHIN_S:.0f} s]\n",
            encoding="utf-8",
        )


def plain_files(
    chunks: Iterable[bytes], clock: Callable[[], float] = time.monotonic
) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Name, size and content of each plain file in an archive, as an engine sends it.

    Raises:
        TimeoutError: it did not send it in time.
        TarError, OSError: the archive does not arrive whole.
    """
    ends = clock() + WITHIN_S

    def in_time() -> Iterator[bytes]:
        for chunk in chunks:
            if clock() > ends:
                raise TimeoutError
            yield chunk

    reader = cast("IO[bytes]", Chunks(in_time()))
    with tarfile.open(fileobj=reader, mode="r|", bufsize=_BUFFER) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None:
                yield member.name, member.size, content


def read_over(source: IO[bytes], size: int) -> None:
    """Skip a number of bytes of a stream that cannot seek."""
    for begin in range(0, size, _BUFFER):
        source.read(min(_BUFFER, size - begin))
