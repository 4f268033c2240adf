"""Reads a file that the user names, up to a maximum size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.study.quantities import size_in_words

if TYPE_CHECKING:
    from pathlib import Path

    from tare.errors import TareError


def read_bytes(
    path: Path, most: int, kind: str, error: type[TareError], *, missing: str, too_large: str
) -> bytes:
    """The file's content.

    Args:
        most: bytes that it may have.
        kind: the expected kind of file, with its article: "a study".
        error: the type of errors.
        missing, too_large: the remedies.

    Raises:
        TareError: of the given kind: it cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as cause:
        raise error(
            f"cannot read the {kind.partition(' ')[2]}",
            where=str(path),
            why=cause.strerror or str(cause),
            remedy=missing,
        ) from cause
    if len(content) > most:
        why = f"more than {size_in_words(most)}"
        raise error(f"too large for {kind}", where=str(path), why=why, remedy=too_large)
    return content


def read_text(
    path: Path,
    most: int,
    kind: str,
    error: type[TareError],
    *,
    missing: str,
    too_large: str,
    not_text: str = "save as UTF-8",
) -> str:
    """The file's text: UTF-8, with or without a mark at its start.

    Args, raises: as `read_bytes`; `not_text` is the remedy where it is no UTF-8.
    """
    content = read_bytes(path, most, kind, error, missing=missing, too_large=too_large)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        line = content.count(b"\n", 0, cause.start) + 1
        why = "the file is not UTF-8"
        raise error("not text", where=f"{path}:{line}", why=why, remedy=not_text) from cause
