"""Archives of tar's format, for tests; also of members that must be read with care."""

from __future__ import annotations

import io
import tarfile

Member = tuple[tarfile.TarInfo, bytes]


def member(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> Member:
    """A member: a file, or another kind with its link target."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(content)
    return info, content


def tar_of(*members: Member, mode: str = "w") -> bytes:
    """An archive of the members in this order, compressed by `tarfile`'s mode."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:  # type: ignore[call-overload] # any mode
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()
