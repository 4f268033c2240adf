"""Archives of tar's format, for tests; also of members that must be read with care."""

from __future__ import annotations

import io
import tarfile

Member = tuple[tarfile.TarInfo, bytes]


def member(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> Member:
    """A file; of another kind also what it leads to."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(content)
    return info, content


def tar_of(*members: Member, mode: str = "w") -> bytes:
    """Them in this order, compressed as `tarfile` names it by the mode."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:  # type: ignore[call-overload] # any mode
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()
