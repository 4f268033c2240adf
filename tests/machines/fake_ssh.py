"""A program that takes ssh's command line and runs the command on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tare.machines.inventory.host import Host
from tare.machines.ssh import Connection

_PROGRAM = """\
#!/bin/sh
printf '%s\\n' "$*" >>{log}
if [ -f {refuses} ]; then cat {refuses} >&2; exit 255; fi
while [ "$1" != -- ]; do
  if [ "$1" = -O ]; then exit 0; fi
  shift
done
shift 2
exec /bin/sh -c "$1"
"""


class FakeHost:
    """A host that is this machine: its commands and files are local."""

    def __init__(self, root: Path, name: str = "h1") -> None:
        self.log = root / f"{name}.log"
        self.refuses = root / f"{name}.refuses"
        self.program = root / f"{name}-ssh"
        text = _PROGRAM.format(log=self.log, refuses=self.refuses)
        self.program.write_text(text, encoding="ascii")
        self.program.chmod(0o755)
        directory = PurePosixPath(root / f"{name}-disk")
        self.host = Host(name, "192.0.2.1", directory=directory)
        self.connection = self.connect()

    def connect(self, clock: object = None) -> Connection:
        """Open a separate connection; `clock` returns monotonic seconds."""
        words = {} if clock is None else {"clock": clock}
        return Connection(self.host, program=str(self.program), **words)  # type: ignore[arg-type]

    @property
    def lines(self) -> list[str]:
        """The ssh command lines so far."""
        return self.log.read_text(encoding="utf-8").splitlines()

    def told(self, order: str) -> list[str]:
        """The forwards that `-O order` set up or cancelled on the standing connection."""
        words = [line.split() for line in self.lines]
        return [one[one.index("-L") + 1] for one in words if order in one and "-O" in one]

    def unplug(self, why: str = "Connection timed out") -> None:
        """Make the host unreachable, with `why` as ssh's error message."""
        self.refuses.write_text(f"{why}\n", encoding="ascii")
        shell = self.connection._shell
        if shell is not None:
            shell.kill()
            shell.wait()

    def plug(self) -> None:
        self.refuses.unlink()


def a_fake_host(tmp_path: Path) -> Iterator[FakeHost]:
    """A fixture's fake host; its connection is closed at the end."""
    made = FakeHost(tmp_path)
    yield made
    made.connection.close()
