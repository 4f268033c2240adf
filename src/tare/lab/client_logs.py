"""Logs of load clients that failed before any trial, kept until their deployment's logs are."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from tare import scratch
from tare.errors import TareError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tare.load.client import LoadClient


class ClientLogs:
    """Output of clients that are gone."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    @contextlib.contextmanager
    def kept_on_failure(self, clients: Sequence[LoadClient]) -> Iterator[None]:
        """Read the clients' logs if their use fails."""
        try:
            yield
        except BaseException:
            # what is left of a failure must not hide it
            with contextlib.suppress(TareError, OSError), scratch.directory("logs") as place:
                for client in clients:
                    if client.running is not None:
                        client.running.collect_logs(Path(place))
                for file in Path(place).iterdir():
                    self._files[file.name] = file.read_bytes()
            raise

    def write(self, into: Path) -> None:
        """Write what was read into a directory, which is made where it is needed."""
        for name, content in self._files.items():
            into.mkdir(parents=True, exist_ok=True)
            (into / name).write_bytes(content)
