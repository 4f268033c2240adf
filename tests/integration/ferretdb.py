"""FerretDB, which stands in for MongoDB: built once, and started for those who need a server."""

from __future__ import annotations

import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.databases.mongodb.configuration import PORT, ferretdb_command
from tare.databases.mongodb.session import connect
from tare.errors import ClusterError
from tare.runtimes.unit import Site

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETUP = Path(__file__).parents[2] / "setup" / "ferretdb.sh"
_CANNOT = 3
_SECONDS = 30


def program() -> str:
    """Where it lies; the test is skipped where it cannot be built, with the reason."""
    done = subprocess.run([str(_SETUP)], capture_output=True, text=True, timeout=900, check=False)
    if done.returncode == _CANNOT:
        pytest.skip(f"{done.stderr.strip()}; then: pytest tests/integration/test_ycsb_mongodb.py")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def running(address: str, directory: Path) -> Iterator[str]:
    """One that answers at this loopback address, with its data in this directory: its host:port."""
    site = Site(
        name="ferretdb",
        conf=str(directory),
        conf_on_host=directory,
        data=str(directory),
        data_on_host=directory,
        listen=address,
        peers=address,
        endpoint_host=address,
        path="loopback",
    )
    with (directory / "stderr.log").open("wb") as log:
        process = subprocess.Popen(ferretdb_command(program(), site), stdout=log, stderr=log)
    try:
        _await(address, process)
        yield f"{address}:{PORT}"
    finally:
        process.terminate()
        process.wait(_SECONDS)


def _await(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _SECONDS
    while True:
        assert process.poll() is None, "it has ended; see stderr.log in its directory"
        try:
            with connect(address, PORT, timeout_s=1.0) as session:
                session.command({"ping": 1})
            return
        except ClusterError:
            assert time.monotonic() < end, "it does not answer"
