"""Both outputs of a standing shell, cut after each command by a mark that it prints."""

from __future__ import annotations

import os
import selectors
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


@dataclass(frozen=True)
class Done:
    """The result of a command."""

    status: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode(errors="replace").strip()

    @property
    def why(self) -> str:
        told = self.err.decode(errors="replace").strip()
        return told.splitlines()[-1] if told else f"exit status {self.status}"


class Streams:
    """Both outputs of the standing shell, up to the mark that follows a command."""

    def __init__(self, shell: subprocess.Popen[bytes], mark: bytes) -> None:
        self._shell = shell
        self._mark = mark
        self.out = b""
        self.err = b""
        self.ended = False

    def read(self, within_s: float) -> Done | None:
        """None when the shell has ended, or the time was up."""
        deadline = time.monotonic() + within_s
        with selectors.DefaultSelector() as ready:
            for name in ("out", "err"):
                ready.register(getattr(self._shell, f"std{name}"), selectors.EVENT_READ, name)
            while not self._whole():
                left = deadline - time.monotonic()
                found = ready.select(left) if left > 0 else []
                if not found:
                    return None
                for key, _ in found:
                    piece = os.read(key.fd, 1 << 16)
                    if not piece:
                        self.ended = True
                        return None
                    setattr(self, key.data, getattr(self, key.data) + piece)
        out, _, status = self.out.rpartition(b"\n" + self._mark)
        err = self.err.rpartition(b"\n" + self._mark)[0]
        return Done(int(status), out, err)

    def _whole(self) -> bool:
        marked = b"\n" + self._mark
        # ssh itself may say something on standard error, after the mark too
        return marked in self.out and self.out.endswith(b"\n") and marked + b"\n" in self.err
